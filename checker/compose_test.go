package checker_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stalemate-io/stalemate/checker"
)

// summary is what a verdict says in few lines.
func summary(v *checker.Verdict) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", v.Verdict, v.Reason)
	fmt.Fprintf(&b, "%s %s, by %s\n", v.Promise, v.Holds, v.Engine)
	fmt.Fprintf(&b, "%d operations, %d reads, %d stale, %d unknown\n", v.Operations, v.Reads, v.StaleReads, v.Unknown)
	if counts, _ := json.Marshal(v.AnomalyCounts); len(v.AnomalyCounts) > 0 {
		fmt.Fprintf(&b, "counted %s, shown", counts) // sorted by name
		for _, a := range v.Anomalies {
			fmt.Fprintf(&b, " %s", a.Kind)
			if a.Node != "" {
				fmt.Fprintf(&b, "@%s", a.Node)
			}
		}
		b.WriteByte('\n')
	}
	for _, w := range v.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	return b.String()
}

// open is a history in which nobody can tell which of two writes came first.
const open = `
	0 0:a invoke write x 1
	1 1:a invoke write x 2
	2 2:b invoke read x nil
	3 2:b ok read x 1
	4 3:c invoke read x nil
	5 3:c ok read x 2
`

// at writes an operation from one millisecond to the next.
func at(ms int, who, f, asked, answered string) string {
	return fmt.Sprintf("%d %s invoke %s %s\n%d %s ok %s %s\n", ms, who, f, asked, ms+1, who, f, answered)
}

func TestWhatAVerdictSays(t *testing.T) {
	behind := written + at(10, "1:c", "read", "x nil", "x 1 @1") + at(20, "2:b", "read", "x nil", "x 1 @1") + at(30, "2:b", "read", "x nil", "x 2 @2")
	counters := ""
	for n, key := range []string{"p", "q", "r", "s"} {
		counters += at(4*n, "1", "add", key+" 1", key+" 1") + at(4*n+2, "2", "read", key+" nil", key+" 7")
	}
	wrong := written + at(10, "1:b", "read", "x nil", "x 2 @2") + at(12, "1:b", "read", "x nil", "x 1 @1") +
		at(14, "0:a", "write", "y 1", "y 1 @1") + at(16, "0:a", "write", "y 2", "y 2 @2") + at(18, "1:b", "read", "y nil", "y 1 @1")
	for _, c := range []struct {
		name, history string
		options       checker.Options
		want          string
	}{
		{"every read fresh; what failed is not counted, nor a read of unknown outcome", fresh + `
			6 2:a invoke write x 3
			7 2:a fail write x 3
			8 3:a invoke write x 4
			9 4:a invoke read x nil
		`, checker.Options{}, `
linearizable: every read saw the newest acknowledged write
linearizable holds, by fast
4 operations, 1 reads, 0 stale, 1 unknown
`},
		{"reads alone", at(0, "1", "read", "x nil", "x nil"), checker.Options{}, `
linearizable: every read saw the newest acknowledged write
linearizable holds, by fast
1 operations, 1 reads, 0 stale, 0 unknown
warning: the history holds no write, so that nothing could be stale
`},
		{"a counter", at(0, "1", "add", "x 1", "x 1") + at(2, "1", "read", "x nil", "x 1"), checker.Options{}, `
linearizable: one order of all operations agrees with real time and with what each returned
linearizable holds, by windowed
2 operations, 1 reads, 0 stale, 0 unknown
`},
		{"counters that all are wrong: three are shown", counters, checker.Options{}, `
undecided: not linearizable; the weaker levels are about registers, and a counter is none
linearizable violated, by windowed
8 operations, 4 reads, 0 stale, 0 unknown
counted {"not-linearizable":4}, shown not-linearizable not-linearizable not-linearizable
`},
		{"reads that lag, of each node the worst", behind, checker.Options{Promise: checker.OrderedLag}, `
ordered-lag: 2 of 3 reads stale by at most 17 ms and 1 version, yet every observer walked forward through one order
ordered-lag holds, by fast
5 operations, 3 reads, 2 stale, 0 unknown
counted {"not-linearizable":1,"stale":2}, shown stale@b stale@c not-linearizable@b
`},
		{"reads beyond the bound, of each node the worst", behind + at(32, "1:c", "read", "x nil", "x 1 @1"), checker.Options{Promise: checker.OrderedLag, MaxStaleness: 5 * time.Millisecond}, `
ordered-lag: 3 of 4 reads stale by at most 29 ms and 1 version, yet every observer walked forward through one order
ordered-lag violated, by fast
6 operations, 4 reads, 3 stale, 0 unknown
counted {"not-linearizable":1,"stale":3,"too-stale":3}, shown too-stale@c too-stale@b stale@c stale@b not-linearizable@c
`},
		{"a read that lags by no time", at(0, "0:a", "write", "x 1", "x 1 @1") + at(1, "0:a", "write", "x 2", "x 2 @2") + at(2, "1:b", "read", "x nil", "x 1 @1"), checker.Options{}, `
ordered-lag: 1 of 1 read stale, yet every observer walked forward through one order
linearizable violated, by fast
3 operations, 1 reads, 1 stale, 0 unknown
counted {"not-linearizable":1,"stale":1}, shown stale@b not-linearizable@b
`},
		{"not linearizable, and yet no read is known to be stale", open + at(6, "4:d", "read", "x nil", "x 1"), checker.Options{}, `
ordered-lag: not linearizable, yet every observer walked forward through one order
linearizable violated, by fast
5 operations, 3 reads, 0 stale, 2 unknown
counted {"not-linearizable":1}, shown not-linearizable@d
warning: the order of some writes is open, as there are no versions; each lag and number of versions is the least it can have been
`},
		{"some writes tell versions", open + "7 0:a ok write x 1\n8 1:a ok write x 2\n" + at(10, "0:a", "write", "x 3", "x 3 @7"), checker.Options{}, `
linearizable: every read saw the newest acknowledged write
linearizable holds, by fast
5 operations, 2 reads, 0 stale, 0 unknown
warning: the order of some writes is open, as not every acknowledged write has a version; each lag and number of versions is the least it can have been
`},
		{"two keys wrong: the order tells more, and one proof of the search is shown", wrong, checker.Options{}, `
divergent: no single order explains what was observed: an observer went back (regress)
linearizable violated, by fast
7 operations, 3 reads, 2 stale, 0 unknown
counted {"monotonic-reads":1,"not-linearizable":2,"regress":1,"stale":2}, shown regress@b monotonic-reads@b stale@b not-linearizable@b
`},
		{"a bound is not kept because nothing was measured; none is not asked for", at(0, "0", "write", "x 1", "x 1") + at(2, "0", "write", "x 2", "x 2") + at(4, "0", "write", "x 1", "x 1") + at(6, "0", "read", "x nil", "x 1"), checker.Options{}, `
linearizable: every read saw the newest acknowledged write
linearizable holds, by windowed
4 operations, 1 reads, 0 stale, 0 unknown
`},
		{"two paths that hold what they promise", strings.ReplaceAll(fresh, ":a invoke read", ":a/first invoke read") + at(10, "3:a/second", "read", "x nil", "x 2 @2"),
			checker.Options{Promises: map[string]checker.Level{"first": checker.Linearizable, "second": checker.OrderedLag}}, `
linearizable: first: every read saw the newest acknowledged write
linearizable holds, by fast
4 operations, 2 reads, 0 stale, 0 unknown
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := strings.TrimPrefix(c.want, "\n")
			if got := summary(check(t, c.history, c.options)); got != want {
				t.Errorf("%s", cmp.Diff(want, got))
				t.Logf("\n%s", got)
			}
		})
	}
}
