package wire

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// franz makes a client of franz-go that knows one node to begin with.
func franz(t *testing.T, address string, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(address), kgo.RequestRetries(0)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

func TestFranzGoAdministersTheCluster(t *testing.T) {
	t.Parallel()
	c := startKraft(t, 3, 3, 4)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cl := franz(t, c.cluster.Addresses["b2"])
	admin := kadm.NewClient(cl)

	belief := c.await(t, "b2", "answers", func(a *protocol.ClusterResponse) bool { return true })
	topics, err := admin.ListTopics(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range belief.Partitions {
		d := topics["t"].Partitions[p.Partition.Index]
		if d.Err != nil || d.Leader != p.Leader || d.LeaderEpoch != p.LeaderEpoch || !slices.Equal(d.ISR, p.ISR) || !slices.Equal(d.Replicas, p.Replicas) {
			t.Errorf("kadm lists %+v, the broker believes %+v", d, p)
		}
	}
	if d := topics["t"]; d.ID != topicID("t") {
		t.Errorf("topic id %v, wanted %v", d.ID, topicID("t"))
	}

	t0 := belief.Partitions[0]
	moved, err := admin.AlterPartitionAssignments(ctx, kadm.AlterPartitionAssignmentsReq{
		"t": {0: []int32{t0.Replicas[1], t0.Replicas[0], t0.Replicas[2]}, 1: []int32{3, 2, 1}},
	})
	if err != nil || moved.Error() != nil {
		t.Fatalf("reassigned: %v, %v", err, moved.Error())
	}
	after := c.await(t, "b2", "the first of its new replicas leads t-0", func(a *protocol.ClusterResponse) bool {
		return a.Partitions[0].Leader == t0.Replicas[1] && a.Partitions[1].Replicas[0] == 3
	})
	if got := after.Partitions[0]; got.LeaderEpoch <= t0.LeaderEpoch {
		t.Errorf("a new leader in epoch %d after epoch %d", got.LeaderEpoch, t0.LeaderEpoch)
	}
	elected, err := admin.ElectLeaders(ctx, kadm.ElectPreferredReplica, kadm.TopicsSet{"t": {0: {}, 1: {}}})
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[int32]error{0: kerr.ElectionNotNeeded, 1: nil} {
		// The reassignment may have made the first replica leader already.
		if got := elected["t"][p].Err; got != want && got != kerr.ElectionNotNeeded {
			t.Errorf("preferred leader of t-%d: %v, wanted %v", p, got, want)
		}
	}
	if _, err := admin.CreateTopics(ctx, 1, 1, nil, "u"); err == nil {
		t.Error("a topic was created, which is not served")
	}
}

func TestApiVersionsTellHowFarABrokerIs(t *testing.T) {
	t.Parallel()
	c := startKraft(t, 1, 3, 2)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, id := range []string{"b1", "b3", "c1"} {
		cl := franz(t, c.cluster.Addresses[node.ID(id)])
		offset := func() int64 {
			a, err := kmsg.NewPtrApiVersionsRequest().RequestWith(ctx, cl.SeedBrokers()[0])
			if err != nil {
				t.Fatal(err)
			}
			return a.FinalizedFeaturesEpoch
		}
		first := c.await(t, node.ID(id), "answers", func(a *protocol.ClusterResponse) bool { return true }).Offset
		if got := offset(); got < first {
			t.Errorf("%s: ApiVersions says offset %d after Metadata said %d", id, got, first)
		}
	}
}

func TestFranzGoProducesAndConsumes(t *testing.T) {
	t.Parallel()
	c := startKraft(t, 1, 3, 2)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cl := franz(t, c.cluster.Addresses["b1"], kgo.DisableIdempotentWrite(), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.ConsumeTopics("t"))
	var records []*kgo.Record
	for i, text := range []string{"7", "-9223372036854775808", "0", "9223372036854775807"} {
		records = append(records, &kgo.Record{Topic: "t", Partition: int32(i % 2), Value: []byte(text)})
	}
	if err := cl.ProduceSync(ctx, records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
	bad := cl.ProduceSync(ctx, &kgo.Record{Topic: "t", Value: []byte("seven")}).FirstErr()
	if bad != kerr.InvalidRecord {
		t.Errorf("a value that is no number: %v, wanted %v", bad, kerr.InvalidRecord)
	}
	got := map[int32][]string{}
	for n := 0; n < len(records); {
		f := cl.PollFetches(ctx)
		if err := f.Err0(); err != nil {
			t.Fatal(err)
		}
		f.EachRecord(func(r *kgo.Record) {
			got[r.Partition] = append(got[r.Partition], string(r.Value))
			if int(r.Offset) != len(got[r.Partition])-1 {
				t.Errorf("offset %d of t-%d as number %d", r.Offset, r.Partition, len(got[r.Partition]))
			}
			n++
		})
	}
	if !slices.Equal(got[0], []string{"7", "0"}) || !slices.Equal(got[1], []string{"-9223372036854775808", "9223372036854775807"}) {
		t.Errorf("consumed %v", got)
	}
}

func TestTheQuorumIsDescribedByItsLeader(t *testing.T) {
	t.Parallel()
	c := startKraft(t, 3, 3, 1)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	leader := c.await(t, "b1", "knows the leader", func(a *protocol.ClusterResponse) bool { return a.Controller != "" }).Controller
	ask := func(id node.ID) *kmsg.DescribeQuorumResponseTopicPartition {
		q := kmsg.NewPtrDescribeQuorumRequest()
		topic := kmsg.NewDescribeQuorumRequestTopic()
		topic.Topic = "__cluster_metadata"
		topic.Partitions = append(topic.Partitions, kmsg.NewDescribeQuorumRequestTopicPartition())
		q.Topics = append(q.Topics, topic)
		a, err := q.RequestWith(ctx, franz(t, c.cluster.Addresses[id]).SeedBrokers()[0])
		if err != nil || a.ErrorCode != 0 || len(a.Topics) != 1 || len(a.Topics[0].Partitions) != 1 {
			t.Fatalf("%s: %+v, %v", id, a, err)
		}
		return &a.Topics[0].Partitions[0]
	}
	n, _ := number(node.ID(leader))
	for _, id := range []node.ID{"c1", "c2", "c3", "b1"} {
		p := ask(id)
		if p.LeaderID != n {
			t.Errorf("%s names %d as the leader, b1 has named %d", id, p.LeaderID, n)
		}
		if id != node.ID(leader) {
			if kerr.ErrorForCode(p.ErrorCode) != kerr.NotLeaderForPartition {
				t.Errorf("%s, which does not lead, answers %v", id, kerr.ErrorForCode(p.ErrorCode))
			}
			continue
		}
		if p.ErrorCode != 0 || len(p.CurrentVoters) != 3 || len(p.Observers) != 3 || p.HighWatermark <= 0 {
			t.Fatalf("%s, which leads, answers %+v", id, p)
		}
		for _, r := range append(p.CurrentVoters, p.Observers...) {
			if r.LogEndOffset <= 0 {
				t.Errorf("replica %d is at %d in a quorum at work", r.ReplicaID, r.LogEndOffset)
			}
		}
	}
}

func TestWhatIsNotServedIsRefusedAsKafkaDoes(t *testing.T) {
	p := Push(testCluster)
	format := kmsg.NewRequestFormatter(kmsg.FormatterClientID("test"))
	ask := func(q kmsg.Request, version int16) (kmsg.Response, error) {
		q.SetVersion(version)
		r, err := p.ParseRequest(format.AppendRequest(nil, q, 7)[4:])
		if err != nil || r.Answer == nil {
			return nil, err
		}
		a := q.ResponseKind()
		body := r.Answer[8:]
		switch {
		case a.Key() == keyApiVersions:
			a.SetVersion(0)
		case a.IsFlexible():
			body = body[1:]
		}
		return a, a.ReadFrom(body)
	}
	for _, tt := range []struct {
		rule    string
		q       kmsg.Request
		version int16
		closes  bool
		answer  error
	}{
		{"an API with room for an error says so there", kmsg.NewPtrFindCoordinatorRequest(), 2, false, kerr.UnsupportedVersion},
		{"an API that only the other system has", kmsg.NewPtrVoteRequest(), 2, false, kerr.UnsupportedVersion},
		{"a version that is not served", kmsg.NewPtrFetchRequest(), 13, false, kerr.UnsupportedVersion},
		{"an API whose answer has no room for an error", kmsg.NewPtrDeleteTopicsRequest(), 1, true, nil},
		{"a version that nobody has", kmsg.NewPtrMetadataRequest(), 99, true, nil},
		{"ApiVersions in a version to come is answered in version 0", kmsg.NewPtrApiVersionsRequest(), 5, false, kerr.UnsupportedVersion},
	} {
		a, err := ask(tt.q, tt.version)
		if (err != nil) != tt.closes {
			t.Errorf("%s: %v", tt.rule, err)
			continue
		}
		if tt.closes {
			continue
		}
		n := int16(reflect.ValueOf(a).Elem().FieldByName("ErrorCode").Int())
		if kerr.ErrorForCode(n) != tt.answer {
			t.Errorf("%s: %v, wanted %v", tt.rule, kerr.ErrorForCode(n), tt.answer)
		}
		if v, ok := a.(*kmsg.ApiVersionsResponse); ok && len(v.ApiKeys) != len(p.served) {
			t.Errorf("%s: %d keys, wanted all %d", tt.rule, len(v.ApiKeys), len(p.served))
		}
	}
}
