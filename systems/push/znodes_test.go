package push

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stalemate-io/stalemate/systems/protocol"
)

func TestPayloadsAreKafkas(t *testing.T) {
	for _, tt := range []struct{ name, got, want string }{
		{"state", string(State{Leader: 1, LeaderEpoch: 4, ControllerEpoch: 7, ISR: []int32{1, 2}}.Encode()),
			`{"controller_epoch":7,"leader":1,"version":1,"leader_epoch":4,"isr":[1,2]}`},
		{"topic", string(topicNode{Partitions: map[string][]int32{"1": {2, 3}, "0": {1, 2}}, AddingReplicas: map[string][]int32{"0": {3}}}.encode()),
			`{"version":3,"partitions":{"0":[1,2],"1":[2,3]},"adding_replicas":{"0":[3]},"removing_replicas":{}}`},
		{"controller", string(controllerNode{BrokerID: 3001, Timestamp: "12"}.encode()),
			`{"version":2,"brokerid":3001,"timestamp":"12","kraftControllerEpoch":-1}`},
		{"in-sync set notification", string(isrChangeNode{Partitions: []isrChangePartition{{"t", 3}}}.encode()),
			`{"version":1,"partitions":[{"topic":"t","partition":3}]}`},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, tt.got, tt.want)
		}
	}
}

func TestStateReadsBackWhatItWrote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := State{
			Leader: rapid.Int32Range(-2, 1<<20).Draw(t, "leader"), LeaderEpoch: rapid.Int32Range(-1, 1<<30).Draw(t, "epoch"),
			ControllerEpoch: rapid.Int32Range(0, 1<<30).Draw(t, "controller epoch"),
			ISR:             rapid.SliceOfN(rapid.Int32Range(1, 99), 0, 5).Draw(t, "isr"),
		}
		got, err := DecodeState("/p", s.Encode())
		if err != nil || !s.equal(got) {
			t.Fatalf("%+v came back as %+v, %v", s, got, err)
		}
	})
}

func TestStateReadsWhatKafkaWrites(t *testing.T) {
	// Fields in another order, and one this model has not.
	text := `{"version":1,"leader":3,"isr":[3,1],"leader_epoch":9,"leader_recovery_state":1,"controller_epoch":2}`
	got, err := DecodeState("/p", []byte(text))
	if want := (State{Leader: 3, LeaderEpoch: 9, ControllerEpoch: 2, ISR: []int32{3, 1}}); err != nil || !want.equal(got) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, bad := range []string{"", "{", "7", `{"leader":"x"}`, `{"controller_epoch":7,"leader":1,"version":1,"leader_epoch":4,"isr":[1,`} {
		if _, err := DecodeState("/where", []byte(bad)); err == nil || !strings.Contains(err.Error(), "/where") {
			t.Errorf("%q: error %v, want one that names the node", bad, err)
		}
	}
}

func TestTopicsThatNobodyCanHost(t *testing.T) {
	for _, bad := range []string{
		"", `{"partitions":{"x":[1]}}`, `{"partitions":{"-1":[1]}}`, `{"partitions":{"0":[]}}`,
		`{"partitions":{"0":[1]},"removing_replicas":{"0":[1]}}`,
	} {
		if _, err := decodeTopic("/where", []byte(bad)); err == nil || !strings.Contains(err.Error(), "/where") {
			t.Errorf("%q: error %v, want one that names the node", bad, err)
		}
	}
	n, err := decodeTopic("/where", []byte(`{"version":3,"partitions":{"0":[3,1,2]},"adding_replicas":{"0":[3]},"removing_replicas":{"0":[2]},"topic_id":"x"}`))
	if err != nil || !slices.Equal(n.Partitions["0"], []int32{3, 1, 2}) || !slices.Equal(n.AddingReplicas["0"], []int32{3}) {
		t.Errorf("a topic of Kafka's reads as %+v, %v", n, err)
	}
}

func FuzzDecodeState(f *testing.F) {
	f.Add([]byte(`{"controller_epoch":7,"leader":1,"version":1,"leader_epoch":4,"isr":[1,2]}`))
	f.Add([]byte(`{"controller_epoch":7,"leader":1,"version":1,"leader_epoch":4,"isr":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, ok := decodeOwnState(data)
		if !ok {
			return
		}
		// What the short way reads, the long way reads alike.
		again, err := DecodeState("/p", s.Encode())
		if err != nil || !again.equal(s) {
			t.Errorf("%q read as %+v, and back as %+v, %v", data, s, again, err)
		}
	})
}

func TestStatePathsReadBack(t *testing.T) {
	p := protocol.Partition{Topic: "orders", Index: 12}
	if got, ok := parseStatePath(StatePath(p)); !ok || got != p {
		t.Errorf("%s came back as %v, %v", StatePath(p), got, ok)
	}
	for _, path := range []string{"/controller", "/brokers/topics/t", "/brokers/topics/t/partitions/0", "/brokers/topics/t/partitions/x/state", "/brokers/topics/t/partitions/-1/state"} {
		if p, ok := parseStatePath(path); ok {
			t.Errorf("%s was taken for the state of %v", path, p)
		}
	}
}

func TestGuardsAreSwitchedByName(t *testing.T) {
	on := AllGuards()
	for _, name := range GuardNames() {
		off := on
		if err := off.Set(name, false); err != nil {
			t.Fatal(err)
		}
		if off == on {
			t.Errorf("switching %s off changed nothing", name)
		}
		if err := off.Set(name, true); err != nil || off != on {
			t.Errorf("switching %s on again gives %+v, %v", name, off, err)
		}
	}
	if err := on.Set("seat-belt", false); err == nil || !strings.Contains(err.Error(), "leader-epoch-check") {
		t.Errorf("an unknown guard gives %v, want an error that lists the known ones", err)
	}
	names := slices.Clone(GuardNames())
	slices.Sort(names)
	if len(slices.Compact(names)) != len(GuardNames()) {
		t.Error("two guards share a name")
	}
}

func TestConfigurationsThatCannotRun(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Config)
		want   string // empty: it can
	}{
		{"the default can", func(*Config) {}, ""},
		{"no brokers", func(c *Config) { c.Brokers = 0 }, "at least one"},
		{"no controller", func(c *Config) { c.Controllers = 0 }, "at least one"},
		{"a replica on a broker that is not there", func(c *Config) { c.Brokers = 4 }, "brokers are 1 to 4"},
		{"a replica twice on one broker", func(c *Config) { c.Topics[0].Replicas[3] = []int32{2, 2} }, "t-3 is assigned to broker 2 twice"},
		{"a partition without replicas", func(c *Config) { c.Topics[0].Replicas[0] = nil }, "t-0 has no replicas"},
		{"a topic without a name", func(c *Config) { c.Topics[0].Name = "" }, "needs a name"},
		{"no time for an answer", func(c *Config) { c.RequestTimeout = 0 }, "RequestTimeout"},
	} {
		c := DefaultConfig()
		tt.change(&c)
		err := c.Validate()
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}
