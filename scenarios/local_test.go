package scenarios

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/stalemate-io/stalemate/systems/docker/dockertest"
	"github.com/stalemate-io/stalemate/systems/processes"
	"github.com/stalemate-io/stalemate/systems/zookeeper"
)

// everyScenario in the environment has all scenarios played for real, which takes
// seven minutes.
const everyScenario = "STALEMATE_SCENARIOS"

// The test program is also the program that runs a node, as stalemate is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "node" {
		os.Exit(runNode(os.Args[len(os.Args)-1]))
	}
	goleak.VerifyTestMain(m)
}

func runNode(file string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	c, err := processes.ReadConfig(file)
	if err == nil {
		err = processes.Run(ctx, c)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// short is what every run of the tests plays for real: a message is lost, and a
// controller dies between the store's answer and its first push.
const short = `
system push
off resend-until-answered
fault lose-message UpdateMetadata #1 @controller -> b3
elect t-0 2
run 300ms
elect t-1 1
run 300ms
ask t-1
final t-0
expect broker divergent
cause lost

system push
fault kill-node @controller on @controller store-write t-0 #1
elect t-0 2
run 300ms
ask t-0
expect broker ordered-lag
cause never sent
`

func TestBothWorldsAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: starts real processes")
	}
	if _, err := zookeeper.Find(t.Context(), "", ""); err != nil {
		t.Skip("no ZooKeeper for push: ", err)
	}
	holdAgainstSimulator(t, false)
}

func TestBothWorldsAgreeInContainers(t *testing.T) {
	dockertest.Need(t)
	holdAgainstSimulator(t, true)
}

// holdAgainstSimulator plays scenarios for real and in the simulator.
func holdAgainstSimulator(t *testing.T, containers bool) {
	played := map[string]func() (*Scenario, error){
		"a short scenario": func() (*Scenario, error) { return Parse("short", short) },
	}
	if os.Getenv(everyScenario) != "" {
		for _, name := range Names() {
			played[name] = func() (*Scenario, error) { return Load(name) }
		}
	}
	for name, load := range played {
		t.Run(name, func(t *testing.T) {
			s, err := load()
			if err != nil {
				t.Fatal(err)
			}
			var simulated, real strings.Builder
			if err := s.Play(t.Context(), &simulated); err != nil {
				t.Fatal(err)
			}
			l := Local{Dir: t.TempDir(), Containers: containers}
			if err := l.PlayFor(t.Context(), s, &real); err != nil {
				t.Errorf("%v\n%s", err, real.String())
			}
			want, got := told(simulated.String()), told(real.String())
			for i := range got {
				if strings.HasSuffix(got[i], leftOut) && i < len(want) {
					want[i] = got[i]
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("the real thing tells something else (-simulated +real):\n%s\n%s", d, real.String())
			}
		})
	}
}

const leftOut = "left out"

var (
	anAct    = regexp.MustCompile(`(?m)^-- (.*) --$`)
	aVerdict = regexp.MustCompile(`(?m)^  verdict over path (.*)$`)
	aCause   = regexp.MustCompile(`Cause: ([^:.]*)`)
)

// told gives a line for each act of a story: the verdicts, and the first cause.
func told(story string) (lines []string) {
	acts := anAct.FindAllStringSubmatchIndex(story, -1)
	for i, at := range acts {
		end := len(story)
		if i+1 < len(acts) {
			end = acts[i+1][0]
		}
		line, text := story[at[2]:at[3]], story[at[1]:end]
		if strings.Contains(text, "The rest is left out") {
			lines = append(lines, line+" "+leftOut)
			continue
		}
		for _, v := range aVerdict.FindAllStringSubmatch(text, -1) {
			line += "; " + v[1]
		}
		if c := aCause.FindStringSubmatch(strings.Join(strings.Fields(text), " ")); c != nil {
			line += "; " + c[1]
		}
		lines = append(lines, line)
	}
	return lines
}

func TestWhatAStoryTold(t *testing.T) {
	const story = `
-- push without a-guard --
  verdict over path broker: divergent (fork, stuck)
    fork: text. Cause: never
    sent: the push waits.
-- kraft --
  (The rest is left out: so it is.)
-- kraft --
  verdict over path leader: ordered lag

  verdict over path quorum: linearizable
`
	want := []string{"push without a-guard; broker: divergent (fork, stuck); never sent", "kraft left out", "kraft; leader: ordered lag; quorum: linearizable"}
	if d := cmp.Diff(want, told(story)); d != "" {
		t.Error(d)
	}
}
