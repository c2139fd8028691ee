package leadership

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

// NewScript makes clients that do the operations they are given, each at its
// time, instead of drawing their own. With all that Options.Issued told of a run,
// in a world that is otherwise the same, they repeat that run to the byte. Of the
// options, Timeout, Controllers, Issued and Ended count.
func NewScript(ops []Op, o Options, record func() Recording) ([]Client, error) {
	o = o.withDefaults()
	if len(o.Controllers) == 0 {
		return nil, fmt.Errorf("leadership: no controllers; at least one is needed")
	}
	return Script(ops, func(int) Performer { return &client{o: &o, rec: record()} })
}

// Performer does the operations of one client, one at a time.
type Performer interface {
	// Boot is called once, before the first operation.
	Boot(node.Env)
	// Do does one operation now, and calls then when its outcome is recorded.
	Do(op Op, then func())
	// End is called after the last.
	End()
}

// Script makes of each client that is named in ops one that does its operations,
// each at its time or, if it is busy then, when it no longer is. performer is
// called for each with the number in its name, the least first.
func Script(ops []Op, performer func(number int) Performer) ([]Client, error) {
	byClient := map[int32][]Op{}
	var numbers []int32
	for _, op := range ops {
		n, ok := numbered("x", string(op.Client))
		if !ok {
			return nil, fmt.Errorf("client %q; expected x1, x2 and so on", op.Client)
		}
		if byClient[n] == nil {
			numbers = append(numbers, n)
		}
		byClient[n] = append(byClient[n], op)
	}
	slices.Sort(numbers)
	var clients []Client
	for _, n := range numbers {
		mine := byClient[n]
		slices.SortStableFunc(mine, func(a, b Op) int { return cmp.Compare(a.At, b.At) })
		s := &script{Performer: performer(int(n)), ops: mine}
		clients = append(clients, Client{mine[0].Client, func(env node.Env) node.Machine {
			s.env = env
			return s
		}})
	}
	return clients, nil
}

// script is a client that does what is written.
type script struct {
	Performer
	env   node.Env
	began time.Duration // on its own clock
	ops   []Op
}

// Start waits for the first operation.
func (s *script) Start() {
	s.began = s.env.Now()
	s.Boot(s.env)
	s.next()
}

// Receive takes no requests.
func (*script) Receive(node.ID, node.Message, func(node.Message)) {}

func (s *script) next() {
	if len(s.ops) == 0 {
		s.End()
		return
	}
	op := s.ops[0]
	s.ops = s.ops[1:]
	begin := func() { s.Do(op, s.next) }
	if wait := op.At - (s.env.Now() - s.began); wait > 0 {
		s.env.After(wait, begin)
		return
	}
	begin()
}
