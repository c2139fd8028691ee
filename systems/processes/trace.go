package processes

import "github.com/stalemate-io/stalemate/systems/tcp"

// Trace gives what happened inside the nodes, in order of time.
func (c *Cluster) Trace() ([]tcp.Entry, error) { return c.Remains().Trace() }

// TraceFile is the path of a node's trace, empty for a name that is none.
func (c *Cluster) TraceFile(name string) string {
	p, err := c.node(name)
	if err != nil {
		return ""
	}
	return p.trace()
}
