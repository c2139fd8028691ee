package checker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stalemate-io/stalemate/histories"
)

// The oracles below decide small histories from the definitions, by trying
// every order. They share nothing with the checks but the Operation type.

// sequence says whether the operations of a history that constrain something
// can be put in one order in which registers behave and every pair that must
// be ordered is. Writes of unknown outcome may be left out.
type sequence struct {
	h       *histories.History
	before  func(a, b *histories.Operation) bool
	initial histories.Datum
	// versions asks that the acknowledged writes of a key follow in the order
	// of their versions, and that a read's version is that of what it read.
	versions bool
}

func (s *sequence) exists() bool {
	var ops []int32
	for i := range s.h.Operations {
		op := &s.h.Operations[i]
		if op.Outcome == histories.Failed || op.F == histories.Read && op.Outcome != histories.Happened {
			continue
		}
		ops = append(ops, int32(i))
	}
	type register struct {
		value   histories.Datum
		version int64 // of the last write that has one, or of a read since
		hidden  int64 // how many writes that told no version came after version
		last    int32
	}
	state := make([]register, len(s.h.Keys))
	for k := range state {
		state[k] = register{s.initial, histories.UnknownVersion, 0, noOp}
	}
	placed := make([]bool, len(s.h.Operations))
	var try func(left int) bool
	try = func(left int) bool {
		open := false
		for _, i := range ops {
			if placed[i] {
				continue
			}
			op := &s.h.Operations[i]
			if op.Outcome == histories.Happened {
				open = true
			}
			blocked := slices.ContainsFunc(ops, func(j int32) bool {
				return !placed[j] && j != i && s.h.Operations[j].Outcome == histories.Happened && s.before(&s.h.Operations[j], op)
			})
			if blocked {
				continue
			}
			old := state[op.Key]
			now := old
			fits := true
			switch op.F {
			case histories.Read:
				fits = old.value == op.Result
				if s.versions && fits && op.Version != histories.UnknownVersion {
					switch {
					case old.hidden > 0: // the unknown write gets the version that was read
						fits = op.Version >= old.version+old.hidden && !s.taken(op.Key, op.Version)
						now.version, now.hidden = op.Version, 0
					case old.last == noOp && old.version == histories.UnknownVersion:
						fits = !s.taken(op.Key, op.Version)
						now.version = op.Version
					default:
						fits = op.Version == old.version
					}
				}
			case histories.CAS:
				fits = old.value == op.Argument
				now.value = op.Result
			case histories.Write:
				now.value = op.Argument
			}
			if op.F != histories.Read && s.versions {
				if op.Outcome == histories.Happened && op.Version != histories.UnknownVersion {
					fits = fits && op.Version > old.version+old.hidden
					now.version, now.hidden = op.Version, 0
				} else {
					now.hidden++
				}
			}
			if !fits {
				continue
			}
			if op.F != histories.Read {
				now.last = i
			}
			state[op.Key], placed[i] = now, true
			done := try(left - 1)
			state[op.Key], placed[i] = old, false
			if done {
				return true
			}
		}
		return !open
	}
	return try(len(ops))
}

// taken reports whether an acknowledged write has a version.
func (s *sequence) taken(key int32, version int64) bool {
	return slices.ContainsFunc(s.h.Operations, func(op histories.Operation) bool {
		return op.Key == key && op.F != histories.Read && op.Outcome == histories.Happened && op.Version == version
	})
}

// lagging is the order that ordered lag asks for: whatever is over comes before
// a write invoked later, and an observer's reads come in its order.
func lagging(h *histories.History) func(a, b *histories.Operation) bool {
	return func(a, b *histories.Operation) bool {
		if !a.Precedes(b) {
			return false
		}
		return b.F != histories.Read || a.F == histories.Read && observerOf(h, a) == observerOf(h, b)
	}
}

func realTime(a, b *histories.Operation) bool { return a.Precedes(b) }

// lagHistory makes a history of replicated registers whose replicas may lag,
// and now and then go back, miss a write or make something up.
type lagHistory struct {
	clients, nodes, keys, operations int
	versions, cas, repeat            bool
	trouble                          int // one read in so many is wrong; 0 for none
}

func (g lagHistory) make(r *rand.Rand) *histories.History {
	type entry struct {
		value   int
		version int64
	}
	logs := make([][]entry, g.keys)
	at := make([][]int, g.nodes)
	for n := range at {
		at[n] = make([]int, g.keys)
	}
	for k := range logs {
		logs[k] = []entry{{0, histories.UnknownVersion}}
	}
	h := &histories.History{Functions: []string{"read", "write", "cas"}, Paths: []string{""}, Nodes: []string{""}}
	for k := range g.keys {
		h.Keys = append(h.Keys, histories.Int(int64(k)))
	}
	for n := range g.nodes {
		h.Nodes = append(h.Nodes, fmt.Sprintf("n%d", n+1))
	}
	pack := func(v int) histories.Datum {
		if v == 0 {
			return nilDatum
		}
		return h.Data.Pack(histories.Int(int64(v)))
	}
	next, position := 0, int32(0)
	type pending struct {
		op int
	}
	open := make([]*pending, g.clients)
	process := make([]int32, g.clients)
	for c := range process {
		process[c] = int32(c)
	}
	append1 := func(k int, v int) int64 {
		version := logs[k][len(logs[k])-1].version + 1
		if r.IntN(6) == 0 {
			version++
		}
		logs[k] = append(logs[k], entry{v, version})
		return version
	}
	for len(h.Operations) < g.operations || slices.ContainsFunc(open, func(p *pending) bool { return p != nil }) {
		c := r.IntN(g.clients)
		if p := open[c]; p != nil {
			op := &h.Operations[p.op]
			k := int(op.Key)
			log := logs[k]
			switch op.F {
			case histories.Read:
				n := int(op.Node) - 1
				newest := len(log) - 1
				at[n][k] += r.IntN(newest - at[n][k] + 1)
				s := at[n][k]
				if g.trouble > 0 && r.IntN(g.trouble) == 0 {
					s = r.IntN(len(log))
				}
				op.Result, op.Version = pack(log[s].value), log[s].version
				if g.trouble > 0 && r.IntN(4*g.trouble) == 0 {
					op.Result = pack(r.IntN(next + 2))
				}
			case histories.CAS:
				if log[len(log)-1].value != int(op.Call) {
					op.Outcome = histories.Failed
				} else {
					op.Version = append1(k, int(op.Return))
				}
			default:
				op.Version = append1(k, int(op.Return))
			}
			open[c] = nil
			if op.Outcome != histories.Failed {
				op.Outcome = histories.Happened
				if op.F != histories.Read && r.IntN(5) == 0 {
					op.Outcome, op.Version = histories.Unknown, histories.UnknownVersion
					op.Completed = histories.Open
					process[c] += int32(g.clients)
				}
			}
			if op.Outcome != histories.Unknown {
				op.Completed = position
				position++
			}
			op.Call, op.Return = int64(op.Invoked)*1000, int64(op.Completed)*1000
			if op.Outcome == histories.Unknown {
				op.Return = histories.OpenTime
			}
			if !g.versions {
				op.Version = histories.UnknownVersion
			}
			continue
		}
		if len(h.Operations) >= g.operations {
			continue
		}
		k := r.IntN(g.keys)
		op := histories.Operation{
			F: histories.Read, Key: int32(k), Process: process[c], Node: int16(1 + r.IntN(g.nodes)),
			Invoked: position, Version: histories.UnknownVersion,
		}
		if r.IntN(2) == 0 {
			value := next + 1
			next++
			if g.repeat && r.IntN(4) == 0 {
				value = 1 + r.IntN(next)
			}
			op.F, op.Argument, op.Return = histories.Write, pack(value), int64(value)
			if g.cas && r.IntN(2) == 0 {
				expected := logs[k][len(logs[k])-1].value
				op.F, op.Argument, op.Result, op.Call = histories.CAS, pack(expected), pack(value), int64(expected)
			}
		}
		position++
		h.Operations = append(h.Operations, op)
		open[c] = &pending{op: len(h.Operations) - 1}
	}
	h.Events = int(position)
	return h
}

func show(h *histories.History) string {
	var b strings.Builder
	for i := range h.Operations {
		op := &h.Operations[i]
		fmt.Fprintf(&b, "%d: p%d %s k%d %v->%v v%d [%d,%d] %s outcome %d\n", i, op.Process, h.Functions[op.F], op.Key,
			h.Data.Unpack(op.Argument), h.Data.Unpack(op.Result), op.Version, op.Invoked, op.Completed, h.Nodes[op.Node], op.Outcome)
	}
	return b.String()
}

func TestOneOrderAgreesWithEveryOrder(t *testing.T) {
	cases := []struct {
		name string
		gen  lagHistory
		// undecided is the share of histories, in percent, that may stay so.
		undecided int
	}{
		{"versions decide everything on one key", lagHistory{3, 2, 1, 7, true, false, false, 6}, 3},
		{"versions decide everything across keys", lagHistory{3, 2, 2, 8, true, false, false, 6}, 3},
		{"versions decide compare-and-sets", lagHistory{3, 2, 1, 7, true, true, false, 3}, 12},
		{"versions tell repeated values apart", lagHistory{3, 2, 2, 7, true, false, true, 6}, 12},
		{"three keys fork", lagHistory{4, 2, 3, 9, true, false, false, 8}, 3},
		{"unique values on one key", lagHistory{3, 2, 1, 7, false, false, false, 3}, 0},
		{"unique values across keys", lagHistory{3, 2, 2, 8, false, false, false, 6}, 5},
		{"repeated values without versions", lagHistory{3, 2, 1, 7, false, false, true, 2}, 60},
		{"compare-and-sets without versions", lagHistory{3, 2, 1, 7, false, true, false, 3}, 2},
	}
	for n, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(n), 7))
			count := fuzzHistories(t) / 4
			answers := map[Answer]int{}
			for range count {
				h := c.gen.make(r)
				v := newView(h, everyPath)
				got := oneOrder(&v, &spec{model: modelCASRegister, nilReads: nilAbsent, version: -1})
				answers[got.Answer]++
				if got.Answer == Undecided {
					continue
				}
				oracle := sequence{h: h, before: lagging(h), versions: c.gen.versions}
				if want := oracle.exists(); want != (got.Answer == Holds) {
					t.Fatalf("oneOrder says %s (%s; %+v), trying every order says %v:\n%s", got.Answer, got.Reason, got.flaws, want, show(h))
				}
			}
			if count < 200 {
				return // too few for shares
			}
			if 16*answers[Violated] < count || 10*answers[Holds] < count {
				t.Errorf("of %d histories %v: too few of one kind to show anything", count, answers)
			}
			if 100*answers[Undecided] > c.undecided*count {
				t.Errorf("of %d histories %v: more than %d %% undecided", count, answers, c.undecided)
			}
		})
	}
}

// A write that tells no version has the one that its value was read with.
func TestOneOrderWithWritesThatTellNoVersionAgreesWithEveryOrder(t *testing.T) {
	for n, gen := range []lagHistory{
		{3, 2, 1, 8, true, false, false, 4},
		{3, 2, 2, 9, true, false, false, 6},
		{3, 2, 1, 8, true, true, false, 4},
		{3, 2, 1, 8, true, false, true, 4},
	} {
		r := rand.New(rand.NewPCG(uint64(n), 17))
		answers := map[Answer]int{}
		learnt := map[Answer]int{} // of histories with such a write whose versions order it
		for range fuzzHistories(t) / 4 {
			h := gen.make(r)
			for i := range h.Operations {
				if op := &h.Operations[i]; op.F != histories.Read && r.IntN(4) == 0 {
					op.Version = histories.UnknownVersion
				}
			}
			v := newView(h, everyPath)
			got := oneOrder(&v, &spec{model: modelCASRegister, nilReads: nilAbsent, version: -1})
			answers[got.Answer]++
			byVersion, without := true, false
			for k, reg := range got.registers {
				if reg == nil {
					continue
				}
				byVersion = byVersion && reg.relation == nil && reg.undecided == ""
				for _, i := range v.keys[k] {
					op := &h.Operations[i]
					without = without || writes(op) && op.Outcome == histories.Happened && !acknowledged(op)
				}
			}
			if got.Answer == Undecided || !byVersion {
				continue // versions are not what was looked at
			}
			if without {
				learnt[got.Answer]++
			}
			oracle := sequence{h: h, before: lagging(h), versions: true}
			if want := oracle.exists(); want != (got.Answer == Holds) {
				t.Fatalf("%+v: oneOrder says %s (%s; %+v), trying every order says %v:\n%s", gen, got.Answer, got.Reason, got.flaws, want, show(h))
			}
		}
		t.Logf("%+v: %v; with a version learnt: %v", gen, answers, learnt)
		if (learnt[Holds] == 0 || learnt[Violated] == 0) && fuzzHistories(t) >= 800 {
			t.Errorf("%+v: %v, with a version learnt: %v; too few to show anything", gen, answers, learnt)
		}
	}
}

// Where versions order the writes, what a read without a version may have seen
// is open if its value was written more than once; what the other operations
// break is broken all the same.
func TestOneOrderWithoutSomeVersionsAgreesWithEveryOrder(t *testing.T) {
	for n, gen := range []lagHistory{
		{3, 2, 1, 7, true, false, true, 3},
		{3, 2, 2, 8, true, false, true, 4},
		{3, 2, 1, 7, true, true, true, 3},
	} {
		r := rand.New(rand.NewPCG(uint64(n), 13))
		answers, unplaced := map[Answer]int{}, 0
		for range fuzzHistories(t) / 4 {
			h := gen.make(r)
			for i := range h.Operations {
				op := &h.Operations[i]
				if op.F == histories.Read && r.IntN(3) == 0 {
					op.Version = histories.UnknownVersion
				}
				// Several operations of unknown outcome of one value.
				if gen.cas && op.F == histories.CAS && r.IntN(2) == 0 {
					op.Outcome, op.Completed, op.Version, op.Return = histories.Unknown, histories.Open, histories.UnknownVersion, histories.OpenTime
				}
			}
			v := newView(h, everyPath)
			got := oneOrder(&v, &spec{model: modelCASRegister, nilReads: nilAbsent, version: -1})
			answers[got.Answer]++
			for _, reg := range got.registers {
				if reg != nil && reg.unplaced != "" && got.Answer == Violated {
					unplaced++
				}
			}
			if got.Answer == Undecided {
				continue
			}
			oracle := sequence{h: h, before: lagging(h), versions: true}
			if want := oracle.exists(); want != (got.Answer == Holds) {
				t.Fatalf("%+v: oneOrder says %s (%s; %+v), trying every order says %v:\n%s", gen, got.Answer, got.Reason, got.flaws, want, show(h))
			}
		}
		t.Logf("%+v: %v; violated though a read has no place: %d", gen, answers, unplaced)
		if unplaced == 0 && fuzzHistories(t) >= 800 {
			t.Errorf("%+v: %v: none is violated though a read has no place", gen, answers)
		}
	}
}

// Where no read of any key is stale, the graph across keys is not asked. It
// would find nothing, whatever else is odd.
func TestGraphOfFreshKeysSorts(t *testing.T) {
	for n, gen := range []lagHistory{
		{3, 1, 2, 9, true, false, false, 0},
		{4, 2, 3, 12, true, false, false, 0},
		{4, 2, 2, 9, true, true, false, 8},
		{4, 2, 3, 10, true, false, true, 8},
		{3, 2, 2, 8, false, false, false, 8},
	} {
		r := rand.New(rand.NewPCG(uint64(n), 29))
		fresh := 0
		for range fuzzHistories(t) {
			h := gen.make(r)
			v := newView(h, everyPath)
			res := oneOrder(&v, &spec{model: modelCASRegister, nilReads: nilAbsent, version: -1})
			if len(res.flaws) > 0 || res.Reason != "" || !allFresh(res.registers) {
				continue
			}
			fresh++
			if !newGraph(res.resolver, res.registers).sort() {
				t.Fatalf("no read is stale, and yet there is a cycle:\n%s", show(h))
			}
		}
		t.Logf("%+v: %d fresh", gen, fresh)
		if fresh == 0 && gen.versions {
			t.Errorf("%+v: no history was fresh", gen)
		}
	}
}
