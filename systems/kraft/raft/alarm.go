package raft

import (
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

// alarm is a timer that is put off far more often than it rings, as time-outs
// are. Putting it off costs no new timer: the pending one finds on waking that
// there is time left and waits for the rest.
type alarm struct {
	env     node.Env
	ring    func()
	on      bool
	at      time.Duration // when to ring, on the node's clock
	timer   node.Timer
	wakesAt time.Duration
}

// set makes the alarm ring once d has passed, instead of whenever it would have.
func (a *alarm) set(d time.Duration) {
	a.on, a.at = true, a.env.Now()+d
	if a.timer != nil {
		if a.wakesAt <= a.at {
			return
		}
		a.timer.Stop()
	}
	a.wait(d)
}

func (a *alarm) stop() { a.on = false }

// left is the time until the alarm rings.
func (a *alarm) left() time.Duration { return max(0, a.at-a.env.Now()) }

func (a *alarm) wait(d time.Duration) {
	a.wakesAt = a.env.Now() + d
	a.timer = a.env.After(d, a.wake)
}

func (a *alarm) wake() {
	a.timer = nil
	if !a.on {
		return
	}
	if d := a.at - a.env.Now(); d > 0 {
		a.wait(d)
		return
	}
	a.on = false
	a.ring()
}
