package live

import (
	"errors"
	"strings"
	"testing"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems/processes"
	"github.com/stalemate-io/stalemate/systems/sim"
)

func TestFaultsThatABreakerRefuses(t *testing.T) {
	b := NewBreaker(&System{Cluster: &processes.Cluster{}}, func(e histories.Event) { t.Errorf("noted %v", e) }, 0)
	for _, test := range []struct{ rule, fault, want string }{
		{"a clock is the simulator's", "at 0s for 1s clock-drift -80% c1", ErrOnlySimulated.Error()},
		{"so is a moment between two effects", "at 0s for 1s kill-node c1 effect 3", ErrOnlySimulated.Error()},
		{"and a share of lost messages", "at 0s for 1s lose 20% c1", ErrOnlySimulated.Error()},
	} {
		t.Run(test.rule, func(t *testing.T) {
			f, err := sim.ParseFault(test.fault)
			if err != nil {
				t.Fatal(err)
			}
			err = b.Inject(f)
			if !errors.Is(err, ErrOnlySimulated) || !strings.Contains(err.Error(), f.Kind) {
				t.Errorf("got %v", err)
			}
		})
	}
	if err := b.Inject(sim.Fault{Kind: "kill-node"}); err == nil || !strings.Contains(err.Error(), "needs a node") {
		t.Errorf("a fault that strikes nobody: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}
