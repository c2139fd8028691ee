package checker

import "github.com/stalemate-io/stalemate/histories"

// sessionFlaw is a broken session guarantee: an operation and the later one of
// the same client that is at odds with it.
type sessionFlaw struct {
	level         Level
	first, second int32
}

// sessionResult holds the answers for the four guarantees of Terry et al.
// (1994), each for one client and one key at a time.
type sessionResult struct {
	answers map[Level]Answer
	flaws   []sessionFlaw
}

// sessionLevels are the four guarantees.
var sessionLevels = []Level{MonotonicReads, ReadYourWrites, MonotonicWrites, WritesFollowReads}

// sessions puts together what every key says of the guarantees.
func sessions(res *orderResult) sessionResult {
	s := sessionResult{answers: map[Level]Answer{}}
	for _, l := range sessionLevels {
		s.answers[l] = Holds
	}
	for _, reg := range res.registers {
		if reg == nil {
			continue
		}
		for _, l := range reg.sessions.open {
			if s.answers[l] == Holds {
				s.answers[l] = Undecided
			}
		}
		for _, f := range reg.sessions.flaws {
			s.answers[f.level] = Violated
		}
		s.flaws = append(s.flaws, reg.sessions.flaws...)
	}
	return s
}

// keySessions is what one key says: the guarantees broken on it, and those that
// it leaves open.
type keySessions struct {
	flaws []sessionFlaw
	open  []Level
}

// client is what a client has done to a key so far: the operations that
// reached the newest states.
type client struct{ read, write int32 }

// sessionsOnKey checks the guarantees on a key whose order of writes is known.
// Where it was chosen, what looks broken may only be chosen badly, so that an
// inversion counts if the order of the two states is certain.
func (r *resolver) sessionsOnKey(reg *keyOrder) keySessions {
	if reg.undecided != "" {
		return keySessions{open: sessionLevels}
	}
	var out keySessions
	h := r.v.history
	clients := make(map[int32]*client)
	for _, i := range r.v.keys[reg.key] {
		op := &h.Operations[i]
		if r.seen[i] == noState || op.Outcome != histories.Happened {
			continue
		}
		c := clients[op.Process]
		if c == nil {
			c = &client{noOp, noOp}
			clients[op.Process] = c
		}
		if op.F == histories.Read {
			r.follow(reg, &out, MonotonicReads, c.read, i)
			r.follow(reg, &out, ReadYourWrites, c.write, i)
			c.read = r.newer(c.read, i)
		} else {
			r.follow(reg, &out, WritesFollowReads, c.read, i)
			r.follow(reg, &out, MonotonicWrites, c.write, i)
			c.write = r.newer(c.write, i)
		}
	}
	if reg.unplaced != "" {
		out.open = append(out.open, MonotonicReads, ReadYourWrites, WritesFollowReads)
	}
	return out
}

// follow checks that a client's operation is not older than an earlier one.
func (r *resolver) follow(reg *keyOrder, out *keySessions, l Level, first, second int32) {
	if first == noOp || r.seen[first] <= r.seen[second] {
		return
	}
	if reg.chosen && !reg.relation.forced(r.seen[second], r.seen[first]) {
		out.open = append(out.open, l)
		return
	}
	out.flaws = append(out.flaws, sessionFlaw{l, first, second})
}

// newer gives the operation of the two that reached the newer state.
func (r *resolver) newer(a, b int32) int32 {
	if a == noOp || r.seen[b] >= r.seen[a] {
		return b
	}
	return a
}
