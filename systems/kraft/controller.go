package kraft

import (
	"time"

	"github.com/stalemate-io/stalemate/systems/kraft/epochlog"
	"github.com/stalemate-io/stalemate/systems/kraft/metadata"
	"github.com/stalemate-io/stalemate/systems/kraft/raft"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// Controller is a voter of the metadata quorum and, while it leads it, the
// active controller.
type Controller struct {
	env     node.Env
	cfg     Config
	replica *raft.Replica
	image   *metadata.Image // committed
	active  *active         // nil while another controller is active
	// current says that the image has once caught up since the start: before,
	// it may be older than what this controller answered in an earlier life.
	current bool
	err     error
}

// NewController gives controllers of a cluster.
func NewController(cfg Config) node.New {
	cfg = cfg.withDefaults()
	return func(env node.Env) node.Machine {
		c := &Controller{env: env, cfg: cfg, image: metadata.NewImage()}
		c.replica = raft.New(env, cfg.Raft, c)
		return c
	}
}

// Start takes the controller into the quorum.
func (c *Controller) Start() { c.replica.Start() }

// Replica is the controller's copy of the metadata log.
func (c *Controller) Replica() *raft.Replica { return c.replica }

// Image is the committed state that the controller has applied. The caller
// changes nothing.
func (c *Controller) Image() *metadata.Image { return c.image }

// Active reports whether this is the active controller, to its own knowledge.
func (c *Controller) Active() bool { return c.active != nil }

// Err is the reason for which the controller has stopped, if it has.
func (c *Controller) Err() error {
	if c.err != nil {
		return c.err
	}
	return c.replica.Err()
}

// Receive takes a message of the quorum, of a broker or of a client.
func (c *Controller) Receive(from node.ID, m node.Message, reply func(node.Message)) {
	if c.err != nil || c.replica.Receive(from, m, reply) {
		return
	}
	if reply == nil {
		reply = func(node.Message) {}
	}
	switch m := m.(type) {
	case *protocol.MetadataRequest:
		c.metadata(m, reply)
		return
	case *protocol.ClusterRequest:
		if c.current {
			reply(describeAll(c.image, m, c.leader()))
		} else {
			reply(notYet(c.leader()))
		}
		return
	}
	if c.active == nil {
		c.refuse(m, reply)
		return
	}
	switch m := m.(type) {
	case *BrokerRegistrationRequest:
		c.active.register(m, reply)
	case *BrokerHeartbeatRequest:
		c.active.heartbeat(m, reply)
	case *AlterPartitionRequest:
		c.active.alterPartition(m, reply)
	case *protocol.ElectLeadersRequest:
		c.active.electLeaders(m, reply)
	case *protocol.AlterReassignmentRequest:
		c.active.reassign(m, reply)
	}
}

// refuse sends whoever needs the active controller to where it may be.
func (c *Controller) refuse(m node.Message, reply func(node.Message)) {
	switch m.(type) {
	case *BrokerRegistrationRequest:
		reply(&BrokerRegistrationResponse{Error: protocol.NotController})
	case *BrokerHeartbeatRequest:
		reply(&BrokerHeartbeatResponse{Error: protocol.NotController})
	case *AlterPartitionRequest:
		reply(&AlterPartitionResponse{Error: protocol.NotController})
	case *protocol.ElectLeadersRequest, *protocol.AlterReassignmentRequest:
		reply(&protocol.AdminResponse{Error: protocol.NotController, Controller: c.leader()})
	}
}

// leader is the active controller to this one's knowledge.
func (c *Controller) leader() string { return string(c.replica.Standing().Leader) }

// metadata answers who leads a partition over one of the three read paths.
//
//   - broker: what this controller has applied, whoever it is;
//   - leader: the active controller only, which takes its own word for that;
//   - quorum: the active controller once a majority has confirmed that it is.
func (c *Controller) metadata(m *protocol.MetadataRequest, reply func(node.Message)) {
	notController := func() {
		reply(&protocol.MetadataResponse{
			Error: protocol.NotController, Leader: protocol.NoLeader, LeaderEpoch: -1,
			Offset: protocol.NoOffset, Controller: c.leader(),
		})
	}
	switch {
	case m.Path == protocol.ReadBroker && !c.current:
		reply(&protocol.MetadataResponse{
			Error: BrokerNotAvailable, Leader: protocol.NoLeader, LeaderEpoch: -1,
			Offset: protocol.NoOffset, Controller: c.leader(),
		})
	case m.Path == protocol.ReadBroker:
		reply(describe(c.image, m.Partition, c.leader()))
	case c.active == nil:
		notController()
	case m.Path == protocol.ReadLeader:
		reply(describe(c.image, m.Partition, c.leader()))
	case m.Path == protocol.ReadQuorum:
		c.replica.ReadIndex(func(_ int64, err error) {
			if err != nil {
				notController()
				return
			}
			reply(describe(c.image, m.Partition, c.leader()))
		})
	default:
		reply(&protocol.MetadataResponse{Error: protocol.UnsupportedVersion, Leader: protocol.NoLeader, Offset: protocol.NoOffset})
	}
}

// Commit applies a committed batch and answers those who wait for it.
func (c *Controller) Commit(b *epochlog.Batch) {
	err := apply(c.image, b, func(s *metadata.PartitionState) {
		if c.active != nil {
			c.trace("committed", s)
		}
	})
	if err != nil {
		c.fail(err)
		return
	}
	if c.replica.CaughtUp() {
		c.current = true
	}
	if c.active != nil {
		c.active.committed()
	}
}

// Load replaces the committed state by a snapshot.
func (c *Controller) Load(_ raft.SnapshotID, data []byte) error {
	m, err := metadata.Unmarshal(data)
	if err == nil {
		c.image = m
	}
	return err
}

// Snapshot gives the committed state.
func (c *Controller) Snapshot() []byte { return c.image.Marshal() }

// Lead makes this controller the active one: everything in the log is applied.
func (c *Controller) Lead(epoch int32) {
	c.env.Trace(node.Trace{What: "active", Epoch: epoch, Version: c.image.Offset})
	c.current = true
	c.active = newActive(c, epoch)
}

// Yield ends that. What is appended and not committed may yet be, or not.
func (c *Controller) Yield() {
	a := c.active
	c.active = nil
	a.abandon()
}

// fail stops the controller: a log that cannot be applied is damaged.
func (c *Controller) fail(err error) {
	c.err = err
	c.env.Trace(node.Trace{What: "halted", Why: err.Error()})
	c.replica.Resign()
}

func (c *Controller) trace(what string, s *metadata.PartitionState) {
	c.env.Trace(node.Trace{What: what, Key: s.Key, Leader: s.Leader, Epoch: s.LeaderEpoch, Version: s.Offset})
}

// active is what the active controller keeps for one epoch: the state with what
// it has appended already applied, so that the next decision builds on the last
// before that is committed, and the sessions of brokers, which a new active
// controller begins anew.
type active struct {
	c        *Controller
	epoch    int32
	image    *metadata.Image
	since    time.Duration
	wrote    time.Duration           // when it last appended
	sessions map[int32]time.Duration // when each broker was last heard from
	fencedAt map[int32]int64         // where a fenced broker has to have come before it serves again
	waiting  []waiting               // in log order
}

// waiting is somebody who wants to know when everything before an offset is
// committed, or that the controller will not see it.
type waiting struct {
	end  int64
	done func(committed bool)
}

func newActive(c *Controller, epoch int32) *active {
	now := c.env.Now()
	a := &active{
		c: c, epoch: epoch, image: c.image.Clone(), since: now, wrote: now,
		sessions: map[int32]time.Duration{}, fencedAt: map[int32]int64{},
	}
	for _, b := range a.image.Brokers() {
		a.sessions[b.ID] = now
		if b.Fenced {
			// By a predecessor, some time before.
			a.fencedAt[b.ID] = a.image.Offset
		}
	}
	a.c.env.After(0, a.tick)
	return a
}

// over reports whether a callback comes too late for this epoch.
func (a *active) over() bool { return a.c.active != a }

// write appends records as one batch and calls done when they are committed.
// Callers hand in no more than follows from the state with everything before
// applied. The offset is that of the first record.
func (a *active) write(records []metadata.Record, done func(committed bool)) int64 {
	base := a.image.Offset
	encoded := make([][]byte, len(records))
	for i, r := range records {
		encoded[i] = metadata.Encode(r)
		if err := a.image.Apply(r); err != nil {
			// The controller generates only what its own state allows.
			a.c.fail(err)
			return base
		}
		if s := a.image.Changed(r); s != nil {
			a.c.trace("appended", s)
		}
	}
	a.wrote = a.c.env.Now()
	if done != nil {
		a.waiting = append(a.waiting, waiting{a.image.Offset, done})
	}
	if _, err := a.c.replica.Append(a.epoch, encoded...); err != nil {
		a.c.fail(err)
	}
	return base
}

// whenCommitted calls done once everything before an offset is committed.
func (a *active) whenCommitted(end int64, done func(committed bool)) {
	if a.c.image.Offset >= end {
		done(true)
		return
	}
	i := len(a.waiting)
	for i > 0 && a.waiting[i-1].end > end {
		i--
	}
	a.waiting = append(a.waiting, waiting{})
	copy(a.waiting[i+1:], a.waiting[i:])
	a.waiting[i] = waiting{end, done}
}

// committed answers those who wait for what now is.
func (a *active) committed() {
	for !a.over() && len(a.waiting) > 0 && a.waiting[0].end <= a.c.image.Offset {
		w := a.waiting[0]
		a.waiting = a.waiting[1:]
		w.done(true)
	}
}

func (a *active) abandon() {
	for _, w := range a.waiting {
		w.done(false)
	}
}

// tick does what falls due with time.
func (a *active) tick() {
	if a.over() {
		return
	}
	a.expireSessions()
	a.createTopics()
	if a.over() {
		return
	}
	if a.c.env.Now()-a.wrote >= a.c.cfg.MaxIdle {
		a.write([]metadata.Record{&metadata.NoOp{}}, nil)
	}
	a.c.env.After(a.c.cfg.MaxIdle/2, a.tick)
}
