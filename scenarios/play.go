package scenarios

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/internal/live"
	"github.com/stalemate-io/stalemate/internal/toys"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/workloads/data"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// What every scenario's cluster is made of.
const (
	controllerCount = 3
	brokerCount     = 3
	partitionCount  = 2
)

// Play replays a scenario in a simulated cluster and tells it. It returns an error
// where an expectation is not met: then the scenario does not show what it says.
func (s *Scenario) Play(ctx context.Context, w io.Writer) error {
	return s.play(ctx, w, func(_ int, a *Act) (stage, error) { return simulate(a) })
}

// PlayFor replays a scenario for real. Acts whose faults only the simulator knows
// are left out, and the story says so.
func (l *Local) PlayFor(ctx context.Context, s *Scenario, w io.Writer) error {
	return s.play(ctx, w, func(number int, a *Act) (stage, error) { return l.start(ctx, number, a) })
}

func (s *Scenario) play(ctx context.Context, w io.Writer, on func(number int, a *Act) (stage, error)) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", s.Name)
	wrap(&b, "", s.About)
	var failed error
	for i := range s.Acts {
		p := &player{act: &s.Acts[i], out: &b}
		err := p.play(ctx, func() (stage, error) { return on(i+1, p.act) })
		if err != nil && failed == nil {
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
	stage   stage
	first   node.ID // the controller that was active at the start
	rec     leadership.Recording
	lanes   lanes
	verdict *checker.Verdict
	path    string // of the last read: the one that counts where there is but one
}

func (p *player) play(ctx context.Context, on func() (stage, error)) (err error) {
	fmt.Fprintf(p.out, "\n-- %s", p.act.System)
	if len(p.act.Off) > 0 {
		fmt.Fprintf(p.out, " without %s", strings.Join(p.act.Off, ", "))
	}
	if len(p.act.On) > 0 {
		fmt.Fprintf(p.out, " with %s", strings.Join(p.act.On, ", "))
	}
	fmt.Fprint(p.out, " --\n")
	if p.stage, err = on(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stage.close()) }()
	p.rec, p.first = p.stage.recording(), p.stage.active()
	if p.lanes, err = newLanes(p.stage); err != nil {
		return err
	}
	for _, s := range p.act.Steps[1:] {
		err := p.step(ctx, s)
		if errors.Is(err, live.ErrOnlySimulated) {
			wrap(p.out, "  ", "(The rest is left out: "+err.Error()+".)")
			return nil
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", s.Line, err)
		}
	}
	return nil
}

func (p *player) step(ctx context.Context, s Step) error {
	switch s.Verb {
	case "say":
		if err := p.lanes.flush(p.out); err != nil {
			return err
		}
		fmt.Fprintln(p.out)
		p.lanes.heads = false
		wrap(p.out, "", s.Text)
	case "fault":
		fmt.Fprintf(p.out, "  ! %s\n", s.Text)
		return p.stage.fault(s.Fault)
	case "run":
		if err := p.stage.wait(s.Span); err != nil {
			return err
		}
		return p.lanes.flush(p.out)
	case "elect":
		return p.elect(s)
	case "ask":
		return p.ask(s.Partitions[0], s.Words[1:]...)
	case "leader", "quorum":
		from := p.named(s.Words[1])
		text, err := p.read(from, s.Partitions[0], protocol.ReadPath(s.Verb))
		if err := errors.Join(err, p.lanes.flush(p.out)); err != nil {
			return err
		}
		fmt.Fprintf(p.out, "  ? %s, over path %s: who leads %s?  %s\n", from, s.Verb, s.Partitions[0], text)
	case "produce":
		return p.produce(s)
	case "fetch":
		return p.fetch(s)
	case "final":
		p.stage.record(histories.Event{Process: histories.Nemesis, Type: histories.Info, F: "final-reads"})
		for _, q := range s.Partitions {
			if err := p.ask(q); err != nil {
				return err
			}
		}
	case "expect", "cause":
		return p.expect(ctx, s)
	}
	return nil
}

// named gives the node behind a name or a role.
func (p *player) named(name string) node.ID {
	switch name {
	case roleActive:
		return p.stage.active()
	case roleFirst:
		return p.first
	}
	return node.ID(name)
}

func (p *player) elect(s Step) error {
	to := p.named(roleActive)
	if len(s.Words) == 4 {
		to = p.named(s.Words[3])
	}
	q := s.Partitions[0]
	p.rec.Invoke(histories.Event{
		F: "write", Key: histories.String(q.String()), Value: histories.String(fmt.Sprintf("elect b%d", s.Broker)),
		Extra: []histories.Field{{Name: "target", Value: histories.Int(int64(s.Broker))}},
	})
	var text string
	err := p.stage.call(to, &protocol.ElectLeadersRequest{Partition: q, Target: s.Broker}, time.Second, func(m node.Message, err error) {
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
	return errors.Join(err, p.lanes.flush(p.out))
}

// ask asks the named brokers, or all.
func (p *player) ask(q protocol.Partition, of ...string) error {
	var answers []string
	for _, b := range p.stage.brokers() {
		if len(of) > 0 && !slices.Contains(of, string(b)) {
			continue
		}
		text, err := p.read(b, q, protocol.ReadBroker)
		if err != nil {
			return err
		}
		answers = append(answers, fmt.Sprintf("%s says %s", b, text))
	}
	if err := p.lanes.flush(p.out); err != nil {
		return err
	}
	fmt.Fprintf(p.out, "  ? who leads %s?  %s", q, strings.Join(answers, "   "))
	if all, known, err := p.stage.truth(); known {
		truth := "nobody"
		for _, c := range all {
			if c.Partition == q && err == nil {
				truth = leadership.Text(c.Leader, c.Epoch)
			}
		}
		fmt.Fprintf(p.out, "   (committed: %s)", truth)
	}
	fmt.Fprintln(p.out)
	return nil
}

func (p *player) read(from node.ID, q protocol.Partition, path protocol.ReadPath) (text string, err error) {
	p.path = string(path)
	p.rec.Invoke(histories.Event{F: "read", Key: histories.String(q.String()), Node: string(from), Path: string(path)})
	err = p.stage.call(from, &protocol.MetadataRequest{Partition: q, Path: path}, time.Second, func(m node.Message, err error) {
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
	return text, err
}

// produce appends a value at a broker and waits for all in-sync replicas.
func (p *player) produce(s Step) error {
	q, to := s.Partitions[0], node.ID(s.Words[1])
	p.rec.Invoke(histories.Event{F: "write", Key: histories.String(q.String()), Value: histories.Int(s.Value), Node: string(to)})
	var text string
	request := &protocol.ProduceRequest{Partition: q, Value: s.Value, AcksAll: true, LeaderEpoch: -1}
	err := p.stage.call(to, request, time.Second, func(m node.Message, err error) {
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
	if err := errors.Join(err, p.lanes.flush(p.out)); err != nil {
		return err
	}
	fmt.Fprintf(p.out, "  > a client produces %d to %s at %s: %s\n", s.Value, q, to, text)
	return nil
}

// fetch asks a broker for the latest value.
func (p *player) fetch(s Step) error {
	q, from := s.Partitions[0], node.ID(s.Words[1])
	p.path = data.Path
	p.rec.Invoke(histories.Event{F: "read", Key: histories.String(q.String()), Node: string(from), Path: data.Path})
	var text string
	request := &protocol.FetchRequest{Partition: q, Offset: protocol.LatestOffset, LeaderEpoch: -1}
	err := p.stage.call(from, request, time.Second, func(m node.Message, err error) {
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
	if err := errors.Join(err, p.lanes.flush(p.out)); err != nil {
		return err
	}
	fmt.Fprintf(p.out, "  ? a client fetches the latest of %s at %s:  %s\n", q, from, text)
	return nil
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
	found := slices.DeleteFunc(slices.Clone(s.Words[2:]), func(kind string) bool { return v.AnomalyCounts[kind] == 0 })
	if len(found) > 0 {
		fmt.Fprintf(p.out, " (%s)", strings.Join(found, ", "))
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
	events, truth, err := p.stage.end()
	if err != nil {
		return err
	}
	trace, err := p.stage.trace()
	if err != nil {
		return err
	}
	if p.act.ofData {
		if p.verdict, err = toys.JudgeData(ctx, events); err != nil {
			return err
		}
		toys.ExplainData(p.verdict, truth)
	} else {
		if p.verdict, err = toys.Judge(ctx, p.act.System, leadership.Merge(events, truth)); err != nil {
			return err
		}
		toys.Explain(p.act.System, p.verdict, trace, truth)
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
