package histories

import "slices"

// names numbers names in order of appearance, behind some with fixed numbers.
type names struct {
	list  []string
	table map[string]int
	last  int
}

func (n *names) index(name string, fixed []string) int {
	if n.list == nil {
		n.list = slices.Clone(fixed)
		n.table = make(map[string]int)
		for i, f := range fixed {
			n.table[f] = i
		}
	}
	if n.list[n.last] == name {
		return n.last
	}
	i, ok := n.table[name]
	if !ok {
		i = len(n.list)
		n.list = append(n.list, name)
		n.table[name] = i
	}
	n.last = i
	return i
}

func (n *names) all(fixed []string) []string {
	if n.list == nil {
		return slices.Clone(fixed)
	}
	return n.list
}
