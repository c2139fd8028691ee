package data

import (
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/sim"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// broker says that it leads, and answers what it is told to; nil is silence.
type broker struct{ answer node.Message }

func (*broker) Start() {}

func (b *broker) Receive(_ node.ID, m node.Message, reply func(node.Message)) {
	if _, ok := m.(*protocol.MetadataRequest); ok {
		reply(&protocol.MetadataResponse{Leader: 1, LeaderEpoch: 3})
	} else if b.answer != nil {
		reply(b.answer)
	}
}

func TestWhatAnAnswerIsRecordedAs(t *testing.T) {
	version := histories.At
	for _, tt := range []struct {
		name    string
		answer  node.Message
		want    histories.Type
		value   string
		version histories.Version
	}{
		{"a value that all in-sync replicas have is written, at its offset",
			&protocol.ProduceResponse{Offset: 7}, histories.OK, "1", version(7)},
		{"a value is not written where the epoch is too old",
			&protocol.ProduceResponse{Error: protocol.FencedLeaderEpoch, Offset: -1}, histories.Fail, "1", histories.Version{}},
		{"a leader that falls may have appended it",
			&protocol.ProduceResponse{Error: protocol.NotLeaderOrFollower, Offset: -1}, histories.Info, "1", histories.Version{}},
		{"and so may one that lets the time run out",
			&protocol.ProduceResponse{Error: protocol.RequestTimedOut, Offset: 7}, histories.Info, "1", histories.Version{}},
		{"and one that says nothing", nil, histories.Info, "1", histories.Version{}},
		{"the latest value has the offset before the high watermark",
			&protocol.FetchResponse{Values: []int64{5}, HighWatermark: 8}, histories.OK, "5", version(7)},
		{"an empty partition has none",
			&protocol.FetchResponse{}, histories.OK, "nil", histories.Version{}},
		{"a leader that does not know the latest yet tells nothing",
			&protocol.FetchResponse{Error: protocol.OffsetNotAvailable}, histories.Fail, "nil", histories.Version{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := sim.New(sim.Config{Seed: 1})
			if err := w.Add("b1", func(node.Env) node.Machine { return &broker{tt.answer} }); err != nil {
				t.Fatal(err)
			}
			_, fetches := tt.answer.(*protocol.FetchResponse)
			o := Options{
				Brokers: []node.ID{"b1"}, Partitions: []protocol.Partition{{Topic: "t"}},
				Clients: 1, Producers: 1, Until: time.Millisecond, Think: time.Microsecond, Final: 2 * time.Millisecond,
			}
			record := func() leadership.Recording { return w.Recording() }
			clients, err := NewClients(o, record)
			if err != nil {
				t.Fatal(err)
			}
			if fetches {
				clients = NewFinalClients(o, record)
			}
			if err := w.AddClient(clients[0].ID, clients[0].New); err != nil {
				t.Fatal(err)
			}
			w.Run(10 * time.Second)
			h := w.History()
			if len(h) < 2 {
				t.Fatalf("only %d events", len(h))
			}
			got := h[1]
			if got.Type != tt.want || got.Value.String() != tt.value || got.Version != tt.version || got.Node != "b1" {
				t.Errorf("recorded %+v", got)
			}
			if final := len(h[0].Extra) > 0; final != fetches {
				t.Errorf("marked as a final read: %t", final)
			}
		})
	}
}

func TestNobodyToAsk(t *testing.T) {
	if _, err := NewClients(Options{}, nil); err == nil {
		t.Error("clients without brokers and partitions")
	}
}
