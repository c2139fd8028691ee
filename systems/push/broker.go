package push

import (
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// Broker is a node that hosts partitions and answers clients. It does what
// controllers tell it, and keeps what they say in two stores that nothing
// holds together.
type Broker struct {
	env     node.Env
	cfg     *Config
	id      int32
	session session
	begun   bool
	// epoch is the broker epoch, the czxid of its registration; -1 before the
	// first. Until then requests wait, as nobody listens yet.
	epoch   int64
	waiting []func()
	stopped bool
	// controllerEpoch is the newest it has heard of. It is lost in a restart.
	controllerEpoch int32

	cache    metadataCache // fed by UpdateMetadata
	replicas []*replica    // fed by LeaderAndIsr and StopReplica, in the order first met
	byID     map[protocol.Partition]*replica
	fetchers []*fetcher
	parked   []*parkedFetch
	isr      isrChanges
	syncing  bool
	unsynced bool
}

// NewBroker gives the brokers of a cluster. The nodes are to be named b1, b2,
// and so on.
func NewBroker(cfg Config) node.New {
	return func(env node.Env) node.Machine {
		return &Broker{
			env: env, cfg: &cfg, id: number(env.Self()), epoch: noBrokerEpoch,
			session: session{env: env, store: env.Store(), backoff: cfg.RetryBackoff},
			cache:   newMetadataCache(),
			byID:    map[protocol.Partition]*replica{},
		}
	}
}

// Start registers the broker. When its session expires it goes on serving what
// it served before, and registers again in the next.
func (b *Broker) Start() {
	b.env.Trace(node.Trace{What: TraceStarted, Leader: protocol.NoLeader})
	b.env.Store().OnSession(func(established bool) {
		if established {
			b.begin()
			return
		}
		b.begun = false
		b.session.generation++
		b.forgetDirectChanges()
		b.env.Trace(node.Trace{What: TraceSessionLost, Leader: protocol.NoLeader, Version: b.epoch})
	})
	b.begin()
	b.watchInSync()
}

func (b *Broker) begin() {
	if b.begun || b.stopped {
		return
	}
	b.begun = true
	b.session.ensure(topLevelPaths, b.register)
}

// Receive takes requests of controllers, of other brokers and of clients.
func (b *Broker) Receive(from node.ID, request node.Message, reply func(node.Message)) {
	if b.stopped {
		return
	}
	if reply == nil {
		reply = func(node.Message) {}
	}
	if b.epoch == noBrokerEpoch {
		b.waiting = append(b.waiting, func() { b.serve(from, request, reply) })
		return
	}
	b.serve(from, request, reply)
}

func (b *Broker) serve(from node.ID, request node.Message, reply func(node.Message)) {
	switch r := request.(type) {
	case *protocol.MetadataRequest:
		reply(b.metadata(r))
	case *protocol.ClusterRequest:
		reply(b.describe(r))
	case *protocol.ProduceRequest:
		b.produce(r, func(a *protocol.ProduceResponse) { reply(a) })
	case *protocol.FetchRequest:
		reply(b.fetch(r))
	case *ReplicaFetchRequest:
		b.replicaFetch(r, reply)
	case *LeaderAndISRRequest:
		reply(b.leaderAndISR(from, r))
	case *UpdateMetadataRequest:
		reply(b.updateMetadata(from, r))
	case *StopReplicaRequest:
		reply(b.stopReplica(from, r))
	case *ShutdownRequest:
		b.shutdown(reply)
	}
}

// gate decides whether a push is heard at all: it must be meant for this
// incarnation of the broker, and must not come from a controller older than the
// newest one heard of.
func (b *Broker) gate(from node.ID, h *Header, kind string) protocol.Code {
	t := node.Trace{
		What: TracePushReceived, Peer: from, Leader: protocol.NoLeader, Epoch: h.ControllerEpoch, ID: h.ID, Why: kind,
	}
	b.env.Trace(t)
	t.What = TracePushRefused
	if b.cfg.Guards.BrokerEpoch && h.BrokerEpoch != noBrokerEpoch && h.BrokerEpoch < b.epoch {
		t.Why = kind + ": " + WhyStaleBrokerEpoch
		b.env.Trace(t)
		return protocol.StaleBrokerEpoch
	}
	if b.cfg.Guards.ControllerEpochGate && h.ControllerEpoch < b.controllerEpoch {
		t.Why = kind + ": " + WhyStaleControllerEpoch
		b.env.Trace(t)
		return protocol.StaleControllerEpoch
	}
	b.controllerEpoch = h.ControllerEpoch
	return protocol.None
}

// traceState traces what became of one partition of a push.
func (b *Broker) traceState(what string, from node.ID, h *Header, key string, s *PartitionState, why string) {
	b.env.Trace(node.Trace{
		What: what, Peer: from, ID: h.ID, Key: key,
		Leader: s.Leader, Epoch: s.LeaderEpoch, Version: int64(s.Version), Why: why,
	})
}

// sync makes the logs durable soon. Nobody waits for it: like Kafka, the broker
// acknowledges what is in memory and relies on replication.
func (b *Broker) sync() {
	if b.syncing {
		b.unsynced = true
		return
	}
	b.syncing, b.unsynced = true, false
	b.env.Disk().Sync(func() {
		b.syncing = false
		if b.unsynced {
			b.sync()
		}
	})
}
