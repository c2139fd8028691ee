package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stalemate-io/stalemate/systems/node"
)

// tree is the content of the store in all versions that some server may still
// have, so that servers need no copies of their own: a server at zxid z sees of
// every node the newest revision that is not newer than z.
type tree map[string]*znode

type znode struct {
	revisions []revision // oldest first; none for a node that never was
	children  []string   // names of all children that any revision may show, sorted
	changed   []int64    // when children came or went; oldest first
	alive     int        // how many children there are in the newest state
	sequence  int64      // the number of the next sequential child
}

type revision struct {
	zxid   int64
	exists bool
	data   []byte
	stat   node.Stat
	owner  int64 // of an ephemeral, the session
}

func (t tree) node(path string) *znode {
	n := t[path]
	if n == nil {
		n = &znode{}
		t[path] = n
	}
	return n
}

// newest is a node's newest state.
func (t tree) newest(path string) revision {
	if n := t[path]; n != nil && len(n.revisions) > 0 {
		return n.revisions[len(n.revisions)-1]
	}
	return revision{}
}

// at is a node's state after the write zxid.
func (t tree) at(path string, zxid int64) revision {
	if n := t[path]; n != nil {
		for i := len(n.revisions) - 1; i >= 0; i-- {
			if n.revisions[i].zxid <= zxid {
				return n.revisions[i]
			}
		}
	}
	return revision{}
}

// childrenAt lists the names of a node's children after the write zxid.
func (t tree) childrenAt(path string, zxid int64) []string {
	n := t[path]
	if n == nil {
		return nil
	}
	var names []string
	for _, name := range n.children {
		if t.at(join(path, name), zxid).exists {
			names = append(names, name)
		}
	}
	return names
}

// childrenChanged is when the children of a node last came or went, up to zxid.
func (t tree) childrenChanged(path string, zxid int64) int64 {
	if n := t[path]; n != nil {
		for i := len(n.changed) - 1; i >= 0; i-- {
			if n.changed[i] <= zxid {
				return n.changed[i]
			}
		}
	}
	return 0
}

// multi works out what operations do to the newest state, all or none.
func (t tree) multi(ops []node.StoreOp, zxid, session int64) ([]Change, []node.Stat, error) {
	var changes []Change
	stats := make([]node.Stat, 0, len(ops))
	// Within one multi, later operations see what earlier ones did.
	state := func(path string) revision {
		for i := len(changes) - 1; i >= 0; i-- {
			if c := &changes[i]; c.Path == path {
				return revision{exists: c.Kind != node.Delete, data: c.Data, stat: c.Stat, owner: c.owner}
			}
		}
		return t.newest(path)
	}
	created := func(parent string) (n int64, alive int) {
		if p := t[parent]; p != nil {
			n, alive = p.sequence, p.alive
		}
		for i := range changes {
			if parentOf(changes[i].Path) == parent {
				switch changes[i].Kind {
				case node.Create:
					n, alive = n+1, alive+1
				case node.Delete:
					alive--
				}
			}
		}
		return n, alive
	}
	for i, op := range ops {
		now := state(op.Path)
		change := Change{Kind: op.Kind, Path: op.Path, Data: op.Data}
		var err error
		switch op.Kind {
		case node.Create:
			if op.Sequential {
				n, _ := created(parentOf(op.Path))
				change.Path = fmt.Sprintf("%s%010d", op.Path, n)
				now = state(change.Path)
			}
			switch {
			case !validPath(change.Path):
				err = fmt.Errorf("%q is no path; expected /a/b", op.Path)
			case now.exists:
				err = node.ErrNodeExists
			case !state(parentOf(change.Path)).exists:
				err = node.ErrNoNode
			}
			change.Stat = node.Stat{Czxid: zxid, Mzxid: zxid}
			if op.Ephemeral {
				change.owner = session
			}
		case node.Set, node.Delete, node.Check:
			switch {
			case !now.exists:
				err = node.ErrNoNode
			case op.Version != node.AnyVersion && op.Version != now.stat.Version:
				err = node.ErrBadVersion
			}
			change.Stat, change.owner = now.stat, now.owner
			switch {
			case err != nil:
			case op.Kind == node.Set:
				change.Stat.Mzxid = zxid
				change.Stat.Version++
			case op.Kind == node.Delete:
				change.Data, change.deleted = nil, zxid
				if _, alive := created(op.Path); alive > 0 {
					err = node.ErrNotEmpty
				}
			}
		default:
			err = fmt.Errorf("unknown operation %v", op.Kind)
		}
		if err != nil {
			return nil, nil, &node.OpError{Index: i, Op: op, Err: err}
		}
		stats = append(stats, change.Stat)
		if op.Kind != node.Check {
			changes = append(changes, change)
		}
	}
	return changes, stats, nil
}

// put adds a change as the newest revision. Nobody asks for revisions that were
// replaced before the write oldest any more.
func (t tree) put(c Change, oldest int64) {
	n := t.node(c.Path)
	zxid := c.Stat.Mzxid
	r := revision{exists: c.Kind != node.Delete, data: c.Data, stat: c.Stat, owner: c.owner}
	if !r.exists {
		zxid = c.deleted
		r = revision{}
	}
	r.zxid = zxid
	if last := len(n.revisions) - 1; last >= 0 && n.revisions[last].zxid == zxid {
		n.revisions[last] = r // changed twice by one write
	} else {
		n.revisions = append(prune(n.revisions, oldest), r)
	}
	if c.Kind == node.Set {
		return
	}
	parent, name := split(c.Path)
	p := t.node(parent)
	p.changed = append(p.changed, zxid)
	first := 0
	for first+1 < len(p.changed) && p.changed[first+1] <= oldest {
		first++
	}
	p.changed = slices.Delete(p.changed, 0, first)
	if c.Kind == node.Delete {
		p.alive--
		return
	}
	p.alive++
	p.sequence++
	i, found := slices.BinarySearch(p.children, name)
	if !found {
		p.children = slices.Insert(p.children, i, name)
		t.forget(parent, p, oldest)
	}
}

// forget drops children that no server sees any more, once they are many.
func (t tree) forget(parent string, p *znode, oldest int64) {
	if len(p.children) < 64 || len(p.children) < 2*p.alive {
		return
	}
	p.children = slices.DeleteFunc(p.children, func(name string) bool {
		path := join(parent, name)
		r := t.newest(path)
		gone := !r.exists && r.zxid <= oldest
		if n := t[path]; gone && n != nil && len(n.children) == 0 {
			delete(t, path)
		}
		return gone
	})
}

// prune drops the revisions that are older than the one a server at oldest sees.
func prune(revisions []revision, oldest int64) []revision {
	first := 0
	for first+1 < len(revisions) && revisions[first+1].zxid <= oldest {
		first++
	}
	return slices.Delete(revisions, 0, first)
}

func validPath(path string) bool {
	return len(path) > 1 && path[0] == '/' && path[len(path)-1] != '/' && !strings.Contains(path, "//")
}

func split(path string) (parent, name string) {
	i := strings.LastIndexByte(path, '/')
	if i <= 0 {
		return "/", path[i+1:]
	}
	return path[:i], path[i+1:]
}

func parentOf(path string) string {
	parent, _ := split(path)
	return parent
}

func join(parent, name string) string {
	if parent == "/" {
		return "/" + name
	}
	return parent + "/" + name
}
