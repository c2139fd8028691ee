package scenarios

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/sim"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// lanes draws what happened as a space-time diagram: time goes down, and each
// node has a lane.
type lanes struct {
	stage stage
	from  int // of the trace
	start time.Duration
	nodes []node.ID
	heads bool
}

const laneWidth = 14

func newLanes(s stage) (lanes, error) {
	trace, err := s.trace()
	return lanes{stage: s, from: len(trace), start: s.now(), nodes: s.nodes()}, err
}

// flush tells what was traced since the last time.
func (l *lanes) flush(out *strings.Builder) error {
	trace, err := l.stage.trace()
	if err != nil {
		return err
	}
	for ; l.from < len(trace); l.from++ {
		e := &trace[l.from]
		cell := l.cell(e)
		if cell == "" {
			continue
		}
		if !l.heads {
			l.heads = true
			l.row(out, "", func(id node.ID) string { return string(id) })
		}
		l.row(out, fmt.Sprintf("%.3fs", (e.At-l.start).Seconds()), func(id node.ID) string {
			if id == e.Node {
				return cell
			}
			return ""
		})
	}
	return nil
}

func (l *lanes) row(out *strings.Builder, head string, cell func(node.ID) string) {
	var b strings.Builder
	fmt.Fprintf(&b, "%9s  ", head)
	for _, id := range l.nodes {
		c := cell(id)
		b.WriteString(c)
		if c == "" {
			b.WriteString("·")
			c = "."
		}
		b.WriteString(strings.Repeat(" ", max(1, laneWidth-utf8.RuneCountInString(c))))
	}
	out.WriteString(strings.TrimRight(b.String(), " ") + "\n")
}

// cell is what an entry of the trace says in its node's lane; empty for what a
// story can do without.
func (l *lanes) cell(e *sim.Entry) string {
	t := &e.Trace
	state := func() string { return t.Key + "=" + leadership.Text(t.Leader, t.Epoch) }
	switch e.Kind {
	case sim.Crashed:
		return "DIES"
	case sim.Booted:
		return "boots"
	case sim.Paused:
		return "STANDS STILL"
	case sim.Resumed:
		return "goes on"
	case sim.Lost:
		if kind := kindOf(e); kind == "UpdateMetadata" {
			return "to " + string(e.To) + " LOST"
		}
		return ""
	case sim.Noted:
	default:
		return ""
	}
	switch t.What {
	case "store-write":
		return "W " + state()
	case "store-refused":
		return "w REFUSED"
	case "elected":
		return fmt.Sprintf("ACTIVE e%d", t.Epoch)
	case "resigned":
		return "resigns"
	case "active":
		return fmt.Sprintf("ACTIVE e%d", t.Epoch)
	case "push-applied":
		if t.Why == "UpdateMetadata" {
			return state()
		}
	case "push-refused":
		if strings.HasPrefix(t.Why, "UpdateMetadata") {
			return "REFUSES " + string(t.Peer)
		}
	case "appended":
		return "A " + state()
	case "committed":
		return "C " + state()
	case "applied":
		return state()
	case "fenced":
		return "fences " + string(t.Peer)
	}
	return ""
}

func kindOf(e *sim.Entry) string {
	if k, ok := e.Message.(interface{ Kind() string }); ok && !e.Answer {
		return k.Kind()
	}
	return ""
}

// wrap writes a text in lines of at most 96 columns.
func wrap(out *strings.Builder, indent, text string) {
	line := indent
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > 96 && len(line) > len(indent) {
			out.WriteString(strings.TrimRight(line, " ") + "\n")
			line = indent
		}
		line += word + " "
	}
	out.WriteString(strings.TrimRight(line, " ") + "\n")
}
