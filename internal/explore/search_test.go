package explore

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/internal/toys"
)

// TestPlansRepeatWhatWasDrawn holds the script of a run against the run: the same
// history, to the byte.
func TestPlansRepeatWhatWasDrawn(t *testing.T) {
	for _, s := range []*Search{
		{System: "push"}, {System: "kraft"}, {System: "push", Workload: toys.Data}, {System: "kraft", Workload: toys.Data},
	} {
		t.Run(s.System+" "+s.Workload, func(t *testing.T) {
			s := s.withDefaults()
			for seed := uint64(1); seed <= 6; seed++ {
				p, drawn, err := s.draw(context.Background(), seed, false)
				if err != nil {
					t.Fatal(err)
				}
				again, err := p.Run(context.Background(), false)
				if err != nil {
					t.Fatal(err)
				}
				want, err := drawn.Digest()
				if err != nil {
					t.Fatal(err)
				}
				if got, err := again.Digest(); err != nil || got != want {
					t.Errorf("seed %d: the script of %d operations gives another history (%v)", seed, len(p.Ops), err)
				}
				if drawn.Verdict == nil || drawn.Verdict.Reads == 0 {
					t.Errorf("seed %d: nothing was read", seed)
				}
			}
		})
	}
}

// search is a small one that finds something.
func search(workers int) *Search {
	return &Search{System: "push", Off: []string{"controller-epoch-check"}, First: 5, Runs: 4, Workers: workers}
}

func results(t *testing.T, s *Search) *Summary {
	t.Helper()
	r, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	found, err := s.Shrink(context.Background(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s.Summary(r, found)
}

// files gives a summary as it stands in a folder.
func files(t *testing.T, s *Summary) map[string]string {
	t.Helper()
	dir := t.TempDir()
	if err := s.Write(dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(text)
	}
	return out
}

// TestSearch finds what a missing guard lets happen, shrinks it, and finds the
// same with one worker and with several, and in shards.
func TestSearch(t *testing.T) {
	s := results(t, search(1))
	if s.Failed == 0 || len(s.Found) == 0 {
		t.Fatalf("nothing was found: %+v", s)
	}
	guarded := false
	for _, f := range s.Found {
		if f.Faults > 6 || f.Operations > 30 {
			t.Errorf("%s shrank to no less than %d faults and %d operations", f.Failure, f.Faults, f.Operations)
		}
		guarded = guarded || f.Guarded
		c, err := ParseCase(f.File, f.text)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(f.text, c.String()); d != "" {
			t.Errorf("%s is read as something else: %s", f.File, d)
		}
		o, d, err := c.Replay(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if !d.Same() || o.Verdict == nil {
			t.Errorf("%s repeats another run: %+v", f.File, d)
		}
	}
	if !guarded {
		t.Error("nothing of what was found needs the guard off")
	}
	t.Run("as many workers as there are find the same", func(t *testing.T) {
		if d := cmp.Diff(files(t, s), files(t, results(t, search(3)))); d != "" {
			t.Error(d)
		}
	})
	t.Run("shards find no less, and agree on the counts", func(t *testing.T) {
		var parts []*Summary
		for i := range 2 {
			part := search(2)
			part.Shard, part.Shards = i, 2
			dir := t.TempDir()
			if err := results(t, part).Write(dir); err != nil {
				t.Fatal(err)
			}
			p, err := Read(dir)
			if err != nil {
				t.Fatal(err)
			}
			if missing := p.Missing(); len(missing) != 1 {
				t.Errorf("missing beside shard %d: %v", i, missing)
			}
			parts = append(parts, p)
		}
		merged, err := Merge(parts...)
		if err != nil {
			t.Fatal(err)
		}
		merged.Shards = s.Shards
		if d := cmp.Diff(files(t, s), files(t, merged)); d != "" {
			t.Error(d)
		}
		if _, err := Merge(parts[0], parts[0]); err == nil || !strings.Contains(err.Error(), "shards 0/2 and 0/2") {
			t.Errorf("the same shard twice: %v", err)
		}
		other := *parts[1]
		other.Off = nil
		if _, err := Merge(parts[0], &other); err == nil || !strings.Contains(err.Error(), "different searches") {
			t.Errorf("shards of different searches: %v", err)
		}
	})
}

// TestInterrupted keeps what was found when the search is broken off, and leaves
// it as it is when the shrinking is.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := search(1)
	s.Runs = 1 << 30
	s.Progress = func(p Progress) {
		if p.Failed > 0 {
			cancel()
		}
	}
	r, err := s.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	found, err := s.Shrink(ctx, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 || len(found[0].Case.Ops) < 100 {
		t.Fatalf("expected one finding, as it was found: %+v", found)
	}
	if _, d, err := found[0].Case.Replay(context.Background()); err != nil || !d.Same() {
		t.Errorf("the case repeats another run: %+v, %v", d, err)
	}
}

// TestKeepsItsPromise finds nothing where every guard is on.
func TestKeepsItsPromise(t *testing.T) {
	r, err := (&Search{System: "kraft", First: 1, Runs: 20}).Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if r.Runs != 20 || r.Failed > 0 {
		t.Errorf("%d of %d runs failed: %v", r.Failed, r.Runs, r.Seen)
	}
}

// TestRequirement holds a path to more than is promised.
func TestRequirement(t *testing.T) {
	s := &Search{System: "kraft", First: 1, Runs: 8, Require: Requirements("kraft", toys.Leadership, checker.Linearizable)}
	r, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for f := range r.Seen {
		if f.Path == "quorum" || f.Kind == "regress" || f.Kind == "fork" {
			t.Errorf("kraft shows %s", f)
		}
	}
	if r.Seen[Failure{Path: "broker", Kind: "stale"}] == 0 {
		t.Errorf("no broker was ever stale: %v", r.Seen)
	}
}

// TestRegressions replays the cases in testdata, found by earlier searches. Those
// that were found with a guard off show nothing with every guard on.
func TestRegressions(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in testdata: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c, err := ParseCase(file, string(text))
			if err != nil {
				t.Fatal(err)
			}
			_, d, err := c.Replay(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if len(d.Missing) > 0 || len(d.Unexpected) > 0 {
				t.Errorf("missing %v, unexpected %v", d.Missing, d.Unexpected)
			}
			if d.Digest != "" {
				t.Logf("the history is another than when the case was found: %s", d.Digest)
			}
			if len(c.Off) == 0 {
				return
			}
			guarded := c.clone()
			guarded.Off = nil
			o, err := guarded.Run(context.Background(), true)
			if err != nil {
				t.Fatal(err)
			}
			if len(o.Failures) > 0 {
				t.Errorf("with every guard on it shows %v", o.Failures)
			}
		})
	}
}

func TestParseCaseErrors(t *testing.T) {
	const good = "system push\ncontrollers 1\nbrokers 1\npartitions 1\nseed 1\nend 1s\nexpect broker stuck\nhistory x\n"
	if _, err := ParseCase("f", good); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"a case has all its parts", "system push\n", "no line that begins with controllers"},
		{"systems are push and kraft", "system zab\n", `f:1: system "zab"`},
		{"the cluster has nodes", "controllers 0\n", `"0"; expected a number from 1`},
		{"but not too many", "brokers 100000\n", `"100000"; expected a number from 1 to 1000`},
		{"each part comes once", "seed 1\nseed 2\n", "f:2: a second line that begins with seed"},
		{"faults are those of the simulator", "fault at 1s melt-node c1\n", "expected a kind of fault"},
		{"operations are those of clients", "op at 1s x1 dance\n", "expected a line such as"},
		{"levels have names", "require broker good\n", `good`},
		{"runs end", "end never\n", `time "never"`},
		{"failures have a kind", "expect broker\n", "expected a read path"},
		{"lines are known", "sing\n", `no line begins with "sing"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseCase("f", tt.text)
			input, ok := err.(*histories.InputError)
			if !ok || !strings.Contains(input.Error(), tt.want) {
				t.Errorf("error is %v, want one that has %q", err, tt.want)
			}
		})
	}
}

// BenchmarkDraw measures one run of a search.
func BenchmarkDraw(b *testing.B) {
	for _, system := range []string{"push", "kraft"} {
		b.Run(system, func(b *testing.B) {
			s := (&Search{System: system}).withDefaults()
			start, seed := time.Now(), uint64(0)
			for b.Loop() {
				seed++
				if _, _, err := s.draw(context.Background(), seed, false); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/time.Since(start).Minutes(), "runs/min")
		})
	}
}
