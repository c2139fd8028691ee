package serve

import (
	"testing"

	"github.com/stalemate-io/stalemate/checker"
)

func TestFateOfAPromise(t *testing.T) {
	for _, c := range []struct {
		name   string
		v      checker.Verdict
		want   fate
		clause string
	}{
		{"a promise that held was kept", checker.Verdict{Promise: checker.OrderedLag, Holds: checker.Holds}, kept, "what was promised was kept"},
		{"one that did not was broken", checker.Verdict{Promise: checker.OrderedLag, Holds: checker.Violated}, broken, "what was promised was broken"},
		{"nobody knows of one that was not decided", checker.Verdict{Promise: checker.OrderedLag, Holds: checker.Undecided}, undecided, "whether the promise was kept is undecided"},
		{"a divergent run of a system that promises nothing has kept nothing", checker.Verdict{Promise: checker.None, Verdict: checker.ClassDivergent, Holds: checker.Holds}, unpromised, "nothing was promised"},
		{"one path that promises something is enough", checker.Verdict{Promise: checker.None, Holds: checker.Holds, Paths: map[string]*checker.Verdict{
			"broker": {Promise: checker.None, Holds: checker.Holds}, "quorum": {Promise: checker.Linearizable, Holds: checker.Holds},
		}}, kept, "what was promised was kept"},
		{"the system's own log breaks a promise too", checker.Verdict{Promise: checker.OrderedLag, Holds: checker.Holds, WithLog: &checker.WithLog{Holds: checker.Violated}}, broken, "what was promised was broken"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := fateOf(&c.v); got != c.want || got.Clause() != c.clause {
				t.Errorf("%s, %q; expected %s, %q", got, got.Clause(), c.want, c.clause)
			}
		})
	}
}
