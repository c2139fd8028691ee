package push

import (
	"slices"
	"strconv"

	"github.com/stalemate-io/stalemate/systems/protocol"
)

// batch gathers what one step of the controller has to tell the brokers, and
// queues it in Kafka's order: all LeaderAndIsr, then all UpdateMetadata, then
// all StopReplica.
type batch struct {
	c           *Controller
	roles       map[int32][]PartitionState
	metadata    []PartitionState
	metadataTo  []int32
	stops       map[int32][]StopReplicaPartition
	liveLeaders []int32
}

func (c *Controller) newBatch() *batch {
	return &batch{c: c, roles: map[int32][]PartitionState{}, stops: map[int32][]StopReplicaPartition{}}
}

// leaderAndISR tells brokers their role in p, and all live brokers its state. A
// batch takes each partition once for each broker.
func (b *batch) leaderAndISR(brokers []int32, p *partition, isNew bool) {
	for _, broker := range brokers {
		if b.c.cluster.isLive(broker) {
			b.roles[broker] = append(b.roles[broker], p.push(isNew))
		}
	}
	b.updateMetadata(b.c.cluster.live, p)
}

// updateMetadata tells brokers the state of partitions, and in any case who is
// live. All brokers of a batch get the same partitions.
func (b *batch) updateMetadata(brokers []int32, ps ...*partition) {
	b.metadataTo = union(b.metadataTo, brokers)
	for _, p := range ps {
		if !p.known {
			continue
		}
		if p.batch == b {
			b.metadata[p.place] = p.push(false)
			continue
		}
		p.batch, p.place = b, len(b.metadata)
		b.metadata = append(b.metadata, p.push(false))
	}
}

// stopReplica tells brokers to give up their replica of p.
func (b *batch) stopReplica(brokers []int32, p *partition, remove bool) {
	for _, broker := range brokers {
		b.stops[broker] = append(b.stops[broker], StopReplicaPartition{
			Partition: p.id, LeaderEpoch: p.state.LeaderEpoch, Delete: remove,
		})
	}
}

// send puts the requests into the queues of live brokers.
func (b *batch) send() {
	live := b.c.cluster.live
	for _, broker := range live {
		if states := b.roles[broker]; len(states) > 0 {
			b.enqueue(broker, kindLeaderAndISR, states)
		}
	}
	for _, broker := range live {
		if contains(b.metadataTo, broker) {
			b.enqueue(broker, kindUpdateMetadata, b.metadata)
		}
	}
	for _, broker := range live {
		if len(b.stops[broker]) > 0 {
			b.enqueue(broker, kindStopReplica, nil)
		}
	}
}

func (b *batch) enqueue(broker int32, kind string, states []PartitionState) {
	ch := b.c.cluster.channels[broker]
	if ch == nil {
		return
	}
	header := b.c.header(broker)
	p := &push{id: header.ID, kind: kind, states: states}
	switch kind {
	case kindLeaderAndISR:
		p.request = &LeaderAndISRRequest{Header: header, Partitions: states, LiveLeaders: b.leaders(states)}
	case kindUpdateMetadata:
		p.request = &UpdateMetadataRequest{Header: header, Partitions: states, LiveBrokers: b.c.cluster.live}
	case kindStopReplica:
		p.request = &StopReplicaRequest{Header: header, Partitions: b.stops[broker]}
	}
	ch.enqueue(p)
}

// leaders lists the live leaders of the states.
func (b *batch) leaders(states []PartitionState) []int32 {
	b.liveLeaders = b.liveLeaders[:0]
	for i := range states {
		if l := states[i].Leader; b.c.cluster.isLive(l) && !contains(b.liveLeaders, l) {
			b.liveLeaders = append(b.liveLeaders, l)
		}
	}
	slices.Sort(b.liveLeaders)
	return slices.Clone(b.liveLeaders)
}

// header is the header of the next push to a broker. Its ID tells this push
// from any other of the run: controller epoch, controller, and a count.
func (c *Controller) header(broker int32) Header {
	c.pushes++
	h := Header{
		Controller: c.id, ControllerEpoch: c.epoch, BrokerEpoch: c.cluster.epochs[broker],
		ID: uint64(uint32(c.epoch))<<40 | uint64(uint8(c.id-controllerBase))<<32 | uint64(c.pushes),
	}
	if !c.cfg.Guards.BrokerEpoch {
		h.BrokerEpoch = noBrokerEpoch
	}
	return h
}

// noBrokerEpoch asks a broker not to compare broker epochs.
const noBrokerEpoch int64 = -1

// key is the partition's name, made once.
func (c *Controller) key(id protocol.Partition) string {
	if c.cluster != nil {
		if p := c.cluster.byID[id]; p != nil {
			return p.key
		}
	}
	return id.String()
}

func atoi(s string) int32 {
	n, _ := strconv.ParseInt(s, 10, 32) // decodeTopic has checked it
	return int32(n)
}
