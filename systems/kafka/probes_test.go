package kafka

import (
	"errors"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/wire"
)

// answering is a world in which every call is answered at once, in turn.
type answering struct {
	node.Env
	t       *testing.T
	answers []any
	last    node.Message
}

func (a *answering) Call(_ node.ID, m node.Message, _ time.Duration, done func(node.Message, error)) {
	if len(a.answers) == 0 {
		a.t.Fatal("asked once too often")
	}
	next := a.answers[0]
	a.last = m
	a.answers = a.answers[1:]
	if err, ok := next.(error); ok {
		done(nil, err)
		return
	}
	done(next, nil)
}

func TestProbes(t *testing.T) {
	believes := func(leader, epoch int32) *protocol.MetadataResponse {
		return &protocol.MetadataResponse{Leader: leader, LeaderEpoch: epoch, Offset: protocol.NoOffset}
	}
	refused := &protocol.MetadataResponse{Error: protocol.UnknownLeaderEpoch}
	at := func(offset int64) *wire.AppliedResponse { return &wire.AppliedResponse{Offset: offset} }
	lost := errors.New("lost")
	for _, tt := range []struct {
		name    string
		path    protocol.ReadPath
		answers []any
		leader  int32
		offset  int64
		err     error
		code    protocol.Code
	}{
		{"a role counts when it is told twice", protocol.ReadRole, []any{believes(1, 4), believes(1, 4)}, 1, -1, nil, ""},
		{"a leader of one epoch with the number of the next does not", protocol.ReadRole,
			[]any{believes(1, 5), believes(2, 5), believes(2, 5)}, 2, -1, nil, ""},
		{"a role that never stands still is given up", protocol.ReadRole,
			[]any{believes(1, 4), believes(2, 5), believes(1, 6), believes(2, 7)}, 0, 0, errUnsteady, ""},
		{"a broker that tells no role is not asked again", protocol.ReadRole, []any{refused}, 0, 0, nil, protocol.UnknownLeaderEpoch},
		{"nor one that is gone", protocol.ReadRole, []any{believes(1, 4), lost}, 0, 0, lost, ""},
		{"an answer between two equal offsets is from there", protocol.ReadBroker, []any{at(7), believes(1, 4), at(7)}, 1, 7, nil, ""},
		{"one between two that differ is from nobody knows where", protocol.ReadBroker, []any{at(7), believes(1, 4), at(8)}, 1, -1, nil, ""},
		{"it stands though the second offset is lost", protocol.ReadBroker, []any{at(7), believes(1, 4), lost}, 1, -1, nil, ""},
		{"and is not asked for when the first is", protocol.ReadBroker, []any{lost}, 0, 0, lost, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			world := &answering{t: t, answers: tt.answers}
			e := &env{Env: world, options: &Options{Mode: KRaft}}
			called := 0
			e.Call("b1", &protocol.MetadataRequest{Path: tt.path}, time.Second, func(m node.Message, err error) {
				called++
				if !errors.Is(err, tt.err) {
					t.Fatalf("error is %v, want %v", err, tt.err)
				}
				if err != nil {
					return
				}
				a := m.(*protocol.MetadataResponse)
				if a.Error != tt.code || a.Error == "" && (a.Leader != tt.leader || a.Offset != tt.offset) {
					t.Errorf("answered %+v", a)
				}
			})
			if called != 1 || len(world.answers) > 0 {
				t.Errorf("called back %d times, %d answers unused", called, len(world.answers))
			}
		})
	}
}

func TestTheLatestValue(t *testing.T) {
	at := func(offset int64) *wire.LatestResponse { return &wire.LatestResponse{Offset: offset} }
	values := func(highWatermark int64, values ...int64) *protocol.FetchResponse {
		return &protocol.FetchResponse{Values: values, HighWatermark: highWatermark}
	}
	lost := errors.New("lost")
	for _, tt := range []struct {
		name    string
		answers []any
		from    int64 // where the fetch begins
		want    int
		err     error
		code    protocol.Code
	}{
		{"it stands before the high watermark", []any{at(8), values(8, 70)}, 7, 1, nil, ""},
		{"or is one that came meanwhile", []any{at(8), values(10, 70, 80, 90)}, 7, 3, nil, ""},
		{"an empty partition has none", []any{at(0), values(0)}, 0, 0, nil, ""},
		{"a leader that does not know where that is tells nothing", []any{&wire.LatestResponse{Error: protocol.OffsetNotAvailable}}, 0, 0, nil, protocol.OffsetNotAvailable},
		{"nor does one that fell meanwhile", []any{at(8), &protocol.FetchResponse{Error: protocol.FencedLeaderEpoch}}, 7, 0, nil, protocol.FencedLeaderEpoch},
		{"an answer that ends elsewhere is none", []any{at(8), values(7)}, 7, 0, errNotLatest, ""},
		{"who is gone says nothing", []any{lost}, 0, 0, lost, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			world := &answering{t: t, answers: tt.answers}
			e := &env{Env: world, options: &Options{Mode: ZooKeeper}}
			e.Call("b1", &protocol.FetchRequest{Offset: protocol.LatestOffset}, time.Second, func(m node.Message, err error) {
				if !errors.Is(err, tt.err) {
					t.Fatalf("error is %v, want %v", err, tt.err)
				}
				if err != nil {
					return
				}
				if a := m.(*protocol.FetchResponse); a.Error != tt.code || len(a.Values) != tt.want {
					t.Errorf("answered %+v", a)
				}
			})
			if f, ok := world.last.(*protocol.FetchRequest); ok && f.Offset != tt.from {
				t.Errorf("fetched from %d, want %d", f.Offset, tt.from)
			}
			if len(world.answers) > 0 {
				t.Errorf("%d answers unused", len(world.answers))
			}
		})
	}
}
