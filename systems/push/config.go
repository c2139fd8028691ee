package push

import (
	"fmt"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// Config is what all nodes of one cluster have in common. Its times are those
// of Kafka's defaults where a run of a minute can live with them, and shorter
// where it cannot; each says so.
type Config struct {
	Guards Guards
	// Controllers and Brokers are how many there are: c1 to cN, b1 to bN.
	Controllers, Brokers int
	// Topics are created by the first controller once all brokers have
	// registered, or BootstrapWait after it became active.
	Topics []Topic
	// DirectISR makes leaders write a changed in-sync set to the store
	// themselves and notify the controller through a sequential node, as Kafka
	// did before 2.7, rather than ask the controller with AlterPartition.
	DirectISR bool
	// MinInsyncReplicas is how many in-sync replicas a produce with acks=all
	// needs (min.insync.replicas; 2, as one has to ask of Kafka).
	MinInsyncReplicas int
	// BootstrapWait is how long the first controller waits for brokers to
	// register before it creates the topics.
	BootstrapWait time.Duration
	// RequestTimeout is how long the controller waits for a broker's answer
	// before it sends the same request again (Kafka: 30 s).
	RequestTimeout time.Duration
	// RetryBackoff stands between two attempts of a push, an AlterPartition
	// or a store operation (100 ms).
	RetryBackoff time.Duration
	// ReplicaLagTimeMax is how long a follower may lag before the leader
	// takes it out of the in-sync set (replica.lag.time.max.ms, 30 s).
	ReplicaLagTimeMax time.Duration
	// FetchMaxWait is how long a leader holds back a follower's fetch that has
	// nothing to carry (replica.fetch.wait.max.ms, 500 ms).
	FetchMaxWait time.Duration
	// FetchBackoff follows a failed fetch (replica.fetch.backoff.ms, 1 s).
	FetchBackoff time.Duration
	// FetchTimeout is how long a follower waits for the answer to a fetch
	// (replica.socket.timeout.ms, 30 s).
	FetchTimeout time.Duration
	// PreferredElection is how often the controller gives leadership back to
	// the first replica of the assignment
	// (leader.imbalance.check.interval.seconds, 300 s); 0 is never.
	PreferredElection time.Duration
	// ISRNotification is how long a leader waits after a direct change of an
	// in-sync set before it notifies the controller (Kafka: 5 s of quiet).
	ISRNotification time.Duration
}

// Topic is a topic to be created: its replicas by partition, the preferred
// leader first.
type Topic struct {
	Name     string
	Replicas [][]int32
}

// Cluster configures controllers c1, c2, … and brokers b1, b2, … with one topic
// t of so many partitions of three replicas each, and with every guard on.
func Cluster(controllers, brokers, partitions int) Config {
	return Config{
		Guards:            AllGuards(),
		Controllers:       controllers,
		Brokers:           brokers,
		Topics:            []Topic{SpreadTopic("t", partitions, 3, brokers)},
		MinInsyncReplicas: 2,
		BootstrapWait:     2 * time.Second,
		RequestTimeout:    2 * time.Second,
		RetryBackoff:      100 * time.Millisecond,
		ReplicaLagTimeMax: 5 * time.Second,
		FetchMaxWait:      500 * time.Millisecond,
		FetchBackoff:      500 * time.Millisecond,
		FetchTimeout:      2 * time.Second,
		ISRNotification:   2 * time.Second,
	}
}

// DefaultConfig is three controllers, five brokers and twelve partitions.
func DefaultConfig() Config { return Cluster(3, 5, 12) }

// SpreadTopic assigns partitions to brokers in turn: partition p goes to the
// brokers p+1, p+2, ... of the circle 1 to brokers.
func SpreadTopic(name string, partitions, replicas, brokers int) Topic {
	t := Topic{Name: name}
	for p := range partitions {
		var rs []int32
		for r := range min(replicas, brokers) {
			rs = append(rs, int32((p+r)%brokers)+1)
		}
		t.Replicas = append(t.Replicas, rs)
	}
	return t
}

// Partitions lists all partitions of the topics, in order.
func (c *Config) Partitions() []protocol.Partition {
	var ps []protocol.Partition
	for _, t := range c.Topics {
		for i := range t.Replicas {
			ps = append(ps, protocol.Partition{Topic: t.Name, Index: int32(i)})
		}
	}
	return ps
}

// BrokerIDs lists the brokers' node names, in order.
func (c *Config) BrokerIDs() []node.ID { return ids(c.Brokers, BrokerID) }

// ControllerIDs lists the controllers' node names, in order.
func (c *Config) ControllerIDs() []node.ID { return ids(c.Controllers, ControllerID) }

func ids(n int, name func(int32) node.ID) []node.ID {
	ids := make([]node.ID, n)
	for i := range ids {
		ids[i] = name(int32(i) + 1)
	}
	return ids
}

// Validate says what a cluster could not run with.
func (c *Config) Validate() error {
	if c.Brokers < 1 || c.Controllers < 1 {
		return fmt.Errorf("push: %d controllers and %d brokers; at least one of each is needed", c.Controllers, c.Brokers)
	}
	for _, t := range c.Topics {
		if t.Name == "" {
			return fmt.Errorf("push: a topic needs a name")
		}
		for i, rs := range t.Replicas {
			if len(rs) == 0 {
				return fmt.Errorf("push: partition %s-%d has no replicas", t.Name, i)
			}
			for j, r := range rs {
				if r < 1 || int(r) > c.Brokers {
					return fmt.Errorf("push: partition %s-%d is assigned to broker %d; brokers are 1 to %d", t.Name, i, r, c.Brokers)
				}
				if contains(rs[:j], r) {
					return fmt.Errorf("push: partition %s-%d is assigned to broker %d twice", t.Name, i, r)
				}
			}
		}
	}
	for _, d := range []struct {
		name string
		d    time.Duration
	}{
		{"RequestTimeout", c.RequestTimeout}, {"RetryBackoff", c.RetryBackoff},
		{"ReplicaLagTimeMax", c.ReplicaLagTimeMax}, {"FetchMaxWait", c.FetchMaxWait},
		{"FetchBackoff", c.FetchBackoff}, {"FetchTimeout", c.FetchTimeout},
	} {
		if d.d <= 0 {
			return fmt.Errorf("push: %s is %v; it must be positive", d.name, d.d)
		}
	}
	return nil
}
