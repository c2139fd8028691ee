package push

import (
	"maps"
	"slices"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// Controller is a node that competes to be the active controller, and acts as
// it once elected.
type Controller struct {
	env     node.Env
	cfg     *Config
	id      int32
	session session
	queue   eventQueue
	begun   bool // this session's work has begun
	// expiring says that the session is gone and the event under way is to end
	// before the controller resigns.
	expiring bool

	// activeID is who holds /controller as far as this one has read.
	activeID int32
	active   bool
	// epoch is the controller epoch it was elected in, and epochVersion the
	// version of /controller_epoch then: the token that its writes check.
	epoch        int32
	epochVersion int32
	pushes       uint32
	cluster      *cluster // nil unless active
	// bootstrapDue says that missing brokers are not waited for any longer.
	bootstrapDue bool
}

// NewController gives the controllers of a cluster. The nodes are to be named
// c1, c2, and so on.
func NewController(cfg Config) node.New {
	return func(env node.Env) node.Machine {
		return &Controller{
			env: env, cfg: &cfg, id: number(env.Self()), activeID: noController,
			session: session{
				env: env, store: env.Store(), backoff: cfg.RetryBackoff, outlived: !cfg.Guards.ControllerEpochCheck,
			},
		}
	}
}

// Active tells whether the controller believes that it is the active one, and
// the epoch it was last elected in.
func (c *Controller) Active() (epoch int32, active bool) { return c.epoch, c.active }

// Start takes up the session with the store.
func (c *Controller) Start() {
	c.env.Trace(node.Trace{What: TraceStarted, Leader: protocol.NoLeader})
	c.env.Store().OnSession(func(established bool) {
		switch {
		case !established:
			c.expired()
		case c.expiring:
			c.session.resume()
		default:
			c.begin()
		}
	})
	c.begin()
}

// begin starts the work of a session: once, whether the store tells of its
// first session or not.
func (c *Controller) begin() {
	if c.begun {
		return
	}
	c.begun = true
	c.session.ensure(topLevelPaths, func() { c.queue.put(event{run: c.elect}) })
}

// expired is called when the session is gone, and /controller with it.
//
// Before the guard ControllerEpochCheck an event under way went on in the next
// session, and the controller resigned only after it: that is what let a zombie
// write.
func (c *Controller) expired() {
	const why = "store session expired"
	c.begun = false
	if c.cfg.Guards.ControllerEpochCheck || !c.active || !c.queue.running {
		c.resign(why)
		return
	}
	if c.expiring {
		return
	}
	c.expiring = true
	c.queue.clearWaiting()
	c.queue.put(event{run: func(func()) {
		c.resign(why)
		c.begin()
	}})
}

// resign ceases to be active and drops all that was going on: queued events,
// the queues to the brokers, and callbacks of the store still to come.
func (c *Controller) resign(why string) {
	if c.active {
		c.env.Trace(node.Trace{What: TraceResigned, Leader: protocol.NoLeader, Epoch: c.epoch, Why: why})
	}
	if c.cluster != nil {
		for _, broker := range slices.Sorted(maps.Keys(c.cluster.channels)) {
			c.cluster.channels[broker].close(why)
		}
	}
	c.session.generation++
	c.session.held, c.expiring = nil, false
	c.active, c.activeID, c.cluster = false, noController, nil
	c.queue.clear()
}

// moved is called when the store refused a write because another controller has
// been elected since.
func (c *Controller) moved() {
	c.resign("another controller was elected")
	c.queue.put(event{run: c.elect})
}

// Receive takes requests of clients and brokers.
func (c *Controller) Receive(_ node.ID, request node.Message, reply func(node.Message)) {
	if reply == nil {
		reply = func(node.Message) {}
	}
	switch r := request.(type) {
	case *protocol.MetadataRequest:
		reply(c.metadata(r))
	case *protocol.ClusterRequest:
		reply(c.describe(r))
	case *protocol.ElectLeadersRequest:
		c.whenActive(func(done func()) { c.electLeader(r, reply, done) }, func() { reply(c.notController()) })
	case *protocol.AlterReassignmentRequest:
		c.whenActive(func(done func()) { c.reassign(r, reply, done) }, func() { reply(c.notController()) })
	case *AlterPartitionRequest:
		c.whenActive(func(done func()) { c.alterPartition(r, reply, done) },
			func() { reply(&AlterPartitionResponse{Error: protocol.NotController}) })
	case *ControlledShutdownRequest:
		c.whenActive(func(done func()) { c.controlledShutdown(r, reply, done) },
			func() { reply(&ControlledShutdownResponse{Error: protocol.NotController}) })
	}
}

// whenActive queues an event for the active controller; otherwise runs, at any
// time before the event has begun, when this is not the one.
func (c *Controller) whenActive(run func(done func()), otherwise func()) {
	if !c.active {
		otherwise()
		return
	}
	c.queue.put(event{
		run: func(done func()) {
			if !c.active {
				otherwise()
				done()
				return
			}
			run(done)
		},
		drop: otherwise,
	})
}

// put queues an event that only an active controller handles.
func (c *Controller) put(run func(done func())) { c.whenActive(run, func() {}) }

func (c *Controller) notController() *protocol.AdminResponse {
	return &protocol.AdminResponse{
		Error: protocol.NotController, Leader: protocol.NoLeader, LeaderEpoch: -1, Version: -1,
		Controller: string(nodeOf(c.activeID)),
	}
}
