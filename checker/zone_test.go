package checker

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stalemate-io/stalemate/histories"
)

// The last zone that starts before a position is the same from whichever guess
// the search begins.
func TestLastBeforeFindsTheSameFromEveryGuess(t *testing.T) {
	var zones []uint64
	for first := uint64(3); len(zones) < 40; first += 5 {
		zones = append(zones, first<<32|(first+2))
	}
	for position := int32(0); position < 210; position++ {
		want := -1
		for i := range zones {
			if zoneOf(zones[i]).first < position {
				want = i
			}
		}
		for guess := range zones {
			got, ok := lastBefore(zones, position, guess)
			if ok != (want >= 0) || ok && got != want {
				t.Fatalf("position %d, guess %d: %d %v, want %d", position, guess, got, ok, want)
			}
		}
	}
}

// Every written value is found, and no other, whether values are dense or
// spread over all words.
func TestValuesAreFoundWhereverTheyLie(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	spreads := map[string]func(i int) histories.Datum{
		"dense":  func(i int) histories.Datum { return histories.Datum(1000 + 8*i) },
		"sparse": func(int) histories.Datum { return histories.Datum(r.Uint64()) },
	}
	for name, value := range spreads {
		h := &histories.History{}
		z := &zoneCheck{h: h, clusters: []cluster{{initialSource, beforeAll, beforeAll}}}
		place := map[histories.Datum]int32{0: 0}
		for i := 1; i <= 3000; i++ {
			v := value(i)
			place[v] = int32(i)
			h.Operations = append(h.Operations, histories.Operation{F: histories.Write, Argument: v})
			z.clusters = append(z.clusters, cluster{source: int32(i - 1)})
		}
		if err := z.values.build(z); err != nil {
			t.Fatal(err)
		}
		if z.values.dense != (name == "dense") {
			t.Errorf("%s values: dense is %v", name, z.values.dense)
		}
		for v, want := range place {
			if got := z.values.find(z, v); got != want {
				t.Fatalf("%s value %#x: cluster %d, want %d", name, v, got, want)
			}
			if got := z.values.find(z, v+1); got != noCluster && place[v+1] == 0 {
				t.Fatalf("%s value %#x, which nobody wrote: cluster %d", name, v+1, got)
			}
		}
	}
}

// The run that is taken as a proof is as short as any that conflicts.
func TestShortestRunIsShortest(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	for range 3000 {
		n := 1 + r.IntN(8)
		stages, extents := make([]int32, n), make([]cluster, n)
		for i := range stages {
			stages[i] = int32(i)
			extents[i] = cluster{first: 2 * r.Int32N(50), last: 2*r.Int32N(50) + 1}
		}
		zone := cluster{first: 2*r.Int32N(25) + 100, last: 2 * r.Int32N(50)}
		zone.first -= 80
		conflicts := func(run []int32) bool {
			before, after := false, false
			for _, s := range run {
				before = before || extents[s].first < zone.last
				after = after || extents[s].last > zone.first
			}
			return before && after
		}
		want := n
		for from := range stages {
			for to := from + 1; to <= n; to++ {
				if conflicts(stages[from:to]) {
					want = min(want, to-from)
				}
			}
		}
		z := &zoneCheck{}
		if got := z.shortestRun(stages, extents, zone); len(got) != want || conflicts(stages) && !conflicts(got) {
			t.Fatalf("zone %+v, extents %+v: run %v, want one of %d that conflicts", zone, extents, got, want)
		}
	}
}

// A long ring of compare-and-sets is proved by the two of it that contradict
// real time, wherever the ring is entered.
func TestALongRingHasAShortProof(t *testing.T) {
	for _, stages := range []int{maxRing - 1, maxRing, maxRing + 1, 3 * maxRing} {
		var moves []move
		for i := range stages {
			moves = append(moves, move{histories.CAS, 1 + i, 1 + (i+1)%stages, int32(2 * i), int32(2*i + 1), histories.Happened})
		}
		h, ops := register(moves...)
		z := &zoneCheck{}
		v, err := z.check(h, ops, &spec{model: modelCASRegister, nilReads: nilAbsent}, 0)
		if err != nil || v == nil || v.kind != violationRing {
			t.Fatalf("%d stages: %+v, %v; want a ring", stages, v, err)
		}
		distinct := map[int32]bool{}
		for _, i := range v.ops {
			distinct[i] = true
		}
		if want := stages; stages <= maxRing && len(distinct) != want {
			t.Errorf("a ring of %d stages: %d operations, want all", stages, len(distinct))
		}
		if stages > maxRing && len(distinct) != 2 {
			t.Errorf("a ring of %d stages: %d operations prove it, want 2", stages, len(distinct))
		}
		r := linearizable(context.Background(), view{history: h, keys: [][]int32{ops}},
			spec{model: modelCASRegister, nilReads: nilAbsent}, linearOptions{Engine: engineFast})
		if r.Answer != Violated || r.ConfirmedBy != enginePorcupine {
			t.Errorf("%d stages: %v confirmed by %q", stages, r.Answer, r.ConfirmedBy)
		}
	}
}
