// Package metadata is what the metadata log says: records, each a small change
// to the cluster's state, and the image that results from applying them in
// order. Two nodes that have applied the same prefix of the log have the same
// image; that is all there is to the consistency of a KRaft cluster.
package metadata

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/stalemate-io/stalemate/systems/protocol"
)

// Record is one change: one of the pointer types of this package.
type Record interface {
	// append adds the encoded record to a buffer.
	append([]byte) []byte
	// apply changes the image. offset is that of the record.
	apply(m *Image, offset int64) error
}

// RegisterBroker registers an incarnation of a broker, fenced at first. The
// offset of the record becomes the broker's epoch.
type RegisterBroker struct {
	Broker      int32
	Incarnation uint64
}

// BrokerChange fences or unfences a broker (BrokerRegistrationChangeRecord).
type BrokerChange struct {
	Broker int32
	Epoch  int64
	Fenced bool
}

// Topic names a topic. Partitions refer to it by its number.
type Topic struct {
	ID   uint32
	Name string
}

// Partition creates a partition with its whole state.
type Partition struct {
	Topic    uint32
	Index    int32
	Replicas []int32
	ISR      []int32
	Leader   int32
}

// PartitionChange changes a partition. What is absent stays as it is. The
// partition epoch goes up with every change, the leader epoch with every one
// that names a leader, even the same (KIP-631, KAFKA-15021).
type PartitionChange struct {
	Topic  uint32
	Index  int32
	Leader *int32  // present: who leads now, NoLeader for nobody
	ISR    []int32 // nil: unchanged
	// Replicas and Target are set together: the brokers that hold the
	// partition, and those it is being moved to, which are none when the move
	// is done.
	Replicas []int32
	Target   []int32
}

// NoOp changes nothing: it shows that the log advances.
type NoOp struct{}

// The first byte of an encoded record.
const (
	kindNoOp byte = iota + 1
	kindRegisterBroker
	kindBrokerChange
	kindTopic
	kindPartition
	kindPartitionChange
)

// The fields that are present in an encoded PartitionChange.
const (
	hasLeader byte = 1 << iota
	hasISR
	hasReplicas
)

// Encode gives a record in the form in which the log holds it: a byte for its
// kind and varints.
func Encode(r Record) []byte { return r.append(make([]byte, 0, 24)) }

func (r *NoOp) append(b []byte) []byte { return append(b, kindNoOp) }

func (r *RegisterBroker) append(b []byte) []byte {
	b = append(b, kindRegisterBroker)
	b = binary.AppendVarint(b, int64(r.Broker))
	return binary.AppendUvarint(b, r.Incarnation)
}

func (r *BrokerChange) append(b []byte) []byte {
	b = append(b, kindBrokerChange)
	b = binary.AppendVarint(b, int64(r.Broker))
	b = binary.AppendVarint(b, r.Epoch)
	if r.Fenced {
		return append(b, 1)
	}
	return append(b, 0)
}

func (r *Topic) append(b []byte) []byte {
	b = append(b, kindTopic)
	b = binary.AppendUvarint(b, uint64(r.ID))
	b = binary.AppendUvarint(b, uint64(len(r.Name)))
	return append(b, r.Name...)
}

func (r *Partition) append(b []byte) []byte {
	b = append(b, kindPartition)
	b = binary.AppendUvarint(b, uint64(r.Topic))
	b = binary.AppendVarint(b, int64(r.Index))
	b = appendBrokers(b, r.Replicas)
	b = appendBrokers(b, r.ISR)
	return binary.AppendVarint(b, int64(r.Leader))
}

func (r *PartitionChange) append(b []byte) []byte {
	b = append(b, kindPartitionChange)
	b = binary.AppendUvarint(b, uint64(r.Topic))
	b = binary.AppendVarint(b, int64(r.Index))
	has := byte(0)
	if r.Leader != nil {
		has |= hasLeader
	}
	if r.ISR != nil {
		has |= hasISR
	}
	if r.Replicas != nil {
		has |= hasReplicas
	}
	b = append(b, has)
	if r.Leader != nil {
		b = binary.AppendVarint(b, int64(*r.Leader))
	}
	if r.ISR != nil {
		b = appendBrokers(b, r.ISR)
	}
	if r.Replicas != nil {
		b = appendBrokers(b, r.Replicas)
		b = appendBrokers(b, r.Target)
	}
	return b
}

func appendBrokers(b []byte, ids []int32) []byte {
	b = binary.AppendUvarint(b, uint64(len(ids)))
	for _, id := range ids {
		b = binary.AppendVarint(b, int64(id))
	}
	return b
}

// Decode reads an encoded record.
func Decode(p []byte) (Record, error) {
	if len(p) == 0 {
		return nil, errors.New("record is empty")
	}
	d := decoder{p: p[1:]}
	var r Record
	switch p[0] {
	case kindNoOp:
		r = &NoOp{}
	case kindRegisterBroker:
		r = &RegisterBroker{Broker: d.int32(), Incarnation: d.uvarint()}
	case kindBrokerChange:
		r = &BrokerChange{Broker: d.int32(), Epoch: d.varint(), Fenced: d.byte() == 1}
	case kindTopic:
		r = &Topic{ID: uint32(d.uvarint()), Name: string(d.bytes(d.uvarint()))}
	case kindPartition:
		r = &Partition{Topic: uint32(d.uvarint()), Index: d.int32(), Replicas: d.brokers(), ISR: d.brokers(), Leader: d.int32()}
	case kindPartitionChange:
		c := &PartitionChange{Topic: uint32(d.uvarint()), Index: d.int32()}
		has := d.byte()
		if has&hasLeader != 0 {
			leader := d.int32()
			c.Leader = &leader
		}
		if has&hasISR != 0 {
			c.ISR = d.brokers()
		}
		if has&hasReplicas != 0 {
			c.Replicas, c.Target = d.brokers(), d.brokers()
		}
		r = c
	default:
		return nil, fmt.Errorf("record of unknown kind %d", p[0])
	}
	switch {
	case d.short:
		return nil, fmt.Errorf("record of kind %d ends early, after %d bytes", p[0], len(p))
	case len(d.p) > 0:
		return nil, fmt.Errorf("record of kind %d has %d bytes too many", p[0], len(d.p))
	}
	return r, nil
}

// decoder reads fields one after the other and remembers whether they ran out.
type decoder struct {
	p     []byte
	short bool
}

func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(len(d.p)) {
		d.short, d.p = true, nil
		return nil
	}
	b := d.p[:n:n]
	d.p = d.p[n:]
	return b
}

func (d *decoder) byte() byte {
	if b := d.bytes(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.p)
	if n <= 0 {
		d.short, d.p = true, nil
		return 0
	}
	d.p = d.p[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.p)
	if n <= 0 {
		d.short, d.p = true, nil
		return 0
	}
	d.p = d.p[n:]
	return v
}

func (d *decoder) int32() int32 { return int32(d.varint()) }

// brokers is never nil, so that an empty list stays apart from none.
func (d *decoder) brokers() []int32 {
	n := d.uvarint()
	if n > uint64(len(d.p)) {
		d.short, d.p = true, nil
		n = 0
	}
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = d.int32()
	}
	return ids
}

// NoLeader is the leader of a partition that has none.
const NoLeader = protocol.NoLeader
