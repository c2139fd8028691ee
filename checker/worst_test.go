package checker

import (
	"slices"
	"testing"

	"github.com/stalemate-io/stalemate/histories"
)

func TestTheWorstReadOfEachNode(t *testing.T) {
	// Operations 0, 2, ... are of one node, the others of another.
	h := &histories.History{Operations: make([]histories.Operation, 8)}
	for i := range h.Operations {
		h.Operations[i].Node = int16(1 + i%2)
	}
	lag := func(op int32, lag int64, behind int32) staleRead { return staleRead{op: op, lag: lag, behind: behind} }
	for _, c := range []struct {
		name  string
		stale []staleRead
		want  []int32
	}{
		{"the one that lagged most, be it later", []staleRead{lag(0, 5, 9), lag(2, 7, 1)}, []int32{2}},
		{"or sooner", []staleRead{lag(0, 7, 1), lag(2, 5, 9)}, []int32{0}},
		{"of equal ones the one behind by more versions, be it later", []staleRead{lag(0, 5, 1), lag(2, 5, 2)}, []int32{2}},
		{"or sooner", []staleRead{lag(0, 5, 2), lag(2, 5, 1)}, []int32{0}},
		{"else the first", []staleRead{lag(0, 5, 1), lag(2, 5, 1)}, []int32{0}},
		{"one of each node, the worst first", []staleRead{lag(0, 5, 1), lag(1, 6, 1), lag(2, 4, 1)}, []int32{1, 0}},
		{"nodes that lag alike in their order", []staleRead{lag(1, 5, 1), lag(0, 5, 1)}, []int32{0, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []int32
			for _, s := range worstByNode(h, c.stale) {
				got = append(got, s.op)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("reads %v, want %v", got, c.want)
			}
		})
	}
}
