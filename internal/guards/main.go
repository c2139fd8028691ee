// Command guards prints what each protection of push and kraft is worth, in one
// table: what goes wrong without it, at which seed, and in how many runs it goes
// wrong nevertheless with it. Some show to clients, as stalemate guards weighs
// them; the others break an invariant inside their system and are weighed by its
// tests.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"github.com/stalemate-io/stalemate/internal/toys"
	"github.com/stalemate-io/stalemate/reports"
	"github.com/stalemate-io/stalemate/systems/kraft"
	"github.com/stalemate-io/stalemate/systems/push"
)

func main() {
	seeds := flag.Int("seeds", 10, "how many seeds to run with each guard on")
	flag.Parse()
	if *seeds < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage: guards [-seeds N], N at least 1")
		os.Exit(254)
	}
	if err := guards(*seeds); err != nil {
		fmt.Fprintln(os.Stderr, "guards:", err)
		os.Exit(1)
	}
}

// row is a line of the table.
type row struct {
	system, guard, judge, breaks, without, with string
}

// most is how many seeds are searched for a run that shows a guard's worth.
const most = 2000

func guards(seeds int) error {
	seen, err := visible(context.Background(), seeds)
	if err != nil {
		return err
	}
	inside, err := invisible(seeds)
	if err != nil {
		return err
	}
	if missing := len(push.GuardNames()) + len(kraft.GuardNames()) - len(inside); missing != 0 {
		return fmt.Errorf("%d guards are weighed by no test of their system", missing)
	}
	all := append(seen, inside...)
	// What clients see stands before what only the system itself does.
	slices.SortStableFunc(all, func(a, b row) int { return cmp.Or(cmp.Compare(b.system, a.system), cmp.Compare(a.guard, b.guard)) })
	t := reports.NewTable("system", "guard", "judged by", "without it", "at seed", "with it")
	for _, r := range all {
		t.Row(r.system, r.guard, r.judge, r.breaks, r.without, r.with)
	}
	if _, err := fmt.Print(t.String()); err != nil {
		return err
	}
	fmt.Println("\nA seed is that of the first run that showed it, of at most", most, "searched.")
	for _, r := range all {
		if r.without == "-" || !strings.HasPrefix(r.with, "0 ") {
			return fmt.Errorf("%s of %s has not earned its place", r.guard, r.system)
		}
	}
	return nil
}

// visible weighs the guards that clients can see at work.
func visible(ctx context.Context, seeds int) ([]row, error) {
	earned := toys.EarnedGuards()
	rows, errs := make([]row, len(earned)), make([]error, len(earned))
	var all sync.WaitGroup
	for i, e := range earned {
		all.Go(func() {
			var w toys.Worth
			w, errs[i] = e.Weigh(ctx, 1, most, seeds)
			r := row{
				system: e.System, guard: e.Guard, judge: fmt.Sprintf("%s reads", e.Path),
				breaks: fmt.Sprintf("not %s", e.Broken), without: "-", with: fmt.Sprintf("0 of %d seeds", w.Runs),
			}
			if w.Found {
				r.without = fmt.Sprint(w.Without)
			}
			if w.With > 0 {
				r.with = fmt.Sprintf("%d of %d seeds", w.With, w.Runs)
			}
			rows[i] = r
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// invisible runs the systems' own tests, which note what they find as attributes.
func invisible(seeds int) ([]row, error) {
	test := exec.Command("go", "test", "-json", "-count", "1", "-timeout", "24h",
		"-run", "^(TestGuardsEarnTheirPlace|TestEveryGuardEarnsItsPlace)$", "./systems/push", "./systems/kraft")
	test.Env = append(os.Environ(), fmt.Sprintf("STALEMATE_SEEDS=%d", seeds))
	out, failed := test.Output()
	var rows []row
	var said bytes.Buffer
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		var e struct{ Action, Key, Value, Output string }
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("output of go test -json: %w", err)
		}
		said.WriteString(e.Output)
		if e.Action != "attr" || e.Key != "guard" {
			continue
		}
		f := strings.Split(e.Value, ";")
		if len(f) != 5 {
			return nil, fmt.Errorf("attribute guard is %q; expected five fields between semicolons", e.Value)
		}
		rows = append(rows, row{
			system: f[0], guard: f[1], judge: "invariants", breaks: f[2], without: f[3], with: "0 of " + f[4] + " seeds",
		})
	}
	if failed != nil {
		return nil, fmt.Errorf("the tests of push and kraft: %w\n%s", failed, said.String())
	}
	return rows, nil
}
