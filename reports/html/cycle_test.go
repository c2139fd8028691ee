package html

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stalemate-io/stalemate/checker"
)

// TestArrows names the rule and gives the cycle, by operations of the witness.
func TestArrows(t *testing.T) {
	for name, c := range map[string]struct {
		make func(r *recorded)
		want string
	}{
		"a stale read had not seen a write that was over before it": {func(r *recorded) {
			r.op(1, 2, wrote(0, "k", "a", 1))
			r.op(3, 4, wrote(0, "k", "b", 2))
			r.op(5, 6, read(1, "n1", "k", "a", 1))
		}, "1 was over before 2, 2 had not seen 1"},
		"a node that goes back": {func(r *recorded) {
			r.op(1, 2, wrote(0, "k", "a", 1))
			r.op(3, 9, wrote(0, "k", "b", 2))
			r.op(4, 5, read(1, "n1", "k", "b", 2))
			r.op(6, 7, read(2, "n1", "k", "a", 1))
		}, "1 was read by 2, 2 then, at the same node 3, 3 had not seen 1"},
		"two nodes that see two writes in opposite orders": {func(r *recorded) {
			r.op(0, 1, wrote(0, "x", "0", 1))
			r.op(0.1, 1.1, wrote(1, "y", "0", 1))
			r.op(2, 9, wrote(0, "x", "1", 2))
			r.op(2.1, 9.1, wrote(1, "y", "1", 2))
			r.op(3, 4, read(2, "n1", "x", "1", 2))
			r.op(3.1, 4.1, read(3, "n2", "y", "1", 2))
			r.op(5, 6, read(2, "n1", "y", "0", 1))
			r.op(5.1, 6.1, read(3, "n2", "x", "0", 1))
		}, "2 was read by 4, 4 then, at the same node 6, 6 had not seen 3, 3 was read by 5, 5 then, at the same node 7, 7 had not seen 2"},
		"no cycle, so that the reads' writes are shown": {func(r *recorded) {
			r.op(1, 2, wrote(0, "k", "a", 1))
			r.op(3, 4, read(1, "n1", "k", "a", 1))
		}, "0 was read by 1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := record(t)
			c.make(r)
			h := r.history()
			line, err := checker.NewTimeline(h, checker.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var all []int32
			for i := range h.Operations {
				all = append(all, int32(i))
			}
			found := arrows(h, line, all)
			// A cycle may begin anywhere; it is told from its first operation on
			// that the wanted one begins with.
			if got := tellCycle(found, c.want); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// tellCycle follows the arrows, from the operation that want begins with.
func tellCycle(list []arrow, want string) string {
	next := make(map[int]arrow)
	for _, a := range list {
		next[a.from] = a
	}
	at := 0
	fmt.Sscan(want, &at)
	var parts []string
	for range list {
		a := next[at]
		parts = append(parts, fmt.Sprintf("%d %s %d", a.from, a.why, a.to))
		at = a.to
	}
	return strings.Join(parts, ", ")
}
