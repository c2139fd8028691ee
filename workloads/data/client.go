package data

import (
	"errors"
	"fmt"
	"time"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// Path is the read path under which fetches are recorded.
const Path = "fetch"

// Options says what clients there are and when they do what.
type Options struct {
	Brokers    []node.ID
	Partitions []protocol.Partition
	// Clients is how many there are, 20 by default, of which Producers, 6 by
	// default, append and the others fetch.
	Clients, Producers int
	// First is how many clients of other workloads there are, whose names come
	// before those of these.
	First int
	// Think, From, Until, Timeout, Final and Ended are as in
	// leadership.Options: after Final, each broker is asked once more who leads
	// each partition, and whoever it names for the latest value.
	Think, From, Until, Timeout, Final time.Duration
	Ended                              func()
	// Issued is as there, too; see NewScript.
	Issued func(leadership.Op)
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
	if o.Producers == 0 {
		o.Producers = min(6, o.Clients/2)
	}
	return o
}

// NewClients gives the clients, x1 and on, each with a recording of its own.
func NewClients(o Options, record func() leadership.Recording) ([]leadership.Client, error) {
	o = o.withDefaults()
	if len(o.Brokers) == 0 || len(o.Partitions) == 0 {
		return nil, fmt.Errorf("data: %d brokers and %d partitions; at least one of each is needed", len(o.Brokers), len(o.Partitions))
	}
	clients := make([]leadership.Client, o.Clients)
	for i := range clients {
		c := newClient(&o, record(), o.First+i)
		c.home, c.produces = o.Brokers[i%len(o.Brokers)], i < o.Producers
		clients[i] = c.client()
	}
	return clients, nil
}

// NewFinalClients gives one client more for each broker, for the final reads.
func NewFinalClients(o Options, record func() leadership.Recording) []leadership.Client {
	o = o.withDefaults()
	clients := make([]leadership.Client, len(o.Brokers))
	for i, b := range o.Brokers {
		c := newClient(&o, record(), o.First+o.Clients+i)
		c.home, c.final, c.rest = b, true, o.Partitions
		clients[i] = c.client()
	}
	return clients
}

// NewScript makes clients that do the operations they are given, as
// leadership.NewScript does. Of the options, Brokers and Timeout count, Issued and Ended.
func NewScript(ops []leadership.Op, o Options, record func() leadership.Recording) ([]leadership.Client, error) {
	o = o.withDefaults()
	return leadership.Script(ops, func(number int) leadership.Performer { return newClient(&o, record(), number-1) })
}

// client produces or fetches, one operation after the other.
type client struct {
	o   *Options
	env node.Env
	rec leadership.Recording
	// home is the broker that it asks who leads.
	home     node.ID
	leaders  map[protocol.Partition]belief
	number   int
	produces bool
	produced int64
	began    time.Duration // on its own clock
	final    bool
	rest     []protocol.Partition
}

// belief is who leads a partition, as a broker said.
type belief struct {
	leader node.ID
	epoch  int32
}

// newClient makes the client that has number others before it.
func newClient(o *Options, rec leadership.Recording, number int) *client {
	return &client{o: o, rec: rec, number: number, leaders: map[protocol.Partition]belief{}}
}

func (c *client) client() leadership.Client {
	return leadership.Client{ID: node.ID(fmt.Sprintf("x%d", c.number+1)), New: func(env node.Env) node.Machine {
		c.env = env
		return c
	}}
}

// Boot, Do and End are those of a leadership.Performer.
func (c *client) Boot(env node.Env) { c.env, c.began = env, env.Now() }

// Start begins after the warm-up.
func (c *client) Start() {
	c.Boot(c.env)
	if c.final {
		// A moment later, for the mark to stand before the reads.
		c.env.After(c.o.Final+time.Millisecond, c.readRest)
		return
	}
	c.env.After(c.o.From+c.think(), c.next)
}

// Receive takes no requests.
func (*client) Receive(node.ID, node.Message, func(node.Message)) {}

func (c *client) think() time.Duration {
	return time.Duration(c.env.Rand().ExpFloat64() * float64(c.o.Think))
}

func (c *client) End() {
	if c.o.Ended != nil {
		c.o.Ended()
	}
}

func (c *client) next() {
	if c.env.Now()-c.began >= c.o.Until {
		c.End()
		return
	}
	p := c.o.Partitions[c.env.Rand().IntN(len(c.o.Partitions))]
	again := func() { c.env.After(c.think(), c.next) }
	op := leadership.Op{Do: leadership.Fetch, Partition: p, Node: c.home}
	if c.produces {
		op.Do = leadership.Produce
	}
	// Clients refresh what they believe now and then, unasked.
	op.Fresh = c.env.Rand().IntN(8) == 0
	c.Do(op, again)
}

func (c *client) readRest() {
	if len(c.rest) == 0 {
		c.End()
		return
	}
	p := c.rest[0]
	c.rest = c.rest[1:]
	c.Do(leadership.Op{Do: leadership.Fetch, Partition: p, Node: c.home, Final: true}, c.readRest)
}

// Do produces or fetches at whoever is believed to lead, once that is known.
func (c *client) Do(op leadership.Op, then func()) {
	op.At, op.Client = c.env.Now()-c.began, c.env.Self()
	if c.o.Issued != nil {
		c.o.Issued(op)
	}
	c.home = op.Node
	if op.Fresh {
		delete(c.leaders, op.Partition)
	}
	c.locate(op.Partition, func(b belief) {
		if op.Do == leadership.Produce {
			c.produce(op.Partition, b, then)
		} else {
			c.fetch(op.Partition, b, op.Final, then)
		}
	}, then)
}

// locate finds out whom to ask, and calls otherwise where nobody says.
func (c *client) locate(p protocol.Partition, found func(belief), otherwise func()) {
	if b, ok := c.leaders[p]; ok {
		found(b)
		return
	}
	c.env.Call(c.home, &protocol.MetadataRequest{Partition: p, Path: protocol.ReadBroker}, c.o.Timeout, func(m node.Message, err error) {
		a, _ := m.(*protocol.MetadataResponse)
		if err != nil || a.Error != protocol.None || a.Leader == protocol.NoLeader {
			if !c.final && (err != nil || a.Error != protocol.LeaderNotAvailable) {
				c.home = c.o.Brokers[c.env.Rand().IntN(len(c.o.Brokers))]
			}
			otherwise()
			return
		}
		b := belief{node.ID(fmt.Sprintf("b%d", a.Leader)), a.LeaderEpoch}
		c.leaders[p] = b
		found(b)
	})
}

func (c *client) produce(p protocol.Partition, b belief, then func()) {
	c.produced++
	value := int64(c.number)<<32 | c.produced
	c.rec.Invoke(histories.Event{
		F: "write", Key: histories.String(p.String()), Value: histories.Int(value), Node: string(b.leader),
	})
	request := &protocol.ProduceRequest{Partition: p, Value: value, AcksAll: true, LeaderEpoch: b.epoch}
	c.env.Call(b.leader, request, 3*c.o.Timeout, func(m node.Message, err error) {
		a, _ := m.(*protocol.ProduceResponse)
		switch {
		case err == nil && a.Error == protocol.None:
			c.rec.OK(histories.Event{Value: histories.Int(value), Version: histories.At(a.Offset)})
		case errors.Is(err, node.ErrUnreachable):
			c.rec.Fail(err.Error())
		case err != nil:
			c.rec.Info(err.Error())
		case unknown(a.Error):
			c.rec.Info(string(a.Error))
		default:
			c.rec.Fail(string(a.Error))
		}
		if err != nil || a.Error != protocol.None {
			delete(c.leaders, p)
		}
		then()
	})
}

// unknown tells the codes that say nothing of whether the value was appended: the
// leader may have lost its office with the value in its log.
func unknown(c protocol.Code) bool {
	return c == protocol.RequestTimedOut || c == protocol.NotLeaderOrFollower
}

func (c *client) fetch(p protocol.Partition, b belief, final bool, then func()) {
	e := histories.Event{F: "read", Key: histories.String(p.String()), Node: string(b.leader), Path: Path}
	if final {
		e.Extra = []histories.Field{{Name: "final", Value: histories.Bool(true)}}
	}
	c.rec.Invoke(e)
	request := &protocol.FetchRequest{Partition: p, Offset: protocol.LatestOffset, LeaderEpoch: b.epoch}
	c.env.Call(b.leader, request, c.o.Timeout, func(m node.Message, err error) {
		a, _ := m.(*protocol.FetchResponse)
		switch {
		case err != nil:
			c.rec.Fail(err.Error())
		case a.Error != protocol.None:
			c.rec.Fail(string(a.Error))
		default:
			c.rec.OK(Latest(a))
		}
		if err != nil || a.Error != protocol.None {
			delete(c.leaders, p)
		}
		then()
	})
}

// Latest gives what an answer to a fetch of the latest value is recorded as; that
// of an empty partition has neither value nor version.
func Latest(a *protocol.FetchResponse) histories.Event {
	if len(a.Values) == 0 {
		return histories.Event{}
	}
	return histories.Event{Value: histories.Int(a.Values[len(a.Values)-1]), Version: histories.At(a.HighWatermark - 1)}
}
