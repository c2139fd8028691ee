package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/sim"
)

// Scenario is a parsed file.
type Scenario struct {
	Name  string
	About string
	Acts  []Act
}

// Act is one cluster and what happens to it.
type Act struct {
	System  string
	Off, On []string
	Steps   []Step
	// ofData says that clients produce and fetch, and ask nobody who leads: the
	// histories of the two are judged by different models.
	ofData, ofLeaders bool
}

// Step is one line.
type Step struct {
	Line int
	Verb string
	// Words are what follows the verb, Text the same as one.
	Words []string
	Text  string
	// The parts that the verb has.
	Partitions []protocol.Partition
	Broker     int32
	Value      int64
	Span       time.Duration
	Fault      sim.Fault
}

// Error says what is wrong with a file, and where.
type Error struct {
	File    string
	Line    int
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message) }

// Parse reads a scenario. The error is an *Error.
func Parse(name, text string) (*Scenario, error) {
	s := &Scenario{Name: name}
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if err := s.line(n+1, line); err != nil {
			return nil, &Error{name, n + 1, err.Error()}
		}
	}
	if len(s.Acts) == 0 {
		return nil, &Error{name, 1, "no cluster; expected a line such as: system push"}
	}
	for _, a := range s.Acts {
		if !slices.ContainsFunc(a.Steps, func(s Step) bool { return s.Verb == "expect" }) {
			return nil, &Error{name, a.Steps[0].Line, "this cluster is held to nothing; expected a line such as: expect broker divergent"}
		}
	}
	return s, nil
}

func (s *Scenario) line(n int, line string) error {
	verb, text, _ := strings.Cut(line, " ")
	step := Step{Line: n, Verb: verb, Text: strings.TrimSpace(text), Words: strings.Fields(text)}
	if verb == "about" {
		s.About = strings.TrimSpace(s.About + " " + step.Text)
		return nil
	}
	if verb == "system" {
		if step.Text != "push" && step.Text != "kraft" {
			return fmt.Errorf("system %q; expected push or kraft", step.Text)
		}
		s.Acts = append(s.Acts, Act{System: step.Text, Steps: []Step{step}})
		return nil
	}
	if len(s.Acts) == 0 {
		return fmt.Errorf("%s before there is a cluster; expected system push or system kraft first", verb)
	}
	a := &s.Acts[len(s.Acts)-1]
	if verb == "off" || verb == "on" {
		if len(a.Steps) > 1 {
			return fmt.Errorf("%s comes right after system", verb)
		}
		if verb == "off" {
			a.Off = append(a.Off, step.Words...)
		} else {
			a.On = append(a.On, step.Words...)
		}
		return nil
	}
	if err := step.complete(); err != nil {
		return err
	}
	switch verb {
	case "produce", "fetch":
		a.ofData = true
	case "elect", "ask", "leader", "quorum", "final":
		a.ofLeaders = true
	}
	if a.ofData && a.ofLeaders {
		return fmt.Errorf("%s beside what is judged by another model; expected clients that produce and fetch, or that ask and elect", verb)
	}
	if last := &a.Steps[len(a.Steps)-1]; verb == "say" && last.Verb == "say" && last.Line == n-1 {
		last.Text, last.Line = last.Text+" "+step.Text, n
		return nil
	}
	a.Steps = append(a.Steps, step)
	return nil
}

// The roles that a step may name instead of a controller: the one that is active,
// and the one that was so when the scenario began.
const (
	roleActive = "@controller"
	roleFirst  = "@first"
)

var controllers = []string{"c1", "c2", "c3", roleActive, roleFirst}

// complete reads what belongs to a verb.
func (s *Step) complete() (err error) {
	count := func(least, most int) error {
		if n := len(s.Words); n < least || n > most {
			return fmt.Errorf("%s has %d words; expected %d to %d", s.Verb, n, least, most)
		}
		return nil
	}
	partitions := func(words ...string) error {
		for _, w := range words {
			n, err := strconv.Atoi(strings.TrimPrefix(w, "t-"))
			if err != nil || n < 0 || n >= partitionCount || !strings.HasPrefix(w, "t-") {
				return fmt.Errorf("partition %q; expected t-0 or t-1", w)
			}
			s.Partitions = append(s.Partitions, protocol.Partition{Topic: "t", Index: int32(n)})
		}
		return nil
	}
	switch s.Verb {
	case "say", "cause":
		return count(1, 1000)
	case "fault":
		s.Fault, err = sim.ParseFault("at 0s " + s.Text)
		return err
	case "run":
		if err := count(1, 1); err != nil {
			return err
		}
		if s.Span, err = time.ParseDuration(s.Words[0]); err != nil || s.Span <= 0 {
			return fmt.Errorf("run %s; expected a duration such as 500ms", s.Words[0])
		}
		return nil
	case "elect":
		if err := count(2, 4); err != nil {
			return err
		}
		if len(s.Words) > 2 && (len(s.Words) != 4 || s.Words[2] != "at" || !slices.Contains(controllers, s.Words[3])) {
			return fmt.Errorf("%s; expected elect P B at C, where C is one of %s", s.Text, strings.Join(controllers, ", "))
		}
		n, err := strconv.Atoi(s.Words[1])
		if err != nil || n < 1 || n > brokerCount {
			return fmt.Errorf("broker %q; expected 1 to %d", s.Words[1], brokerCount)
		}
		s.Broker = int32(n)
		return partitions(s.Words[0])
	case "ask":
		if err := count(1, 1+brokerCount); err != nil {
			return err
		}
		for _, b := range s.Words[1:] {
			if !slices.Contains([]string{"b1", "b2", "b3"}, b) {
				return fmt.Errorf("broker %q; expected b1, b2 or b3", b)
			}
		}
		return partitions(s.Words[0])
	case "produce", "fetch":
		n := map[string]int{"produce": 3, "fetch": 2}[s.Verb]
		if err := count(n, n); err != nil {
			return err
		}
		if !slices.Contains([]string{"b1", "b2", "b3"}, s.Words[1]) {
			return fmt.Errorf("broker %q; expected b1, b2 or b3", s.Words[1])
		}
		if s.Verb == "produce" {
			if s.Value, err = strconv.ParseInt(s.Words[2], 10, 64); err != nil {
				return fmt.Errorf("value %q; expected an integer", s.Words[2])
			}
		}
		return partitions(s.Words[0])
	case "leader", "quorum":
		if err := count(2, 2); err != nil {
			return err
		}
		if !slices.Contains(controllers, s.Words[1]) {
			return fmt.Errorf("controller %q; expected one of %s", s.Words[1], strings.Join(controllers, ", "))
		}
		return partitions(s.Words[0])
	case "final":
		if err := count(1, partitionCount); err != nil {
			return err
		}
		return partitions(s.Words...)
	case "expect":
		if err := count(2, 10); err != nil {
			return err
		}
		if !slices.Contains([]string{"linearizable", "ordered-lag", "divergent"}, s.Words[1]) {
			return fmt.Errorf("verdict %q; expected linearizable, ordered-lag or divergent", s.Words[1])
		}
		return nil
	}
	return fmt.Errorf("no step %q; expected one of about, system, off, on, say, fault, elect, ask, leader, quorum, produce, fetch, run, final, expect, cause", s.Verb)
}
