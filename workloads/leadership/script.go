package leadership

import (
	"cmp"
	"fmt"
	"slices"

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
	byClient := map[int32][]Op{}
	var numbers []int32
	for _, op := range ops {
		n, ok := numbered("x", string(op.Client))
		if !ok {
			return nil, fmt.Errorf("leadership: client %q; expected x1, x2 and so on", op.Client)
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
		s := &script{client{o: &o, rec: record()}, mine}
		clients = append(clients, Client{mine[0].Client, func(env node.Env) node.Machine {
			s.env = env
			return s
		}})
	}
	return clients, nil
}

// script is a client that does what is written.
type script struct {
	client
	ops []Op
}

// Start waits for the first operation.
func (s *script) Start() {
	s.began = s.env.Now()
	s.next()
}

func (s *script) next() {
	if len(s.ops) == 0 {
		s.end()
		return
	}
	op := s.ops[0]
	s.ops = s.ops[1:]
	begin := func() { s.do(op, s.next) }
	if wait := op.At - s.now(); wait > 0 {
		s.env.After(wait, begin)
		return
	}
	begin()
}
