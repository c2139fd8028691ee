package checker

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/stalemate-io/stalemate/histories"
)

// maxVisualized is how many operations a drawing by porcupine has at most: its
// verbose search keeps every partial order that it comes upon and may overrun its
// time on more.
const maxVisualized = 48

// visualizeTime bounds porcupine's search for one drawing.
const visualizeTime = time.Second

// ErrTooLarge is returned by Visualize for more operations than can be drawn.
var ErrTooLarge = fmt.Errorf("expected at most %d operations to draw", maxVisualized)

// Visualize gives porcupine's own drawing of a few operations, each key by
// itself: an HTML page with the orders that the search tried and where each of
// them ended. Operations are indexes into History.Operations; the writes of what
// they returned are added, since without them every read is one of a value that
// nobody wrote. Times in the drawing are positions in the history.
func Visualize(h *histories.History, o Options, operations []int32) ([]byte, error) {
	s, err := newSpec(h, &o)
	if err != nil {
		return nil, err
	}
	if s.model == modelVersionedRegister {
		// A few operations skip versions, which its model would not have.
		s.model = modelCASRegister
	}
	operations = withWriters(h, operations)
	if len(operations) > maxVisualized {
		return nil, ErrTooLarge
	}
	d, err := newDrawing(h, &s, operations)
	if err != nil {
		return nil, err
	}
	_, info := porcupine.CheckOperationsVerbose(d.model(), d.history, visualizeTime)
	var out bytes.Buffer
	if err := porcupine.Visualize(d.model(), info, &out); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// withWriters adds the first write of each value that one of the operations
// returned and none of them wrote.
func withWriters(h *histories.History, operations []int32) []int32 {
	type cell struct {
		key   int32
		value histories.Datum
	}
	missing := make(map[cell]bool)
	for _, i := range operations {
		if op := &h.Operations[i]; op.F == histories.Read && op.Outcome == histories.Happened {
			missing[cell{op.Key, op.Result}] = true
		}
	}
	for _, i := range operations {
		if op := &h.Operations[i]; writes(op) {
			delete(missing, cell{op.Key, written(op)})
		}
	}
	out := slices.Clone(operations)
	for i := range h.Operations {
		op := &h.Operations[i]
		if len(missing) == 0 {
			break
		}
		if at := (cell{op.Key, written(op)}); writes(op) && missing[at] {
			out = append(out, int32(i))
			delete(missing, at)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// drawing is what porcupine is asked to draw.
type drawing struct {
	h        *histories.History
	machines map[int32]machine
	history  []porcupine.Operation
}

// drawn is one call with the machine of its key, since porcupine's model is one
// for all keys.
type drawn struct {
	call
	key int32
}

// drawnState is the state of one key; the key is not known before its first
// call.
type drawnState struct {
	state uint64
	begun bool
}

func newDrawing(h *histories.History, s *spec, operations []int32) (*drawing, error) {
	d := &drawing{h: h, machines: make(map[int32]machine)}
	byKey := make(map[int32][]int32)
	for _, i := range operations {
		byKey[h.Operations[i].Key] = append(byKey[h.Operations[i].Key], i)
	}
	for _, key := range sortedKeys(byKey) {
		p, err := compile(h, byKey[key], s, key)
		if err != nil {
			return nil, err
		}
		d.machines[key] = p.machine
		for _, c := range p.calls {
			if _, register := p.machine.(registerMachine); register && c.action == actCAS {
				// The write of what it expected may not be among the few.
				// To take it for a write allows only more orders.
				c.action, c.arg = actWrite, c.res
			}
			end := int64(c.completed)
			if c.completed == histories.Open {
				end = math.MaxInt64
			}
			d.history = append(d.history, porcupine.Operation{
				ClientId: int(h.Operations[c.op].Process), Input: &drawn{c, key}, Call: int64(c.invoked), Return: end,
			})
		}
	}
	return d, nil
}

func (d *drawing) model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return drawnState{} },
		Partition: func(all []porcupine.Operation) [][]porcupine.Operation {
			byKey := make(map[int32][]porcupine.Operation)
			for _, op := range all {
				byKey[op.Input.(*drawn).key] = append(byKey[op.Input.(*drawn).key], op)
			}
			var out [][]porcupine.Operation
			for _, key := range sortedKeys(byKey) {
				out = append(out, byKey[key])
			}
			return out
		},
		Step: func(state, input, _ any) (bool, any) {
			c, at := input.(*drawn), state.(drawnState)
			m := d.machines[c.key]
			if !at.begun {
				at.state = m.start()
			}
			next, ok := m.step(at.state, &c.call)
			return ok, drawnState{next, true}
		},
		DescribeOperation: func(input, _ any) string {
			x := explainer{h: d.h}
			c := input.(*drawn)
			text := x.deed(&d.h.Operations[c.op])
			if !c.known {
				text += ", outcome unknown"
			}
			return plain(text)
		},
		DescribeState: func(state any) string { return d.describe(state.(drawnState)) },
	}
}

// describe shows a state; which key it is of, and so its machine, only registers
// need not know.
func (d *drawing) describe(s drawnState) string {
	if !s.begun {
		return "initial"
	}
	for _, m := range d.machines {
		if _, ok := m.(registerMachine); !ok {
			return fmt.Sprintf("state %d", s.state)
		}
	}
	return plain(short(d.h.Data.Unpack(histories.Datum(s.state))))
}

// plain replaces what a page could take for markup. porcupine's page puts
// descriptions into its tooltips as HTML, and values are data.
func plain(s string) string {
	return strings.NewReplacer("<", "‹", ">", "›", "&", "＆", "`", "'").Replace(s)
}
