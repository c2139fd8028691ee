package kraft

import (
	"time"

	"github.com/stalemate-io/stalemate/systems/kraft/epochlog"
	"github.com/stalemate-io/stalemate/systems/kraft/metadata"
	"github.com/stalemate-io/stalemate/systems/kraft/raft"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// Broker observes the metadata log, answers from what it has applied of it, and
// leads or follows partitions accordingly.
type Broker struct {
	env     node.Env
	cfg     Config
	id      int32
	replica *raft.Replica
	err     error

	// image is the metadata cache: what Metadata requests are answered from.
	image *metadata.Image
	// published says that the broker has once caught up with the log and with
	// its own registration in it; before, it acts on nothing. So it never
	// takes up again a role that it had in an earlier incarnation.
	published bool
	// The role store is fed by the same changes, a little later: deltas are
	// those that it has yet to see.
	roles  roles
	deltas []*metadata.PartitionState

	incarnation uint64
	epoch       int64 // broker epoch, -1 until registered
	running     bool  // was unfenced once since it started
	confirmed   time.Duration
}

// NewBroker gives brokers of a cluster. A broker's number is that in the name of
// its node.
func NewBroker(cfg Config) node.New {
	cfg = cfg.withDefaults()
	return func(env node.Env) node.Machine {
		b := &Broker{env: env, cfg: cfg, image: metadata.NewImage(), incarnation: env.Rand().Uint64(), epoch: -1}
		b.id, b.err = brokerOf(env.Self())
		b.roles = newRoles(b)
		b.replica = raft.New(env, cfg.Raft, b)
		return b
	}
}

// Start takes the broker to the log and has it register.
func (b *Broker) Start() {
	if b.err == nil {
		b.replica.Start()
		b.register()
	}
}

// Replica is the broker's copy of the metadata log.
func (b *Broker) Replica() *raft.Replica { return b.replica }

// Image is the state that the broker has applied. The caller changes nothing.
func (b *Broker) Image() *metadata.Image { return b.image }

// Err is the reason for which the broker has stopped, if it has.
func (b *Broker) Err() error {
	if b.err != nil {
		return b.err
	}
	return b.replica.Err()
}

// Serving reports whether the broker answers clients: once it was unfenced, and
// from then on whatever the controllers think of it, unless self-fencing is on.
func (b *Broker) Serving() bool {
	if b.err != nil || !b.running {
		return false
	}
	return !b.cfg.Guards.SelfFencing || b.env.Now() < b.confirmed+b.cfg.selfFencingLease()
}

// Receive takes a message of the quorum, of another broker or of a client.
func (b *Broker) Receive(from node.ID, m node.Message, reply func(node.Message)) {
	if b.err != nil || b.replica.Receive(from, m, reply) {
		return
	}
	if reply == nil {
		reply = func(node.Message) {}
	}
	switch m := m.(type) {
	case *protocol.MetadataRequest:
		b.metadata(m, reply)
	case *protocol.ClusterRequest:
		if b.Serving() {
			reply(describeAll(b.image, m, b.controller()))
		} else {
			reply(notYet(b.controller()))
		}
	case *protocol.ProduceRequest:
		b.produce(m, reply)
	case *protocol.FetchRequest:
		b.fetch(m, reply)
	case *ReplicaFetchRequest:
		b.replicaFetch(m, reply)
	case *protocol.ElectLeadersRequest, *protocol.AlterReassignmentRequest:
		reply(&protocol.AdminResponse{Error: protocol.NotController, Controller: b.controller()})
	}
}

// controller is the active controller to the broker's knowledge.
func (b *Broker) controller() string { return string(b.replica.Standing().Leader) }

func (b *Broker) metadata(m *protocol.MetadataRequest, reply func(node.Message)) {
	a := &protocol.MetadataResponse{
		Leader: protocol.NoLeader, LeaderEpoch: -1, Offset: protocol.NoOffset, Controller: b.controller(),
	}
	switch {
	case m.Path != protocol.ReadBroker && m.Path != "":
		a.Error = protocol.NotController
	case !b.Serving():
		a.Error = BrokerNotAvailable
	default:
		a = describe(b.image, m.Partition, b.controller())
	}
	reply(a)
}

// Commit applies a committed batch to the metadata cache and queues what it
// changes for the role store.
func (b *Broker) Commit(batch *epochlog.Batch) {
	err := apply(b.image, batch, func(s *metadata.PartitionState) {
		b.trace("applied", s)
		if b.published {
			b.enqueue(s)
		}
	})
	if err != nil {
		b.err = err
		b.env.Trace(node.Trace{What: "halted", Why: err.Error()})
		return
	}
	b.publish()
}

// publish begins to act on the metadata once the broker has caught up.
func (b *Broker) publish() {
	if b.published || b.epoch < 0 || b.image.Offset <= b.epoch || !b.replica.CaughtUp() {
		return
	}
	b.published = true
	for _, p := range b.image.Partitions() {
		b.enqueue(b.image.Partition(p))
	}
}

// Load replaces the metadata by a snapshot.
func (b *Broker) Load(_ raft.SnapshotID, data []byte) error {
	m, err := metadata.Unmarshal(data)
	if err != nil {
		return err
	}
	b.image = m
	for _, p := range m.Partitions() {
		s := m.Partition(p)
		b.trace("applied", s)
		if b.published {
			b.enqueue(s)
		}
	}
	return nil
}

// Snapshot gives the metadata applied.
func (b *Broker) Snapshot() []byte { return b.image.Marshal() }

// Lead and Yield are for voters only.
func (*Broker) Lead(int32) {}

// Yield does nothing.
func (*Broker) Yield() {}

// enqueue hands a change to the role store, which sees it after those before.
func (b *Broker) enqueue(s *metadata.PartitionState) {
	b.deltas = append(b.deltas, s)
	if len(b.deltas) == 1 {
		b.env.After(b.cfg.RoleDelay, b.applyDeltas)
	}
}

func (b *Broker) applyDeltas() {
	deltas := b.deltas
	b.deltas = nil
	for _, s := range deltas {
		b.roles.apply(s)
	}
	b.roles.follow()
}

func (b *Broker) trace(what string, s *metadata.PartitionState) {
	b.env.Trace(node.Trace{What: what, Key: s.Key, Leader: s.Leader, Epoch: s.LeaderEpoch, Version: s.Offset})
}

// register asks the active controller for a broker epoch until there is one.
func (b *Broker) register() {
	again := func() { b.env.After(b.cfg.retryInterval(), b.register) }
	to := b.replica.Standing().Leader
	if to == "" {
		again()
		return
	}
	request := &BrokerRegistrationRequest{Broker: b.id, Incarnation: b.incarnation}
	b.env.Call(to, request, b.cfg.SessionTimeout/2, func(m node.Message, err error) {
		a, ok := m.(*BrokerRegistrationResponse)
		if err != nil || !ok || a.Error != protocol.None {
			again()
			return
		}
		b.epoch = a.Epoch
		b.publish()
		b.heartbeat()
	})
}

// heartbeat keeps the session alive. While the broker runs it takes no notice of
// what the answer says: it acts on the log alone, as Kafka's does.
func (b *Broker) heartbeat() {
	next := func(d time.Duration) { b.env.After(d, b.heartbeat) }
	to := b.replica.Standing().Leader
	if to == "" {
		next(b.cfg.retryInterval())
		return
	}
	sent := b.env.Now()
	request := &BrokerHeartbeatRequest{Broker: b.id, Epoch: b.epoch, Applied: b.image.Offset, WantFence: !b.published}
	b.env.Call(to, request, b.cfg.SessionTimeout/4, func(m node.Message, err error) {
		a, ok := m.(*BrokerHeartbeatResponse)
		if err != nil || !ok || a.Error != protocol.None || a.Fenced {
			next(b.cfg.retryInterval())
			return
		}
		b.confirmed = sent
		if !b.running {
			b.running = true
			b.env.Trace(node.Trace{What: "running", Version: b.epoch})
		}
		next(b.cfg.HeartbeatInterval)
	})
}
