package raft

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stalemate-io/stalemate/systems/kraft/epochlog"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// StateMachine is what a log is replicated for. Its methods are called in log
// order and never at the same time; they may call back into the Replica.
type StateMachine interface {
	// Commit applies a committed batch. Control batches come too, so that the
	// offset applied is that of the log.
	Commit(b *epochlog.Batch)
	// Load replaces the state by a snapshot of everything before id.End.
	Load(id SnapshotID, data []byte) error
	// Snapshot gives the state as it is now, for Load.
	Snapshot() []byte
	// Lead says that this replica leads the epoch and has applied everything
	// up to and including the record with which the epoch began.
	Lead(epoch int32)
	// Yield ends what Lead began.
	Yield()
}

// Role is a replica's part in its epoch.
type Role uint8

// The roles. An observer is only ever Unattached or Follower.
const (
	Unattached  Role = iota // knows no leader, and may have voted
	Prospective             // asks whether it would be voted for (KIP-996)
	Candidate               // stands for its epoch
	Leader
	Follower
	Resigned // led this epoch and does no longer
)

// String gives the role's name as Kafka logs it.
func (r Role) String() string {
	names := [...]string{"Unattached", "Prospective", "Candidate", "Leader", "Follower", "Resigned"}
	return names[r]
}

// logName is the log's name on disk, that of Kafka's metadata partition.
const logName = "__cluster_metadata-0"

// Replica is one member of a quorum, or an observer of it.
type Replica struct {
	env    node.Env
	disk   node.Disk
	cfg    Config
	self   node.ID
	others []node.ID // the voters but for this one
	voter  bool
	sm     StateMachine

	log           *epochlog.Log
	quorum        quorumState
	quorumWritten int // how often the quorum state was written,
	quorumSynced  int // and up to which of these it is durable

	role     Role
	term     int   // changes with every change of role: older callbacks are void
	timeout  alarm // what it means when it rings is the role's to say
	election *election
	lead     *leadership
	follow   following
	lost     int // elections lost in a row

	// hw is the high watermark as this replica knows it: records before it are
	// committed. It is at least the end of the snapshot. applied is how far
	// the state machine is.
	hw           int64
	applied      int64
	appliedEpoch int32
	applying     bool
	snapshot     snapshot

	err error
}

// New boots a replica from its disk. Damage on the disk is reported by Err.
func New(env node.Env, cfg Config, sm StateMachine) *Replica {
	r := &Replica{env: env, disk: env.Disk(), cfg: cfg.withDefaults(), self: env.Self(), sm: sm}
	for _, v := range r.cfg.Voters {
		if v == r.self {
			r.voter = true
		} else {
			r.others = append(r.others, v)
		}
	}
	r.timeout = alarm{env: env, ring: r.onTimeout}
	var err error
	if r.quorum, err = readQuorumState(r.disk); err != nil {
		r.err = err
		return r
	}
	if r.log, err = epochlog.Open(r.disk, logName); err != nil {
		r.err = err
		return r
	}
	if err = r.openSnapshot(); err != nil {
		r.err = err
	}
	return r
}

// Start takes the replica into the quorum. One that led its epoch before is
// Resigned in it, never leader again.
func (r *Replica) Start() {
	switch q := r.quorum; {
	case r.err != nil:
	case r.voter && q.Leader == r.self:
		r.becomeResigned()
	case q.Leader != "" && q.Leader != r.self:
		r.becomeFollower(q.Epoch, q.Leader)
	default:
		r.becomeUnattached(q.Epoch)
	}
}

// Err is the reason for which the replica has stopped, nil while it works. It
// stops on a damaged disk and on what Raft rules out: two leaders in one epoch,
// or a committed record to be truncated.
func (r *Replica) Err() error { return r.err }

// fail stops the replica for good.
func (r *Replica) fail(err error) {
	if r.err != nil {
		return
	}
	r.enter(Unattached)
	r.err = fmt.Errorf("%s in epoch %d: %w", r.self, r.quorum.Epoch, err)
	r.env.Trace(node.Trace{What: "halted", Epoch: r.quorum.Epoch, Why: err.Error()})
}

// Role is the replica's part in its epoch.
func (r *Replica) Role() Role { return r.role }

// Standing gives the epoch and the leader that the replica knows in it; its own
// name once it has resigned is no leader.
func (r *Replica) Standing() Standing {
	s := Standing{Epoch: r.quorum.Epoch, Leader: r.quorum.Leader}
	if s.Leader == r.self && r.role != Leader {
		s.Leader = ""
	}
	return s
}

// HighWatermark is the offset before which the replica knows every record to be
// committed.
func (r *Replica) HighWatermark() int64 { return r.hw }

// Applied is the offset before which the state machine has applied everything.
func (r *Replica) Applied() int64 { return r.applied }

// End is the log end offset.
func (r *Replica) End() int64 { return r.log.End() }

// CaughtUp reports whether a follower has applied everything that its leader has
// said is committed, which it must have said.
func (r *Replica) CaughtUp() bool {
	return r.role == Follower && r.follow.leaderHW >= 0 && r.applied >= r.follow.leaderHW
}

// majority is the number of voters, this one included, that decide.
func (r *Replica) majority() int { return len(r.cfg.Voters)/2 + 1 }

// enter ends the present role and begins another. The caller starts what the
// new one needs.
func (r *Replica) enter(role Role) {
	r.term++
	r.timeout.stop()
	r.election = nil
	r.follow = following{leaderHW: -1}
	was := r.lead
	r.lead = nil
	r.role = role
	if was != nil {
		r.endLeadership(was)
	}
}

// inTerm wraps a callback so that it is void once the role has changed.
func (r *Replica) inTerm(f func()) func() {
	term := r.term
	return func() {
		if r.term == term && r.err == nil {
			f()
		}
	}
}

// answer is a response of the quorum: all of them carry the sender's standing.
type answer interface{ standing() Standing }

func (s Standing) standing() Standing { return s }

// errStale stands for an answer from an epoch that is over.
var errStale = errors.New("answer from an older epoch")

// call sends a request and handles the answer if the role is then still the
// same. Whatever the answer, the epoch and leader in it are taken note of first.
func call[A answer](r *Replica, to node.ID, request node.Message, done func(A, error)) {
	term := r.term
	r.env.Call(to, request, r.cfg.RequestTimeout, func(m node.Message, err error) {
		if r.err != nil {
			return
		}
		a, ok := m.(A)
		switch {
		case err != nil:
		case !ok:
			err = fmt.Errorf("%s answered %T with %T", to, request, m)
		case !r.observe(a.standing()):
			err = errStale
		}
		if r.term == term && r.err == nil {
			done(a, err)
		}
	})
}

// observe takes note of an epoch and its leader as another replica knows them,
// and reports whether they are those of our own epoch: what comes with an older
// one means nothing.
func (r *Replica) observe(s Standing) bool {
	mine := r.quorum
	switch {
	case s.Epoch < mine.Epoch:
		return false
	case s.Leader == r.self && s.Epoch == mine.Epoch:
		// Others may not know yet that we resigned.
	case s.Epoch > mine.Epoch && (s.Leader == "" || s.Leader == r.self):
		r.becomeUnattached(s.Epoch)
	case s.Epoch > mine.Epoch:
		r.becomeFollower(s.Epoch, s.Leader)
	case s.Leader == "":
	case mine.Leader != "" && mine.Leader != s.Leader:
		r.fail(fmt.Errorf("two leaders in one epoch: %s and %s", mine.Leader, s.Leader))
		return false
	case mine.Leader == "" || !r.voter && r.role != Follower:
		// A prospective that knows this leader and lost touch with it goes
		// on: others may not have noticed yet that it is gone.
		r.becomeFollower(s.Epoch, s.Leader)
	}
	return true
}

// Receive handles a message of the quorum and reports whether it was one.
func (r *Replica) Receive(from node.ID, m node.Message, reply func(node.Message)) bool {
	if reply == nil {
		reply = func(node.Message) {}
	}
	switch m := m.(type) {
	case *VoteRequest:
		if r.err == nil {
			r.onVote(m, reply)
		}
	case *BeginQuorumEpochRequest:
		if r.err == nil {
			r.onBeginQuorumEpoch(m, reply)
		}
	case *EndQuorumEpochRequest:
		if r.err == nil {
			r.onEndQuorumEpoch(m, reply)
		}
	case *FetchRequest:
		if r.err == nil {
			r.onFetch(m, reply)
		}
	case *FetchSnapshotRequest:
		if r.err == nil {
			r.onFetchSnapshot(m, reply)
		}
	case *DescribeQuorumRequest:
		if r.err == nil {
			r.onDescribeQuorum(reply)
		}
	default:
		return false
	}
	return true
}

// leaderOnly says why a request that only a leader serves, made in the given
// epoch, is refused; None if it is not.
func (r *Replica) leaderOnly(epoch int32) protocol.Code {
	switch {
	case epoch < r.quorum.Epoch:
		return protocol.FencedLeaderEpoch
	case epoch > r.quorum.Epoch:
		return protocol.UnknownLeaderEpoch
	case r.role != Leader:
		return protocol.NotLeaderOrFollower
	}
	return protocol.None
}

// onTimeout is the role's alarm ringing.
func (r *Replica) onTimeout() {
	if r.err != nil {
		return
	}
	switch r.role {
	case Unattached, Follower, Resigned:
		if r.voter {
			r.stand()
		} else {
			r.becomeUnattached(r.quorum.Epoch)
		}
	case Prospective, Candidate:
		r.loseElection()
	case Leader:
		r.becomeResigned()
	}
}

// electionTimeout draws how long to wait for a leader.
func (r *Replica) electionTimeout() time.Duration {
	t := r.cfg.ElectionTimeout
	return t + time.Duration(r.env.Rand().Int64N(int64(t)))
}

// setHighWatermark moves the high watermark forward, never back, and applies
// what it passes.
func (r *Replica) setHighWatermark(hw int64) {
	if hw <= r.hw {
		return
	}
	r.hw = hw
	r.apply()
}

// apply hands the state machine what is committed and not applied yet. Only
// committed records are ever applied, so a truncation never undoes one.
func (r *Replica) apply() {
	if r.applying {
		return // the loop below is running further up the stack
	}
	r.applying = true
	for r.applied < r.hw && r.err == nil {
		b := r.log.At(r.applied)
		if b == nil {
			r.fail(fmt.Errorf("log has no batch at offset %d, below the high watermark %d", r.applied, r.hw))
			break
		}
		r.applied, r.appliedEpoch = b.End(), b.Epoch
		r.sm.Commit(b)
		r.maybeLead()
		r.maybeSnapshot()
	}
	r.applying = false
}

// index is a voter's place in the list, -1 for an observer.
func (r *Replica) index(id node.ID) int { return slices.Index(r.cfg.Voters, id) }
