package wire

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/tcp"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestWhatABrokerTellsOfItsRole(t *testing.T) {
	for _, tt := range []struct {
		name   string
		code   protocol.Code
		leader int32
		epoch  int32
		want   protocol.MetadataResponse
	}{
		{"a refusal of epoch 0 tells the leader and the epoch", protocol.FencedLeaderEpoch, 2, 5, protocol.MetadataResponse{Leader: 2, LeaderEpoch: 5}},
		{"or that there is no leader", protocol.FencedLeaderEpoch, -1, 6, protocol.MetadataResponse{Leader: -1, LeaderEpoch: 6}},
		{"who serves in epoch 0 may be leader or follower", protocol.None, -1, -1,
			protocol.MetadataResponse{Error: protocol.UnknownLeaderEpoch, Leader: -1, LeaderEpoch: -1}},
		{"who has no replica tells what is in its cache, which is not its role", protocol.NotLeaderOrFollower, 2, 5,
			protocol.MetadataResponse{Error: protocol.NotLeaderOrFollower, Leader: -1, LeaderEpoch: -1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			real := Real(testCluster)
			request := &RoleRequest{Partition: protocol.Partition{Topic: "t", Index: 3}, TopicID: [16]byte{1}}
			frame, err := real.AppendRequest(nil, 1, "x1", request)
			if err != nil || len(frame) == 0 {
				t.Fatalf("%d bytes, %v", len(frame), err)
			}
			r := kmsg.NewPtrFetchResponse()
			r.Version = 16
			p := kmsg.NewFetchResponseTopicPartition()
			p.Partition, p.ErrorCode, p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch = 3, code(tt.code), tt.leader, tt.epoch
			topic := kmsg.NewFetchResponseTopic()
			topic.TopicID, topic.Partitions = request.TopicID, append(topic.Partitions, p)
			r.Topics = append(r.Topics, topic)
			got, err := real.ParseResponse(request, appendResponse(nil, 1, r)[4:])
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Offset = protocol.NoOffset
			if d := cmp.Diff(&tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestTheOffsetThatABrokerHasApplied(t *testing.T) {
	real, toy := Real(testCluster), Kraft(testCluster)
	frame, err := real.AppendRequest(nil, 1, "x1", &AppliedRequest{})
	if err != nil {
		t.Fatal(err)
	}
	request, err := toy.ParseRequest(frame[4:])
	if err != nil {
		t.Fatal(err)
	}
	answer, err := toy.AppendResponse(nil, tcp.Request{ID: request.ID, Context: request.Context}, &protocol.ClusterResponse{Offset: 42})
	if err != nil {
		t.Fatal(err)
	}
	got, err := real.ParseResponse(&AppliedRequest{}, answer[4:])
	if a, ok := got.(*AppliedResponse); err != nil || !ok || a.Offset != 42 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTheHighWatermarkOfALeader(t *testing.T) {
	real, toy := Real(testCluster), Kraft(testCluster)
	request := &LatestRequest{Partition: protocol.Partition{Topic: "t", Index: 3}, LeaderEpoch: 5}
	frame, err := real.AppendRequest(nil, 1, "x1", request)
	if err != nil {
		t.Fatal(err)
	}
	asked, err := toy.ParseRequest(frame[4:])
	if err != nil {
		t.Fatal(err)
	}
	several := asked.Message.(*Several)
	if f := several.Requests[0].(*protocol.FetchRequest); f.Partition != request.Partition || f.LeaderEpoch != 5 {
		t.Errorf("asked for %+v", f)
	}
	for _, want := range []LatestResponse{{Offset: 42}, {Error: protocol.FencedLeaderEpoch, Offset: -1}} {
		answers := &SeveralAnswers{Answers: []node.Message{&protocol.FetchResponse{Error: want.Error, HighWatermark: want.Offset}}}
		answer, err := toy.AppendResponse(nil, asked, answers)
		if err != nil {
			t.Fatal(err)
		}
		got, err := real.ParseResponse(request, answer[4:])
		if a, ok := got.(*LatestResponse); err != nil || !ok || *a != want {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
}
