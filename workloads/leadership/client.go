package leadership

import (
	"fmt"
	"time"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// Options says what the clients do. The zero value of a number stands for its
// default.
type Options struct {
	Brokers, Controllers []node.ID
	Partitions           []protocol.Partition
	// Clients is how many there are, 20 by default, of which Movers, 3 by
	// default, move leaders and the others ask who leads: in turn over all
	// Paths, and on those of brokers over all brokers.
	Clients, Movers int
	Paths           []protocol.ReadPath
	// Think is the mean time between two operations of a client, 100 ms by
	// default; From and Until are when they begin and stop.
	Think, From, Until time.Duration
	// Timeout is how long a client waits for an answer, 1 s by default.
	Timeout time.Duration
	// Final is when every broker is asked for every partition once more; 0
	// leaves that out.
	Final time.Duration
	// Issued, if not nil, is called with each operation as it is begun.
	Issued func(Op)
	// Ended, if not nil, is called by each client when it has done its last
	// operation.
	Ended func()
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		at    *time.Duration
		value time.Duration
	}{{&o.Think, 100 * time.Millisecond}, {&o.Timeout, time.Second}} {
		if *d.at == 0 {
			*d.at = d.value
		}
	}
	if o.Clients == 0 {
		o.Clients = 20
	}
	if o.Movers == 0 {
		o.Movers = 3
	}
	if len(o.Paths) == 0 {
		o.Paths = []protocol.ReadPath{protocol.ReadBroker}
	}
	return o
}

// Recording is where one client's operations are recorded, in the order in which
// they are begun and ended. After an operation of unknown outcome the client is a
// new process.
type Recording interface {
	// Invoke records that the client is about to do something.
	Invoke(histories.Event)
	// OK records that it happened; of the result the value, the version and
	// the extra fields count.
	OK(result histories.Event)
	// Fail records that it certainly did not happen, Info that nobody knows.
	Fail(why string)
	Info(why string)
}

// Client is one client: a node that calls others and that nobody calls.
type Client struct {
	ID  node.ID
	New node.New
}

// NewClients makes the clients x1, x2, …; record is called once for each.
func NewClients(o Options, record func() Recording) ([]Client, error) {
	o = o.withDefaults()
	if len(o.Brokers) == 0 || len(o.Controllers) == 0 || len(o.Partitions) == 0 {
		return nil, fmt.Errorf("leadership: %d brokers, %d controllers and %d partitions; at least one of each is needed",
			len(o.Brokers), len(o.Controllers), len(o.Partitions))
	}
	clients := make([]Client, o.Clients)
	reader := 0
	for i := range clients {
		c := &client{o: &o, rec: record()}
		if i >= o.Movers {
			c.path = o.Paths[reader%len(o.Paths)]
			c.node = o.Brokers[reader/len(o.Paths)%len(o.Brokers)]
			if !c.path.OfBroker() {
				c.node = o.Controllers[reader/len(o.Paths)%len(o.Controllers)]
			}
			reader++
		}
		clients[i] = c.named(i)
	}
	return clients, nil
}

// NewFinalClients makes a client per broker, and path of brokers, that asks it for
// every partition once more, Options.Final after it has booted. Before they do, the
// nemesis event FinalReads is to be recorded.
func NewFinalClients(o Options, record func() Recording) []Client {
	o = o.withDefaults()
	var clients []Client
	for _, path := range o.Paths {
		if !path.OfBroker() {
			continue
		}
		for _, b := range o.Brokers {
			c := &client{o: &o, rec: record(), path: path, node: b, rest: o.Partitions, final: true}
			clients = append(clients, c.named(o.Clients+len(clients)))
		}
	}
	return clients
}

// FinalReads is the event that stands before the final reads.
func FinalReads() histories.Event {
	return histories.Event{Process: histories.Nemesis, Type: histories.Info, F: "final-reads"}
}

// named makes the client number i.
func (c *client) named(i int) Client {
	return Client{node.ID(fmt.Sprintf("x%d", i+1)), func(env node.Env) node.Machine {
		c.env = env
		return c
	}}
}

// client does one thing at a time. One with a path asks, one without moves.
type client struct {
	o    *Options
	env  node.Env
	rec  Recording
	path protocol.ReadPath
	node node.ID // whom it asks
	// controller is whom a mover takes for the active one.
	controller int
	// began is when the client booted, on its own clock, which was the world's
	// time 0.
	began time.Duration
	final bool
	rest  []protocol.Partition
}

// now is the world's time, since clients' clocks are not tampered with.
func (c *client) now() time.Duration { return c.env.Now() - c.began }

// Boot and End are those of a Performer.
func (c *client) Boot(env node.Env) { c.env, c.began = env, env.Now() }

func (c *client) Start() {
	c.Boot(c.env)
	if c.final {
		// A moment later, for the mark to stand before the reads.
		c.env.After(c.o.Final+time.Millisecond, c.readRest)
		return
	}
	c.env.After(c.o.From+c.think(), c.next)
}

func (c *client) Receive(node.ID, node.Message, func(node.Message)) {}

func (c *client) End() {
	if c.o.Ended != nil {
		c.o.Ended()
	}
}

// think draws the pause before the next operation.
func (c *client) think() time.Duration {
	return time.Duration(c.env.Rand().ExpFloat64() * float64(c.o.Think))
}

func (c *client) next() {
	if c.now() >= c.o.Until {
		c.End()
		return
	}
	p := c.o.Partitions[c.env.Rand().IntN(len(c.o.Partitions))]
	again := func() { c.env.After(c.think(), c.next) }
	switch {
	case c.path != "":
		c.Do(Op{Do: Ask, Partition: p, Node: c.node, Path: c.path}, again)
	default:
		c.Do(c.drawMove(p), again)
	}
}

func (c *client) readRest() {
	if len(c.rest) == 0 {
		c.End()
		return
	}
	p := c.rest[0]
	c.rest = c.rest[1:]
	c.Do(Op{Do: Ask, Partition: p, Node: c.node, Path: c.path, Final: c.final}, c.readRest)
}

// Do does one operation now, and calls then when its outcome is recorded.
func (c *client) Do(op Op, then func()) {
	op.At, op.Client = c.now(), c.env.Self()
	if c.o.Issued != nil {
		c.o.Issued(op)
	}
	if op.Do == Ask {
		c.ask(op, then)
		return
	}
	c.move(op, then)
}

func (c *client) ask(op Op, then func()) {
	e := histories.Event{F: "read", Key: histories.String(op.Partition.String()), Node: string(op.Node), Path: string(op.Path)}
	if op.Final {
		e.Extra = []histories.Field{{Name: "final", Value: histories.Bool(true)}}
	}
	c.rec.Invoke(e)
	c.env.Call(op.Node, &protocol.MetadataRequest{Partition: op.Partition, Path: op.Path}, c.o.Timeout, func(m node.Message, err error) {
		a, _ := m.(*protocol.MetadataResponse)
		switch {
		case err != nil:
			c.rec.Fail(err.Error())
		case a.Error == protocol.None:
			result := histories.Event{Value: Value(a.Leader, a.LeaderEpoch), Version: histories.At(int64(a.LeaderEpoch))}
			if a.Offset != protocol.NoOffset {
				result.Extra = []histories.Field{{Name: "offset", Value: histories.Int(a.Offset)}}
			}
			c.rec.OK(result)
		default:
			c.rec.Fail(string(a.Error))
			c.follow(a.Controller)
		}
		then()
	})
}

// follow asks another controller next time: the one that was named, else any.
func (c *client) follow(hint string) {
	if c.path.OfBroker() {
		return
	}
	to := c.env.Rand().IntN(len(c.o.Controllers))
	for i, id := range c.o.Controllers {
		if string(id) == hint {
			to = i
		}
	}
	c.controller = to
	if c.path != "" {
		c.node = c.o.Controllers[to]
	}
}

// drawMove draws an election, or one time in eight a reassignment.
func (c *client) drawMove(p protocol.Partition) Op {
	r := c.env.Rand()
	target := int32(r.IntN(len(c.o.Brokers))) + 1
	op := Op{Do: Elect, Partition: p, Brokers: []int32{target}}
	if r.IntN(8) == 0 {
		op.Do = Reassign
		for _, i := range r.Perm(len(c.o.Brokers)) {
			if b := int32(i) + 1; b != target && len(op.Brokers) < 3 {
				op.Brokers = append(op.Brokers, b)
			}
		}
	}
	op.Node = c.o.Controllers[c.controller]
	return op
}

func (c *client) move(op Op, then func()) {
	target := op.Brokers[0]
	var request node.Message = &protocol.ElectLeadersRequest{Partition: op.Partition, Target: target}
	if op.Do == Reassign {
		request = &protocol.AlterReassignmentRequest{Partition: op.Partition, Replicas: op.Brokers}
	}
	c.rec.Invoke(histories.Event{
		F: "write", Key: histories.String(op.Partition.String()), Value: histories.String(fmt.Sprintf("%s b%d", op.Do, target)),
		Extra: []histories.Field{{Name: "target", Value: histories.Int(int64(target))}},
	})
	c.env.Call(op.Node, request, 3*c.o.Timeout, func(m node.Message, err error) {
		a, _ := m.(*protocol.AdminResponse)
		switch {
		case err == node.ErrUnreachable:
			c.rec.Fail(err.Error())
			c.follow("")
		case err != nil:
			c.rec.Info(err.Error())
			c.follow("")
		case a.Error == protocol.None && (op.Do == Reassign || a.LeaderEpoch < 0):
			// Its answer may tell any of the several changes that it takes, or,
			// as Kafka's own, none of them. The truth tells them one by one.
			c.rec.Fail("accepted; the changes it led to are the system's")
		case a.Error == protocol.None:
			c.rec.OK(histories.Event{Value: Value(a.Leader, a.LeaderEpoch), Version: histories.At(int64(a.LeaderEpoch))})
		case a.Error == protocol.RequestTimedOut:
			c.rec.Info(string(a.Error))
			c.follow(a.Controller)
		default:
			c.rec.Fail(string(a.Error))
			c.follow(a.Controller)
		}
		then()
	})
}
