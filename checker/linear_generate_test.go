package checker

import (
	"math/rand/v2"

	"github.com/stalemate-io/stalemate/histories"
)

// busyHistory is a legal history of one register and clients that are nearly
// always busy: half reads, the rest writes and, if asked, cas. Written values
// are all different where values is 0, else drawn from so many. A few unknown
// writes are among them. It is made for speed: raw data, no table.
func busyHistory(clients, operations, values, unknown int, withCAS bool) (*histories.History, []int32) {
	r := rand.New(rand.NewPCG(1, uint64(operations)))
	h := &histories.History{
		Operations: make([]histories.Operation, 0, operations),
		Functions:  []string{"read", "write", "cas"},
	}
	ops := make([]int32, operations)
	for i := range ops {
		ops[i] = int32(i)
	}
	type client struct {
		op      int
		applied bool
	}
	busy := make([]client, clients)
	for i := range busy {
		busy[i].op = -1
	}
	var state histories.Datum
	position, fresh, inFlight := int32(0), uint64(0), 0
	for len(h.Operations) < operations || inFlight > 0 {
		c := &busy[r.IntN(clients)]
		if c.op < 0 {
			if len(h.Operations) == operations {
				continue
			}
			c.op, c.applied = len(h.Operations), false
			op := histories.Operation{Invoked: position, Completed: histories.Open, Version: histories.UnknownVersion}
			position++
			if r.IntN(2) == 0 {
				value := histories.Datum(1 + r.IntN(max(values, 1)))
				if values == 0 {
					fresh++
					value = histories.Datum(fresh)
				}
				op.F, op.Argument = histories.Write, value
				if withCAS && r.IntN(2) == 0 {
					op.F, op.Argument, op.Result = histories.CAS, state, value
				}
			}
			h.Operations = append(h.Operations, op)
			inFlight++
			continue
		}
		op := &h.Operations[c.op]
		if !c.applied {
			c.applied = true
			op.Outcome = histories.Happened
			switch {
			case op.F == histories.Read:
				op.Result = state
			case op.F == histories.Write:
				state = op.Argument
			case op.Argument == state:
				state = op.Result
			default:
				op.Outcome = histories.Failed
			}
			continue
		}
		if op.F == histories.Write && unknown > 0 && r.IntN(operations/unknown/4+1) == 0 {
			op.Outcome = histories.Unknown
			unknown--
		} else {
			op.Completed = position
			position++
		}
		c.op = -1
		inFlight--
	}
	return h, ops
}

// spoil makes one read near the end return a value from long before, and
// reports whether it found one.
func spoil(h *histories.History) bool {
	var old histories.Datum
	for i := range h.Operations {
		op := &h.Operations[i]
		if op.F == histories.Write && op.Outcome == histories.Happened && i > len(h.Operations)/2 {
			old = op.Argument
			break
		}
	}
	for i := len(h.Operations) * 99 / 100; i < len(h.Operations); i++ {
		if op := &h.Operations[i]; op.F == histories.Read && op.Outcome == histories.Happened && op.Result != old {
			op.Result = old
			return true
		}
	}
	return false
}

// chainHistory is a legal history of one register in which nearly all updates
// are cas, each of the value of the one before, and one client is slow. A few
// are writes and of a few the outcome is unknown. All values are different.
func chainHistory(r *rand.Rand, clients, operations, writes, unknown int) (*histories.History, []int32) {
	h := &histories.History{Functions: []string{"read", "write", "cas"}}
	type client struct {
		op      int
		applied bool
	}
	busy := make([]client, clients)
	for i := range busy {
		busy[i].op = -1
	}
	var state histories.Datum
	position, fresh := int32(0), uint64(0)
	inFlight := 0
	for len(h.Operations) < operations || inFlight > 0 {
		k := r.IntN(clients)
		c := &busy[k]
		if k == 0 && c.op >= 0 && r.IntN(20) != 0 {
			continue // a slow client
		}
		if c.op < 0 {
			if len(h.Operations) == operations {
				continue
			}
			c.op, c.applied = len(h.Operations), false
			op := histories.Operation{Invoked: position, Completed: histories.Open, Version: histories.UnknownVersion}
			position++
			if r.IntN(2) == 0 {
				fresh++
				op.F, op.Argument, op.Result = histories.CAS, state, histories.Datum(fresh)
				if r.IntN(operations) < writes {
					op.F, op.Argument, op.Result = histories.Write, histories.Datum(fresh), 0
				}
			}
			h.Operations = append(h.Operations, op)
			inFlight++
			continue
		}
		op := &h.Operations[c.op]
		if !c.applied {
			c.applied = true
			op.Outcome = histories.Happened
			switch {
			case op.F == histories.Read:
				op.Result = state
			case op.F == histories.Write:
				state = op.Argument
			case op.Argument == state:
				state = op.Result
			default:
				op.Outcome = histories.Failed
			}
			continue
		}
		if op.F != histories.Read && op.Outcome == histories.Happened && r.IntN(operations) < unknown {
			op.Outcome = histories.Unknown
		} else {
			op.Completed = position
			position++
		}
		c.op = -1
		inFlight--
	}
	var ops []int32
	for i := range h.Operations {
		ops = append(ops, int32(i))
	}
	return h, ops
}
