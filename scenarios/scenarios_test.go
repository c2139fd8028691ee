package scenarios

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the stories as they are told now to testdata")

// TestStories replays every scenario, whose expectations must be met, and holds
// the story against the one in testdata.
func TestStories(t *testing.T) {
	if len(Names()) < 7 {
		t.Fatalf("only %d scenarios: %v", len(Names()), Names())
	}
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			s, err := Load(name)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if err := s.Play(context.Background(), &b); err != nil {
				t.Errorf("%v\n%s", err, b.String())
			}
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), b.String()); d != "" {
				t.Errorf("the story changed (-want +got); run with -update if that is right:\n%s", d)
			}
			for n, line := range strings.Split(b.String(), "\n") {
				if len([]rune(line)) > 100 {
					t.Errorf("line %d has more than 100 columns: %s", n+1, line)
				}
			}
		})
	}
}

// TestUnmetExpectation holds a scenario to what does not happen.
func TestUnmetExpectation(t *testing.T) {
	s, err := Parse("wrong", "system push\nask t-0\nexpect broker divergent\n")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := s.Play(context.Background(), &b); err == nil || !strings.Contains(err.Error(), "line 3: path broker is linearizable, expected divergent") {
		t.Errorf("error is %v", err)
	}
}

func TestParse(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"a file without a cluster shows nothing", "about nothing\n", "f:1: no cluster"},
		{"steps come after the cluster", "run 1s\n", "f:1: run before there is a cluster"},
		{"systems are push and kraft", "system zab\n", `f:1: system "zab"; expected push or kraft`},
		{"a cluster without expectation cannot fail", "system push\nask t-0\n", "f:1: this cluster is held to nothing"},
		{"guards are switched off first", "system push\nrun 1s\noff x\n", "f:3: off comes right after system"},
		{"partitions are t-0 and t-1", "system push\nask t-2\n", `f:2: partition "t-2"; expected t-0 or t-1`},
		{"brokers have numbers", "system push\nelect t-0 4\n", `f:2: broker "4"; expected 1 to 3`},
		{"durations are above nothing", "system push\n\nrun 0s\n", "f:3: run 0s; expected a duration"},
		{"faults are those of the simulator", "system push\nfault melt-node c1\n", "f:2: "},
		{"verdicts have names", "system push\nexpect broker fine\n", `f:2: verdict "fine"`},
		{"values are integers", "system push\nproduce t-0 b1 x\n", `f:2: value "x"; expected an integer`},
		{"who serves data is a broker", "system push\nfetch t-0 c1\n", `f:2: broker "c1"; expected b1, b2 or b3`},
		{"a cluster is about leaders or about data", "system push\nask t-0\nfetch t-0 b1\n", "f:3: fetch beside what is judged by another model"},
		{"words are known", "system push\nsing\n", `f:2: no step "sing"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("f", tt.text)
			var e *Error
			if !errors.As(err, &e) || !strings.HasPrefix(e.Error(), tt.want) {
				t.Errorf("error is %v, want %s...", err, tt.want)
			}
		})
	}
}

// BenchmarkScenario measures one replay, three clusters and all.
func BenchmarkScenario(b *testing.B) {
	s, err := Load("zombie-controller")
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	for b.Loop() {
		if err := s.Play(context.Background(), &strings.Builder{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(time.Since(start).Seconds()*1000/float64(b.N), "ms/replay")
}
