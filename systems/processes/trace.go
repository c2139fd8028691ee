package processes

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/stalemate-io/stalemate/systems/tcp"
)

// Trace gives what happened inside the nodes, in order of time.
func (c *Cluster) Trace() ([]tcp.Entry, error) {
	var all []tcp.Entry
	for _, id := range c.ids {
		entries, err := tcp.ReadTrace(c.nodes[id].trace())
		if err != nil {
			return nil, fmt.Errorf("trace of %s: %w", id, err)
		}
		all = append(all, entries...)
	}
	slices.SortStableFunc(all, func(a, b tcp.Entry) int { return cmp.Compare(a.Time, b.Time) })
	return all, nil
}

// TraceFile is the path of a node's trace, empty for a name that is none.
func (c *Cluster) TraceFile(name string) string {
	p, err := c.node(name)
	if err != nil {
		return ""
	}
	return p.trace()
}
