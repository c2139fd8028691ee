package processes

import (
	"path/filepath"

	"github.com/stalemate-io/stalemate/systems/node"
)

// process is one node of a Cluster.
type process struct {
	member  // nil until it is installed
	id      node.ID
	address string // host:port where clients reach it
	dir     string
	log     string // path of what it prints
}

func (p *process) trace() string { return traceIn(p.dir) }
func (p *process) disk() string  { return diskIn(p.dir) }

func traceIn(dir string) string { return filepath.Join(dir, "trace.jsonl") }
func diskIn(dir string) string  { return filepath.Join(dir, "disk") }
