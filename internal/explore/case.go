package explore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/internal/toys"
	"github.com/stalemate-io/stalemate/systems/sim"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// Case is a plan and what it is known to show. Its text is a file that can be
// kept as a regression test.
type Case struct {
	*Plan
	// About says where it comes from.
	About string
	// Failures are what the run shows, Digest the SHA-256 of its history.
	Failures []Failure
	Digest   string
}

// NewCase runs a plan and writes down what it shows.
func NewCase(ctx context.Context, p *Plan, about string) (*Case, error) {
	o, err := p.Run(ctx, true)
	if err != nil {
		return nil, err
	}
	digest, err := o.Digest()
	if err != nil {
		return nil, err
	}
	return &Case{p, about, o.Failures, digest}, nil
}

// Difference is how a run differs from what its case says of it.
type Difference struct {
	// Missing failures are expected and did not show, Unexpected ones the other
	// way round.
	Missing, Unexpected []Failure
	// Digest is that of the history where it is another.
	Digest string
}

// Same reports whether everything was as the case says, to the byte.
func (d *Difference) Same() bool {
	return len(d.Missing) == 0 && len(d.Unexpected) == 0 && d.Digest == ""
}

// Replay runs the case again.
func (c *Case) Replay(ctx context.Context) (*Outcome, *Difference, error) {
	o, err := c.Run(ctx, true)
	if err != nil {
		return nil, nil, err
	}
	digest, err := o.Digest()
	if err != nil {
		return nil, nil, err
	}
	d := &Difference{}
	for _, f := range c.Failures {
		if !slices.Contains(o.Failures, f) {
			d.Missing = append(d.Missing, f)
		}
	}
	for _, f := range o.Failures {
		if !slices.Contains(c.Failures, f) {
			d.Unexpected = append(d.Unexpected, f)
		}
	}
	if digest != c.Digest {
		d.Digest = digest
	}
	return o, d, nil
}

// String gives the case as text, which ParseCase reads. Every line begins with
// what it is; blank lines and lines that begin with # say nothing:
//
//	about TEXT                where it comes from
//	system push               or kraft
//	workload data             unless it is leadership
//	controllers 3             what the cluster is made of, likewise brokers and
//	                          partitions
//	seed 17                   decides everything that is left to chance
//	hurried                   short time-outs and a slow network, see toys.Config
//	session TIME              how long sessions last, unless it is the default
//	off GUARD...              guards that are switched off; on switches them on
//	require PATH LEVEL        what a read path is held to
//	fault FAULT               in the words of package sim
//	op OP                     what a client does, in the words of leadership.Op
//	heal TIME                 when every fault ends, and never without it
//	final TIME                from when on a stale read is stuck
//	end TIME                  when the run is over
//	expect PATH KIND: CAUSE   a failure that the run shows
//	history SHA-256           of its history as JSONL
func (c *Case) String() string {
	var b strings.Builder
	line := func(verb string, rest ...any) {
		b.WriteString(verb)
		for _, r := range rest {
			fmt.Fprintf(&b, " %v", r)
		}
		b.WriteString("\n")
	}
	if c.About != "" {
		line("about", c.About)
	}
	line("system", c.System)
	if c.Workload == toys.Data {
		line("workload", c.Workload)
	}
	line("controllers", c.Controllers)
	line("brokers", c.Brokers)
	line("partitions", c.Partitions)
	line("seed", c.Seed)
	if c.Hurried {
		line("hurried")
	}
	if c.Session > 0 {
		line("session", c.Session)
	}
	for _, l := range []struct {
		verb  string
		names []string
	}{{"off", c.Off}, {"on", c.On}} {
		if len(l.names) > 0 {
			line(l.verb, strings.Join(l.names, " "))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(c.Require)) {
		line("require", path, c.Require[path])
	}
	b.WriteString("\n")
	for i := range c.Faults {
		line("fault", c.Faults[i].String())
	}
	for _, op := range c.Ops {
		line("op", op)
	}
	for _, t := range []struct {
		verb string
		at   time.Duration
	}{{"heal", c.Heal}, {"final", c.Final}, {"end", c.End}} {
		if t.at > 0 {
			line(t.verb, t.at)
		}
	}
	b.WriteString("\n")
	for _, f := range c.Failures {
		line("expect", f)
	}
	line("history", c.Digest)
	return b.String()
}

// ParseCase reads what Case.String writes. The error is a *histories.InputError.
func ParseCase(name, text string) (*Case, error) {
	c := &Case{Plan: &Plan{Workload: toys.Leadership, Require: map[string]checker.Level{}}}
	seen := map[string]bool{}
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		verb, rest, _ := strings.Cut(line, " ")
		if err := c.line(verb, strings.TrimSpace(rest), seen[verb]); err != nil {
			return nil, &histories.InputError{File: name, Line: n + 1, Message: err.Error()}
		}
		seen[verb] = true
	}
	for _, verb := range []string{"system", "controllers", "brokers", "partitions", "seed", "end", "expect", "history"} {
		if !seen[verb] {
			return nil, &histories.InputError{File: name, Message: fmt.Sprintf("no line that begins with %s; expected a file that explore wrote", verb)}
		}
	}
	return c, nil
}

func (c *Case) line(verb, rest string, again bool) (err error) {
	switch verb {
	case "fault":
		f, err := sim.ParseFault(rest)
		c.Faults = append(c.Faults, f)
		return err
	case "op":
		op, err := leadership.ParseOp(rest)
		c.Ops = append(c.Ops, op)
		return err
	case "expect":
		f, err := parseFailure(rest)
		c.Failures = append(c.Failures, f)
		return err
	case "require":
		path, level, _ := strings.Cut(rest, " ")
		if path == "" || c.Require[path] != "" {
			return fmt.Errorf("require %s; expected a read path and a level, once each path", rest)
		}
		c.Require[path], err = checker.ParseLevel(level)
		return err
	}
	if again {
		return fmt.Errorf("a second line that begins with %s; expected one", verb)
	}
	switch verb {
	case "about":
		c.About = rest
	case "system":
		c.System = rest
		if targets[rest].messages == nil {
			return fmt.Errorf("system %q; expected push or kraft", rest)
		}
	case "workload":
		if c.Workload = rest; rest != toys.Data && rest != toys.Leadership {
			return fmt.Errorf("workload %q; expected %s or %s", rest, toys.Leadership, toys.Data)
		}
	case "controllers":
		c.Controllers, err = count(rest)
	case "brokers":
		c.Brokers, err = count(rest)
	case "partitions":
		c.Partitions, err = count(rest)
	case "seed":
		if c.Seed, err = strconv.ParseUint(rest, 10, 64); err != nil {
			return fmt.Errorf("seed %q; expected a whole number", rest)
		}
	case "hurried":
		if c.Hurried = rest == ""; !c.Hurried {
			return fmt.Errorf("hurried %s; expected nothing behind it", rest)
		}
	case "session":
		c.Session, err = moment(rest)
	case "off":
		c.Off = strings.Fields(rest)
	case "on":
		c.On = strings.Fields(rest)
	case "heal":
		c.Heal, err = moment(rest)
	case "final":
		c.Final, err = moment(rest)
	case "end":
		c.End, err = moment(rest)
	case "history":
		c.Digest = rest
	default:
		return fmt.Errorf("no line begins with %q; expected about, system, workload, controllers, brokers, partitions, seed, hurried, session, off, on, require, fault, op, heal, final, end, expect or history", verb)
	}
	return err
}

// mostNodes is how many nodes or partitions a case may ask for.
const mostNodes = 1000

func count(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostNodes {
		return 0, fmt.Errorf("%q; expected a number from 1 to %d", text, mostNodes)
	}
	return n, nil
}

func moment(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > time.Hour {
		return 0, fmt.Errorf("time %q; expected a duration up to an hour, such as 28s", text)
	}
	return d, nil
}

func parseFailure(text string) (Failure, error) {
	what, cause, _ := strings.Cut(text, ": ")
	path, kind, ok := strings.Cut(what, " ")
	if !ok {
		return Failure{}, fmt.Errorf("expect %s; expected a read path, or %s, and a kind of anomaly", text, Inside)
	}
	return Failure{path, kind, cause}, nil
}
