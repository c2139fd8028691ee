package kraft

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/stalemate-io/stalemate/systems/kraft/raft"
	"github.com/stalemate-io/stalemate/systems/node"
)

// Config is what all nodes of a cluster agree on. A zero duration stands for the
// default, which is Kafka's.
type Config struct {
	// Controllers are the voters of the metadata quorum: c1, c2, …
	Controllers []node.ID
	// Brokers are the brokers that topics are spread over, by number. A topic
	// is created once all of them are there, or after TopicWait with those
	// that are.
	Brokers []int32
	// Topics are created by the first active controller that can.
	Topics []Topic
	// Raft configures the metadata log. Its Voters and Guards are taken from
	// this Config.
	Raft raft.Config
	// SessionTimeout is how long a controller that hears no heartbeat waits
	// before it fences the broker. Default 9 s.
	SessionTimeout time.Duration
	// HeartbeatInterval is the time between a broker's heartbeats. Default 2 s.
	HeartbeatInterval time.Duration
	// MaxIdle is the time after which an active controller that has nothing
	// to write writes a NoOp record. Default 500 ms.
	MaxIdle time.Duration
	// ReplicaLagTime is how long a follower may be behind its leader and stay
	// in sync. Default 30 s.
	ReplicaLagTime time.Duration
	// FetchMaxWait is how long a follower's fetch that finds nothing waits at
	// the leader. Default 500 ms.
	FetchMaxWait time.Duration
	// RoleDelay is the time between a broker's publishing a change in its
	// metadata cache and acting on it. Default 1 ms.
	RoleDelay time.Duration
	// TopicWait is how long the first active controller waits for all
	// brokers before it creates the topics. Default 5 s.
	TopicWait time.Duration
	// MinISR is the number of in-sync replicas that a produce with acks=all
	// demands. Default 2.
	MinISR int
	// Guards are the safety rules in force.
	Guards Guards
}

// Topic is a topic to create.
type Topic struct {
	Name        string
	Partitions  int
	Replication int
}

// Cluster configures controllers c1, c2, … and brokers b1, b2, … with one topic
// t of so many partitions of three replicas each, and with every guard on.
func Cluster(controllers, brokers, partitions int) Config {
	c := Config{Guards: AllGuards()}
	for i := 1; i <= controllers; i++ {
		c.Controllers = append(c.Controllers, node.ID("c"+strconv.Itoa(i)))
	}
	for i := 1; i <= brokers; i++ {
		c.Brokers = append(c.Brokers, int32(i))
	}
	if brokers > 0 && partitions > 0 {
		c.Topics = []Topic{{Name: "t", Partitions: partitions, Replication: min(3, brokers)}}
	}
	return c
}

// ControllerIDs lists the nodes of the controllers.
func (c Config) ControllerIDs() []node.ID { return c.Controllers }

// BrokerIDs lists the nodes of the brokers.
func (c Config) BrokerIDs() []node.ID {
	ids := make([]node.ID, len(c.Brokers))
	for i, b := range c.Brokers {
		ids[i] = BrokerNode(b)
	}
	return ids
}

// Validate reports what no cluster can be made of.
func (c Config) Validate() error {
	switch {
	case len(c.Controllers) == 0:
		return errors.New("kraft: no controllers: expected at least one, such as c1")
	case len(c.Controllers) > 64:
		return fmt.Errorf("kraft: %d controllers: expected at most 64", len(c.Controllers))
	}
	for i, b := range c.Brokers {
		if b < 1 || slices.Contains(c.Brokers[:i], b) {
			return fmt.Errorf("kraft: broker %d: expected numbers from 1, each once", b)
		}
	}
	for _, t := range c.Topics {
		if t.Name == "" || t.Partitions < 1 || t.Replication < 1 || t.Replication > len(c.Brokers) {
			return fmt.Errorf("kraft: topic %q of %d partitions and %d replicas: expected a name, partitions, and from 1 to %d replicas",
				t.Name, t.Partitions, t.Replication, len(c.Brokers))
		}
	}
	return nil
}

// BrokerNode is the node on which a broker runs.
func BrokerNode(broker int32) node.ID { return node.ID("b" + strconv.Itoa(int(broker))) }

// brokerOf gives the number of the broker that runs on a node.
func brokerOf(id node.ID) (int32, error) {
	if len(id) > 1 && id[0] == 'b' {
		if n, err := strconv.ParseInt(string(id[1:]), 10, 32); err == nil && n > 0 {
			return int32(n), nil
		}
	}
	return 0, fmt.Errorf("node %q is no broker: expected b1, b2, …", id)
}

func (c Config) withDefaults() Config {
	durations := []struct {
		at    *time.Duration
		value time.Duration
	}{
		{&c.SessionTimeout, 9 * time.Second},
		{&c.HeartbeatInterval, 2 * time.Second},
		{&c.MaxIdle, 500 * time.Millisecond},
		{&c.ReplicaLagTime, 30 * time.Second},
		{&c.FetchMaxWait, 500 * time.Millisecond},
		{&c.RoleDelay, time.Millisecond},
		{&c.TopicWait, 5 * time.Second},
	}
	for _, d := range durations {
		if *d.at == 0 {
			*d.at = d.value
		}
	}
	if c.MinISR == 0 {
		c.MinISR = 2
	}
	c.Raft.Voters = c.Controllers
	c.Raft.Guards = c.Guards.raft()
	return c
}

// retryInterval is the pause before a broker tries a controller again, or tells
// it again that it waits to be unfenced.
func (c Config) retryInterval() time.Duration { return c.HeartbeatInterval / 4 }

// selfFencingLease is how long after a heartbeat that was answered a broker with
// self-fencing serves: less than the controller waits, by what their clocks may
// differ in speed.
func (c Config) selfFencingLease() time.Duration { return c.SessionTimeout / 10 * 9 }
