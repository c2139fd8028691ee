package leadership

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// Action is what an operation does.
type Action string

// The actions.
const (
	Ask      Action = "ask"
	Elect    Action = "elect"
	Reassign Action = "reassign"
	// Those of workload data.
	Produce Action = "produce"
	Fetch   Action = "fetch"
)

// Changes tells whether it changes something, which Ask and Fetch do not.
func (a Action) Changes() bool { return a != Ask && a != Fetch }

// Op is one operation of a client as data: it can be written down, done again at
// the same moment (see NewScript), and left out when a failing run is shrunk.
type Op struct {
	// At is when it is begun, since the start of the world. A client that is
	// still busy then begins it when it no longer is.
	At     time.Duration
	Client node.ID
	Do     Action
	// Node is who is asked: by a Produce or Fetch, who leads.
	Node      node.ID
	Partition protocol.Partition
	// Path is the read path of an Ask.
	Path protocol.ReadPath
	// Brokers is the wanted leader of an Elect, or the replicas of a Reassign
	// with the wanted leader first.
	Brokers []int32
	// Fresh makes a Produce or Fetch ask who leads even if the client knows.
	Fresh bool
	// Final marks a final read.
	Final bool
}

// String gives the operation as one line of text, which ParseOp reads:
//
//	at 6.25s x4 ask b2 t-0 over broker
//	at 6.5s x1 elect t-0 b2 at c1
//	at 7s x2 reassign t-0 b2 b1 b3 at c1
//	at 30s x21 ask b1 t-0 over broker final
//	at 6.25s x4 produce t-0 via b2
//	at 6.25s x4 fetch t-0 via b2 fresh
//	at 30s x21 fetch t-0 via b1 final
func (o Op) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "at %v %s %s", o.At, o.Client, o.Do)
	switch o.Do {
	case Ask:
		fmt.Fprintf(&b, " %s %s over %s", o.Node, o.Partition, o.Path)
	case Produce, Fetch:
		fmt.Fprintf(&b, " %s via %s", o.Partition, o.Node)
	default:
		fmt.Fprintf(&b, " %s", o.Partition)
		for _, n := range o.Brokers {
			fmt.Fprintf(&b, " b%d", n)
		}
		fmt.Fprintf(&b, " at %s", o.Node)
	}
	if o.Fresh {
		b.WriteString(" fresh")
	}
	if o.Final {
		b.WriteString(" final")
	}
	return b.String()
}

// ParseOp reads what String writes.
func ParseOp(line string) (Op, error) {
	op, err := parseOp(strings.Fields(line))
	if err != nil {
		return Op{}, fmt.Errorf("operation %q: %w", line, err)
	}
	return op, nil
}

func parseOp(words []string) (op Op, err error) {
	if len(words) < 7 || words[0] != "at" {
		return op, fmt.Errorf("expected a line such as: at 6.25s x4 ask b2 t-0 over broker")
	}
	if op.At, err = time.ParseDuration(words[1]); err != nil || op.At < 0 {
		return op, fmt.Errorf("time %q; expected a duration such as 6.25s", words[1])
	}
	op.Client, op.Do = node.ID(words[2]), Action(words[3])
	if _, ok := numbered("x", words[2]); !ok {
		return op, fmt.Errorf("client %q; expected x1, x2 and so on", words[2])
	}
	rest := words[4:]
	switch op.Do {
	case Ask:
		return op, op.parseAsk(rest)
	case Elect, Reassign:
		return op, op.parseMove(rest)
	case Produce, Fetch:
		return op, op.parseData(rest)
	}
	return op, fmt.Errorf("no operation %q; expected %s, %s, %s, %s or %s", op.Do, Ask, Elect, Reassign, Produce, Fetch)
}

func (o *Op) parseData(words []string) (err error) {
	if n := len(words); words[n-1] == "final" && o.Do == Fetch {
		o.Final, words = true, words[:n-1]
	}
	if n := len(words); words[n-1] == "fresh" {
		o.Fresh, words = true, words[:n-1]
	}
	if len(words) != 3 || words[1] != "via" {
		return fmt.Errorf("expected %s PARTITION via BROKER", o.Do)
	}
	o.Node = node.ID(words[2])
	o.Partition, err = parsePartition(words[0])
	return err
}

func (o *Op) parseAsk(words []string) (err error) {
	if len(words) == 5 && words[4] == "final" {
		o.Final, words = true, words[:4]
	}
	if len(words) != 4 || words[2] != "over" {
		return fmt.Errorf("expected ask NODE PARTITION over PATH")
	}
	paths := []protocol.ReadPath{protocol.ReadBroker, protocol.ReadLeader, protocol.ReadQuorum, protocol.ReadRole}
	o.Node, o.Path = node.ID(words[0]), protocol.ReadPath(words[3])
	if !slices.Contains(paths, o.Path) {
		return fmt.Errorf("read path %q; expected one of %q", o.Path, paths)
	}
	o.Partition, err = parsePartition(words[1])
	return err
}

func (o *Op) parseMove(words []string) (err error) {
	n := len(words)
	if n < 4 || words[n-2] != "at" || o.Do == Elect && n != 4 {
		return fmt.Errorf("expected %s PARTITION BROKER at CONTROLLER", o.Do)
	}
	o.Node = node.ID(words[n-1])
	for _, w := range words[1 : n-2] {
		b, ok := numbered("b", w)
		if !ok {
			return fmt.Errorf("broker %q; expected b1, b2 and so on", w)
		}
		o.Brokers = append(o.Brokers, b)
	}
	o.Partition, err = parsePartition(words[0])
	return err
}

// numbered reads a name such as b3, whose numbers begin at 1.
func numbered(prefix, name string) (int32, bool) {
	number, ok := strings.CutPrefix(name, prefix)
	n, err := strconv.ParseInt(number, 10, 32)
	return int32(n), ok && err == nil && n > 0
}

func parsePartition(name string) (p protocol.Partition, err error) {
	i := strings.LastIndexByte(name, '-')
	if i < 1 {
		return p, fmt.Errorf("partition %q; expected a topic and a number, such as t-0", name)
	}
	n, err := strconv.ParseUint(name[i+1:], 10, 31)
	if err != nil {
		return p, fmt.Errorf("partition %q; expected a topic and a number, such as t-0", name)
	}
	return protocol.Partition{Topic: name[:i], Index: int32(n)}, nil
}
