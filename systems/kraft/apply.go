package kraft

import (
	"fmt"
	"slices"

	"github.com/stalemate-io/stalemate/systems/kraft/epochlog"
	"github.com/stalemate-io/stalemate/systems/kraft/metadata"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// apply applies a committed batch to an image and calls changed for every
// partition that it changed.
func apply(m *metadata.Image, b *epochlog.Batch, changed func(*metadata.PartitionState)) error {
	if b.Base != m.Offset {
		return fmt.Errorf("batch at offset %d comes to an image at offset %d", b.Base, m.Offset)
	}
	for _, p := range b.Records {
		if b.Control {
			m.Skip()
			continue
		}
		r, err := metadata.Decode(p)
		if err != nil {
			return fmt.Errorf("offset %d: %w", m.Offset, err)
		}
		if err := m.Apply(r); err != nil {
			return err
		}
		if s := m.Changed(r); s != nil && changed != nil {
			changed(s)
		}
	}
	return nil
}

// describe answers who leads a partition from an image.
func describe(m *metadata.Image, p protocol.Partition, controller string) *protocol.MetadataResponse {
	a := &protocol.MetadataResponse{
		Leader: protocol.NoLeader, LeaderEpoch: -1, Offset: m.Offset - 1, Controller: controller,
	}
	s := m.Partition(p)
	if s == nil {
		a.Error = protocol.UnknownTopicOrPartition
		return a
	}
	a.Leader, a.LeaderEpoch, a.ISR = s.Leader, s.LeaderEpoch, s.ISR
	if s.Leader == protocol.NoLeader {
		a.Error = protocol.LeaderNotAvailable
	}
	return a
}

// describeAll answers with all that an image says.
func describeAll(m *metadata.Image, r *protocol.ClusterRequest, controller string) *protocol.ClusterResponse {
	a := &protocol.ClusterResponse{Offset: m.Offset - 1, Controller: controller}
	for _, b := range m.Brokers() {
		if !b.Fenced {
			a.Brokers = append(a.Brokers, b.ID)
		}
	}
	for _, name := range m.Partitions() {
		if !r.Wants(name.Topic) {
			continue
		}
		s := m.Partition(name)
		b := protocol.Belief{
			Partition: name, Leader: s.Leader, LeaderEpoch: s.LeaderEpoch, Replicas: s.Replicas, ISR: s.ISR,
		}
		if b.Leader == protocol.NoLeader {
			b.Error = protocol.LeaderNotAvailable
		}
		a.Partitions = append(a.Partitions, b)
	}
	slices.SortFunc(a.Partitions, func(x, y protocol.Belief) int { return x.Partition.Compare(y.Partition) })
	return a
}

// notYet answers for a node that has nothing to say of the cluster yet.
func notYet(controller string) *protocol.ClusterResponse {
	return &protocol.ClusterResponse{Error: BrokerNotAvailable, Offset: protocol.NoOffset, Controller: controller}
}
