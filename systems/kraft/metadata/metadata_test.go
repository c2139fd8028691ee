package metadata

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"pgregory.net/rapid"
)

func ptr(v int32) *int32 { return &v }

func TestRecordsComeBackAsTheyWere(t *testing.T) {
	for _, r := range []Record{
		&NoOp{},
		&RegisterBroker{Broker: 3, Incarnation: 1<<63 + 7},
		&BrokerChange{Broker: 3, Epoch: 1 << 40, Fenced: true},
		&BrokerChange{Broker: 3, Epoch: 0},
		&Topic{ID: 2, Name: "orders"},
		&Partition{Topic: 2, Index: 5, Replicas: []int32{1, 2, 3}, ISR: []int32{1}, Leader: 1},
		&PartitionChange{Topic: 2, Index: 5},
		&PartitionChange{Topic: 2, Index: 5, Leader: ptr(NoLeader)},
		&PartitionChange{Topic: 2, Index: 5, Leader: ptr(1), ISR: []int32{1, 2}},
		&PartitionChange{Topic: 2, Index: 5, ISR: []int32{}, Replicas: []int32{4, 5}, Target: []int32{}},
	} {
		got, err := Decode(Encode(r))
		if err != nil {
			t.Errorf("%+v: %v", r, err)
			continue
		}
		if d := cmp.Diff(r, got); d != "" {
			t.Errorf("%T: %s", r, d)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	whole := Encode(&Partition{Topic: 2, Index: 5, Replicas: []int32{1, 2, 3}, ISR: []int32{1}, Leader: 1})
	bad := map[string][]byte{
		"nothing":                nil,
		"an unknown kind":        {99},
		"bytes too many":         append(Encode(&NoOp{}), 0),
		"a list longer than all": {kindPartition, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f},
	}
	for n := 1; n < len(whole); n++ {
		bad["the first "+string(rune('0'+n))+" bytes"] = whole[:n]
	}
	for name, p := range bad {
		if r, err := Decode(p); err == nil {
			t.Errorf("%s: got %+v", name, r)
		}
	}
}

// sample is an image with two brokers and one topic of two partitions.
func sample(t testing.TB) *Image {
	t.Helper()
	m := NewImage()
	for _, r := range []Record{
		&RegisterBroker{Broker: 2, Incarnation: 20},
		&RegisterBroker{Broker: 1, Incarnation: 10},
		&BrokerChange{Broker: 1, Epoch: 1, Fenced: false},
		&Topic{ID: 0, Name: "t"},
		&Partition{Topic: 0, Index: 1, Replicas: []int32{2, 1}, ISR: []int32{2, 1}, Leader: 2},
		&Partition{Topic: 0, Index: 0, Replicas: []int32{1, 2}, ISR: []int32{1, 2}, Leader: 1},
	} {
		if err := m.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func TestEpochsAdvance(t *testing.T) {
	for _, c := range []struct {
		rule                        string
		change                      PartitionChange
		leader, leaderEpoch, partEp int32
	}{
		{"a change of the in-sync replicas alone leaves the leader epoch", PartitionChange{ISR: []int32{1}}, 1, 0, 1},
		{"another leader raises both", PartitionChange{Leader: ptr(2)}, 2, 1, 1},
		{"the same leader named again raises both", PartitionChange{Leader: ptr(1)}, 1, 1, 1},
		{"no leader raises both", PartitionChange{Leader: ptr(NoLeader)}, NoLeader, 1, 1},
		{"a move that begins raises the partition epoch", PartitionChange{Replicas: []int32{1, 2}, Target: []int32{2}}, 1, 0, 1},
	} {
		t.Run(c.rule, func(t *testing.T) {
			m := sample(t)
			before := m.Partition(protocol.Partition{Topic: "t"})
			at := m.Offset
			if err := m.Apply(&c.change); err != nil {
				t.Fatal(err)
			}
			s := m.Partition(protocol.Partition{Topic: "t"})
			if s.Leader != c.leader || s.LeaderEpoch != c.leaderEpoch || s.PartitionEpoch != c.partEp || s.Offset != at {
				t.Errorf("got %+v", s)
			}
			if before.PartitionEpoch != 0 || before.Leader != 1 {
				t.Errorf("the state before was changed: %+v", before)
			}
		})
	}
}

func TestApplyRefuses(t *testing.T) {
	for rule, r := range map[string]Record{
		"fencing a broker that is not registered":   &BrokerChange{Broker: 9, Epoch: 1},
		"fencing another incarnation":               &BrokerChange{Broker: 1, Epoch: 77, Fenced: true},
		"a topic out of turn":                       &Topic{ID: 5, Name: "x"},
		"a partition of an unknown topic":           &Partition{Topic: 5},
		"a partition twice":                         &Partition{Topic: 0, Index: 1},
		"a change to a partition that is not there": &PartitionChange{Topic: 0, Index: 9},
	} {
		t.Run(rule, func(t *testing.T) {
			m := sample(t)
			before := m.Fingerprint()
			if err := m.Apply(r); err == nil || m.Fingerprint() != before {
				t.Errorf("error %v, image changed: %t", err, m.Fingerprint() != before)
			}
		})
	}
}

// TestASnapshotContinuesLikeTheLog applies random records to an image, takes a
// snapshot in between, and expects the image made from it to go on as if it had
// seen everything.
func TestASnapshotContinuesLikeTheLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		brokers := rapid.SliceOfN(rapid.Int32Range(1, 4), 1, 3)
		record := rapid.Custom(func(t *rapid.T) Record {
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				return &RegisterBroker{Broker: rapid.Int32Range(1, 4).Draw(t, "broker"), Incarnation: rapid.Uint64().Draw(t, "incarnation")}
			case 1:
				return &Topic{ID: rapid.Uint32Range(0, 2).Draw(t, "id"), Name: rapid.StringMatching("[a-c]").Draw(t, "name")}
			case 2:
				return &Partition{Topic: rapid.Uint32Range(0, 2).Draw(t, "topic"), Index: rapid.Int32Range(0, 2).Draw(t, "index"),
					Replicas: brokers.Draw(t, "replicas"), ISR: brokers.Draw(t, "isr"), Leader: 1}
			case 3:
				return &NoOp{}
			default:
				c := &PartitionChange{Topic: rapid.Uint32Range(0, 2).Draw(t, "topic"), Index: rapid.Int32Range(0, 2).Draw(t, "index")}
				if rapid.Bool().Draw(t, "leader") {
					c.Leader = ptr(rapid.Int32Range(-1, 4).Draw(t, "to"))
				}
				if rapid.Bool().Draw(t, "move") {
					c.Replicas, c.Target = brokers.Draw(t, "replicas"), brokers.Draw(t, "target")
				}
				return c
			}
		})
		records := rapid.SliceOfN(record, 1, 40).Draw(t, "records")
		at := rapid.IntRange(0, len(records)-1).Draw(t, "snapshot at")
		m := NewImage()
		var copied *Image
		for i, r := range records {
			if i == at {
				var err error
				if copied, err = Unmarshal(m.Marshal()); err != nil {
					t.Fatal(err)
				}
			}
			err := m.Apply(r)
			if copied != nil {
				if again := copied.Apply(r); (err == nil) != (again == nil) {
					t.Fatalf("%+v: %v, from the snapshot %v", r, err, again)
				}
			}
		}
		if m.Fingerprint() != copied.Fingerprint() {
			t.Fatal("images differ")
		}
	})
}

func FuzzUnmarshal(f *testing.F) {
	f.Add(sample(f).Marshal())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, p []byte) {
		m, err := Unmarshal(p)
		if err != nil {
			return
		}
		again, err := Unmarshal(m.Marshal())
		if err != nil || again.Fingerprint() != m.Fingerprint() {
			t.Fatalf("comes back different: %v", err)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(Encode(&PartitionChange{Topic: 1, Index: 2, Leader: ptr(3), ISR: []int32{3}}))
	f.Fuzz(func(t *testing.T, p []byte) {
		r, err := Decode(p)
		if err != nil {
			return
		}
		again, err := Decode(Encode(r))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(r, again); d != "" {
			t.Fatal(d)
		}
	})
}
