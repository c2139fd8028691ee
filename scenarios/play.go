package scenarios

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/internal/toys"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/sim"
	"github.com/stalemate-io/stalemate/workloads/data"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// What every scenario's cluster is made of.
const (
	controllerCount = 3
	brokerCount     = 3
	partitionCount  = 2
)

// Play replays a scenario and tells it. It returns an error where an expectation
// is not met: then the scenario does not show what it says.
func (s *Scenario) Play(ctx context.Context, w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", s.Name)
	wrap(&b, "", s.About)
	var failed error
	for i := range s.Acts {
		p := &player{act: &s.Acts[i], out: &b}
		if err := p.play(ctx); err != nil && failed == nil {
			failed = fmt.Errorf("scenario %s: %w", s.Name, err)
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return failed
}

type player struct {
	act     *Act
	out     *strings.Builder
	cluster *toys.Cluster
	client  *lender
	rec     *sim.Recording
	lanes   lanes
	verdict *checker.Verdict
	path    string // of the last read: the one that counts where there is but one
}

// lender is a client that only lends its Env.
type lender struct{ env node.Env }

func (l *lender) Start()                                            {}
func (l *lender) Receive(node.ID, node.Message, func(node.Message)) {}

func (p *player) play(ctx context.Context) error {
	k, err := toys.New(toys.Config{
		System: p.act.System, Controllers: controllerCount, Brokers: brokerCount, Partitions: partitionCount,
		Off: p.act.Off, On: p.act.On, Steady: true, Trace: true, Seed: 1,
	})
	if err != nil {
		return err
	}
	p.cluster, p.client, p.rec = k, &lender{}, k.Recording()
	if err := k.AddClient("x1", func(env node.Env) node.Machine {
		p.client.env = env
		return p.client
	}); err != nil {
		return err
	}
	if err := p.boot(); err != nil {
		return err
	}
	fmt.Fprintf(p.out, "\n-- %s", p.act.System)
	if len(p.act.Off) > 0 {
		fmt.Fprintf(p.out, " without %s", strings.Join(p.act.Off, ", "))
	}
	if len(p.act.On) > 0 {
		fmt.Fprintf(p.out, " with %s", strings.Join(p.act.On, ", "))
	}
	fmt.Fprint(p.out, " --\n")
	p.lanes = newLanes(k)
	for _, s := range p.act.Steps[1:] {
		if err := p.step(ctx, s); err != nil {
			return fmt.Errorf("line %d: %w", s.Line, err)
		}
	}
	return nil
}

// boot lets the cluster come up until every broker knows both partitions.
func (p *player) boot() error {
	k := p.cluster
	for k.Now() < 30*time.Second {
		k.Run(k.Now() + 500*time.Millisecond)
		if t, err := k.Truth(); err != nil || len(t) < partitionCount || k.Active() == "" {
			continue
		}
		k.Run(k.Now() + time.Second)
		return nil
	}
	return fmt.Errorf("the cluster was not ready after 30 s")
}

func (p *player) step(ctx context.Context, s Step) error {
	k := p.cluster
	switch s.Verb {
	case "say":
		p.lanes.flush(p.out)
		fmt.Fprintln(p.out)
		p.lanes.heads = false
		wrap(p.out, "", s.Text)
	case "fault":
		f := s.Fault
		f.At = k.Now()
		fmt.Fprintf(p.out, "  ! %s\n", s.Text)
		if err := k.Schedule([]sim.Fault{f}, 0); err != nil {
			return err
		}
		k.Run(k.Now() + time.Microsecond)
	case "run":
		k.Run(k.Now() + s.Span)
		p.lanes.flush(p.out)
	case "elect":
		p.elect(s)
	case "ask":
		p.ask(s.Partitions[0], s.Words[1:]...)
	case "leader", "quorum":
		text := p.read(node.ID(s.Words[1]), s.Partitions[0], protocol.ReadPath(s.Verb))
		p.lanes.flush(p.out)
		fmt.Fprintf(p.out, "  ? %s, over path %s: who leads %s?  %s\n", s.Words[1], s.Verb, s.Partitions[0], text)
	case "produce":
		p.produce(s)
	case "fetch":
		p.fetch(s)
	case "final":
		k.Record(histories.Event{Process: histories.Nemesis, Type: histories.Info, F: "final-reads"})
		for _, q := range s.Partitions {
			p.ask(q)
		}
	case "expect", "cause":
		return p.expect(ctx, s)
	}
	return nil
}

// call sends a request and lets time pass until there is an answer, or none.
func (p *player) call(to node.ID, request node.Message, timeout time.Duration, done func(node.Message, error)) {
	ended := false
	p.client.env.Call(to, request, timeout, func(m node.Message, err error) {
		done(m, err)
		ended = true
	})
	for end := p.cluster.Now() + timeout + time.Second; !ended && p.cluster.Now() < end; {
		p.cluster.Run(p.cluster.Now() + 500*time.Microsecond)
	}
}

func (p *player) elect(s Step) {
	to := p.cluster.Active()
	if len(s.Words) == 4 {
		to = node.ID(s.Words[3])
	}
	q := s.Partitions[0]
	p.rec.Invoke(histories.Event{
		F: "write", Key: histories.String(q.String()), Value: histories.String(fmt.Sprintf("elect b%d", s.Broker)),
		Extra: []histories.Field{{Name: "target", Value: histories.Int(int64(s.Broker))}},
	})
	var text string
	p.call(to, &protocol.ElectLeadersRequest{Partition: q, Target: s.Broker}, time.Second, func(m node.Message, err error) {
		a, _ := m.(*protocol.AdminResponse)
		switch {
		case err != nil:
			text = "no answer"
			p.rec.Info(err.Error())
		case a.Error == protocol.None:
			text = "done: " + leadership.Text(a.Leader, a.LeaderEpoch)
			p.rec.OK(histories.Event{Value: leadership.Value(a.Leader, a.LeaderEpoch), Version: histories.At(int64(a.LeaderEpoch))})
		case a.Error == protocol.RequestTimedOut:
			text = string(a.Error)
			p.rec.Info(text)
		default:
			text = string(a.Error)
			p.rec.Fail(text)
		}
	})
	fmt.Fprintf(p.out, "  > a client asks %s to make b%d lead %s: %s\n", to, s.Broker, q, text)
	p.lanes.flush(p.out)
}

// ask asks the named brokers, or all.
func (p *player) ask(q protocol.Partition, of ...string) {
	var answers []string
	for _, b := range p.cluster.Brokers {
		if len(of) > 0 && !slices.Contains(of, string(b)) {
			continue
		}
		answers = append(answers, fmt.Sprintf("%s says %s", b, p.read(b, q, protocol.ReadBroker)))
	}
	p.lanes.flush(p.out)
	truth := "nobody"
	if all, err := p.cluster.Truth(); err == nil {
		for _, c := range all {
			if c.Partition == q {
				truth = leadership.Text(c.Leader, c.Epoch)
			}
		}
	}
	fmt.Fprintf(p.out, "  ? who leads %s?  %s   (committed: %s)\n", q, strings.Join(answers, "   "), truth)
}

func (p *player) read(from node.ID, q protocol.Partition, path protocol.ReadPath) (text string) {
	p.path = string(path)
	p.rec.Invoke(histories.Event{F: "read", Key: histories.String(q.String()), Node: string(from), Path: string(path)})
	p.call(from, &protocol.MetadataRequest{Partition: q, Path: path}, time.Second, func(m node.Message, err error) {
		a, _ := m.(*protocol.MetadataResponse)
		switch {
		case err != nil:
			text = "nothing"
			p.rec.Fail(err.Error())
		case a.Error != protocol.None:
			text = string(a.Error)
			p.rec.Fail(text)
		default:
			text = leadership.Text(a.Leader, a.LeaderEpoch)
			p.rec.OK(histories.Event{Value: leadership.Value(a.Leader, a.LeaderEpoch), Version: histories.At(int64(a.LeaderEpoch))})
		}
	})
	return text
}

// produce appends a value at a broker and waits for all in-sync replicas.
func (p *player) produce(s Step) {
	q, to := s.Partitions[0], node.ID(s.Words[1])
	p.rec.Invoke(histories.Event{F: "write", Key: histories.String(q.String()), Value: histories.Int(s.Value), Node: string(to)})
	var text string
	request := &protocol.ProduceRequest{Partition: q, Value: s.Value, AcksAll: true, LeaderEpoch: -1}
	p.call(to, request, time.Second, func(m node.Message, err error) {
		a, _ := m.(*protocol.ProduceResponse)
		switch {
		case err != nil:
			text = "no answer"
			p.rec.Info(err.Error())
		case a.Error != protocol.None:
			text = string(a.Error)
			p.rec.Info(text)
		default:
			text = fmt.Sprintf("done, at offset %d", a.Offset)
			p.rec.OK(histories.Event{Value: histories.Int(s.Value), Version: histories.At(a.Offset)})
		}
	})
	p.lanes.flush(p.out)
	fmt.Fprintf(p.out, "  > a client produces %d to %s at %s: %s\n", s.Value, q, to, text)
}

// fetch asks a broker for the latest value.
func (p *player) fetch(s Step) {
	q, from := s.Partitions[0], node.ID(s.Words[1])
	p.path = data.Path
	p.rec.Invoke(histories.Event{F: "read", Key: histories.String(q.String()), Node: string(from), Path: data.Path})
	var text string
	request := &protocol.FetchRequest{Partition: q, Offset: protocol.LatestOffset, LeaderEpoch: -1}
	p.call(from, request, time.Second, func(m node.Message, err error) {
		a, _ := m.(*protocol.FetchResponse)
		switch {
		case err != nil:
			text = "no answer"
			p.rec.Fail(err.Error())
		case a.Error != protocol.None:
			text = string(a.Error)
			p.rec.Fail(text)
		default:
			latest := data.Latest(a)
			text = fmt.Sprintf("%s, high watermark %d", latest.Value, a.HighWatermark)
			p.rec.OK(latest)
		}
	})
	p.lanes.flush(p.out)
	fmt.Fprintf(p.out, "  ? a client fetches the latest of %s at %s:  %s\n", q, from, text)
}

// expect judges what was seen, once, and holds it against what the file says.
func (p *player) expect(ctx context.Context, s Step) error {
	if p.verdict == nil {
		if err := p.judge(ctx); err != nil {
			return err
		}
	}
	if s.Verb == "cause" {
		for _, v := range p.paths() {
			for _, a := range v.Anomalies {
				if strings.HasPrefix(a.Cause, s.Text) {
					return nil
				}
			}
		}
		return fmt.Errorf("expected an anomaly whose cause is %q", s.Text)
	}
	v := p.paths()[s.Words[0]]
	if v == nil {
		return fmt.Errorf("nothing was read over path %s", s.Words[0])
	}
	fmt.Fprintf(p.out, "\n  verdict over path %s: %s", s.Words[0], strings.ReplaceAll(string(v.Verdict), "-", " "))
	if len(s.Words) > 2 {
		fmt.Fprintf(p.out, " (%s)", strings.Join(s.Words[2:], ", "))
	}
	fmt.Fprintln(p.out)
	for _, a := range v.Anomalies {
		if a.Kind == "not-linearizable" || a.Kind == "monotonic-reads" {
			continue
		}
		wrap(p.out, "    ", fmt.Sprintf("%s: %s. Cause: %s.", a.Kind, a.Text, a.Cause))
		break
	}
	if string(v.Verdict) != s.Words[1] {
		return fmt.Errorf("path %s is %s, expected %s", s.Words[0], v.Verdict, s.Words[1])
	}
	for _, kind := range s.Words[2:] {
		if v.AnomalyCounts[kind] == 0 {
			return fmt.Errorf("no %s over path %s, only %v", kind, s.Words[0], v.AnomalyCounts)
		}
	}
	return nil
}

func (p *player) paths() map[string]*checker.Verdict {
	if len(p.verdict.Paths) > 0 {
		return p.verdict.Paths
	}
	return map[string]*checker.Verdict{p.path: p.verdict}
}

func (p *player) judge(ctx context.Context) error {
	truth, err := p.cluster.Truth()
	if err != nil {
		return err
	}
	if p.act.ofData {
		if p.verdict, err = toys.JudgeData(ctx, p.cluster.History()); err != nil {
			return err
		}
		toys.ExplainData(p.verdict, truth)
	} else {
		if p.verdict, err = toys.Judge(ctx, p.act.System, leadership.Merge(p.cluster.History(), truth)); err != nil {
			return err
		}
		toys.Explain(p.act.System, p.verdict, p.cluster.Trace(), truth)
	}
	for path := range p.paths() {
		slices.SortStableFunc(p.paths()[path].Anomalies, func(a, b checker.Anomaly) int { return rank(a.Kind) - rank(b.Kind) })
	}
	return nil
}

// rank puts what says most first.
func rank(kind string) int {
	if i := slices.Index([]string{"dual-leader", "conflict", "fork", "regress", "stuck", "phantom", "stale"}, kind); i >= 0 {
		return i
	}
	return 100
}
