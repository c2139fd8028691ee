package processes

import (
	"path/filepath"

	"github.com/stalemate-io/stalemate/systems/local"
	"github.com/stalemate-io/stalemate/systems/node"
)

// process is one node of a Cluster.
type process struct {
	local.Member
	id      node.ID
	address string // host:port where clients reach it
	dir     string
}

func (p *process) trace() string { return filepath.Join(p.dir, "trace.jsonl") }
func (p *process) disk() string  { return filepath.Join(p.dir, "disk") }
