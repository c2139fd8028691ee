package processes

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/tcp"
)

// Remains is what a cluster leaves in its folder, however it ended. It is read once
// no node runs any more.
type Remains struct {
	Settings Settings
	Dir      string
}

// Remains is what the cluster leaves.
func (c *Cluster) Remains() Remains { return Remains{c.options.Settings, c.options.Dir} }

func (r Remains) nodeDir(id node.ID) string { return filepath.Join(r.Dir, string(id)) }

// Trace gives what happened inside the nodes, in order of time.
func (r Remains) Trace() ([]tcp.Entry, error) {
	var all []tcp.Entry
	for _, id := range r.Settings.IDs() {
		entries, err := tcp.ReadTrace(traceIn(r.nodeDir(id)))
		if err != nil {
			return nil, fmt.Errorf("trace of %s: %w", id, err)
		}
		all = append(all, entries...)
	}
	slices.SortStableFunc(all, func(a, b tcp.Entry) int { return cmp.Compare(a.Time, b.Time) })
	return all, nil
}
