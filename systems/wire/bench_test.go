package wire

import (
	"testing"

	"github.com/stalemate-io/stalemate/systems/protocol"
)

// BenchmarkMetadata is a workload's question and its answer, through bytes and back
// on both sides.
func BenchmarkMetadata(b *testing.B) {
	p := Kraft(testCluster)
	q := &protocol.MetadataRequest{Partition: protocol.Partition{Topic: "t", Index: 3}, Path: protocol.ReadBroker}
	a := &protocol.MetadataResponse{Leader: 1, LeaderEpoch: 7, ISR: []int32{1, 2, 3}, Offset: 1234, Controller: "c1"}
	var frame []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if frame, err = p.AppendRequest(frame[:0], 1, "x1", q); err != nil {
			b.Fatal(err)
		}
		r, err := p.ParseRequest(frame[4:])
		if err != nil {
			b.Fatal(err)
		}
		if frame, err = p.AppendResponse(frame[:0], r, a); err != nil {
			b.Fatal(err)
		}
		if _, err := p.ParseResponse(q, frame[4:]); err != nil {
			b.Fatal(err)
		}
	}
}
