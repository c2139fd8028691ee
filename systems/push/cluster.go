package push

import (
	"slices"

	"github.com/stalemate-io/stalemate/systems/protocol"
)

// cluster is what an active controller remembers of the store: Kafka's
// ControllerContext. Elections trust it for liveness and assignment, and read
// the state of partitions anew.
type cluster struct {
	live         []int32 // sorted
	epochs       map[int32]int64
	shuttingDown []int32
	topics       []*topic // in the order of the store, by name
	partitions   []*partition
	byID         map[protocol.Partition]*partition
	channels     map[int32]*channel
}

type topic struct {
	name       string
	version    int32 // of the topic's node
	partitions []*partition
}

// partition is the controller's cache of one partition.
type partition struct {
	id        protocol.Partition
	key       string
	statePath string
	topic     *topic
	// replicas is the assignment; during a reassignment those that leave and
	// those that come too.
	replicas, adding, removing []int32
	known                      bool // has a state in the store
	state                      State
	version                    int32
	// batch is the last batch whose metadata the partition went into, and
	// place where it stands there.
	batch *batch
	place int
}

func newCluster() *cluster {
	return &cluster{
		epochs:   map[int32]int64{},
		byID:     map[protocol.Partition]*partition{},
		channels: map[int32]*channel{},
	}
}

func (k *cluster) isLive(broker int32) bool { return contains(k.live, broker) }

// serving tells whether a broker can lead: live and not about to stop.
func (k *cluster) serving(broker int32) bool {
	return k.isLive(broker) && !contains(k.shuttingDown, broker)
}

func (k *cluster) liveOf(brokers []int32) []int32 {
	var out []int32
	for _, b := range brokers {
		if k.isLive(b) {
			out = append(out, b)
		}
	}
	return out
}

func (k *cluster) addLive(broker int32, epoch int64) {
	if !k.isLive(broker) {
		live := append(slices.Clone(k.live), broker)
		slices.Sort(live)
		k.live = live
	}
	k.epochs[broker] = epoch
}

func (k *cluster) removeLive(broker int32) {
	k.live = without(k.live, broker)
	k.shuttingDown = without(k.shuttingDown, broker)
	delete(k.epochs, broker)
}

func (k *cluster) topic(name string) *topic {
	for _, t := range k.topics {
		if t.name == name {
			return t
		}
	}
	return nil
}

// addTopic takes over a topic's node. Partitions are in order of their index.
func (k *cluster) addTopic(name string, n topicNode, version int32) *topic {
	t := &topic{name: name, version: version}
	for index, replicas := range n.Partitions {
		id := protocol.Partition{Topic: name, Index: atoi(index)}
		t.partitions = append(t.partitions, &partition{
			id: id, key: id.String(), statePath: StatePath(id), topic: t, replicas: replicas,
			adding: n.AddingReplicas[index], removing: n.RemovingReplicas[index],
		})
	}
	slices.SortFunc(t.partitions, func(a, b *partition) int { return int(a.id.Index) - int(b.id.Index) })
	k.topics = append(k.topics, t)
	for _, p := range t.partitions {
		k.partitions = append(k.partitions, p)
		k.byID[p.id] = p
	}
	return t
}

// node gives the payload of the topic's node.
func (t *topic) node() topicNode {
	n := topicNode{
		Partitions:       map[string][]int32{},
		AddingReplicas:   map[string][]int32{},
		RemovingReplicas: map[string][]int32{},
	}
	for _, p := range t.partitions {
		index := itoa(p.id.Index)
		n.Partitions[index] = p.replicas
		if len(p.adding) > 0 {
			n.AddingReplicas[index] = p.adding
		}
		if len(p.removing) > 0 {
			n.RemovingReplicas[index] = p.removing
		}
	}
	return n
}

// leaderless lists partitions that need an election: without a state, or with a
// leader that is not live.
func (k *cluster) leaderless() []*partition {
	var out []*partition
	for _, p := range k.partitions {
		if p.known && !k.isLive(p.state.Leader) {
			out = append(out, p)
		}
	}
	return out
}

// hosted lists partitions with a replica on the broker.
func (k *cluster) hosted(broker int32) []*partition {
	var out []*partition
	for _, p := range k.partitions {
		if p.known && contains(p.replicas, broker) {
			out = append(out, p)
		}
	}
	return out
}

// target is the assignment a reassignment moves to; the assignment itself where
// there is none.
func (p *partition) target() []int32 {
	if len(p.removing) == 0 {
		return p.replicas
	}
	return minus(p.replicas, p.removing)
}

func (p *partition) reassigning() bool { return len(p.adding)+len(p.removing) > 0 }

// push gives the partition as it stands in requests.
func (p *partition) push(isNew bool) PartitionState {
	return PartitionState{
		Partition:       p.id,
		ControllerEpoch: p.state.ControllerEpoch,
		Leader:          p.state.Leader,
		LeaderEpoch:     p.state.LeaderEpoch,
		ISR:             p.state.ISR,
		Version:         p.version,
		Replicas:        p.replicas,
		Adding:          p.adding,
		Removing:        p.removing,
		IsNew:           isNew,
	}
}
