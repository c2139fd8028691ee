package checker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stalemate-io/stalemate/histories"
)

// logged is a log of writes to the only key, in order, with rising versions.
func logged(complete bool, values ...int64) *histories.Log {
	log := &histories.Log{Complete: complete}
	for n, v := range values {
		log.Writes = append(log.Writes, histories.LogWrite{Order: int64(n) + 100, Value: histories.Int(v), Version: histories.At(int64(n))})
	}
	return log
}

// resolveLines reads a history of one register from lines "process type f value [version]".
func resolveLines(t testing.TB, text string) *histories.History {
	t.Helper()
	var b histories.Builder
	for line := range strings.Lines(strings.TrimSpace(text)) {
		var (
			e             histories.Event
			kind, f, v, w string
		)
		if n, err := fmt.Sscan(line, &e.Process.Client, &kind, &f, &v, &w); n < 4 {
			t.Fatalf("%q: %v", line, err)
		}
		e.F, e.Time = f, histories.UnknownTime
		e.Type = map[string]histories.Type{"invoke": histories.Invoke, "ok": histories.OK, "fail": histories.Fail, "info": histories.Info}[kind]
		value, err := histories.ParseEDN(v)
		if err != nil {
			t.Fatal(err)
		}
		e.Value = value
		if w != "" {
			var n int64
			fmt.Sscan(w, &n)
			e.Version = histories.At(n)
		}
		if err := b.Add(&e); err != nil {
			t.Fatal(err)
		}
	}
	h, err := b.History()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestResolve(t *testing.T) {
	const unknown = "0 invoke write 1\n0 ok write 1 0\n1 invoke write 2\n1 info write 2\n"
	uncertain := logged(true, 1, 2)
	uncertain.Writes[1].Uncertain = true
	versionless := logged(true, 1, 2)
	versionless.Writes[1].Version = histories.Version{}
	for name, c := range map[string]struct {
		history string
		log     *histories.Log
		want    string // happened never open, then the kinds of contradictions
	}{
		"an unknown write that the log holds happened":                            {unknown, logged(true, 1, 2), "1 0 0"},
		"so it did where the log is not complete":                                 {unknown, logged(false, 1, 2), "1 0 0"},
		"an unknown write that a complete log does not hold never happened":       {unknown, logged(true, 1), "0 1 0"},
		"a log that is not complete says nothing of what it does not hold":        {unknown, logged(false, 1), "0 0 1"},
		"an uncertain entry decides nothing":                                      {unknown, uncertain, "0 0 1"},
		"an entry without version decides nothing on a key that has versions":     {unknown, versionless, "0 0 1"},
		"a write that never completed is one of unknown outcome":                  {"0 invoke write 1\n0 ok write 1 0\n1 invoke write 2\n", logged(true, 1, 2), "1 0 0"},
		"a compare-and-set is one that writes its new value":                      {"0 invoke write 1\n0 ok write 1 0\n1 invoke cas [1,2]\n1 info cas [1,2]", logged(true, 1, 2), "1 0 0"},
		"of two unknown writes of one value the log does not tell":                {unknown + "2 invoke write 2\n2 info write 2", logged(true, 1, 2), "0 0 2"},
		"nor of one beside an acknowledged write of that value":                   {unknown + "2 invoke write 2\n2 ok write 2 1", logged(true, 1, 2), "0 0 1"},
		"two unknown writes of a value that the log does not hold never happened": {unknown + "2 invoke write 2\n2 info write 2", logged(true, 1), "0 2 0"},
		"reads of unknown outcome are left alone":                                 {"0 invoke write 1\n0 ok write 1 0\n1 invoke read nil\n1 info read nil", logged(true, 1), "0 0 0"},
		"an acknowledged write that a complete log does not hold is lost":         {"0 invoke write 1\n0 ok write 1 0\n1 invoke write 2\n1 ok write 2 1", logged(true, 1), "0 0 0 log-lost"},
		"one that only an incomplete log does not hold is not":                    {"0 invoke write 1\n0 ok write 1 0\n1 invoke write 2\n1 ok write 2 1", logged(false, 1), "0 0 0"},
		"a failed write that the log holds is a contradiction":                    {"0 invoke write 1\n0 ok write 1 0\n1 invoke write 2\n1 fail write 2", logged(true, 1, 2), "0 0 0 log-failed"},
		"so is an acknowledged version other than the log's":                      {"0 invoke write 1\n0 ok write 1 3", logged(true, 1), "0 0 0 log-version"},
		"so is a read of another value than the log has under its version":        {"0 invoke write 1\n0 ok write 1 0\n1 invoke read nil\n1 ok read 7 0", logged(true, 1), "0 0 0 log-version"},
		"so is a read of what comes after the end of a complete log":              {unknown + "2 invoke read nil\n2 ok read 2 1", logged(true, 1), "0 1 0 log-lost"},
		"so is a value that was written once and is in the log twice":             {"0 invoke write 1\n0 ok write 1 0", logged(true, 1, 1), "0 0 0 log-twice"},
		"so is a value in the log that nobody wrote":                              {"0 invoke write 1\n0 ok write 1 0", logged(true, 1, 9), "0 0 0 log-unwritten"},
		"an unknown write that is in the log twice stays open":                    {unknown, logged(true, 1, 2, 2), "0 0 1"},
	} {
		t.Run(name, func(t *testing.T) {
			h := resolveLines(t, c.history)
			before := slices.Clone(h.Operations)
			r := Resolve(h, c.log)
			got := fmt.Sprintf("%d %d %d", r.Happened, r.Never, r.Open)
			for _, f := range r.flaws {
				got += " " + f.kind
			}
			if got != c.want {
				t.Errorf("happened, never, open, contradictions: got %s, want %s", got, c.want)
			}
			if !slices.Equal(before, h.Operations) {
				t.Error("the history that was resolved is not as it was")
			}
			for i := range r.History.Operations {
				was, is := &before[i], &r.History.Operations[i]
				if is.Completed != was.Completed {
					t.Errorf("%+v: completed at %d before", is, was.Completed)
				}
				if was.Outcome != histories.Unknown && *is != *was {
					t.Errorf("what its client knows was changed from %+v to %+v", was, is)
				}
			}
		})
	}
}

func TestALyingLogHidesNothing(t *testing.T) {
	const stale = "0 invoke write 1\n0 ok write 1 0\n0 invoke write 2\n0 ok write 2 1\n1 invoke read nil\n1 ok read 1 0\n"
	for name, c := range map[string]struct {
		history         string
		log             *histories.Log
		without, answer Answer
	}{
		"broken without the log and with it":                      {stale, logged(true, 1, 2), Violated, Violated},
		"broken without the log, which leaves out what was newer": {stale, logged(true, 1), Violated, Violated},
		"held without the log, which lost an acknowledged write":  {"0 invoke write 1\n0 ok write 1 0", logged(true), Holds, Violated},
		"held without the log, by which a read missed an open write": {
			"0 invoke write 1\n0 ok write 1 0\n1 invoke write 2\n2 invoke write 3\n2 ok write 3 2\n1 info write 2\n3 invoke read nil\n3 ok read 3 2\n",
			logged(true, 1, 3, 2), Holds, Violated},
		"held both ways": {"0 invoke write 1\n0 ok write 1 0\n1 invoke write 2\n1 info write 2\n2 invoke read nil\n2 ok read 1 0\n", logged(true, 1, 2), Holds, Holds},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := CheckWithLog(context.Background(), resolveLines(t, c.history), c.log, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if v.Holds != c.without {
				t.Errorf("without the log: %s, want %s (%s)", v.Holds, c.without, v.Reason)
			}
			if got := v.Answer(); got != c.answer {
				t.Errorf("by all that is known: %s, want %s (with the log %s: %s)", got, c.answer, v.WithLog.Verdict, v.WithLog.Reason)
			}
		})
	}
}

// A true log never makes a history worse: whatever one register under random
// delays and lost answers shows, it shows with its own log too, and a
// linearizable one stays so.
func TestATrueLogContradictsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, log := simulateRegister(t)
		versions := rapid.Bool().Draw(t, "versions")
		if !versions {
			for i := range h.Operations {
				h.Operations[i].Version = histories.UnknownVersion
			}
		}
		v, err := CheckWithLog(context.Background(), h, log, Options{})
		if errors.Is(err, ErrNothingChecked) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if v.Verdict != ClassLinearizable || v.WithLog.Verdict != ClassLinearizable || v.Answer() != Holds {
			t.Fatalf("without the log %s (%s), with it %s (%s) and %v", v.Verdict, v.Reason, v.WithLog.Verdict, v.WithLog.Reason, v.WithLog.Anomalies)
		}
		if v.WithLog.Open > 0 {
			t.Fatalf("%d writes stayed open, though all values are different and the log is complete", v.WithLog.Open)
		}
		if v.WithLog.Happened+v.WithLog.Never != v.Unknown {
			t.Fatalf("%d happened and %d never did of %d", v.WithLog.Happened, v.WithLog.Never, v.Unknown)
		}
	})
}

// simulateRegister gives the history of clients of one atomic register, each
// write of which may take effect any time after it was asked for, also after
// its client gave up, and the register's log.
func simulateRegister(t *rapid.T) (*histories.History, *histories.Log) {
	type call struct {
		client int
		write  bool
		value  int64
		done   bool
		seen   int64
		at     int64
		given  bool // its client gave up
	}
	var (
		b       histories.Builder
		log     = &histories.Log{Complete: true}
		open    []*call
		free    = []int{0, 1, 2, 3}
		clients = len(free)
		current = int64(-1)
		next    int64
	)
	add := func(c *call, kind histories.Type) {
		e := histories.Event{Process: histories.Process{Client: c.client}, Type: kind, F: "read", Time: histories.UnknownTime}
		if c.write {
			e.F, e.Value = "write", histories.Int(c.value)
		} else if kind == histories.OK && c.seen >= 0 {
			e.Value = histories.Int(c.seen)
		}
		if kind == histories.OK && c.at >= 0 {
			e.Version = histories.At(c.at)
		}
		if err := b.Add(&e); err != nil {
			t.Fatal(err)
		}
	}
	for range rapid.IntRange(1, 60).Draw(t, "steps") {
		switch step := rapid.IntRange(0, 5).Draw(t, "step"); {
		case step < 2 && len(free) > 0:
			c := &call{client: free[0], write: step == 0, value: next}
			free = free[1:]
			next++
			open = append(open, c)
			add(c, histories.Invoke)
		case len(open) == 0:
		default:
			c := open[rapid.IntRange(0, len(open)-1).Draw(t, "which")]
			switch {
			case !c.done:
				if step == 5 && c.write && !c.given {
					c.given = true
					add(c, histories.Info)
					free = append(free, clients)
					clients++
					continue
				}
				c.done, c.seen, c.at = true, current, int64(len(log.Writes))-1
				if c.write {
					current, c.at = c.value, int64(len(log.Writes))
					log.Writes = append(log.Writes, histories.LogWrite{Order: c.at, Value: histories.Int(c.value), Version: histories.At(c.at)})
				}
			default:
				if !c.given {
					add(c, histories.OK)
					free = append(free, c.client)
				}
				open = slices.DeleteFunc(open, func(o *call) bool { return o == c })
			}
		}
	}
	h, err := b.History()
	if err != nil {
		t.Fatal(err)
	}
	return h, log
}
