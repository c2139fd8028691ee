package push

import (
	"slices"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// leaderDuringDelete is the leader that makes a cache forget a partition.
const leaderDuringDelete int32 = -2

// metadataCache is what a broker tells clients: the last it was told. Nothing
// in it says how old it is.
type metadataCache struct {
	controller int32
	alive      []int32
	entries    map[protocol.Partition]*cached
}

type cached struct {
	key         string
	leader      int32
	leaderEpoch int32
	isr         []int32
	replicas    []int32
	version     int32
}

func newMetadataCache() metadataCache {
	return metadataCache{controller: noController, entries: map[protocol.Partition]*cached{}}
}

// updateMetadata takes a push over into the cache. The list of live brokers is
// replaced as a whole and partitions are merged one by one. Whichever request
// comes last wins: neither the leader epoch nor the version is compared.
func (b *Broker) updateMetadata(from node.ID, r *UpdateMetadataRequest) *UpdateMetadataResponse {
	if code := b.gate(from, &r.Header, kindUpdateMetadata); code != protocol.None {
		return &UpdateMetadataResponse{Error: code}
	}
	b.cache.controller = r.Controller
	b.cache.alive = r.LiveBrokers
	for i := range r.Partitions {
		s := &r.Partitions[i]
		e := b.cache.entries[s.Partition]
		if e == nil {
			e = &cached{key: s.Partition.String()}
			b.cache.entries[s.Partition] = e
		}
		e.leader, e.leaderEpoch, e.isr, e.version = s.Leader, s.LeaderEpoch, s.ISR, s.Version
		e.replicas = s.Replicas
		if s.Leader == leaderDuringDelete {
			delete(b.cache.entries, s.Partition)
		}
		b.traceState(TracePushApplied, from, &r.Header, e.key, s, kindUpdateMetadata)
	}
	return &UpdateMetadataResponse{}
}

// metadata answers a client from the cache.
func (b *Broker) metadata(r *protocol.MetadataRequest) *protocol.MetadataResponse {
	a := &protocol.MetadataResponse{
		Leader: protocol.NoLeader, LeaderEpoch: -1, Offset: protocol.NoOffset,
		Controller: string(nodeOf(b.cache.controller)),
	}
	if r.Path != protocol.ReadBroker && r.Path != "" {
		a.Error = protocol.UnsupportedVersion
		return a
	}
	e := b.cache.entries[r.Partition]
	if e == nil {
		a.Error = protocol.UnknownTopicOrPartition
		return a
	}
	a.ISR, a.LeaderEpoch = e.isr, e.leaderEpoch
	a.Leader, a.Error = b.cache.leader(e)
	return a
}

// leader is the leader of a partition as clients are told: nobody where the broker
// takes it for dead.
func (m *metadataCache) leader(e *cached) (int32, protocol.Code) {
	if !contains(m.alive, e.leader) {
		return protocol.NoLeader, protocol.LeaderNotAvailable
	}
	return e.leader, protocol.None
}

// describe answers with the whole cache.
func (b *Broker) describe(r *protocol.ClusterRequest) *protocol.ClusterResponse {
	a := &protocol.ClusterResponse{
		Brokers: b.cache.alive, Offset: protocol.NoOffset, Controller: string(nodeOf(b.cache.controller)),
	}
	for id, e := range b.cache.entries {
		if r.Wants(id.Topic) {
			belief := protocol.Belief{Partition: id, LeaderEpoch: e.leaderEpoch, Replicas: e.replicas, ISR: e.isr}
			belief.Leader, belief.Error = b.cache.leader(e)
			a.Partitions = append(a.Partitions, belief)
		}
	}
	slices.SortFunc(a.Partitions, func(x, y protocol.Belief) int { return x.Partition.Compare(y.Partition) })
	return a
}

// Believes gives what the broker's metadata cache holds of a partition, and the
// version of the state it came from; ok is false where it holds nothing.
func (b *Broker) Believes(p protocol.Partition) (leader, leaderEpoch int32, version int64, ok bool) {
	e := b.cache.entries[p]
	if e == nil {
		return protocol.NoLeader, -1, -1, false
	}
	return e.leader, e.leaderEpoch, int64(e.version), true
}
