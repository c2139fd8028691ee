package wire

import (
	"fmt"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Several is a client's request about any number of partitions or values, as one
// request for each. The machines of ForClients take it.
type Several struct {
	Requests []node.Message
	// Wait is how long to wait for values where all fetches come back empty.
	Wait time.Duration
}

// SeveralAnswers are the answers to Several, in its order.
type SeveralAnswers struct {
	Answers []node.Message
}

// several makes an exchange of how requests split and answers come together.
func several[M, A any, Q kmsg.Request, R kmsg.Response](
	key int16,
	split func(Q) ([]*M, time.Duration, error),
	join func(Q, []*A, R) error,
) exchange {
	return translation[Several, SeveralAnswers, Q, R]{
		parse: func(_ *Cluster, q Q) (*Several, error) {
			parts, wait, err := split(q)
			if err != nil {
				return nil, err
			}
			s := &Several{Wait: wait}
			for _, p := range parts {
				s.Requests = append(s.Requests, p)
			}
			return s, nil
		},
		response: func(_ *Cluster, q Q, a *SeveralAnswers, r R) error {
			answers := make([]*A, len(a.Answers))
			for i, m := range a.Answers {
				var ok bool
				if answers[i], ok = m.(*A); !ok {
					return fmt.Errorf("%T among answers: expected %T", m, answers[i])
				}
			}
			return join(q, answers, r)
		},
	}.at(key, 0)
}

// severalExchanges are those of clients that ask about many things at once.
var severalExchanges = []exchange{
	several(keyProduce, func(q *kmsg.ProduceRequest) ([]*protocol.ProduceRequest, time.Duration, error) {
		parts, err := produced(q)
		return parts, 0, err
	}, answerProduced),
	several(keyFetch, func(q *kmsg.FetchRequest) ([]*protocol.FetchRequest, time.Duration, error) {
		parts, err := fetches(q)
		return parts, time.Duration(max(0, q.MaxWaitMillis)) * time.Millisecond, err
	}, answerFetches),
	several(keyListOffsets, func(q *kmsg.ListOffsetsRequest) ([]*protocol.FetchRequest, time.Duration, error) {
		return offsetQuestions(q), 0, nil
	}, func(q *kmsg.ListOffsetsRequest, answers []*protocol.FetchResponse, r *kmsg.ListOffsetsResponse) error {
		answerOffsetQuestions(q, answers, r)
		return nil
	}),
	several(keyElectLeaders, func(q *kmsg.ElectLeadersRequest) ([]*protocol.ElectLeadersRequest, time.Duration, error) {
		parts, err := elections(q)
		return parts, 0, err
	}, func(q *kmsg.ElectLeadersRequest, answers []*protocol.AdminResponse, r *kmsg.ElectLeadersResponse) error {
		answerElections(q, answers, r)
		return nil
	}),
	several(keyAlterReassignments, func(q *kmsg.AlterPartitionAssignmentsRequest) ([]*protocol.AlterReassignmentRequest, time.Duration, error) {
		return reassignments(q), 0, nil
	}, func(q *kmsg.AlterPartitionAssignmentsRequest, answers []*protocol.AdminResponse, r *kmsg.AlterPartitionAssignmentsResponse) error {
		answerReassignments(q, answers, r)
		return nil
	}),
}

// ForClients lets machines take Several.
func ForClients(boot node.New) node.New {
	return func(env node.Env) node.Machine { return &forClients{Machine: boot(env), env: env} }
}

// forClients is a machine that splits what is too much for the one inside it.
type forClients struct {
	node.Machine
	env node.Env
}

// pollInterval is how often values are looked for while a fetch waits, and maxWait
// how long one may.
const (
	pollInterval = 20 * time.Millisecond
	maxWait      = 30 * time.Second
)

func (m *forClients) Receive(from node.ID, request node.Message, reply func(node.Message)) {
	s, ok := request.(*Several)
	if !ok {
		m.Machine.Receive(from, request, reply)
		return
	}
	if reply == nil {
		reply = func(node.Message) {}
	}
	m.ask(from, s, m.env.Now()+min(s.Wait, maxWait), reply)
}

// ask asks the machine inside for everything, one after the other, and answers when
// all is answered; fetches that find nothing are asked again until the deadline.
func (m *forClients) ask(from node.ID, s *Several, deadline time.Duration, reply func(node.Message)) {
	all := &SeveralAnswers{Answers: make([]node.Message, len(s.Requests))}
	open := len(s.Requests)
	done := func() {
		if m.env.Now() < deadline && nothing(all) {
			m.env.After(pollInterval, func() { m.ask(from, s, deadline, reply) })
			return
		}
		reply(all)
	}
	if open == 0 {
		done()
		return
	}
	for i, r := range s.Requests {
		m.Machine.Receive(from, r, func(a node.Message) {
			all.Answers[i] = a
			if open--; open == 0 {
				done()
			}
		})
	}
}

// nothing tells whether all answers are to fetches that found nothing.
func nothing(all *SeveralAnswers) bool {
	for _, a := range all.Answers {
		if f, ok := a.(*protocol.FetchResponse); !ok || f.Error != protocol.None || len(f.Values) > 0 {
			return false
		}
	}
	return true
}
