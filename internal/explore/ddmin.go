package explore

// ddmin gives a part of items that still passes the test and of which no single
// item can be left out: delta debugging (Zeller & Hildebrandt, Simplifying and
// Isolating Failure-Inducing Input, 2002), which first leaves out much and then
// less. Unlike theirs it does not begin anew where something could be left out
// but goes on behind it, which takes far fewer tests of long lists. The items
// must pass as they are.
func ddmin[T any](items []T, test func([]T) bool) []T {
	if len(items) == 0 || test(nil) {
		return nil
	}
	for size := (len(items) + 1) / 2; ; {
		before := len(items)
		for from := 0; from < len(items) && len(items) > 1; {
			to := min(from+size, len(items))
			rest := append(append([]T(nil), items[:from]...), items[to:]...)
			if len(rest) > 0 && test(rest) {
				items = rest
			} else {
				from = to
			}
		}
		switch {
		case size > 1:
			size = (size + 1) / 2
		case len(items) == before:
			return items
		}
	}
}
