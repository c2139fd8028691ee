package checker

import (
	"fmt"

	"github.com/stalemate-io/stalemate/histories"
)

// action is what a call does to the object.
type action uint8

const (
	actRead action = iota
	actWrite
	actCAS
	actAcquire
	actRelease
	actAdd
	actEnqueue
	actDequeue
)

// call is an operation made ready for a model: failed operations and those
// that constrain nothing are gone, and values are words that the model
// compares and never unpacks.
type call struct {
	invoked, completed int32 // completed is histories.Open where not known
	op                 int32 // index into History.Operations
	action             action
	known              bool // it happened; otherwise it may have, or may yet
	arg, res           uint64
	version            int64
}

// machine is a model at work on the calls of one key. States are words, equal
// iff the states they stand for are; a machine whose states are larger keeps
// them in a table and hands out their numbers. A machine is not safe for
// concurrent use, since its tables grow.
type machine interface {
	// start is the state before the first call.
	start() uint64
	// step gives the state after a call, and whether the call could return
	// what it did. A call that is not known to have happened is accepted in
	// every state, and where it could do nothing it changes nothing, so that
	// it may always be put last: "took effect after everything anybody saw"
	// and "never took effect" are then the same, and neither engine needs to
	// leave calls out.
	step(state uint64, c *call) (uint64, bool)
	// bytes is about how much memory the machine's tables take.
	bytes() int64
}

// program is everything on one key that a search needs.
type program struct {
	calls   []call // in order of invocation
	machine machine
	// pure marks models whose updates all commute and are never refused:
	// counters and sets.
	pure bool
}

// isRead reports whether a call leaves every state as it is.
func (c *call) isRead() bool { return c.action == actRead }

// unsupportedError says that a model has no such operation.
type unsupportedError struct {
	model    model
	function string
}

func (e *unsupportedError) Error() string {
	return fmt.Sprintf("model %s has no operation %q; choose the model that the history was recorded with", e.model, e.function)
}

// malformedError says that an operation cannot be part of any history.
type malformedError struct {
	op   int32
	what string
}

func (e *malformedError) Error() string { return fmt.Sprintf("operation %d %s", e.op, e.what) }

// actions gives what each function does in each model. Functions that are not
// listed are not supported.
var actions = map[model]map[histories.Func]action{
	modelRegister:          {histories.Read: actRead, histories.Write: actWrite},
	modelCASRegister:       {histories.Read: actRead, histories.Write: actWrite, histories.CAS: actCAS},
	modelVersionedRegister: {histories.Read: actRead, histories.Write: actWrite, histories.CAS: actCAS},
	modelMutex:             {histories.Acquire: actAcquire, histories.Release: actRelease},
	modelCounter:           {histories.Read: actRead, histories.Add: actAdd},
	modelSet:               {histories.Read: actRead, histories.Add: actAdd},
	modelQueue:             {histories.Enqueue: actEnqueue, histories.Dequeue: actDequeue},
}

// compile makes the operations of one key ready for the spec's model. It
// refuses what would make an engine answer about something else than the
// history: operations the model does not have, values of the wrong type,
// completions before their invocation and operations out of order.
func compile(h *histories.History, ops []int32, spec *spec, key int32) (program, error) {
	acts, ok := actions[spec.model]
	if !ok {
		return program{}, fmt.Errorf("no model is called %q; the models are %v", spec.model, models())
	}
	calls := make([]call, 0, len(ops))
	last := int32(-1)
	for _, i := range ops {
		op := &h.Operations[i]
		if op.Invoked <= last {
			return program{}, &malformedError{i, "is not in order of invocation"}
		}
		last = op.Invoked
		if op.Outcome == histories.Failed {
			continue
		}
		act, ok := acts[op.F]
		if !ok {
			return program{}, &unsupportedError{spec.model, functionName(h, op.F)}
		}
		if skipsRead(spec, op, act) {
			continue
		}
		c := newCall(op, i, act)
		if c.completed <= c.invoked {
			return program{}, &malformedError{i, "completes before it is invoked"}
		}
		calls = append(calls, c)
	}
	return newProgram(h, calls, spec, key)
}

// newCall makes a call of an operation that did not fail.
func newCall(op *histories.Operation, i int32, act action) call {
	c := call{
		invoked: op.Invoked, completed: op.Completed, op: i,
		action: act, known: true,
		arg: uint64(op.Argument), res: uint64(op.Result), version: op.Version,
	}
	if op.Outcome != histories.Happened {
		c.forget()
	}
	return c
}

// forget turns a call into one of unknown outcome.
func (c *call) forget() {
	c.known = false
	c.completed = histories.Open
	c.version = histories.UnknownVersion
	if c.action == actDequeue {
		c.res = 0 // it takes what it finds
	}
}

// skipsRead reports whether an operation is a read that constrains nothing:
// its outcome is unknown, or it returned a nil that says nothing.
func skipsRead(spec *spec, op *histories.Operation, act action) bool {
	if act != actRead {
		return false
	}
	if op.Outcome != histories.Happened {
		return true
	}
	return op.Result == nilDatum && spec.nilReads == nilUnconstrained
}

// nilDatum is histories.Nil packed, in every history.
const nilDatum histories.Datum = 0

func functionName(h *histories.History, f histories.Func) string {
	if int(f) < len(h.Functions) {
		return h.Functions[f]
	}
	return fmt.Sprintf("function %d", f)
}

// newProgram joins calls with the machine of their model.
func newProgram(h *histories.History, calls []call, spec *spec, key int32) (program, error) {
	initial := spec.start(key)
	p := program{calls: calls}
	var err error
	switch spec.model {
	case modelRegister, modelCASRegister:
		p.machine = registerMachine{initial: uint64(initial)}
	case modelVersionedRegister:
		p.machine = newVersionedMachine(uint64(initial), spec.version)
	case modelMutex:
		p.machine, err = newMutexMachine(h, initial)
	case modelCounter:
		p.machine, err = newCounterMachine(h, initial, calls)
		p.pure = true
	case modelSet:
		p.machine, err = newSetMachine(h, initial, calls)
		p.pure = true
	case modelQueue:
		p.machine, err = newQueueMachine(h, initial, calls)
	}
	return p, err
}
