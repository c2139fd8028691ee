package processes

import (
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/tcp"
)

// Trace gives what happened inside the nodes, in order of time.
func (c *Cluster) Trace() ([]tcp.Entry, error) { return c.Remains().Trace() }

// TraceFile is the path of a node's trace, empty for a name that is none.
func (c *Cluster) TraceFile(name string) string {
	if p, ok := c.nodes[node.ID(name)]; ok {
		return traceIn(p.dir)
	}
	return ""
}
