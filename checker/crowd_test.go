package checker

import (
	"context"
	"strings"
	"testing"

	"github.com/stalemate-io/stalemate/histories"
)

// queueAtLock is a history in which many ask for a lock at once and get it one
// after the other; the one numbered stolen gets it before it was released.
func queueAtLock(clients, stolen int) (*histories.History, []int32) {
	var moves []move
	position := int32(clients)
	for i := range clients {
		moves = append(moves, move{f: histories.Acquire, invoked: int32(i), completed: position, outcome: histories.Happened})
		position += 3
		if i == stolen {
			moves[i].completed = moves[i-1].completed + 1
		}
	}
	for i := range clients {
		release := moves[i].completed + 1
		if i == stolen-1 {
			release++ // later than the thief has it
		}
		if i == stolen {
			release += 2
		}
		moves = append(moves, move{f: histories.Release, invoked: release, completed: release + 1, outcome: histories.Happened})
	}
	h, ops := register(moves...)
	h.Functions = []string{"read", "write", "cas", "acquire", "release"}
	return h, ops
}

func TestMoreAtOnceThanTheWindowedSearchHoldsIsForPorcupine(t *testing.T) {
	const nobody = -1
	decide := func(stolen int, engine string) linearResult {
		h, ops := queueAtLock(windowSlots+6, stolen)
		return linearizable(context.Background(), view{history: h, keys: [][]int32{ops}}, spec{model: modelMutex}, linearOptions{Engine: engine})
	}
	if r := decide(nobody, engineWindowed); r.Answer != Undecided || !strings.Contains(r.Reason, "engine porcupine") {
		t.Errorf("windowed: %v %q", r.Answer, r.Reason)
	}
	if r := decide(nobody, engineAuto); r.Answer != Holds || r.Engine != enginePorcupine {
		t.Errorf("a lock that is passed on: %v %q by %s", r.Answer, r.Reason, r.Engine)
	}
	r := decide(3, engineAuto)
	// Witnesses are cut down by the windowed search, which cannot tell here.
	if r.Answer != Violated || r.Engine != enginePorcupine || r.ConfirmedBy != enginePorcupine || r.Failures[0].Minimal {
		t.Errorf("a lock that two hold: %+v", r)
	}
}
