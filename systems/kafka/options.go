package kafka

import (
	"errors"
	"fmt"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// Mode is where the cluster keeps its metadata.
type Mode string

// The modes.
const (
	// ZooKeeper: in ZooKeeper, pushed to brokers by a controller among them.
	ZooKeeper Mode = "kafka-zk"
	// KRaft: in a log of its own, which brokers follow.
	KRaft Mode = "kafka-kraft"
)

// Options say which cluster to launch. The zero value of every field but Mode and
// Dir means its default.
type Options struct {
	Mode Mode
	// Dir is the folder for configurations, data and logs, one folder a node.
	Dir string
	// Home is where Kafka's jars are: an unpacked release (KAFKA_HOME), or what
	// "make kafka" brought. Java is the java command.
	Home, Java string
	// Brokers, 3 by default, and Controllers, 3 by default: nodes of the
	// quorum, or servers of ZooKeeper.
	Brokers, Controllers int
	// Partitions of the one topic, 6 by default, with Replicas each, 3 by
	// default.
	Partitions, Replicas int
	// SessionTimeout is after how much silence a broker is taken for dead; 4 s
	// by default, where Kafka's own are 9 s (KRaft) and 18 s (ZooKeeper).
	SessionTimeout time.Duration
	// ElectionTimeout and FetchTimeout are those of the quorum, 1 s and 2 s by
	// default.
	ElectionTimeout, FetchTimeout time.Duration
	// PushTimeout is how long a controller in ZooKeeper mode waits for the answer to
	// a push before it sends it again; 30 s by default, as Kafka does.
	PushTimeout time.Duration
	// HeapMB is the largest heap of a node in MiB; 256 by default.
	HeapMB int
	// Containers has every node be a container of the Docker engine that the
	// environment names, instead of a process of this machine. They run from Image;
	// by default that is the mode's local image if the engine has it, else the
	// official one. StoreImage is that of ZooKeeper's servers; see
	// zookeeper.ChooseImage. Home and Java have no meaning then.
	Containers        bool
	Image, StoreImage string
}

// Paths lists the read paths of a broker, which are the two places where it keeps who
// leads: its metadata cache, and what it goes by when it serves a partition.
func Paths() []protocol.ReadPath { return []protocol.ReadPath{protocol.ReadBroker, protocol.ReadRole} }

// Topic is the name of the one topic of a cluster.
const Topic = "t"

func (o Options) withDefaults() (Options, error) {
	for _, d := range []struct {
		field *int
		value int
	}{{&o.Brokers, 3}, {&o.Controllers, 3}, {&o.Partitions, 6}, {&o.Replicas, 3}, {&o.HeapMB, 256}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&o.SessionTimeout, 4 * time.Second}, {&o.PushTimeout, 30 * time.Second}, {&o.ElectionTimeout, time.Second}, {&o.FetchTimeout, 2 * time.Second}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	o.Replicas = min(o.Replicas, o.Brokers)
	switch {
	case o.Mode != ZooKeeper && o.Mode != KRaft:
		return o, fmt.Errorf("no mode %q of Kafka: want %s or %s", o.Mode, ZooKeeper, KRaft)
	case o.Dir == "":
		return o, errors.New("no folder for the cluster's data: set Dir")
	case o.Brokers < 1 || o.Brokers > 9:
		return o, fmt.Errorf("%d brokers: want 1 to 9", o.Brokers)
	case o.Controllers != 1 && o.Controllers != 3 && o.Controllers != 5:
		return o, fmt.Errorf("%d controllers or servers of ZooKeeper: want 1, 3 or 5", o.Controllers)
	case o.Partitions < 1 || o.Partitions > 1000:
		return o, fmt.Errorf("%d partitions: want 1 to 1000", o.Partitions)
	case o.SessionTimeout < time.Second:
		return o, fmt.Errorf("a session time-out of %v: want 1s or more", o.SessionTimeout)
	case o.HeapMB < 128:
		return o, fmt.Errorf("a heap of %d MiB: want 128 or more", o.HeapMB)
	}
	return o, nil
}

// BrokerIDs names the brokers b1, b2, …
func (o Options) BrokerIDs() []node.ID { return ids("b", o.Brokers) }

// ControllerIDs names the controllers of the quorum c1, c2, …; in ZooKeeper mode
// the brokers, one of which is the controller.
func (o Options) ControllerIDs() []node.ID {
	if o.Mode == ZooKeeper {
		return o.BrokerIDs()
	}
	return ids("c", o.Controllers)
}

func ids(letter string, n int) []node.ID {
	out := make([]node.ID, n)
	for i := range out {
		out[i] = node.ID(fmt.Sprint(letter, i+1))
	}
	return out
}

// TopicPartitions lists the partitions of the topic.
func (o Options) TopicPartitions() []protocol.Partition {
	out := make([]protocol.Partition, o.Partitions)
	for i := range out {
		out[i] = protocol.Partition{Topic: Topic, Index: int32(i)}
	}
	return out
}
