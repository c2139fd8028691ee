package push

import (
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// push is a request on its way to a broker.
type push struct {
	id      uint64
	kind    string
	request node.Message
	states  []PartitionState // for the trace
}

// channel sends pushes to one broker: first in, first out, one in flight, the
// same request again for ever until the broker answers or is removed. Removal
// drops the queue, and nobody learns what was in it.
type channel struct {
	c      *Controller
	to     node.ID
	queue  []*push
	closed bool
}

func (ch *channel) enqueue(p *push) {
	ch.traceEach(TracePushQueued, p, p.kind)
	ch.queue = append(ch.queue, p)
	if len(ch.queue) == 1 {
		ch.send(p, p.kind)
	}
}

func (ch *channel) send(p *push, why string) {
	ch.trace(TracePushSent, p, nil, why)
	ch.c.env.Call(ch.to, p.request, ch.c.cfg.RequestTimeout, func(answer node.Message, err error) {
		if ch.closed {
			return
		}
		if err != nil {
			if !ch.c.cfg.Guards.ResendUntilAnswered {
				ch.traceEach(TracePushDropped, p, p.kind+": "+err.Error())
				ch.next()
				return
			}
			ch.trace(TracePushUnanswered, p, nil, p.kind+": "+err.Error())
			ch.c.env.After(ch.c.cfg.RetryBackoff, func() {
				if !ch.closed {
					ch.send(p, p.kind+" (again)")
				}
			})
			return
		}
		// An error in the answer is noted and changes nothing.
		ch.trace(TracePushAnswered, p, nil, p.kind+answerError(answer))
		ch.next()
	})
}

// next goes on to the next push.
func (ch *channel) next() {
	ch.queue = ch.queue[1:]
	if len(ch.queue) > 0 {
		ch.send(ch.queue[0], ch.queue[0].kind)
	}
}

// close ends the channel and drops its queue.
func (ch *channel) close(why string) {
	ch.closed = true
	for _, p := range ch.queue {
		ch.traceEach(TracePushDropped, p, p.kind+": "+why)
	}
	ch.queue = nil
}

// traceEach traces each partition of a push, or the push if it has none.
func (ch *channel) traceEach(what string, p *push, why string) {
	for i := range p.states {
		ch.trace(what, p, &p.states[i], why)
	}
	if len(p.states) == 0 {
		ch.trace(what, p, nil, why)
	}
}

func (ch *channel) trace(what string, p *push, s *PartitionState, why string) {
	t := node.Trace{What: what, Peer: ch.to, ID: p.id, Why: why, Leader: protocol.NoLeader}
	if s != nil {
		t.Key, t.Leader, t.Epoch, t.Version = ch.c.key(s.Partition), s.Leader, s.LeaderEpoch, int64(s.Version)
	}
	ch.c.env.Trace(t)
}

// answerError gives ": CODE" where a broker's answer carries an error.
func answerError(answer node.Message) string {
	code := protocol.None
	first := func(codes []protocol.Code) {
		for _, c := range codes {
			if code == protocol.None {
				code = c
			}
		}
	}
	switch a := answer.(type) {
	case *LeaderAndISRResponse:
		code = a.Error
		first(a.Partitions)
	case *UpdateMetadataResponse:
		code = a.Error
	case *StopReplicaResponse:
		code = a.Error
		first(a.Partitions)
	}
	if code == protocol.None {
		return ""
	}
	return ": " + string(code)
}
