package push

import "slices"

// Sets of brokers are short slices of ids; order matters in an assignment and
// nowhere else. They are values: nobody changes one after it was handed on.

func contains(ids []int32, id int32) bool { return slices.Contains(ids, id) }

// without gives ids less id, as a new slice.
func without(ids []int32, id int32) []int32 {
	out := make([]int32, 0, len(ids))
	for _, x := range ids {
		if x != id {
			out = append(out, x)
		}
	}
	return out
}

// minus gives ids less those in drop, as a new slice.
func minus(ids, drop []int32) []int32 {
	out := make([]int32, 0, len(ids))
	for _, x := range ids {
		if !contains(drop, x) {
			out = append(out, x)
		}
	}
	return out
}

// union gives a followed by those of b that are not in a, as a new slice.
func union(a, b []int32) []int32 {
	out := slices.Clone(a)
	for _, x := range b {
		if !contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// subset tells whether all of a are in b.
func subset(a, b []int32) bool {
	for _, x := range a {
		if !contains(b, x) {
			return false
		}
	}
	return true
}

// sameSet tells whether a and b have the same members. Neither has duplicates.
func sameSet(a, b []int32) bool { return len(a) == len(b) && subset(a, b) }
