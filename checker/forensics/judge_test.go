package forensics

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stalemate-io/stalemate/histories/kafkalogs"
)

// log is a file of a test.
type log struct {
	name  string
	lines []string
}

func (l *log) add(format string, args ...any) *log {
	l.lines = append(l.lines, fmt.Sprintf("[2019-06-01 10:00:00,%03d] TRACE ", len(l.lines))+fmt.Sprintf(format, args...)+" (state.change.logger)")
	return l
}

// cached is a broker's line for one partition in one request.
func (l *log) cached(broker int, partition string, leader, epoch, controllerEpoch, request int) *log {
	return l.add("[Broker id=%d] Cached leader info PartitionState(controllerEpoch=%d, leader=%d, leaderEpoch=%d, isr=[%d], zkVersion=9, replicas=[1, 2, 3], offlineReplicas=[]) "+
		"for partition %s in response to UpdateMetadata request sent by controller 1 epoch %d with correlation id %d", broker, controllerEpoch, leader, epoch, leader, partition, controllerEpoch, request)
}

func (l *log) sent(partition string, leader, epoch int, to string) *log {
	return l.add("[Controller id=1 epoch=7] Sending UpdateMetadata request PartitionState(controllerEpoch=7, leader=%d, leaderEpoch=%d, isr=[%d], zkVersion=9, replicas=[1], offlineReplicas=[]) "+
		"to brokers Set(%s) for partition %s", leader, epoch, leader, to, partition)
}

func (l *log) decided(partition string, leader, epoch int) *log {
	return l.add("[Controller id=1 epoch=7] Changed partition %s from OfflinePartition to OnlinePartition with state LeaderAndIsr(leader=%d, leaderEpoch=%d, isr=List(2), zkVersion=9)", partition, leader, epoch)
}

func judge(t testing.TB, logs ...*log) *Report {
	t.Helper()
	var facts []kafkalogs.Fact
	var files []kafkalogs.Reading
	for _, l := range logs {
		r, err := kafkalogs.Read(strings.NewReader(strings.Join(l.lines, "\n")), l.name, func(f *kafkalogs.Fact) { facts = append(facts, *f) })
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, *r)
	}
	r, err := Judge(facts, files)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func file(name string) *log { return &log{name: name} }

func TestVerdicts(t *testing.T) {
	elected := "[Controller id=%d] %d successfully elected as the controller. Epoch incremented to %d and epoch zk version is now %d"
	for _, c := range []struct {
		rule    string
		logs    []*log
		verdict string
		kinds   map[Kind]int
		text    string // of the first finding
	}{
		{"brokers that go the same way agree",
			[]*log{file("b2").cached(2, "o-0", 1, 4, 7, 1).cached(2, "o-0", 3, 5, 7, 2), file("b3").cached(3, "o-0", 1, 4, 7, 1).cached(3, "o-0", 3, 5, 7, 2)},
			OneOrder, nil, ""},
		{"a broker that ends earlier is behind",
			[]*log{file("b2").cached(2, "o-0", 1, 4, 7, 1).cached(2, "o-0", 3, 5, 7, 2), file("b3").cached(3, "o-0", 1, 4, 7, 1)},
			OrderedLag, map[Kind]int{Behind: 1}, "broker 3's metadata cache ends with leader epoch 4 of o-0 (leader 1), and 5 is known (leader 3)"},
		{"one epoch with two leaders is a conflict",
			[]*log{file("b2").cached(2, "o-0", 1, 4, 7, 1), file("b3").cached(3, "o-0", 2, 4, 7, 1)},
			Divergent, map[Kind]int{Conflict: 1}, "o-0 has two leaders in leader epoch 4: 1 and 2"},
		{"no leader is not another leader",
			[]*log{file("b2").cached(2, "o-0", 1, 4, 7, 1), file("b3").cached(3, "o-0", -1, 4, 7, 1)}, OneOrder, nil, ""},
		{"a cache that takes an older state goes back",
			[]*log{file("b2").cached(2, "o-0", 1, 5, 7, 1).cached(2, "o-0", 3, 4, 7, 2)},
			Divergent, map[Kind]int{Regress: 1, Behind: 1}, "broker 2's metadata cache went back from leader epoch 5 of o-0 (leader 1) to 4 (leader 3)"},
		{"a deposed controller that is obeyed is a zombie",
			[]*log{file("b2").cached(2, "o-0", 1, 5, 8, 1).cached(2, "o-1", 3, 4, 7, 2)},
			Divergent, map[Kind]int{Zombie: 1}, "broker 2's metadata cache obeyed controller 1 of epoch 7 after controller 1 of epoch 8"},
		{"two controllers in one epoch are a conflict",
			[]*log{file("c1").add(elected, 1, 1, 7, 7), file("c2").add(elected, 2, 2, 7, 7)},
			Divergent, map[Kind]int{Conflict: 1}, "epoch 7 has two controllers: 1 and 2"},
		{"opposite orders of two partitions are a fork",
			[]*log{
				file("b2").cached(2, "o-0", 1, 4, 7, 1).cached(2, "o-1", 1, 4, 7, 1).cached(2, "o-0", 3, 5, 7, 2).cached(2, "o-1", 3, 5, 7, 3),
				file("b3").cached(3, "o-0", 1, 4, 7, 1).cached(3, "o-1", 1, 4, 7, 1).cached(3, "o-1", 3, 5, 7, 2).cached(3, "o-0", 3, 5, 7, 3),
			}, Divergent, map[Kind]int{Fork: 1}, "no single order of changes: broker 2's metadata cache had leader epoch 5 of o-0 while o-1 was still at 4; broker 3's metadata cache had leader epoch 5 of o-1 while o-0 was still at 4"},
		{"what one request brings has no order",
			[]*log{
				file("b2").cached(2, "o-0", 1, 4, 7, 1).cached(2, "o-1", 1, 4, 7, 1).cached(2, "o-0", 3, 5, 7, 2).cached(2, "o-1", 3, 5, 7, 2),
				file("b3").cached(3, "o-0", 1, 4, 7, 1).cached(3, "o-1", 1, 4, 7, 1).cached(3, "o-1", 3, 5, 7, 2).cached(3, "o-0", 3, 5, 7, 2),
			}, OneOrder, nil, ""},
		{"a broker that never gets a change forks from one that got it first",
			[]*log{
				file("b2").cached(2, "o-0", 1, 4, 7, 1).cached(2, "o-1", 1, 4, 7, 1).cached(2, "o-0", 3, 5, 7, 2).cached(2, "o-1", 3, 5, 7, 3),
				file("b3").cached(3, "o-0", 1, 4, 7, 1).cached(3, "o-1", 1, 4, 7, 1).cached(3, "o-1", 3, 5, 7, 2),
			}, Divergent, map[Kind]int{Fork: 1, Behind: 1}, "no single order of changes: broker 2's metadata cache had leader epoch 5 of o-0 while o-1 was still at 4; broker 3's metadata cache had leader epoch 5 of o-1 while o-0 was still at 4"},
		{"a state that was sent and skipped is lost",
			[]*log{
				file("c1").sent("o-0", 1, 4, "2, 3").sent("o-0", 2, 5, "2, 3").sent("o-0", 3, 6, "2, 3"),
				file("b2").cached(2, "o-0", 1, 4, 7, 1).cached(2, "o-0", 3, 6, 7, 3),
			}, OrderedLag, map[Kind]int{Lost: 1}, "controller 1 sent leader epoch 5 of o-0 (leader 2) to broker 2, which never cached it, though it did what was sent later"},
		{"a decision that no broker tells of is known all the same",
			[]*log{file("c1").decided("o-0", 1, 4).decided("o-0", 2, 5), file("b2").cached(2, "o-0", 1, 4, 7, 1)},
			OrderedLag, map[Kind]int{Behind: 1}, "broker 2's metadata cache ends with leader epoch 4 of o-0 (leader 1), and 5 is known (leader 2)"},
		{"answers without epochs leave it undecided",
			[]*log{{"t1", []string{"\tTopic: o\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2"}}, {"t2", []string{"\tTopic: o\tPartition: 0\tLeader: 2\tReplicas: 1,2\tIsr: 1,2"}}},
			Undecided, map[Kind]int{Differ: 1}, "o-0: leader 1 in one, leader 2 in another; without leader epochs nothing tells which is newer"},
		{"one node that tells of each thing once contradicts nobody, which decides nothing",
			[]*log{{"t1", []string{"\tTopic: o\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2", "\tTopic: o\tPartition: 1\tLeader: 2\tReplicas: 1,2\tIsr: 1,2"}}},
			Undecided, nil, ""},
		{"two that answer the same agree",
			[]*log{{"t1", []string{"\tTopic: o\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2"}}, {"t2", []string{"\tTopic: o\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2"}}},
			OneOrder, nil, ""},
		{"a fence is told and is no divergence",
			[]*log{file("b3").cached(3, "o-0", 1, 4, 7, 1).cached(3, "o-0", 1, 4, 7, 2).add("[Broker id=3] Received update metadata request with correlation id 9 from an old controller 1 with epoch 6. Latest known controller epoch is 7")},
			OneOrder, map[Kind]int{Fenced: 1}, "broker 3 refused a request of controller 1: its controller epoch is old; the latest known is 7"},
		{"a partition that was created anew is not judged",
			[]*log{file("b2").cached(2, "o-0", 1, 5, 7, 1).add("[Broker id=2] Deleted partition o-0 from metadata cache in response to UpdateMetadata request sent by controller 1 epoch 7 with correlation id 2").cached(2, "o-0", 3, 0, 7, 3)},
			OneOrder, nil, ""},
		{"nor is one that its controller creates again",
			[]*log{file("c1").decided("o-0", 1, 4).add("[Controller id=1 epoch=7] Changed partition o-0 from NewPartition to OnlinePartition with state LeaderAndIsr(leader=2, leaderEpoch=0, isr=List(2), zkVersion=0)")},
			Undecided, nil, ""},
		{"a controller that goes back to an older epoch is none",
			[]*log{file("c1").decided("o-0", 1, 4).decided("o-0", 2, 3)},
			Divergent, map[Kind]int{Regress: 1, Behind: 1}, "controller 1 went back from leader epoch 4 of o-0 (leader 1) to 3 (leader 2)"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r := judge(t, c.logs...)
			if c.kinds == nil {
				c.kinds = map[Kind]int{}
			}
			if r.Verdict != c.verdict || !maps.Equal(r.Counts, c.kinds) {
				t.Errorf("verdict %s %v, want %s %v", r.Verdict, r.Counts, c.verdict, c.kinds)
			}
			if c.text != "" && (len(r.Findings) == 0 || r.Findings[0].Text != c.text) {
				t.Errorf("found %+v\nwant %s", r.Findings, c.text)
			}
			for _, f := range r.Findings {
				for _, q := range f.Lines {
					i := slices.IndexFunc(c.logs, func(l *log) bool { return l.name == q.File })
					if i < 0 || strings.TrimSpace(c.logs[i].lines[q.Line-1]) != q.Text {
						t.Errorf("%s:%d does not say %q", q.File, q.Line, q.Text)
					}
				}
			}
		})
	}
}

func TestRotatedFilesAreOneLog(t *testing.T) {
	older := file("state-change.log.2").cached(2, "o-0", 1, 4, 7, 1)
	newer := file("state-change.log")
	newer.lines = []string{strings.Replace(file("x").cached(2, "o-0", 3, 5, 7, 2).lines[0], "10:00", "11:00", 1)}
	if r := judge(t, newer, older); r.Verdict != OneOrder {
		t.Errorf("%+v", r.Findings)
	}
}

// TestWhatWasCompared tells a check that found nothing from one that had nothing
// to look at.
func TestWhatWasCompared(t *testing.T) {
	r := judge(t,
		file("b2").cached(2, "o-0", 1, 4, 7, 1).cached(2, "o-0", 3, 5, 7, 2),
		file("b3").cached(3, "o-0", 1, 4, 7, 1),
		file("c1").sent("o-0", 3, 5, "2, 3, 4"))
	want := map[Kind]int{
		Conflict: 2, // broker 3's epoch 4 and the controller's epoch 5, with broker 2's
		Zombie:   1, // broker 2's second request with its first
		Regress:  1, // its second state with its first
		Lost:     2, // brokers 2 and 3; of 4 nothing was heard
		Behind:   2, // where the two caches end
	}
	if !maps.Equal(r.Compared, want) {
		t.Errorf("compared %v, want %v", r.Compared, want)
	}
	// A fork takes two observers and two partitions.
	r = judge(t, file("b2").cached(2, "o-0", 1, 4, 7, 1), file("b3").cached(3, "o-1", 1, 4, 7, 1))
	want = map[Kind]int{Fork: 2, Behind: 2}
	if !maps.Equal(r.Compared, want) {
		t.Errorf("compared %v, want %v", r.Compared, want)
	}
}

func TestNothingToJudge(t *testing.T) {
	if _, err := Judge(nil, nil); !errors.Is(err, ErrNothing) {
		t.Error(err)
	}
}

// TestForksAgainstEveryOrder compares the graph with a search through all orders
// of the changes.
func TestForksAgainstEveryOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	forks := 0
	for i := range 1000 {
		// Two or three partitions of up to three epochs, three brokers that
		// take some of them in some order.
		last := make([]int, 2+r.IntN(2))
		for p := range last {
			last[p] = r.IntN(3)
		}
		last[0]++
		var logs []*log
		var walks [][][]int // of each broker: its state after each request
		for b := range 2 + r.IntN(2) {
			l := file(fmt.Sprint("b", b))
			at := make([]int, len(last))
			for p := range at {
				l.cached(b, fmt.Sprint("o-", p), 1, 0, 7, 0)
			}
			walk := [][]int{slices.Clone(at)}
			for request := 1; request <= 4; request++ {
				moved := false
				for p := range at {
					if at[p] < last[p] && r.IntN(3) == 0 {
						at[p] += 1 + r.IntN(last[p]-at[p])
						l.cached(b, fmt.Sprint("o-", p), 1+at[p], at[p], 7, request)
						moved = true
					}
				}
				if moved {
					walk = append(walk, slices.Clone(at))
				}
			}
			logs, walks = append(logs, l), append(walks, walk)
		}
		// Only epochs that somebody tells of are known.
		known := make([][]int, len(last))
		for p := range last {
			for e := range last[p] + 1 {
				if slices.ContainsFunc(walks, func(w [][]int) bool {
					return slices.ContainsFunc(w, func(s []int) bool { return s[p] == e })
				}) {
					known[p] = append(known[p], e)
				}
			}
		}
		want := explained(make([]int, len(known)), known, walks)
		got := judge(t, logs...).Counts[Fork] == 0
		if got != want {
			t.Fatalf("case %d: explained by one order: %v, want %v\n%v", i, got, want, walks)
		}
		if !want {
			forks++
		}
	}
	if forks < 100 || forks > 900 {
		t.Errorf("%d of 1000 cases are forks: the test says little", forks)
	}
}

// explained searches all orders in which partitions can go through their known
// epochs for one that passes through every broker's every state. at is the
// position in each partition's list.
func explained(at []int, known [][]int, walks [][][]int) bool {
	rest := make([][][]int, len(walks))
	for i, w := range walks {
		rest[i] = w
		for len(rest[i]) > 0 && same(rest[i][0], at, known) {
			rest[i] = rest[i][1:]
		}
	}
	if !slices.ContainsFunc(rest, func(w [][]int) bool { return len(w) > 0 }) {
		return true
	}
	for p := range at {
		if at[p]+1 < len(known[p]) {
			at[p]++
			ok := explained(at, known, rest)
			at[p]--
			if ok {
				return true
			}
		}
	}
	return false
}

func same(state, at []int, known [][]int) bool {
	for p := range at {
		if known[p][at[p]] != state[p] {
			return false
		}
	}
	return true
}
