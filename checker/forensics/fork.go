package forensics

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stalemate-io/stalemate/histories/kafkalogs"
)

// forks looks for changes that no single order explains.
//
// The graph has a node for each change (a leader epoch of a partition) and one
// for each moment of an observer (between two requests). An edge means before:
// a change comes before the moments that have it and a moment before the
// changes that it lacks; a partition's changes follow its epochs, an observer's
// moments each other. One order of changes, of which everybody always has a
// beginning, exists exactly where this graph has no cycle.
func (a *analysis) forks() {
	g := a.graph()
	a.comparable()
	for _, component := range g.components() {
		if cycle := g.shortest(component); cycle != nil {
			a.findings = append(a.findings, g.finding(cycle))
		}
	}
}

// comparable counts the changes that could be part of a fork: it takes two
// observers and two partitions.
func (a *analysis) comparable() {
	observers, changes := 0, 0
	partitions := map[string]bool{}
	for _, o := range a.ordered() {
		if len(o.changes) > 0 {
			observers++
		}
		changes += len(o.changes)
		for p := range o.state {
			partitions[p] = true
		}
	}
	if observers > 1 && len(partitions) > 1 {
		a.report.Compared[Fork] = changes
	}
}

// ordered gives the observers whose changes have an order that means something.
func (a *analysis) ordered() []*observer {
	var out []*observer
	for _, name := range a.names {
		if o := a.observers[name]; o.ordered {
			out = append(out, o)
		}
	}
	return out
}

// moment is a node of the graph: a change, or an observer between two requests.
type moment struct {
	observer  *observer // nil for a change
	partition string
	epoch     int32
}

type orders struct {
	nodes []moment
	next  [][]int32
	// why is the fact behind an edge between a change and a moment: of the
	// change that was made, or of the older state that was still there.
	why map[[2]int32]*kafkalogs.Fact
}

func (g *orders) add(m moment) int32 {
	g.nodes = append(g.nodes, m)
	g.next = append(g.next, nil)
	return int32(len(g.nodes) - 1)
}

func (g *orders) edge(from, to int32, why *kafkalogs.Fact) {
	g.next[from] = append(g.next[from], to)
	if why != nil {
		g.why[[2]int32{from, to}] = why
	}
}

func (a *analysis) graph() *orders {
	g := &orders{why: map[[2]int32]*kafkalogs.Fact{}}
	type key struct {
		partition string
		epoch     int32
	}
	change := map[key]int32{}
	epochs := map[string][]int32{}
	for _, p := range slices.Sorted(maps.Keys(a.seen)) {
		if a.anew[p] {
			continue
		}
		epochs[p] = slices.Sorted(maps.Keys(a.seen[p]))
		for i, e := range epochs[p] {
			n := g.add(moment{partition: p, epoch: e})
			change[key{p, e}] = n
			if i > 0 {
				g.edge(n-1, n, nil)
			}
		}
	}
	// lacks gives the first change that a state does not have.
	lacks := func(f *kafkalogs.Fact) (int32, bool) {
		list := epochs[f.Partition]
		i, _ := slices.BinarySearch(list, f.State.LeaderEpoch+1)
		if i == len(list) {
			return 0, false
		}
		return change[key{f.Partition, list[i]}], true
	}
	for _, o := range a.ordered() {
		back := map[string]bool{} // partitions that went back: a finding of their own
		now := g.add(moment{observer: o})
		for i := 0; i < len(o.changes); {
			then := g.add(moment{observer: o})
			g.edge(now, then, nil)
			for batch := o.changes[i].batch; i < len(o.changes) && o.changes[i].batch == batch; i++ {
				c := o.changes[i]
				p := c.after.Partition
				if c.before != nil && c.after.State.LeaderEpoch < c.before.State.LeaderEpoch {
					back[p] = true
				}
				if back[p] || a.anew[p] {
					continue
				}
				if c.before != nil {
					if missing, ok := lacks(c.before); ok {
						g.edge(now, missing, c.before)
					}
				}
				g.edge(change[key{p, c.after.State.LeaderEpoch}], then, c.after)
			}
			now = then
		}
		for _, p := range slices.Sorted(maps.Keys(o.state)) {
			if missing, ok := lacks(o.state[p]); ok && !back[p] && !a.anew[p] {
				g.edge(now, missing, o.state[p])
			}
		}
	}
	return g
}

// components gives the strongly connected components of more than one node
// (Tarjan 1972), without recursion.
func (g *orders) components() [][]int32 {
	n := len(g.nodes)
	index, low, onStack := make([]int32, n), make([]int32, n), make([]bool, n)
	type frame struct {
		node int32
		edge int
	}
	var stack []int32
	var out [][]int32
	count := int32(0)
	for root := range n {
		if index[root] != 0 {
			continue
		}
		work := []frame{{node: int32(root)}}
		for len(work) > 0 {
			f := &work[len(work)-1]
			v := f.node
			if f.edge == 0 && index[v] == 0 {
				count++
				index[v], low[v], onStack[v] = count, count, true
				stack = append(stack, v)
			}
			if f.edge < len(g.next[v]) {
				w := g.next[v][f.edge]
				f.edge++
				if index[w] == 0 {
					work = append(work, frame{node: w})
				} else if onStack[w] {
					low[v] = min(low[v], index[w])
				}
				continue
			}
			if work = work[:len(work)-1]; len(work) > 0 {
				up := work[len(work)-1].node
				low[up] = min(low[up], low[v])
			}
			if low[v] != index[v] {
				continue
			}
			i := slices.Index(stack, v)
			if len(stack)-i > 1 {
				out = append(out, slices.Clone(stack[i:]))
			}
			for _, w := range stack[i:] {
				onStack[w] = false
			}
			stack = stack[:i]
		}
	}
	return out
}

// starts bounds from how many nodes of a component a shortest cycle is sought.
const starts = 500

// shortest gives the shortest cycle through one of the nodes of a component.
func (g *orders) shortest(component []int32) []int32 {
	inside := make(map[int32]bool, len(component))
	for _, v := range component {
		inside[v] = true
	}
	var best []int32
	slices.Sort(component)
	for _, start := range component[:min(len(component), starts)] {
		from := map[int32]int32{}
		queue := []int32{start}
	search:
		for len(queue) > 0 {
			v := queue[0]
			queue = queue[1:]
			for _, w := range g.next[v] {
				if w == start {
					cycle := []int32{v}
					for v != start {
						v = from[v]
						cycle = append(cycle, v)
					}
					slices.Reverse(cycle)
					if best == nil || len(cycle) < len(best) {
						best = cycle
					}
					break search
				}
				if _, known := from[w]; !known && inside[w] {
					from[w] = v
					queue = append(queue, w)
				}
			}
		}
	}
	return best
}

// finding puts a cycle in words: what each observer on it had, and what it
// lacked then.
func (g *orders) finding(cycle []int32) Finding {
	// Begin where an observer's moments begin.
	for i := range cycle {
		if g.nodes[cycle[i]].observer == nil && g.nodes[cycle[(i+1)%len(cycle)]].observer != nil {
			cycle = append(slices.Clone(cycle[i:]), cycle[:i]...)
			break
		}
	}
	f := Finding{Kind: Fork}
	var said []string
	var had *kafkalogs.Fact
	partitions := map[string]bool{}
	for i, v := range cycle {
		w := cycle[(i+1)%len(cycle)]
		why := g.why[[2]int32{v, w}]
		switch {
		case why == nil:
		case g.nodes[v].observer == nil:
			had = why
		default:
			said = append(said, fmt.Sprintf("%s had leader epoch %d of %s while %s was still at %d",
				g.nodes[v].observer.name, had.State.LeaderEpoch, had.Partition, why.Partition, why.State.LeaderEpoch))
			f.Lines = append(f.Lines, quote(had), quote(why))
			partitions[had.Partition], partitions[why.Partition] = true, true
		}
	}
	f.Partition = strings.Join(slices.Sorted(maps.Keys(partitions)), ", ")
	f.Text = "no single order of changes: " + strings.Join(said, "; ")
	return f
}
