package wire

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/tcp"
)

// kcat runs Debian's kcat, which is librdkafka underneath.
func kcat(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath("kcat")
	if err != nil {
		t.Skip("kcat is missing: apt-get install kcat, or brew install kcat, tests against a client in common use")
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("kcat %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), errs.String())
	}
	return out.String()
}

func TestKcatPrintsWhatABrokerBelieves(t *testing.T) {
	t.Parallel()
	c := startKraft(t, 3, 3, 4)
	for id, address := range c.cluster.Addresses {
		if id[0] == 'c' {
			continue
		}
		belief := c.await(t, id, "answers", func(a *protocol.ClusterResponse) bool { return a.Error == protocol.None })
		out := kcat(t, "", "-L", "-b", address)
		for _, p := range belief.Partitions {
			want := fmt.Sprintf("partition %d, leader %d, replicas: %s, isrs: %s\n",
				p.Partition.Index, p.Leader, commas(p.Replicas), commas(p.ISR))
			if !strings.Contains(out, want) {
				t.Errorf("kcat -L of %s lacks %q:\n%s", id, want, out)
			}
		}
		n, _ := number(node.ID(belief.Controller))
		if want := fmt.Sprintf("broker %d at %s (controller)", n, c.cluster.Addresses[node.ID(belief.Controller)]); !strings.Contains(out, want) {
			t.Errorf("kcat -L of %s lacks %q:\n%s", id, want, out)
		}
		if !regexp.MustCompile(`topic "t" with 4 partitions`).MatchString(out) {
			t.Errorf("kcat -L of %s lacks the topic:\n%s", id, out)
		}
	}
}

func commas(ids []int32) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ","), "[]")
}

func TestKcatProducesAndConsumes(t *testing.T) {
	t.Parallel()
	c := startKraft(t, 1, 3, 2)
	address := c.cluster.Addresses["b1"]
	var all strings.Builder
	for i := range 100 {
		fmt.Fprintln(&all, i*i-7)
	}
	for _, acks := range []string{"all", "1"} {
		kcat(t, all.String(), "-P", "-b", address, "-t", "t", "-p", "1", "-X", "acks="+acks)
	}
	out := kcat(t, "", "-C", "-b", address, "-t", "t", "-p", "1", "-o", "beginning", "-c", "200", "-q")
	if out != all.String()+all.String() {
		t.Errorf("kcat consumed %d lines, wanted the 200 that were produced:\n%s", strings.Count(out, "\n"), out)
	}
	if out := kcat(t, "", "-C", "-b", address, "-t", "t", "-o", "beginning", "-e", "-q"); strings.Count(out, "\n") != 200 {
		t.Errorf("kcat of all partitions consumed %d lines, wanted 200", strings.Count(out, "\n"))
	}
	if out := kcat(t, "", "-Q", "-b", address, "-t", "t:1:-1", "-t", "t:0:-2"); !strings.Contains(out, "t [1] offset 200") || !strings.Contains(out, "t [0] offset 0") {
		t.Errorf("kcat -Q: %s", out)
	}
}

// believer is a broker that believes what it was made with.
type believer struct{ belief *protocol.ClusterResponse }

func (believer) Start() {}

func (b believer) Receive(_ node.ID, m node.Message, reply func(node.Message)) {
	if _, ok := m.(*protocol.ClusterRequest); ok {
		reply(b.belief)
	}
}

func TestKcatShowsTwoBrokersThatDisagree(t *testing.T) {
	t.Parallel()
	c := Cluster{ID: "split", Addresses: map[node.ID]string{}}
	listeners := map[node.ID]net.Listener{}
	for _, id := range []node.ID{"b1", "b2"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners[id], c.Addresses[id] = l, l.Addr().String()
	}
	for id, leader := range map[node.ID]int32{"b1": 1, "b2": 2} {
		belief := &protocol.ClusterResponse{
			Brokers: []int32{1, 2}, Offset: protocol.NoOffset,
			Partitions: []protocol.Belief{{
				Partition: protocol.Partition{Topic: "orders"}, Leader: leader, LeaderEpoch: leader + 3, Replicas: []int32{1, 2}, ISR: []int32{leader},
			}},
		}
		boot := func(node.Env) node.Machine { return believer{belief} }
		n, err := tcp.Start(tcp.Config{Self: id, New: ForClients(boot), Protocol: Push(c), Listener: listeners[id]})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := n.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	for id, want := range map[node.ID]string{
		"b1": "partition 0, leader 1, replicas: 1,2, isrs: 1\n",
		"b2": "partition 0, leader 2, replicas: 1,2, isrs: 2\n",
	} {
		if out := kcat(t, "", "-L", "-b", c.Addresses[id]); !strings.Contains(out, want) {
			t.Errorf("kcat -L of %s lacks %q:\n%s", id, want, out)
		}
	}
}
