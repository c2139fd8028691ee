package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/tcp"
	"github.com/stalemate-io/stalemate/systems/wire"
)

// addresses are where clients reach the brokers.
func (c *Cluster) addresses() map[node.ID]string {
	out := map[node.ID]string{}
	for _, id := range c.options.BrokerIDs() {
		out[id] = c.places[id].client
	}
	return out
}

// Client runs a client of the cluster in this process: a machine that calls
// brokers as it would call those of a toy system. Its random numbers follow from
// the seed.
func (c *Cluster) Client(id node.ID, new node.New, seed uint64) (*tcp.Node, error) {
	addresses, topicID := c.addresses(), c.topicID
	return tcp.Start(tcp.Config{
		Self: id, Protocol: wire.Real(wire.Cluster{Addresses: addresses}), Peers: addresses, Seed: seed,
		New: func(e node.Env) node.Machine {
			return new(&env{e, &c.options, topicID})
		},
	})
}

// env is the world of a client of real Kafka, which knows neither an election of a
// chosen leader nor a fetch of the latest value. The chosen leader is made the
// preferred one first, and where the latest value is asked before it is fetched. What
// toy brokers tell of themselves beside an answer is asked for on its own.
type env struct {
	node.Env
	options *Options
	topicID [16]byte
}

// Call sends a request; see node.Env.
func (e *env) Call(to node.ID, request node.Message, timeout time.Duration, done func(node.Message, error)) {
	switch r := request.(type) {
	case *protocol.MetadataRequest:
		if r.Path == protocol.ReadRole {
			e.role(to, r.Partition, timeout, done)
			return
		}
		if e.options.Mode == KRaft {
			e.located(to, r, timeout, done)
			return
		}
	case *protocol.ElectLeadersRequest:
		if r.Target != protocol.NoLeader {
			e.elect(to, r, timeout, done)
			return
		}
	case *protocol.FetchRequest:
		if r.Offset == protocol.LatestOffset {
			e.fetch(to, *r, timeout, done)
			return
		}
	}
	e.Env.Call(to, request, timeout, done)
}

func (e *env) elect(to node.ID, r *protocol.ElectLeadersRequest, timeout time.Duration, done func(node.Message, error)) {
	prefer := &protocol.AlterReassignmentRequest{Partition: r.Partition, Replicas: e.options.replicasFrom(r.Target)}
	e.Env.Call(to, prefer, timeout, func(m node.Message, err error) {
		if a, _ := m.(*protocol.AdminResponse); err != nil || a.Error != protocol.None {
			done(m, err)
			return
		}
		e.Env.Call(to, &protocol.ElectLeadersRequest{Partition: r.Partition, Target: protocol.NoLeader}, timeout, done)
	})
}

// fetch reads the last value below the high watermark: it asks where that is first,
// which a leader that does not know it yet refuses to say (KIP-207), and fetches from
// there.
func (e *env) fetch(to node.ID, r protocol.FetchRequest, timeout time.Duration, done func(node.Message, error)) {
	e.Env.Call(to, &wire.LatestRequest{Partition: r.Partition, LeaderEpoch: r.LeaderEpoch}, timeout, func(m node.Message, err error) {
		a, _ := m.(*wire.LatestResponse)
		if err != nil || a.Error != protocol.None {
			if err == nil {
				m = &protocol.FetchResponse{Error: a.Error}
			}
			done(m, err)
			return
		}
		r.Offset = max(0, a.Offset-1)
		e.Env.Call(to, &r, timeout, func(m node.Message, err error) {
			a, _ := m.(*protocol.FetchResponse)
			if err == nil && a.Error == protocol.None && !endsAtHighWatermark(&r, a) {
				m, err = nil, errNotLatest
			}
			done(m, err)
		})
	})
}

func endsAtHighWatermark(r *protocol.FetchRequest, a *protocol.FetchResponse) bool {
	return r.Offset+int64(len(a.Values)) == a.HighWatermark && (len(a.Values) > 0 || a.HighWatermark == 0)
}

var errNotLatest = errors.New("the answer does not end at the high watermark")

// replicasFrom lists replicas that begin with a broker.
func (o *Options) replicasFrom(first int32) []int32 {
	var out []int32
	for r := range o.Replicas {
		out = append(out, (first-1+int32(r))%int32(o.Brokers)+1)
	}
	return out
}

// asker is the machine by which the cluster itself asks brokers.
type asker struct{ env node.Env }

func (asker) Start()                                            {}
func (asker) Receive(node.ID, node.Message, func(node.Message)) {}

func (c *Cluster) newAdmin() (*tcp.Node, error) {
	return c.Client("admin", func(env node.Env) node.Machine { return asker{env} }, 0)
}

const (
	askTimeout = 2 * time.Second
	askEvery   = 100 * time.Millisecond
)

// knows asks a broker what it believes.
func (c *Cluster) knows(ctx context.Context, id node.ID) (*protocol.ClusterResponse, error) {
	type result struct {
		m   node.Message
		err error
	}
	done := make(chan result, 1)
	c.admin.Post(func(a node.Machine) {
		a.(asker).env.Call(id, &protocol.ClusterRequest{Topics: []string{Topic}}, askTimeout, func(m node.Message, err error) { done <- result{m, err} })
	})
	select {
	case r := <-done:
		if r.err != nil {
			return nil, r.err
		}
		a, ok := r.m.(*protocol.ClusterResponse)
		if !ok {
			return nil, fmt.Errorf("%s answers %T", id, r.m)
		}
		return a, nil
	case <-c.admin.Done():
		return nil, c.admin.Err()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// until asks again until cond gives no error.
func (c *Cluster) until(ctx context.Context, what string, cond func() error) error {
	for {
		err := cond()
		if err == nil {
			return nil
		}
		if died := c.Died(); died != nil {
			return died
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited in vain for %s: %w (last: %w)", what, context.Cause(ctx), err)
		case <-time.After(askEvery):
		}
	}
}

// request sends a request that is the controller's to answer, to whoever that is.
func (c *Cluster) request(ctx context.Context, q kmsg.Request) (kmsg.Response, error) {
	var seeds []string
	for _, id := range c.options.BrokerIDs() {
		if c.members[id].Asleep() == nil {
			seeds = append(seeds, c.places[id].client)
		}
	}
	if len(seeds) == 0 {
		return nil, errors.New("no broker is up")
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(seeds...), kgo.RequestRetries(2), kgo.RetryTimeout(askTimeout))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	return client.Request(ctx, q)
}

// createTopic makes the topic and waits until every broker knows its leaders.
func (c *Cluster) createTopic(ctx context.Context) error {
	err := c.until(ctx, "the brokers to know each other", func() error { return c.eachBroker(ctx, c.knowsAll) })
	if err != nil {
		return err
	}
	q := kmsg.NewPtrCreateTopicsRequest()
	q.TimeoutMillis = 10_000
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = Topic, -1, -1
	for p, replicas := range assignments(c.options) {
		a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		a.Partition, a.Replicas = int32(p), replicas
		t.ReplicaAssignment = append(t.ReplicaAssignment, a)
	}
	q.Topics = append(q.Topics, t)
	err = c.until(ctx, "the topic to be created", func() error {
		r, err := c.request(ctx, q)
		if err != nil {
			return err
		}
		for _, t := range r.(*kmsg.CreateTopicsResponse).Topics {
			if err := kerr.ErrorForCode(t.ErrorCode); err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := c.until(ctx, "the topic's id", func() error { return c.learnTopicID(ctx) }); err != nil {
		return err
	}
	return c.until(ctx, "every broker to know the leaders", func() error { return c.eachBroker(ctx, c.knowsLeaders) })
}

func (c *Cluster) learnTopicID(ctx context.Context) error {
	q := kmsg.NewPtrMetadataRequest()
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = kmsg.StringPtr(Topic)
	q.Topics = append(q.Topics, t)
	r, err := c.request(ctx, q)
	if err != nil {
		return err
	}
	for _, t := range r.(*kmsg.MetadataResponse).Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return err
		}
		c.topicID = t.TopicID
	}
	return nil
}

func (c *Cluster) eachBroker(ctx context.Context, ask func(context.Context, node.ID) error) error {
	for _, id := range c.options.BrokerIDs() {
		if err := ask(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) knowsAll(ctx context.Context, id node.ID) error {
	a, err := c.knows(ctx, id)
	if err == nil && len(a.Brokers) < c.options.Brokers {
		err = fmt.Errorf("%s knows brokers %v", id, a.Brokers)
	}
	return err
}

func (c *Cluster) knowsLeaders(ctx context.Context, id node.ID) error {
	a, err := c.knows(ctx, id)
	if err != nil {
		return err
	}
	led := 0
	for _, p := range a.Partitions {
		if p.Leader != protocol.NoLeader {
			led++
		}
	}
	if led < c.options.Partitions {
		return fmt.Errorf("%s knows leaders of %d of %d partitions", id, led, c.options.Partitions)
	}
	return nil
}

// awaitAnswer waits until a node answers. That it lets itself be dialled says nothing:
// an engine takes connections to the ports that it publishes before anybody listens.
func (c *Cluster) awaitAnswer(ctx context.Context, id node.ID) error {
	return c.until(ctx, string(id)+" to answer", func() (err error) {
		conn, err := (&net.Dialer{Timeout: askTimeout}).DialContext(ctx, "tcp", c.places[id].client)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, conn.Close()) }()
		if err := conn.SetDeadline(time.Now().Add(askTimeout)); err != nil {
			return err
		}
		if _, err := conn.Write(kmsg.NewRequestFormatter().AppendRequest(nil, kmsg.NewPtrApiVersionsRequest(), 0)); err != nil {
			return err
		}
		_, err = conn.Read(make([]byte, 1))
		return err
	})
}

// Leader says which node is the active controller.
func (c *Cluster) Leader(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*askTimeout)
	defer cancel()
	if c.options.Mode == ZooKeeper {
		var last error
		for _, id := range c.options.BrokerIDs() {
			if c.members[id].Asleep() != nil {
				continue
			}
			a, err := c.knows(ctx, id)
			if err == nil && a.Controller != "" {
				return a.Controller, nil
			}
			last = err
		}
		return "", fmt.Errorf("no broker names a controller: %w", last)
	}
	q := kmsg.NewPtrDescribeQuorumRequest()
	t := kmsg.NewDescribeQuorumRequestTopic()
	t.Topic, t.Partitions = "__cluster_metadata", []kmsg.DescribeQuorumRequestTopicPartition{{Partition: 0}}
	q.Topics = append(q.Topics, t)
	r, err := c.request(ctx, q)
	if err != nil {
		return "", err
	}
	for _, t := range r.(*kmsg.DescribeQuorumResponse).Topics {
		for _, p := range t.Partitions {
			if p.ErrorCode == 0 && p.LeaderID > 3000 {
				return fmt.Sprintf("c%d", p.LeaderID-3000), nil
			}
		}
	}
	return "", errors.New("no quorum names a leader")
}
