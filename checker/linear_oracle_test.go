package checker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/histories"
)

// randomHistory plays a model with clients whose operations take effect at a
// random instant of their interval, or with an unknown outcome at any later
// time or never, and then, every other time, changes what one operation
// returned. So about half are legal by construction.
func randomHistory(r *rand.Rand, m model, clients, operations, values int) (*histories.History, []int32) {
	h := &histories.History{Functions: []string{"read", "write", "cas", "acquire", "release", "add", "enqueue", "dequeue", "txn"}}
	type pending struct {
		op      int
		applied bool
	}
	var open []*pending
	busy := make([]*pending, clients)
	state := newToy(m)
	position, fresh := int32(0), int64(0)
	value := func() histories.Datum {
		if values == 0 {
			fresh++
			return h.Data.Pack(histories.Int(fresh))
		}
		return h.Data.Pack(histories.Int(int64(1 + r.IntN(values))))
	}
	for len(h.Operations) < operations || slices.ContainsFunc(busy, func(p *pending) bool { return p != nil }) {
		for _, p := range open {
			if !p.applied && r.IntN(4) == 0 {
				p.applied = true
				state.apply(h, &h.Operations[p.op])
			}
		}
		c := r.IntN(clients)
		p := busy[c]
		switch {
		case p == nil && len(h.Operations) < operations:
			op := state.invent(r, value)
			op.Invoked, op.Completed, op.Version = position, histories.Open, histories.UnknownVersion
			h.Operations = append(h.Operations, op)
			busy[c] = &pending{op: len(h.Operations) - 1}
			open = append(open, busy[c])
		case p != nil && r.IntN(9) == 0 && h.Operations[p.op].F != histories.Read:
			busy[c] = nil // unknown; it stays in open and may yet take effect
		case p != nil && p.applied:
			op := &h.Operations[p.op]
			op.Completed = position
			if op.Outcome == histories.Unknown {
				op.Outcome = histories.Happened
			}
			busy[c] = nil
			open = slices.DeleteFunc(open, func(q *pending) bool { return q == p })
		default:
			continue
		}
		position++
	}
	for i := range h.Operations {
		if op := &h.Operations[i]; op.Completed == histories.Open {
			op.Outcome = histories.Unknown
			op.Version = histories.UnknownVersion
			if op.F == histories.Read || op.F == histories.Dequeue {
				op.Result = nilDatum
			}
		}
	}
	if r.IntN(2) == 0 {
		corrupt(r, h)
	}
	ops := make([]int32, len(h.Operations))
	for i := range ops {
		ops[i] = int32(i)
	}
	return h, ops
}

// corrupt gives one known operation the result of another of its kind, or
// shifts what it was told.
func corrupt(r *rand.Rand, h *histories.History) {
	for range 8 {
		a, b := &h.Operations[r.IntN(len(h.Operations))], &h.Operations[r.IntN(len(h.Operations))]
		if a.Outcome != histories.Happened || b.Outcome == histories.Failed {
			continue
		}
		switch {
		case a.F == histories.Read && b.F == histories.Read && a.Result != b.Result && b.Outcome == histories.Happened:
			a.Result, a.Version = b.Result, b.Version
			return
		case a.F == histories.Read && b.F == histories.Write:
			a.Result = b.Argument
			return
		case a.F == histories.CAS && b.F != histories.Read && b.F != histories.CAS:
			a.Argument = b.Argument
			return
		case a.F == histories.Dequeue && b.F == histories.Enqueue:
			a.Result = b.Argument
			return
		case (a.F == histories.Acquire || a.F == histories.Release) && r.IntN(3) == 0:
			a.F = histories.Acquire + histories.Release - a.F
			return
		case a.Version != histories.UnknownVersion:
			a.Version++
			return
		}
	}
}

// toy is an implementation of a model, written apart from the machines.
type toy struct {
	model   model
	value   histories.Datum
	version int64
	held    bool
	list    []histories.Value
}

func newToy(m model) *toy { return &toy{model: m} }

func (t *toy) invent(r *rand.Rand, value func() histories.Datum) histories.Operation {
	switch t.model {
	case modelMutex:
		return histories.Operation{F: []histories.Func{histories.Acquire, histories.Release}[r.IntN(2)]}
	case modelCounter, modelSet:
		if r.IntN(2) == 0 {
			return histories.Operation{F: histories.Read}
		}
		return histories.Operation{F: histories.Add, Argument: value()}
	case modelQueue:
		if r.IntN(2) == 0 {
			return histories.Operation{F: histories.Dequeue}
		}
		return histories.Operation{F: histories.Enqueue, Argument: value()}
	}
	switch n := r.IntN(6); {
	case n < 3:
		return histories.Operation{F: histories.Read}
	case n == 3 && t.model != modelRegister:
		return histories.Operation{F: histories.CAS, Argument: t.value, Result: value()}
	}
	return histories.Operation{F: histories.Write, Argument: value()}
}

// apply lets an operation take effect now; a refused one fails.
func (t *toy) apply(h *histories.History, op *histories.Operation) {
	refuse := func(refused bool) bool {
		if refused {
			op.Outcome = histories.Failed
		}
		return refused
	}
	switch op.F {
	case histories.Write:
		t.value = op.Argument
		t.bump(op)
	case histories.CAS:
		if !refuse(t.value != op.Argument) {
			t.value = op.Result
			t.bump(op)
		}
	case histories.Acquire:
		if !refuse(t.held) {
			t.held = true
		}
	case histories.Release:
		if !refuse(!t.held) {
			t.held = false
		}
	case histories.Add:
		v := h.Data.Unpack(op.Argument)
		if t.model == modelCounter {
			n, _ := v.AsInt()
			t.version += n
		} else if !slices.Contains(t.list, v) {
			t.list = append(t.list, v)
		}
	case histories.Enqueue:
		t.list = append(t.list, h.Data.Unpack(op.Argument))
	case histories.Dequeue:
		op.Result = nilDatum
		if len(t.list) > 0 {
			op.Result = h.Data.Pack(t.list[0])
			t.list = t.list[1:]
		}
	case histories.Read:
		switch t.model {
		case modelCounter:
			op.Result = h.Data.Pack(histories.Int(t.version))
		case modelSet:
			op.Result = h.Data.Pack(histories.List(t.list...))
		default:
			op.Result = t.value
			if t.model == modelVersionedRegister {
				op.Version = t.version
			}
		}
	}
}

func (t *toy) bump(op *histories.Operation) {
	t.version++
	if t.model == modelVersionedRegister {
		op.Version = t.version
	}
}

// everyOrder is the definition itself: it tries all orders that agree with
// real time, leaving any unknown operation out or putting it in.
func everyOrder(p *program) bool {
	taken := make([]bool, len(p.calls))
	var try func(state uint64) bool
	try = func(state uint64) bool {
		limit, left := histories.Open, false
		for i := range p.calls {
			if !taken[i] && p.calls[i].known {
				left = true
				limit = min(limit, p.calls[i].completed)
			}
		}
		if !left {
			return true
		}
		for i := range p.calls {
			c := &p.calls[i]
			if taken[i] || c.invoked > limit {
				continue
			}
			if next, ok := p.machine.step(state, c); ok {
				taken[i] = true
				if try(next) {
					return true
				}
				taken[i] = false
			}
		}
		return false
	}
	return try(p.machine.start())
}

// fuzzHistories is how many random histories of each kind a test looks at:
// STALEMATE_FUZZ_HISTORIES, or a few seconds' worth.
func fuzzHistories(t *testing.T) int {
	if s := os.Getenv("STALEMATE_FUZZ_HISTORIES"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("STALEMATE_FUZZ_HISTORIES: %v", err)
		}
		return n
	}
	return 2000
}

// TestOracleEnginesAgree holds the engines, porcupine and, where the history is
// short, the definition against each other on random histories, and every
// witness against what witness.go promises of it.
func TestOracleEnginesAgree(t *testing.T) {
	for _, m := range models() {
		for _, values := range []int{0, 3} {
			t.Run(fmt.Sprintf("%s, %d distinct values", m, values), func(t *testing.T) {
				t.Parallel()
				n, illegal := fuzzHistories(t)/2, 0
				for seed := range n {
					r := rand.New(rand.NewPCG(uint64(seed), uint64(values)))
					h, ops := randomHistory(r, m, 2+r.IntN(4), 2+r.IntN(11), values)
					s := spec{model: m, nilReads: nilAbsent}
					if got := agree(t, h, ops, s); got == Violated {
						illegal++
					}
					if t.Failed() {
						t.Fatalf("seed %d", seed)
					}
				}
				if n >= 500 && illegal*12 < n {
					t.Errorf("%d of %d histories were illegal; below a twelfth the agreement means little", illegal, n)
				}
			})
		}
	}
}

// agree checks one history with every engine.
func agree(t *testing.T, h *histories.History, ops []int32, s spec) Answer {
	t.Helper()
	p, err := compile(h, ops, &s, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := porcupineKey(context.Background(), &p, &budget{memory: defaultMemory}).answer
	if len(p.calls) <= 7 {
		if everyOrder(&p) != (want == Holds) {
			t.Errorf("all orders: %v, porcupine: %v", everyOrder(&p), want)
		}
	}
	for _, engine := range []string{engineAuto, engineFast, engineWindowed, enginePorcupine} {
		v := view{history: h, keys: [][]int32{ops}}
		got := linearizable(context.Background(), v, s, linearOptions{Engine: engine, Workers: 1, Timeout: time.Minute, WitnessTime: time.Minute})
		if got.Err != nil {
			t.Errorf("%s: %v", engine, got.Err)
			continue
		}
		if engine == engineFast && got.Answer == Undecided {
			continue // values repeat, or not a register
		}
		if got.Answer != want {
			t.Errorf("%s: %v (%s), porcupine: %v", engine, got.Answer, got.Reason, want)
			for i := range h.Operations {
				t.Logf("%d: %+v", i, h.Operations[i])
			}
		}
		if got.Answer == Violated {
			checkWitness(t, h, s, engine, &got)
		}
	}
	return want
}

// checkWitness sees that a witness is illegal with everything else forgotten
// and that it is confirmed.
func checkWitness(t *testing.T, h *histories.History, s spec, engine string, r *linearResult) {
	t.Helper()
	if len(r.Failures) != 1 {
		t.Errorf("%s: %d failures", engine, len(r.Failures))
		return
	}
	f := r.Failures[0]
	if r.ConfirmedBy != enginePorcupine {
		t.Errorf("%s: witness %v is not confirmed", engine, f.Witness)
		return
	}
	if len(f.Witness) == 0 || !slices.IsSorted(f.Witness) || f.Kind == "" {
		t.Errorf("%s: bad witness %+v", engine, f)
	}
	checkMinimal(t, h, s, engine, &f)
	whole := slices.Clone(h.Operations)
	forget := func(i int) { h.Operations[i].Outcome = histories.Unknown }
	defer copy(h.Operations, whole)
	var all []int32
	for i := range whole {
		if f.Anchor != noAnchor && whole[i].Completed < whole[f.Anchor].Invoked {
			continue
		}
		all = append(all, int32(i))
		tight := slices.Contains(f.Witness, int32(i)) && !slices.Contains(f.Loose, int32(i))
		if !tight && whole[i].Outcome == histories.Happened {
			forget(i)
		}
	}
	p, err := compile(h, all, &s, 0)
	if err != nil {
		t.Fatal(err)
	}
	// Forgotten enqueues may have happened in any order, which can be more than
	// porcupine can hold; then the witness stands by itself, see checkMinimal.
	if got := porcupineKey(context.Background(), &p, &budget{memory: 64 << 20}).answer; got == Holds {
		t.Errorf("%s: witness %v, loose %v: with all else forgotten the history is legal", engine, f.Witness, f.Loose)
	}
}

// checkMinimal sees that the operations of a witness are illegal by themselves,
// and that forgetting any one of them makes them legal, or leaves more loose
// ones than a witness may have. It makes them anew from the history.
func checkMinimal(t *testing.T, h *histories.History, s spec, engine string, f *linearFailure) {
	t.Helper()
	proof := *h
	proof.Operations = nil
	var all []int32
	for _, i := range f.Witness {
		op := h.Operations[i]
		if slices.Contains(f.AsWrite, i) {
			op.F, op.Argument, op.Result = histories.Write, op.Result, nilDatum
		}
		if slices.Contains(f.Loose, i) {
			op.Outcome = histories.Unknown
		}
		all = append(all, int32(len(proof.Operations)))
		proof.Operations = append(proof.Operations, op)
	}
	judge := func() (Answer, int) {
		p, err := compile(&proof, all, &s, 0)
		if err != nil {
			t.Fatal(err)
		}
		m := minimizer{p: &p}
		loose := m.loose(p.calls)
		p.calls = m.settle(p.calls)
		answer := porcupineKey(context.Background(), &p, &budget{memory: defaultMemory}).answer
		if len(p.calls) <= 7 && everyOrder(&p) != (answer == Holds) {
			t.Errorf("%s: all orders and porcupine disagree on witness %+v", engine, f)
		}
		return answer, loose
	}
	if got, loose := judge(); got != Violated || loose > maxLoose {
		t.Errorf("%s: by itself witness %+v is %v, with %d loose operations", engine, f, got, loose)
	}
	for n := range all {
		op := &proof.Operations[n]
		if op.Outcome == histories.Unknown || f.Witness[n] == f.Anchor {
			continue
		}
		op.Outcome = histories.Unknown
		got, loose := judge()
		if got != Holds && (f.Minimal || loose <= maxLoose) {
			t.Errorf("%s: forgetting operation %d of witness %+v leaves it %v", engine, f.Witness[n], f, got)
		}
		op.Outcome = histories.Happened
	}
}
