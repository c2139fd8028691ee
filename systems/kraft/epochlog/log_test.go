package epochlog

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// filled gives a log whose records, one a batch, are of the given epochs.
func filled(t testing.TB, epochs ...int32) *Log {
	t.Helper()
	l, err := Open(newDisk(), "log")
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range epochs {
		if err := l.Append(&Batch{Base: int64(i), Epoch: e, Records: [][]byte{{byte(i)}}}); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		rule      string
		leader    []int32
		compacted int64
		offset    int64
		lastEpoch int32
		match     Match
		at        EpochEnd
	}{
		{rule: "an empty follower matches any log that begins at 0", leader: []int32{1, 1}, lastEpoch: NoEpoch},
		{rule: "a prefix matches", leader: []int32{1, 1, 2}, offset: 2, lastEpoch: 1},
		{rule: "the whole log matches", leader: []int32{1, 1, 2}, offset: 3, lastEpoch: 2},
		{rule: "a follower with too much of an epoch parts where the leader's ends",
			leader: []int32{1, 1, 3}, offset: 4, lastEpoch: 1, match: Diverges, at: EpochEnd{1, 2}},
		{rule: "a follower with an epoch that the leader never saw parts at the next lower one",
			leader: []int32{1, 1, 3}, offset: 3, lastEpoch: 2, match: Diverges, at: EpochEnd{1, 2}},
		{rule: "a follower that shares no epoch parts at the start",
			leader: []int32{3, 3}, offset: 2, lastEpoch: 1, match: Diverges, at: EpochEnd{NoEpoch, 0}},
		{rule: "a follower that is ahead in the last epoch parts at the leader's end",
			leader: []int32{1, 2}, offset: 5, lastEpoch: 2, match: Diverges, at: EpochEnd{2, 2}},
		{rule: "a follower behind the start needs the snapshot",
			leader: []int32{1, 1, 2, 2}, compacted: 3, offset: 2, lastEpoch: 1, match: BeforeStart},
		{rule: "an empty follower needs the snapshot if the log begins later",
			leader: []int32{1, 1, 2, 2}, compacted: 3, lastEpoch: NoEpoch, match: BeforeStart},
		{rule: "a follower whose last epoch is older than the snapshot's needs the snapshot",
			leader: []int32{1, 1, 2, 2}, compacted: 3, offset: 4, lastEpoch: 1, match: BeforeStart},
		{rule: "a follower at the start with the snapshot's epoch matches",
			leader: []int32{1, 1, 2, 2}, compacted: 3, offset: 3, lastEpoch: 2},
	} {
		t.Run(c.rule, func(t *testing.T) {
			l := filled(t, c.leader...)
			if c.compacted > 0 {
				l.Compact(c.compacted, c.leader[c.compacted-1])
			}
			if m, at := l.Match(c.offset, c.lastEpoch); m != c.match || at != c.at {
				t.Errorf("got %v at %+v, want %v at %+v", m, at, c.match, c.at)
			}
		})
	}
}

func TestTruncationPoint(t *testing.T) {
	for _, c := range []struct {
		rule   string
		mine   []int32
		leader EpochEnd
		want   int64
	}{
		{"with the leader's epoch: the end that comes first, the leader's", []int32{1, 1, 1}, EpochEnd{1, 2}, 2},
		{"with the leader's epoch: the end that comes first, mine", []int32{1, 1, 2}, EpochEnd{1, 5}, 2},
		{"without it: the end of my next lower epoch", []int32{1, 1, 4}, EpochEnd{3, 9}, 2},
		{"with none at all: the start", []int32{4, 4}, EpochEnd{NoEpoch, 0}, 0},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got := filled(t, c.mine...).TruncationPoint(c.leader); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestAppendRefuses(t *testing.T) {
	for rule, b := range map[string]*Batch{
		"a gap":          {Base: 3, Epoch: 2, Records: [][]byte{nil}},
		"an overlap":     {Base: 1, Epoch: 2, Records: [][]byte{nil}},
		"an older epoch": {Base: 2, Epoch: 1, Records: [][]byte{nil}},
		"nothing":        {Base: 2, Epoch: 2},
	} {
		t.Run(rule, func(t *testing.T) {
			l := filled(t, 1, 2)
			if err := l.Append(b); err == nil || l.End() != 2 {
				t.Errorf("got error %v and end %d", err, l.End())
			}
		})
	}
}

func TestOpenReportsDamage(t *testing.T) {
	for name, damage := range map[string]func(*memDisk){
		"a batch cut short":      func(d *memDisk) { d.logs["log.0"][1] = d.logs["log.0"][1][:2] },
		"a batch missing":        func(d *memDisk) { d.logs["log.0"] = slices.Delete(d.logs["log.0"], 1, 2) },
		"a start file too short": func(d *memDisk) { d.files["log.start"] = []byte{0} },
	} {
		t.Run(name, func(t *testing.T) {
			d := filled(t, 1, 1, 2).disk.(*memDisk)
			damage(d)
			if _, err := Open(d, "log"); err == nil {
				t.Error("no error")
			}
		})
	}
}

// TestTwoLogsFindWhereTheyPart lets a follower fetch from a leader, both with
// any history of epochs, and expects a few rounds to make its log a prefix.
func TestTwoLogsFindWhereTheyPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// What both share, then what each has of its own. A batch's epoch
		// and offset name it: epochs in which both append are the shared.
		shared := rapid.SliceOfN(rapid.Int32Range(0, 3), 0, 6).Draw(t, "shared")
		slices.Sort(shared)
		own := func(name string, parity int32) []int32 {
			e := rapid.SliceOfN(rapid.Int32Range(2, 6), 0, 6).Draw(t, name)
			for i := range e {
				e[i] = 2*e[i] + parity
			}
			slices.Sort(e)
			return append(slices.Clone(shared), e...)
		}
		leader, follower := open(t, own("leader", 0)), open(t, own("follower", 1))
		for range 20 {
			m, at := leader.Match(follower.End(), follower.LastEpoch())
			if m == Matches {
				for _, b := range leader.From(follower.End(), 100) {
					if err := follower.Append(b); err != nil {
						t.Fatal(err)
					}
				}
				if got, want := describe(follower), describe(leader); got != want {
					t.Fatalf("follower has %s, leader %s", got, want)
				}
				return
			}
			end := follower.End()
			if follower.Truncate(follower.TruncationPoint(at)); follower.End() >= end {
				t.Fatalf("no progress from offset %d: told %+v", end, at)
			}
			if follower.End() < int64(len(shared)) {
				t.Fatalf("truncated to %d, and %d are shared", follower.End(), len(shared))
			}
		}
		t.Fatal("20 rounds were not enough")
	})
}

func open(t *rapid.T, epochs []int32) *Log {
	l, err := Open(newDisk(), "log")
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range epochs {
		if err := l.Append(&Batch{Base: int64(i), Epoch: e, Records: [][]byte{{byte(i), byte(e)}}}); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// describe writes a log as offset:epoch pairs.
func describe(l *Log) string {
	s := fmt.Sprintf("[%d", l.Start())
	for _, b := range l.From(l.Start(), 1000) {
		s += fmt.Sprintf(" %d:%d+%d", b.Base, b.Epoch, len(b.Records))
	}
	return s
}

// TestACrashLeavesAnEarlierLog does anything to a log and lets a crash keep any
// prefix of what that did to the disk. What is there then must be the log as it
// was after one of the operations, or, in the middle of a truncation, one cut
// less.
func TestACrashLeavesAnEarlierLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDisk()
		l, err := Open(d, "log")
		if err != nil {
			t.Fatal(err)
		}
		epoch := int32(0)
		states := map[string]bool{describe(l): true}
		for range rapid.IntRange(1, 30).Draw(t, "operations") {
			switch rapid.IntRange(0, 9).Draw(t, "operation") {
			case 0:
				to := rapid.Int64Range(l.Start(), l.End()).Draw(t, "truncate to")
				// A crash may cut any number of batches from the end.
				for at := l.End(); at > to; at-- {
					if b := l.Before(at); b != nil {
						kept := *l
						kept.batches = l.batches[:l.index(at)]
						states[describe(&kept)] = true
					}
				}
				l.Truncate(to)
			case 1:
				if n := len(l.batches); n > 0 {
					b := l.batches[rapid.IntRange(0, n-1).Draw(t, "compact to")]
					l.Compact(b.End(), b.Epoch)
				}
			case 2:
				l.Reset(l.End()+rapid.Int64Range(0, 5).Draw(t, "reset ahead"), epoch)
			default:
				epoch += rapid.Int32Range(0, 1).Draw(t, "epoch")
				b := &Batch{Base: l.End(), Epoch: epoch, Records: make([][]byte, rapid.IntRange(1, 3).Draw(t, "records"))}
				if err := l.Append(b); err != nil {
					t.Fatal(err)
				}
			}
			states[describe(l)] = true
			whole, err := Open(d, "log")
			if err != nil {
				t.Fatal(err)
			}
			if got, want := describe(whole), describe(l); got != want {
				t.Fatalf("on disk: %s, in memory: %s", got, want)
			}
			if !slices.Equal(whole.epochs, l.epochs) {
				t.Fatalf("epochs on disk: %v, in memory: %v", whole.epochs, l.epochs)
			}
		}
		n := rapid.IntRange(0, len(d.ops)).Draw(t, "operations on disk at the crash")
		after, err := Open(d.crash(n), "log")
		if err != nil {
			t.Fatal(err)
		}
		if !states[describe(after)] {
			t.Fatalf("after a crash: %s, which it never was", describe(after))
		}
	})
}

// TestResetToTheBeginning: nothing comes before offset 0, whatever epoch a
// snapshot that ends there is said to be of.
func TestResetToTheBeginning(t *testing.T) {
	d := newDisk()
	l, err := Open(d, "log")
	if err != nil {
		t.Fatal(err)
	}
	l.Reset(0, 3)
	if got := l.LastEpoch(); got != NoEpoch {
		t.Errorf("an empty log ends in epoch %d", got)
	}
	if err := l.Append(&Batch{Epoch: 1, Records: make([][]byte, 1)}); err != nil {
		t.Fatal(err)
	}
	l.Truncate(0)
	again, err := Open(d, "log")
	if err != nil {
		t.Fatal(err)
	}
	if l.LastEpoch() != NoEpoch || again.LastEpoch() != NoEpoch {
		t.Errorf("truncated to nothing, it ends in epoch %d, and read again in %d", l.LastEpoch(), again.LastEpoch())
	}
}

func FuzzDecode(f *testing.F) {
	f.Add((&Batch{Base: 300, Epoch: 7, Records: [][]byte{{1, 2}, nil}}).encode())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, p []byte) {
		b, err := decode(p)
		if err != nil {
			return
		}
		again, err := decode(b.encode())
		if err != nil || !again.Equal(b) {
			t.Fatalf("%+v comes back as %+v, %v", b, again, err)
		}
	})
}
