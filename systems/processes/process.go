package processes

import (
	"path/filepath"

	"github.com/stalemate-io/stalemate/systems/docker"
	"github.com/stalemate-io/stalemate/systems/node"
)

// process is one node of a Cluster.
type process struct {
	member  // nil until it is installed
	id      node.ID
	address string // host:port where clients reach it
	inside  string // host:port where the other nodes do
	listen  string // host:port where it listens
	dir     string // its folder
	home    string // the path at which it finds its folder
	log     string // path of what it prints
	host    *docker.Host
}

func traceIn(dir string) string { return filepath.Join(dir, "trace.jsonl") }
func diskIn(dir string) string  { return filepath.Join(dir, "disk") }
