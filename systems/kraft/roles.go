package kraft

import (
	"slices"

	"github.com/stalemate-io/stalemate/systems/kraft/metadata"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// roles is a broker's role store: the partitions that it hosts and what it is to
// each. Produce and Fetch are answered from it, whatever the metadata cache says.
type roles struct {
	b        *Broker
	byName   map[protocol.Partition]*partition
	hosted   []*partition // by topic ID and index
	fetchers map[int32]bool
	parked   []*parkedFetch
	checking bool
}

func newRoles(b *Broker) roles {
	return roles{b: b, byName: map[protocol.Partition]*partition{}, fetchers: map[int32]bool{}}
}

// apply takes on a partition's new state.
func (r *roles) apply(s *metadata.PartitionState) {
	p := r.byName[s.Partition]
	if !slices.Contains(s.Replicas, r.b.id) {
		if p != nil {
			r.remove(p)
		}
		return
	}
	if p == nil {
		var err error
		if p, err = openPartition(r.b, s); err != nil {
			r.b.err = err
			r.b.env.Trace(node.Trace{What: "halted", Key: s.Key, Why: err.Error()})
			return
		}
		r.byName[s.Partition] = p
		i, _ := slices.BinarySearchFunc(r.hosted, s, func(p *partition, s *metadata.PartitionState) int {
			if d := int(p.state.TopicID) - int(s.TopicID); d != 0 {
				return d
			}
			return int(p.state.Partition.Index) - int(s.Partition.Index)
		})
		r.hosted = slices.Insert(r.hosted, i, p)
		p.become(s)
	} else if s.PartitionEpoch > p.state.PartitionEpoch {
		p.become(s)
	}
	if p.leads() && !r.checking {
		r.checking = true
		r.b.env.After(r.b.cfg.ReplicaLagTime/2, r.shrink)
	}
}

// remove ends hosting a partition.
func (r *roles) remove(p *partition) {
	p.stopLeading()
	p.log.Truncate(0)
	delete(r.byName, p.state.Partition)
	r.hosted = slices.DeleteFunc(r.hosted, func(o *partition) bool { return o == p })
	r.b.env.Trace(node.Trace{What: "role-stopped", Key: p.state.Key})
}

// shrink asks for followers that are behind to be taken out of the in-sync
// replicas.
func (r *roles) shrink() {
	for _, p := range r.hosted {
		if p.leads() {
			p.shrink()
		}
	}
	r.b.env.After(r.b.cfg.ReplicaLagTime/2, r.shrink)
}

// follow starts a fetcher for each leader that there is something to fetch from.
func (r *roles) follow() {
	for _, p := range r.hosted {
		if l := p.state.Leader; l != r.b.id && l != metadata.NoLeader && !r.fetchers[l] {
			r.fetchers[l] = true
			r.fetchFrom(l)
		}
	}
}
