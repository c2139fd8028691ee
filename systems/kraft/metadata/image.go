package metadata

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/stalemate-io/stalemate/systems/protocol"
)

// Image is the cluster's state after the records before Offset.
type Image struct {
	// Offset is that of the next record: everything before it is applied.
	Offset int64

	brokers    []Broker // by ID
	topics     []Topic  // by ID
	partitions map[protocol.Partition]*PartitionState
	order      []protocol.Partition // the keys of partitions, by topic ID and index
}

// Broker is a registered broker.
type Broker struct {
	ID          int32
	Incarnation uint64
	Epoch       int64 // offset of the record that registered it
	Fenced      bool
}

// PartitionState is the state of one partition. It is never changed: a record
// that changes the partition makes a new one.
type PartitionState struct {
	Partition protocol.Partition
	Key       string // the partition's name, topic-index
	TopicID   uint32

	Replicas []int32
	ISR      []int32
	Target   []int32 // where it is being moved to, if anywhere
	Leader   int32

	LeaderEpoch    int32
	PartitionEpoch int32
	// Offset is that of the last record that changed it.
	Offset int64
}

// NewImage is the image of an empty log.
func NewImage() *Image {
	return &Image{partitions: map[protocol.Partition]*PartitionState{}}
}

// Clone gives a copy that can be changed apart from the original.
func (m *Image) Clone() *Image {
	return &Image{
		Offset: m.Offset, brokers: slices.Clone(m.brokers), topics: slices.Clone(m.topics),
		partitions: maps.Clone(m.partitions), order: slices.Clone(m.order),
	}
}

// Apply applies the record at Offset.
func (m *Image) Apply(r Record) error {
	if err := r.apply(m, m.Offset); err != nil {
		return fmt.Errorf("record at offset %d: %w", m.Offset, err)
	}
	m.Offset++
	return nil
}

// Skip passes over a record that is not of the metadata.
func (m *Image) Skip() { m.Offset++ }

// Brokers lists the registered brokers by ID. The caller changes nothing.
func (m *Image) Brokers() []Broker { return m.brokers }

// Broker gives a registered broker, nil if it is not registered. It is valid
// until the next record is applied.
func (m *Image) Broker(id int32) *Broker {
	if i, ok := m.findBroker(id); ok {
		return &m.brokers[i]
	}
	return nil
}

func (m *Image) findBroker(id int32) (int, bool) {
	return slices.BinarySearchFunc(m.brokers, id, func(b Broker, id int32) int { return int(b.ID) - int(id) })
}

// Active reports whether a broker is registered and not fenced.
func (m *Image) Active(id int32) bool {
	b := m.Broker(id)
	return b != nil && !b.Fenced
}

// Topics lists the topics by ID. The caller changes nothing.
func (m *Image) Topics() []Topic { return m.topics }

// Partitions lists the partitions by topic ID and index. The caller changes nothing.
func (m *Image) Partitions() []protocol.Partition { return m.order }

// Partition gives a partition's state, nil if there is none.
func (m *Image) Partition(p protocol.Partition) *PartitionState { return m.partitions[p] }

// topic gives the name of a topic.
func (m *Image) topic(id uint32) (string, error) {
	if id < uint32(len(m.topics)) {
		return m.topics[id].Name, nil
	}
	return "", fmt.Errorf("no topic with ID %d", id)
}

func (r *NoOp) apply(*Image, int64) error { return nil }

func (r *RegisterBroker) apply(m *Image, offset int64) error {
	b := Broker{ID: r.Broker, Incarnation: r.Incarnation, Epoch: offset, Fenced: true}
	if i, ok := m.findBroker(r.Broker); ok {
		m.brokers[i] = b
	} else {
		m.brokers = slices.Insert(m.brokers, i, b)
	}
	return nil
}

func (r *BrokerChange) apply(m *Image, _ int64) error {
	b := m.Broker(r.Broker)
	if b == nil || b.Epoch != r.Epoch {
		return fmt.Errorf("broker %d is not registered with epoch %d", r.Broker, r.Epoch)
	}
	b.Fenced = r.Fenced
	return nil
}

func (r *Topic) apply(m *Image, _ int64) error {
	if r.ID != uint32(len(m.topics)) {
		return fmt.Errorf("topic %s has ID %d, expected %d", r.Name, r.ID, len(m.topics))
	}
	m.topics = append(m.topics, *r)
	return nil
}

func (r *Partition) apply(m *Image, offset int64) error {
	name, err := m.topic(r.Topic)
	if err != nil {
		return err
	}
	p := protocol.Partition{Topic: name, Index: r.Index}
	if m.partitions[p] != nil {
		return fmt.Errorf("partition %s exists already", p)
	}
	m.put(&PartitionState{
		Partition: p, Key: p.String(), TopicID: r.Topic,
		Replicas: r.Replicas, ISR: r.ISR, Leader: r.Leader, Offset: offset,
	})
	return nil
}

// put adds a partition that is new.
func (m *Image) put(s *PartitionState) {
	m.partitions[s.Partition] = s
	i, _ := slices.BinarySearchFunc(m.order, s, func(p protocol.Partition, s *PartitionState) int {
		if t := m.partitions[p].TopicID; t != s.TopicID {
			return int(t) - int(s.TopicID)
		}
		return int(p.Index) - int(s.Partition.Index)
	})
	m.order = slices.Insert(m.order, i, s.Partition)
}

func (r *PartitionChange) apply(m *Image, offset int64) error {
	name, err := m.topic(r.Topic)
	if err != nil {
		return err
	}
	p := protocol.Partition{Topic: name, Index: r.Index}
	old := m.partitions[p]
	if old == nil {
		return fmt.Errorf("no partition %s", p)
	}
	s := *old
	s.PartitionEpoch++
	s.Offset = offset
	if r.Leader != nil {
		s.Leader = *r.Leader
		s.LeaderEpoch++
	}
	if r.ISR != nil {
		s.ISR = r.ISR
	}
	if r.Replicas != nil {
		s.Replicas, s.Target = r.Replicas, r.Target
	}
	m.partitions[p] = &s
	return nil
}

// Fingerprint is the same for images that say the same, wherever they came from.
func (m *Image) Fingerprint() uint64 {
	h := fnv.New64a()
	h.Write(m.Marshal())
	return h.Sum64()
}

// Marshal gives the image in the form of a snapshot.
func (m *Image) Marshal() []byte {
	b := make([]byte, 0, 64+32*len(m.order))
	b = binary.AppendUvarint(b, uint64(m.Offset))
	b = binary.AppendUvarint(b, uint64(len(m.brokers)))
	for _, r := range m.brokers {
		b = binary.AppendVarint(b, int64(r.ID))
		b = binary.AppendUvarint(b, r.Incarnation)
		b = binary.AppendVarint(b, r.Epoch)
		fenced := byte(0)
		if r.Fenced {
			fenced = 1
		}
		b = append(b, fenced)
	}
	b = binary.AppendUvarint(b, uint64(len(m.topics)))
	for _, t := range m.topics {
		b = binary.AppendUvarint(b, uint64(len(t.Name)))
		b = append(b, t.Name...)
	}
	b = binary.AppendUvarint(b, uint64(len(m.order)))
	for _, p := range m.order {
		s := m.partitions[p]
		b = binary.AppendUvarint(b, uint64(s.TopicID))
		b = binary.AppendVarint(b, int64(p.Index))
		b = appendBrokers(b, s.Replicas)
		b = appendBrokers(b, s.ISR)
		b = appendBrokers(b, s.Target)
		b = binary.AppendVarint(b, int64(s.Leader))
		b = binary.AppendVarint(b, int64(s.LeaderEpoch))
		b = binary.AppendVarint(b, int64(s.PartitionEpoch))
		b = binary.AppendVarint(b, s.Offset)
	}
	return b
}

// Unmarshal reads a snapshot.
func Unmarshal(p []byte) (*Image, error) {
	d := decoder{p: p}
	m := NewImage()
	m.Offset = int64(d.uvarint())
	for n := d.uvarint(); n > 0 && !d.short; n-- {
		m.brokers = append(m.brokers, Broker{ID: d.int32(), Incarnation: d.uvarint(), Epoch: d.varint(), Fenced: d.byte() == 1})
	}
	for n := d.uvarint(); n > 0 && !d.short; n-- {
		m.topics = append(m.topics, Topic{ID: uint32(len(m.topics)), Name: string(d.bytes(d.uvarint()))})
	}
	for n := d.uvarint(); n > 0 && !d.short; n-- {
		s := &PartitionState{TopicID: uint32(d.uvarint()), Partition: protocol.Partition{Index: d.int32()}}
		s.Replicas, s.ISR, s.Target = d.brokers(), d.brokers(), d.brokers()
		s.Leader, s.LeaderEpoch, s.PartitionEpoch, s.Offset = d.int32(), d.int32(), d.int32(), d.varint()
		var err error
		if s.Partition.Topic, err = m.topic(s.TopicID); err != nil {
			return nil, fmt.Errorf("snapshot: %w", err)
		}
		s.Key = s.Partition.String()
		if m.partitions[s.Partition] != nil {
			return nil, fmt.Errorf("snapshot: partition %s occurs twice", s.Key)
		}
		m.put(s)
	}
	switch {
	case d.short:
		return nil, fmt.Errorf("snapshot ends early, after %d bytes", len(p))
	case len(d.p) > 0:
		return nil, fmt.Errorf("snapshot has %d bytes too many", len(d.p))
	}
	return m, nil
}

// Changed gives the state of the partition that a record is about, nil if it is
// about none.
func (m *Image) Changed(r Record) *PartitionState {
	switch r := r.(type) {
	case *Partition:
		return m.numbered(r.Topic, r.Index)
	case *PartitionChange:
		return m.numbered(r.Topic, r.Index)
	}
	return nil
}

func (m *Image) numbered(topic uint32, index int32) *PartitionState {
	name, err := m.topic(topic)
	if err != nil {
		return nil
	}
	return m.partitions[protocol.Partition{Topic: name, Index: index}]
}
