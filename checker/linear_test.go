package checker

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/histories"
)

// move is one operation of a register, with 0 for the initial value.
type move struct {
	f                  histories.Func
	arg, res           int
	invoked, completed int32
	outcome            histories.Outcome
}

const never = histories.Open

func register(moves ...move) (*histories.History, []int32) {
	h := &histories.History{Functions: []string{"read", "write", "cas"}}
	var ops []int32
	for i, m := range moves {
		h.Operations = append(h.Operations, histories.Operation{
			F: m.f, Argument: histories.Datum(m.arg), Result: histories.Datum(m.res),
			Invoked: m.invoked, Completed: m.completed, Outcome: m.outcome,
			Version: histories.UnknownVersion,
		})
		ops = append(ops, int32(i))
	}
	return h, ops
}

func TestViolationsOfARegister(t *testing.T) {
	const (
		R, W, C  = histories.Read, histories.Write, histories.CAS
		ok, info = histories.Happened, histories.Unknown
		fail     = histories.Failed
	)
	cases := []struct {
		name    string
		moves   []move
		kind    string // empty: linearizable
		witness []int32
	}{
		{"a read returns the newest acknowledged write", []move{{W, 1, 0, 0, 1, ok}, {R, 0, 1, 2, 3, ok}}, "", nil},
		{"a read returns the initial value before the first write", []move{{R, 0, 0, 0, 1, ok}, {W, 1, 0, 2, 3, ok}}, "", nil},
		{"a read of the initial value after a write is stale", []move{{W, 1, 0, 0, 1, ok}, {R, 0, 0, 2, 3, ok}}, violationStale, []int32{0, 1}},
		{"a read of an overwritten value is stale", []move{{W, 1, 0, 0, 1, ok}, {W, 2, 0, 2, 3, ok}, {R, 0, 1, 4, 5, ok}}, violationStale, []int32{0, 1, 2}},
		{"a read may return either of two concurrent writes", []move{{W, 1, 0, 0, 3, ok}, {W, 2, 0, 1, 2, ok}, {R, 0, 1, 4, 5, ok}}, "", nil},
		{"two reads see two concurrent writes in opposite orders", []move{{W, 1, 0, 0, 9, ok}, {W, 2, 0, 1, 10, ok}, {R, 0, 1, 2, 3, ok}, {R, 0, 2, 4, 5, ok}, {R, 0, 1, 6, 7, ok}}, violationStale, []int32{0, 1, 2, 3, 4}},
		{"an unknown write may take effect late", []move{{W, 1, 0, 0, never, info}, {W, 2, 0, 1, 2, ok}, {R, 0, 1, 3, 4, ok}}, "", nil},
		{"an unknown write may take effect once only", []move{{W, 1, 0, 0, never, info}, {W, 2, 0, 1, 2, ok}, {R, 0, 1, 3, 4, ok}, {R, 0, 2, 5, 6, ok}, {R, 0, 1, 7, 8, ok}}, violationStale, []int32{0, 1, 2, 3, 4}},
		{"nobody wrote what was read", []move{{W, 1, 0, 0, 1, ok}, {R, 0, 7, 2, 3, ok}}, violationPhantom, []int32{1}},
		{"what was read is the value of a failed write", []move{{W, 7, 0, 0, 1, fail}, {R, 0, 7, 2, 3, ok}}, violationFailed, []int32{1}},
		{"a value is read before it is written", []move{{R, 0, 1, 0, 1, ok}, {W, 1, 0, 2, 3, ok}}, violationFuture, []int32{0, 1}},
		{"two compare-and-sets of one value cannot both succeed", []move{{W, 1, 0, 0, 1, ok}, {C, 1, 2, 2, 5, ok}, {C, 1, 3, 3, 4, ok}}, violationLostUpdate, []int32{0, 1, 2}},
		{"compare-and-sets in a chain", []move{{C, 0, 1, 0, 5, ok}, {C, 1, 2, 1, 4, ok}, {R, 0, 2, 6, 7, ok}}, "", nil},
		{"a chain that contradicts real time", []move{{C, 1, 2, 0, 1, ok}, {C, 0, 1, 2, 3, ok}}, violationOrder, []int32{0, 1}},
		{"an unknown compare-and-set that was read happened", []move{{C, 0, 1, 0, never, info}, {R, 0, 1, 1, 2, ok}, {R, 0, 0, 3, 4, ok}}, violationStale, []int32{0, 1, 2}},
		{"an unknown compare-and-set that nobody saw need not", []move{{C, 0, 1, 0, never, info}, {C, 0, 2, 1, 2, ok}, {R, 0, 2, 3, 4, ok}}, "", nil},
		{"compare-and-sets that expect each other's value", []move{{C, 1, 2, 0, 3, ok}, {C, 2, 1, 1, 2, ok}}, violationRing, []int32{0, 1}},
		{"a compare-and-set of a value nobody wrote", []move{{C, 5, 2, 0, 3, ok}}, violationPhantom, []int32{0}},
		{"an unknown compare-and-set that was read found what it expected", []move{{W, 1, 0, 0, 1, ok}, {W, 2, 0, 2, 3, ok}, {C, 1, 3, 4, never, info}, {R, 0, 3, 5, 6, ok}}, violationStale, []int32{0, 1, 2, 3}},
		{"an unknown compare-and-set whose value was changed found what it expected", []move{{W, 1, 0, 0, 1, ok}, {W, 5, 0, 2, 3, ok}, {C, 1, 2, 4, never, info}, {C, 2, 3, 5, 6, ok}}, violationOrder, []int32{0, 1, 2, 3}},
		{"an unknown compare-and-set of a value to itself says nothing", []move{{W, 1, 0, 0, 1, ok}, {W, 2, 0, 2, 3, ok}, {C, 1, 1, 4, never, info}, {R, 0, 2, 5, 6, ok}}, "", nil},
		{"a compare-and-set of a value to itself is a read", []move{{W, 1, 0, 0, 1, ok}, {C, 1, 1, 2, 3, ok}, {R, 0, 1, 4, 5, ok}}, "", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h, ops := register(c.moves...)
			for _, engine := range []string{engineFast, engineWindowed, enginePorcupine} {
				r := linearizable(context.Background(), view{history: h, keys: [][]int32{ops}},
					spec{model: modelCASRegister, nilReads: nilAbsent}, linearOptions{Engine: engine})
				if r.Err != nil || r.Engine != engine {
					t.Fatalf("%s: engine %q, err %v", engine, r.Engine, r.Err)
				}
				if c.kind == "" {
					if r.Answer != Holds {
						t.Errorf("%s: %v %v, want it to hold", engine, r.Answer, r.Failures)
					}
					continue
				}
				if r.Answer != Violated || r.ConfirmedBy != enginePorcupine {
					t.Errorf("%s: %v confirmed by %q, want a confirmed violation", engine, r.Answer, r.ConfirmedBy)
					continue
				}
				if engine == engineFast {
					if f := r.Failures[0]; f.Kind != c.kind || !slices.Equal(f.Witness, c.witness) {
						t.Errorf("kind %q, witness %v; want %q, %v", f.Kind, f.Witness, c.kind, c.witness)
					}
				}
			}
		})
	}
}

func TestAViolationWinsOverWhatIsUndecided(t *testing.T) {
	h, ops := register(
		move{histories.Write, 1, 0, 0, 1, histories.Happened}, move{histories.Read, 0, 9, 2, 3, histories.Happened},
		move{histories.Txn, 0, 0, 4, 5, histories.Happened})
	h.Functions = []string{"read", "write", "cas", "acquire", "release", "add", "enqueue", "dequeue", "txn"}
	r := linearizable(context.Background(), view{history: h, keys: [][]int32{ops[2:], ops[:2]}}, spec{model: modelRegister}, linearOptions{})
	if r.Answer != Violated || len(r.Failures) != 1 || r.Failures[0].Key != 1 {
		t.Errorf("got %+v", r)
	}
	r = linearizable(context.Background(), view{history: h, keys: [][]int32{ops[2:]}}, spec{model: modelRegister}, linearOptions{})
	if r.Answer != Undecided || !strings.Contains(r.Reason, `no operation "txn"`) {
		t.Errorf("got %+v", r)
	}
}

func TestSearchesKeepTheirBudget(t *testing.T) {
	h, ops := busyHistory(24, 4000, 0, 0, false)
	v := view{history: h, keys: [][]int32{ops}}
	s := spec{model: modelRegister, nilReads: nilAbsent}
	r := linearizable(context.Background(), v, s, linearOptions{Engine: enginePorcupine, Memory: 8 << 20, Workers: 1})
	if r.Answer != Undecided || !strings.Contains(r.Reason, "memory") {
		t.Errorf("memory: got %v %q", r.Answer, r.Reason)
	}
	r = linearizable(context.Background(), v, s, linearOptions{Engine: enginePorcupine, Timeout: time.Millisecond})
	if r.Answer != Undecided || !strings.Contains(r.Reason, "time") {
		t.Errorf("time: got %v %q", r.Answer, r.Reason)
	}
	r = linearizable(context.Background(), v, s, linearOptions{Engine: engineWindowed, Memory: 1, Workers: 1})
	if r.Answer != Undecided || !strings.Contains(r.Reason, "memory") {
		t.Errorf("windowed: got %v %q", r.Answer, r.Reason)
	}
}

func TestLongViolationsHaveShortWitnesses(t *testing.T) {
	for _, values := range []int{0, 4} {
		h, ops := busyHistory(5, 3000, values, 3, true)
		for i := 2900; ; i++ { // a read that returns what nobody had written of late
			op := &h.Operations[i]
			if op.F == histories.Read && op.Outcome == histories.Happened {
				op.Result = h.Operations[0].Result + 1000000
				break
			}
		}
		s := spec{model: modelCASRegister, nilReads: nilAbsent}
		r := linearizable(context.Background(), view{history: h, keys: [][]int32{ops}}, s, linearOptions{})
		if r.Answer != Violated || r.ConfirmedBy != enginePorcupine || !r.Failures[0].Minimal || len(r.Failures[0].Witness) > 8 {
			t.Errorf("%d values: %+v", values, r)
		}
	}
}

func TestMalformedOperationsAreRefused(t *testing.T) {
	const ok = histories.Happened
	for name, moves := range map[string][]move{
		"completes before it is invoked":  {{histories.Write, 1, 0, 5, 4, ok}},
		"is not in order of invocation":   {{histories.Write, 1, 0, 5, 6, ok}, {histories.Read, 0, 1, 2, 3, ok}},
		"completes before it is invoked ": {{histories.Write, 1, 0, 5, 5, ok}},
		"is not in order of invocation ":  {{histories.Write, 1, 0, 5, 6, ok}, {histories.Read, 0, 1, 5, 7, ok}},
	} {
		name = strings.TrimSpace(name) // the second of a kind is the case of equal positions
		h, ops := register(moves...)
		for _, engine := range []string{engineFast, engineWindowed, enginePorcupine} {
			r := linearizable(context.Background(), view{history: h, keys: [][]int32{ops}},
				spec{model: modelRegister}, linearOptions{Engine: engine})
			if r.Answer != Undecided || !strings.Contains(r.Reason, name) {
				t.Errorf("%s: %v %q, want undecided: %s", engine, r.Answer, r.Reason, name)
			}
		}
	}
}
