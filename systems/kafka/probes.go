package kafka

import (
	"errors"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/wire"
)

// role asks a broker who leads by what it goes by when it serves the partition: what
// LeaderAndIsr told it, or its log. Kafka reads the leader and the epoch one after the
// other without a lock, so that an answer counts when it comes twice in a row.
func (e *env) role(to node.ID, p protocol.Partition, timeout time.Duration, done func(node.Message, error)) {
	request := &wire.RoleRequest{Partition: p, TopicID: e.topicID}
	var ask func(before *protocol.MetadataResponse, tries int)
	ask = func(before *protocol.MetadataResponse, tries int) {
		e.Env.Call(to, request, timeout, func(m node.Message, err error) {
			a, _ := m.(*protocol.MetadataResponse)
			switch {
			case err != nil || a.Error != protocol.None:
				done(m, err)
			case before != nil && before.Leader == a.Leader && before.LeaderEpoch == a.LeaderEpoch:
				done(m, nil)
			case tries == 1:
				done(nil, errUnsteady)
			default:
				ask(a, tries-1)
			}
		})
	}
	ask(nil, roleTries)
}

// roleTries is after how many answers that differ a role is given up.
const roleTries = 4

var errUnsteady = errors.New("the broker's role changed from answer to answer")

// located asks a broker who leads, and before and after it how far the broker has
// applied the metadata log. Where that is the same, the answer is from there;
// otherwise it is from somewhere between, and carries no offset.
func (e *env) located(to node.ID, r *protocol.MetadataRequest, timeout time.Duration, done func(node.Message, error)) {
	applied := func(then func(int64, error)) {
		e.Env.Call(to, &wire.AppliedRequest{}, timeout, func(m node.Message, err error) {
			a, _ := m.(*wire.AppliedResponse)
			if err != nil {
				then(protocol.NoOffset, err)
				return
			}
			then(a.Offset, nil)
		})
	}
	applied(func(before int64, err error) {
		if err != nil {
			done(nil, err)
			return
		}
		e.Env.Call(to, r, timeout, func(m node.Message, err error) {
			a, _ := m.(*protocol.MetadataResponse)
			if err != nil || a.Error != protocol.None {
				done(m, err)
				return
			}
			applied(func(after int64, err error) {
				if err == nil && after == before {
					a.Offset = before
				}
				done(a, nil)
			})
		})
	})
}
