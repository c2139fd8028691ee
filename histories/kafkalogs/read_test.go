package kafkalogs

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func facts(t *testing.T, text string) ([]Fact, *Reading) {
	t.Helper()
	var out []Fact
	r, err := Read(strings.NewReader(text), "file", func(f *Fact) { out = append(out, *f) })
	if err != nil {
		t.Fatal(err)
	}
	return out, r
}

func st(leader, leaderEpoch, controllerEpoch, partitionEpoch int32, isr ...int32) State {
	return State{leader, leaderEpoch, controllerEpoch, partitionEpoch, isr}
}

const u = Unknown

// TestLines is one line of each kind and version, and what it says.
func TestLines(t *testing.T) {
	for _, c := range []struct {
		rule, line string
		want       Fact
	}{
		{"1.0 to 3.2: what a controller decided",
			`[2019-06-01 10:00:00,101] TRACE [Controller id=1 epoch=7] Changed partition a-b-0 from OfflinePartition to OnlinePartition with state LeaderAndIsr(leader=2, leaderEpoch=5, isr=List(2, 3), zkVersion=9) (state.change.logger)`,
			Fact{Kind: Decided, Node: 1, Controller: 1, ControllerEpoch: 7, Correlation: u, Partition: "a-b-0", State: st(2, 5, u, 9, 2, 3)}},
		{"the first state of a new partition",
			`[2019-06-01 10:00:00,101] TRACE [Controller id=1 epoch=7] Changed partition o-0 from NewPartition to OnlinePartition with state LeaderAndIsr(leader=2, leaderEpoch=0, isr=List(2, 3), zkVersion=0) (state.change.logger)`,
			Fact{Kind: Decided, Node: 1, Controller: 1, ControllerEpoch: 7, Correlation: u, Partition: "o-0", State: st(2, 0, u, 0, 2, 3), New: true}},
		{"3.9: the in-sync replicas with their broker epochs",
			`[2024-06-01 10:00:00,101] INFO [Controller id=1 epoch=7] Changed partition o-0 from OfflinePartition to OnlinePartition with state LeaderAndIsr(leader=2, leaderEpoch=5, isrWithBrokerEpoch=List(BrokerState(brokerId=2, brokerEpoch=-1), BrokerState(brokerId=3, brokerEpoch=-1)), leaderRecoveryState=RECOVERED, partitionEpoch=9) (state.change.logger)`,
			Fact{Kind: Decided, Node: 1, Controller: 1, ControllerEpoch: 7, Correlation: u, Partition: "o-0", State: st(2, 5, u, 9, 2, 3)}},
		{"a partition that goes offline",
			`[2022-04-26 09:00:00,101] INFO [Controller id=0 epoch=18] Partition o-1 state changed to (Leader:-1,ISR:0,LeaderEpoch:2,ZkVersion:3,ControllerEpoch:17) after removing replica 0 from the ISR as part of transition to OfflineReplica (state.change.logger)`,
			Fact{Kind: Decided, Node: 0, Controller: 0, ControllerEpoch: 18, Correlation: u, Partition: "o-1", State: st(-1, 2, 17, 3, 0)}},
		{"a new partition",
			`[2022-04-23 16:00:00,101] INFO [Controller id=0 epoch=1] Changed partition o-1 state from NonExistentPartition to NewPartition with assigned replicas 0 (state.change.logger)`,
			Fact{Kind: Created, Node: 0, Controller: u, ControllerEpoch: u, Correlation: u, Partition: "o-1", State: unknownState()}},
		{"0.8: what a controller sends of roles",
			`[2014-02-02 02:00:00,101] TRACE Controller 4 epoch 3 sending become-leader LeaderAndIsr request (Leader:4,ISR:4,5,LeaderEpoch:2,ControllerEpoch:3) with correlationId 11 to broker 4 for partition [o,0] (state.change.logger)`,
			Fact{Kind: SentRole, Node: 4, Controller: 4, ControllerEpoch: 3, Correlation: 11, Partition: "o-0", State: st(4, 2, 3, u, 4, 5), To: []int32{4}}},
		{"1.0 to 2.5: what a controller sends of roles, its in-sync replicas without brackets",
			`[2019-06-01 10:00:00,103] TRACE [Controller id=1 epoch=7] Sending become-leader LeaderAndIsr request PartitionState(controllerEpoch=7, leader=2, leaderEpoch=5, isr=2,3, zkVersion=9, replicas=1,2,3, isNew=false) to broker 2 for partition o-0 (state.change.logger)`,
			Fact{Kind: SentRole, Node: 1, Controller: 1, ControllerEpoch: 7, Correlation: u, Partition: "o-0", State: st(2, 5, 7, 9, 2, 3), To: []int32{2}}},
		{"1.1 to 2.5: what a controller sends of metadata",
			`[2019-06-01 10:00:00,104] TRACE [Controller id=1 epoch=7] Sending UpdateMetadata request PartitionState(controllerEpoch=7, leader=2, leaderEpoch=5, isr=[2, 3], zkVersion=9, replicas=[1, 2, 3], offlineReplicas=[1]) to brokers Set(2, 3) for partition o-0 (state.change.logger)`,
			Fact{Kind: SentCache, Node: 1, Controller: 1, ControllerEpoch: 7, Correlation: u, Partition: "o-0", State: st(2, 5, 7, 9, 2, 3), To: []int32{2, 3}}},
		{"0.8: what a broker received",
			`[2014-02-02 02:00:00,101] TRACE Broker 4 received LeaderAndIsr request (LeaderAndIsrInfo:(Leader:4,ISR:4,5,LeaderEpoch:2,ControllerEpoch:3),ReplicationFactor:1),AllReplicas:4) correlation id 11 from controller 4 epoch 3 for partition [o,0] (state.change.logger)`,
			Fact{Kind: Received, Node: 4, Controller: 4, ControllerEpoch: 3, Correlation: 11, Partition: "o-0", State: st(4, 2, 3, u, 4, 5)}},
		{"from 2.4 the received state names its partition itself",
			`[2020-06-01 10:00:00,110] TRACE [Broker id=2] Received LeaderAndIsr request LeaderAndIsrPartitionState(topicName='a.b', partitionIndex=3, controllerEpoch=7, leader=2, leaderEpoch=5, isr=[2, 3], zkVersion=9, replicas=[1, 2, 3], addingReplicas=[], removingReplicas=[], isNew=false) correlation id 12 from controller 1 epoch 7 (state.change.logger)`,
			Fact{Kind: Received, Node: 2, Controller: 1, ControllerEpoch: 7, Correlation: 12, Partition: "a.b-3", State: st(2, 5, 7, 9, 2, 3)}},
		{"what a broker cached",
			`[2019-06-01 10:00:00,118] TRACE [Broker id=3] Cached leader info PartitionState(controllerEpoch=7, leader=2, leaderEpoch=5, isr=[2, 3], zkVersion=9, replicas=[1, 2, 3], offlineReplicas=[1]) for partition o-0 in response to UpdateMetadata request sent by controller 1 epoch 7 with correlation id 13 (state.change.logger)`,
			Fact{Kind: Cached, Node: 3, Controller: 1, ControllerEpoch: 7, Correlation: 13, Partition: "o-0", State: st(2, 5, 7, 9, 2, 3)}},
		{"what a broker dropped",
			`[2019-06-01 10:00:00,130] TRACE [Broker id=3] Deleted partition old-0 from metadata cache in response to UpdateMetadata request sent by controller 1 epoch 7 with correlation id 14 (state.change.logger)`,
			Fact{Kind: Dropped, Node: 3, Controller: 1, ControllerEpoch: 7, Correlation: 14, Partition: "old-0", State: unknownState()}},
		{"from 2.6 a broker tells no partitions of its cache",
			`[2022-06-01 10:00:00,118] INFO [Broker id=3] Add 1 partitions and deleted 0 partitions from metadata cache in response to UpdateMetadata request sent by controller 1 epoch 7 with correlation id 13 (state.change.logger)`,
			Fact{Kind: Commanded, Node: 3, Controller: 1, ControllerEpoch: 7, Correlation: 13, State: unknownState()}},
		{"a request begins",
			`[2022-06-01 10:00:00,109] INFO [Broker id=2] Handling LeaderAndIsr request correlationId 12 from controller 1 for 1 partitions (state.change.logger)`,
			Fact{Kind: Handling, Node: 2, Controller: 1, ControllerEpoch: u, Correlation: 12, State: unknownState()}},
		{"2.6 to 3.8: a leader starts",
			`[2022-06-01 10:00:00,112] INFO [Broker id=2] Leader o-0 starts at leader epoch 5 from offset 100 with high watermark 98 ISR [2,3] addingReplicas [] removingReplicas []. Previous leader epoch was 4. (state.change.logger)`,
			Fact{Kind: Role, Node: 2, Controller: u, ControllerEpoch: u, Correlation: u, Partition: "o-0", State: st(2, 5, u, u)}},
		{"3.9: a leader starts",
			`[2024-06-01 10:00:00,112] INFO [Broker id=2] Leader o-0 with topic id Some(x) starts at leader epoch 5 from offset 100 with partition epoch 9, high watermark 98, ISR [2,3], adding replicas [] and removing replicas [] . Previous leader Some(1) and previous leader epoch was 4. (state.change.logger)`,
			Fact{Kind: Role, Node: 2, Controller: u, ControllerEpoch: u, Correlation: u, Partition: "o-0", State: st(2, 5, u, u)}},
		{"a follower does not always tell whom it follows",
			`[2022-06-01 10:00:00,113] INFO [Broker id=3] Follower o-0 starts at leader epoch 5 from offset 99 with high watermark 98. Previous leader epoch was 4. (state.change.logger)`,
			Fact{Kind: Role, Node: 3, Controller: u, ControllerEpoch: u, Correlation: u, Partition: "o-0", State: st(u, 5, u, u)}},
		{"3.9: a follower tells whom it follows",
			`[2024-06-01 10:00:00,113] INFO [Broker id=3] Follower o-0 starts at leader epoch 5 from offset 99 with partition epoch 9 and high watermark 98. Current leader is 2. Previous leader Some(2) and previous leader epoch was 5. (state.change.logger)`,
			Fact{Kind: Role, Node: 3, Controller: u, ControllerEpoch: u, Correlation: u, Partition: "o-0", State: st(2, 5, u, u)}},
		{"1.x: server.log tells of leaders too",
			`[2018-05-18 00:10:36,593] INFO [Partition o.p-14 broker=2] o.p-14 starts at Leader Epoch 251 from offset 61386. Previous Leader Epoch was: 250 (kafka.cluster.Partition)`,
			Fact{Kind: Role, Node: 2, Controller: u, ControllerEpoch: u, Correlation: u, Partition: "o.p-14", State: st(2, 251, u, u)}},
		{"a deposed controller is fenced",
			`[2022-06-01 10:00:00,113] WARN [Broker id=3] Ignoring LeaderAndIsr request from controller 1 with correlation id 12 since its controller epoch 6 is old. Latest known controller epoch is 7 (state.change.logger)`,
			Fact{Kind: Fenced, Node: 3, Controller: 1, ControllerEpoch: 6, Correlation: 12, State: unknownState(), Why: "its controller epoch is old; the latest known is 7"}},
		{"and in UpdateMetadata",
			`[2022-06-01 10:00:00,113] ERROR [Broker id=3] Received update metadata request with correlation id 9 from an old controller 1 with epoch 6. Latest known controller epoch is 7 (state.change.logger)`,
			Fact{Kind: Fenced, Node: 3, Controller: 1, ControllerEpoch: 6, Correlation: 9, State: unknownState(), Why: "its controller epoch is old; the latest known is 7"}},
		{"a state with an old leader epoch is refused",
			`[2022-06-01 10:00:00,113] WARN [Broker id=3] Ignoring LeaderAndIsr request from controller 1 with correlation id 12 epoch 7 for partition o-0 since its associated leader epoch 4 is smaller than the current leader epoch 5 (state.change.logger)`,
			Fact{Kind: Refused, Node: 3, Controller: 1, ControllerEpoch: 7, Correlation: 12, Partition: "o-0", State: st(u, 4, u, u), Why: "leader epoch 4 is smaller than the current 5"}},
		{"0.8 in its own words",
			`[2014-02-02 02:00:00,101] WARN Broker 4 received invalid LeaderAndIsr request with correlation id 8 from controller 5 epoch 12 with an older leader epoch 4 for partition [o,0] current leader epoch is 4 (state.change.logger)`,
			Fact{Kind: Refused, Node: 4, Controller: 5, ControllerEpoch: 12, Correlation: 8, Partition: "o-0", State: st(u, 4, u, u), Why: "leader epoch 4 is older than the current 4"}},
		{"a request meant for a broker's life before",
			`[2022-06-01 10:00:00,113] INFO [KafkaApi-3] Received UpdateMetadata request with broker epoch 10 smaller than the current broker epoch 22 from controller 1 with epoch 7. (kafka.server.KafkaApis)`,
			Fact{Kind: Fenced, Node: u, Controller: 1, ControllerEpoch: 7, Correlation: u, State: unknownState(), Why: "it is meant for the broker's life before: broker epoch 10, now 22"}},
		{"a controller is elected",
			`[2019-06-01 10:00:00,010] INFO [Controller id=1] 1 successfully elected as the controller. Epoch incremented to 7 and epoch zk version is now 7 (kafka.controller.KafkaController)`,
			Fact{Kind: Elected, Node: 1, Controller: 1, ControllerEpoch: 7, Correlation: u, State: unknownState()}},
		{"0.8: a controller is elected",
			`[2014-02-02 02:00:00,101] INFO [Controller 4]: Controller 4 incremented epoch to 3 (kafka.controller.KafkaController)`,
			Fact{Kind: Elected, Node: 4, Controller: 4, ControllerEpoch: 3, Correlation: u, State: unknownState()}},
		{"KRaft: an active controller",
			`[2024-06-01 10:00:00,101] INFO [QuorumController id=3001] Becoming the active controller at epoch 5, next write offset 1201. (org.apache.kafka.controller.QuorumController)`,
			Fact{Kind: Elected, Node: 3001, Controller: 3001, ControllerEpoch: 5, Correlation: u, State: unknownState()}},
		{"KRaft: a leader of the quorum",
			`[2024-06-01 10:00:00,101] INFO [RaftManager id=3001] Completed transition to Leader(localReplicaKey=ReplicaKey(id=3001, directoryId=x), epoch=5, epochStartOffset=1200, highWatermark=Optional.empty, voterStates={}) from CandidateState(epoch=5) (org.apache.kafka.raft.QuorumState)`,
			Fact{Kind: Elected, Node: 3001, Controller: 3001, ControllerEpoch: 5, Correlation: u, State: unknownState()}},
		{"kafka-topics --describe", "\tTopic: o\tPartition: 1\tLeader: none\tReplicas: 2,3,1\tIsr: 2\tElr: N/A\tLastKnownElr: N/A",
			Fact{Kind: Shown, Node: u, Controller: u, ControllerEpoch: u, Correlation: u, Partition: "o-1", State: st(-1, u, u, u, 2)}},
		{"a partition state in ZooKeeper", `/brokers/topics/o/partitions/3/state: {"controller_epoch":7,"leader":2,"version":1,"leader_epoch":5,"isr":[2,3]}`,
			Fact{Kind: Decided, Node: u, Controller: u, ControllerEpoch: 7, Correlation: u, Partition: "o-3", State: st(2, 5, 7, u, 2, 3)}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got, _ := facts(t, c.line)
			if len(got) != 1 {
				t.Fatalf("%d facts", len(got))
			}
			f := got[0]
			if f.File != "file" || f.Line != 1 || f.Text != strings.TrimSpace(c.line) {
				t.Errorf("quoted as %s:%d: %s", f.File, f.Line, f.Text)
			}
			f.File, f.Line, f.Text, f.Time, f.Offset = "", 0, "", "", 0
			if !same(f, c.want) {
				t.Errorf("says %+v\nwant %+v", f, c.want)
			}
		})
	}
}

func same(a, b Fact) bool {
	isr := slices.Equal(a.State.ISR, b.State.ISR) && slices.Equal(a.To, b.To)
	a.State.ISR, b.State.ISR, a.To, b.To = nil, nil, nil, nil
	return isr && a.Kind == b.Kind && a.Node == b.Node && a.Controller == b.Controller && a.ControllerEpoch == b.ControllerEpoch &&
		a.Correlation == b.Correlation && a.New == b.New && a.Partition == b.Partition && a.Why == b.Why && a.State.Leader == b.State.Leader &&
		a.State.LeaderEpoch == b.State.LeaderEpoch && a.State.ControllerEpoch == b.State.ControllerEpoch && a.State.PartitionEpoch == b.State.PartitionEpoch
}

// TestTheMetadataLog replays records as brokers do: a change is a delta, and a
// leader in it, even the same one, begins an epoch.
func TestTheMetadataLog(t *testing.T) {
	got, r := facts(t, `Dumping /d/__cluster_metadata-0/00000000000000000000.log
Log starting offset: 0
baseOffset: 0 lastOffset: 4 count: 5 baseSequence: -1 partitionLeaderEpoch: 1 isControl: false
| offset: 0 CreateTime: 1700000000000 keySize: -1 valueSize: 1 sequence: -1 headerKeys: [] payload: {"type":"TOPIC_RECORD","version":0,"data":{"name":"orders","topicId":"AAAA"}}
| offset: 1 CreateTime: 1700000000000 keySize: -1 valueSize: 1 sequence: -1 headerKeys: [] payload: {"type":"PARTITION_RECORD","version":0,"data":{"partitionId":0,"topicId":"AAAA","replicas":[1,2],"isr":[1,2],"leader":1,"leaderEpoch":0,"partitionEpoch":0}}
| offset: 2 CreateTime: 1700000000000 keySize: -1 valueSize: 1 sequence: -1 headerKeys: [] payload: {"type":"PARTITION_CHANGE_RECORD","version":0,"data":{"partitionId":0,"topicId":"AAAA","isr":[2]}}
baseOffset: 3 lastOffset: 4 count: 2 baseSequence: -1 partitionLeaderEpoch: 5 isControl: false
| offset: 3 CreateTime: 1700000000000 keySize: -1 valueSize: 1 sequence: -1 headerKeys: [] payload: {"type":"PARTITION_CHANGE_RECORD","version":0,"data":{"partitionId":0,"topicId":"AAAA","leader":2}}
| offset: 4 CreateTime: 1700000000000 keySize: -1 valueSize: 1 sequence: -1 headerKeys: [] payload: {"type":"PARTITION_CHANGE_RECORD","version":0,"data":{"partitionId":0,"topicId":"AAAA","leader":2}}
| offset: 5 CreateTime: 1700000000000 keySize: -1 valueSize: 1 sequence: -1 headerKeys: [] payload: {"type":"NO_OP_RECORD","version":0,"data":{}}
`)
	var states []State
	var offsets []int64
	for _, f := range got {
		if f.Kind != Decided || f.Partition != "orders-0" || f.Time != "1700000000000" {
			t.Errorf("%+v", f)
		}
		states, offsets = append(states, f.State), append(offsets, f.Offset)
	}
	want := []State{st(1, 0, 1, 0, 1, 2), st(1, 0, 1, 1, 2), st(2, 1, 5, 2, 2), st(2, 2, 5, 3, 2)}
	if len(states) != len(want) || !slices.Equal(offsets, []int64{1, 2, 3, 4}) {
		t.Fatalf("states %v at %v", states, offsets)
	}
	for i := range want {
		if !same(Fact{State: states[i]}, Fact{State: want[i]}) {
			t.Errorf("record %d: %+v, want %+v", i, states[i], want[i])
		}
	}
	if r.Lines != 10 || r.Facts != 4 {
		t.Errorf("read %d lines and %d facts", r.Lines, r.Facts)
	}
}

func TestTheShellOfZooKeeper(t *testing.T) {
	got, _ := facts(t, `[zk: localhost:2181(CONNECTED) 0] get /brokers/topics/my-topic/partitions/12/state
{"controller_epoch":7,"leader":2,"version":1,"leader_epoch":5,"isr":[2,3]}
cZxid = 0x10000002a
dataVersion = 9
{"controller_epoch":7,"leader":2,"version":1,"leader_epoch":5,"isr":[2,3]}
`)
	if len(got) != 1 || got[0].Partition != "my-topic-12" || got[0].State.Leader != 2 {
		t.Errorf("%+v", got)
	}
}

func TestNothingIsDroppedInSilence(t *testing.T) {
	text := "[2019-06-01 10:00:00,101] INFO [Controller id=1] Resigned (kafka.controller.KafkaController)\n" +
		"[2019-06-01 10:00:00,102] INFO [Controller id=1] Shutting down broker 3 (kafka.controller.KafkaController)\n" +
		"[2019-06-01 10:00:00,103] INFO [Controller id=1] Shutting down broker 4 (kafka.controller.KafkaController)\n" +
		"java.lang.Exception: x\n\tat a.b(C.scala:1)\n\n[2019 half a line"
	_, r := facts(t, text)
	total := r.Facts
	for _, o := range r.Others {
		total += o.Count
	}
	if r.Lines != 7 || total != r.Lines {
		t.Errorf("%d lines, %d accounted for: %+v", r.Lines, total, r.Others)
	}
	if o := r.Others[0]; o.Count != 2 || o.Line != 2 || !strings.Contains(o.Kind, "shutting down broker") {
		t.Errorf("most frequent: %+v", o)
	}
}

func TestCompressedAndCut(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	line := "[2019-06-01 10:00:00,010] INFO [Controller id=1] 1 successfully elected as the controller. Epoch incremented to 7 and epoch zk version is now 7 (k)\n"
	if _, err := z.Write([]byte(line)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		bytes []byte
		cut   bool
	}{{b.Bytes(), false}, {b.Bytes()[:b.Len()-4], true}} {
		n := 0
		r, err := Read(bytes.NewReader(c.bytes), "x.gz", func(*Fact) { n++ })
		if err != nil || n != 1 || r.Cut != c.cut {
			t.Errorf("%d facts, cut %v, %v; want cut %v", n, r != nil && r.Cut, err, c.cut)
		}
	}
	if _, err := Read(strings.NewReader(strings.Repeat("x", longest+1)), "x", func(*Fact) {}); err == nil || !strings.Contains(err.Error(), "x:1: expected a text of lines") {
		t.Errorf("a line without end: %v", err)
	}
}

// TestOthersLogs reads logs of real clusters, where they are at hand, and says
// how much of them was understood.
func TestOthersLogs(t *testing.T) {
	root := filepath.Join("..", "..", "..", "shared", "corpus", "kafka-logs")
	if _, err := os.Stat(root); err != nil {
		t.Skip("no recorded logs of others beside the project")
	}
	files, lines, found := 0, 0, 0
	kinds := map[Kind]int{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		r, err := ReadFile(path, func(f *Fact) { kinds[f.Kind]++ })
		if err != nil {
			t.Error(err)
			return nil
		}
		total := r.Facts
		for _, o := range r.Others {
			total += o.Count
		}
		if total != r.Lines {
			t.Errorf("%s: %d lines, %d accounted for", path, r.Lines, total)
		}
		files, lines, found = files+1, lines+r.Lines, found+r.Facts
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []Kind{Decided, Created, SentRole, SentCache, Received, Role, Cached, Commanded, Refused, Elected, Shown} {
		if kinds[k] == 0 {
			t.Errorf("no fact of kind %q in %d files", k, files)
		}
	}
	t.Logf("%d files, %d lines, %d facts: %v", files, lines, found, kinds)
}

func FuzzRead(f *testing.F) {
	f.Add("[2019-06-01 10:00:00,101] TRACE [Controller id=1 epoch=7] Changed partition a-0 from A to B with state LeaderAndIsr(leader=2, leaderEpoch=5, isr=List(2, 3), zkVersion=9) (l)\n")
	f.Add("| offset: 1 payload: {\"type\":\"PARTITION_RECORD\",\"data\":{\"partitionId\":0,\"topicId\":\"A\",\"leader\":1}}\n")
	f.Add("/brokers/topics/o/partitions/3/state: {\"leader\":2,\"leader_epoch\":5}\n\tTopic: o\tPartition: 1\tLeader: 2")
	f.Add("[1] A [[]=](=isr:(,a\n[Broker id=] Cached leader info (Leader:)")
	f.Fuzz(func(t *testing.T, text string) {
		n := 0
		r, err := Read(strings.NewReader(text), "f", func(fact *Fact) {
			n++
			if fact.Kind == 0 || fact.Line == 0 {
				t.Errorf("%+v", fact)
			}
		})
		if err != nil {
			return
		}
		total := r.Facts
		for _, o := range r.Others {
			total += o.Count
		}
		if total != r.Lines || n != r.Facts {
			t.Errorf("%d lines, %d accounted for; %d facts told of %d", r.Lines, total, n, r.Facts)
		}
	})
}
