package explore

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestDDMinIsMinimal leaves out whatever can be left out alone, for any test.
func TestDDMinIsMinimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 30).Draw(t, "items")
		items := make([]int, n)
		for i := range items {
			items[i] = i
		}
		// What passes is whatever has all of one of two sets.
		some := rapid.SliceOfDistinct(rapid.IntRange(0, max(n-1, 0)), rapid.ID[int])
		a, b := some.Draw(t, "a"), some.Draw(t, "b")
		if n == 0 {
			a, b = nil, nil
		}
		test := func(have []int) bool {
			has := func(all []int) bool {
				return !slices.ContainsFunc(all, func(i int) bool { return !slices.Contains(have, i) })
			}
			return has(a) || has(b)
		}
		got := ddmin(items, test)
		if !test(got) {
			t.Fatalf("%v does not pass", got)
		}
		for i := range got {
			if test(slices.Delete(slices.Clone(got), i, i+1)) {
				t.Errorf("%v passes without %d as well", got, got[i])
			}
		}
		if !slices.IsSorted(got) {
			t.Errorf("%v is out of order", got)
		}
	})
}
