package histories

import (
	"errors"
	"fmt"
	"math"
)

// ErrBuilt is what Builder.Add gives once the history was taken.
var ErrBuilt = errors.New("the history was already built; start a new Builder")

// Builder makes a History of events as they stream by: it pairs each
// completion with its invoke and keeps the operations alone, 64 bytes each. The
// zero Builder is ready to use.
//
// The rules are those of Jepsen and Knossos:
//   - the order of the calls to Add is the order of the history; an event's
//     Index is not looked at;
//   - an ok's value replaces the invoke's, except that an operation with an
//     argument keeps it where the ok repeats no value; a fail or an info tells
//     nothing, so the invoke's value stands;
//   - an operation without completion has an unknown outcome, as after info;
//   - a client invoking again after an unknown outcome is a new client, with a
//     number of its own and a warning: the old operation may still take effect;
//   - an info of a client that has nothing open is ignored, with a warning.
//
// Operations that failed and reads of unknown outcome stay in the history with
// their Outcome; checkers drop them.
type Builder struct {
	operations chunks
	faults     []Event
	functions  names
	nodes      names
	paths      names
	keys       []Value
	keyIndex   map[Value]int32
	keyless    bool // the operations so far have no key
	data       Data

	clients    clientTable
	highest    int32 // the highest client number seen
	renumbered int32 // how many new numbers were given
	events     int
	lastTime   int64
	built      bool

	backwards, reused, strays oddity
}

// oddity counts something odd and remembers where it came first.
type oddity struct {
	count int
	first string
}

func (o *oddity) note(where string) {
	if o.count++; o.count == 1 {
		o.first = where
	}
}

var knownFunctions = []string{
	Read: "read", Write: "write", CAS: "cas", Acquire: "acquire", Release: "release",
	Add: "add", Enqueue: "enqueue", Dequeue: "dequeue", Txn: "txn",
}

// Expect makes room for a number of operations, so that they need not be moved
// to one place at the end. A wrong guess costs memory and nothing else.
func (b *Builder) Expect(operations int) { b.operations.expect(operations) }

// Add takes the next event. The event is not kept. An error names the event by
// its position in the history, counted from 0; after an error the Builder must
// not be used.
func (b *Builder) Add(e *Event) error { return b.add(e, 0) }

// add is Add for an event of a known source line, or 0.
func (b *Builder) add(e *Event, line int) error {
	if b.built {
		return ErrBuilt
	}
	position := b.events
	if position >= math.MaxInt32 {
		return b.fail(line, "the history has more than %d events, which is as many as fit", math.MaxInt32)
	}
	b.events++
	if e.Time != UnknownTime {
		if e.Time < b.lastTime {
			b.backwards.note(place(line, position))
		}
		b.lastTime = e.Time
	}
	if !e.Process.IsClient() {
		return b.addFault(e, line)
	}
	if e.Process.Client < 0 || e.Process.Client > math.MaxInt32 {
		return b.fail(line, "expected a client's process to be a number from 0 to %d, found %d", math.MaxInt32, e.Process.Client)
	}
	client := b.clients.get(e.Process.Client)
	switch e.Type {
	case Invoke:
		return b.invoke(e, client, int32(position), line)
	case OK, Fail, Info:
		return b.complete(e, client, int32(position), line)
	}
	return b.fail(line, "expected the type to be invoke, ok, fail or info, found %s", e.Type)
}

func (b *Builder) addFault(e *Event, line int) error {
	if e.Type < Invoke || e.Type > Info {
		return b.fail(line, "expected the type to be invoke, ok, fail or info, found %s", e.Type)
	}
	b.faults = append(b.faults, *e)
	b.faults[len(b.faults)-1].Index = b.events - 1
	return nil
}

func (b *Builder) invoke(e *Event, c *client, position int32, line int) error {
	if c.open {
		return b.fail(line, "process %d invokes %s while its operation invoked at %s is still open; a client does one thing at a time",
			e.Process.Client, quoteShort(e.F), place(c.line, int(c.invoked)))
	}
	number := int32(e.Process.Client)
	b.highest = max(b.highest, number)
	switch {
	case c.retired:
		b.reused.note(place(line, int(position)))
		b.renumbered++
		c.retired, c.alias = false, b.renumbered
		fallthrough
	case c.alias > 0:
		number = -c.alias // until the highest number is known
	}
	o := Operation{
		Call: e.Time, Return: OpenTime,
		Version: UnknownVersion,
		Invoked: position, Completed: Open,
		Process: number,
	}
	f := b.functions.index(e.F, knownFunctions)
	if f > math.MaxUint8 {
		return b.fail(line, "the history has more than %d different functions, which is as many as fit", math.MaxUint8)
	}
	o.F = Func(f)
	var err error
	if o.Key, err = b.key(e.Key, position, line); err != nil {
		return err
	}
	if err := b.place(&o, e, line); err != nil {
		return err
	}
	if err := b.argument(&o, e, line); err != nil {
		return err
	}
	c.open, c.invoked, c.line, c.operation = true, position, line, b.operations.n
	b.operations.add(o)
	return nil
}

// key gives the number of a key. Either all operations have one or none.
func (b *Builder) key(k Value, position int32, line int) (int32, error) {
	if b.operations.n == 0 {
		b.keyless = k.IsNil()
		b.keyIndex = make(map[Value]int32)
	} else if k.IsNil() != b.keyless {
		has, others := "a key", "no key"
		if k.IsNil() {
			has, others = others, has
		}
		return 0, b.fail(line, "the operation has %s where those before it have %s; give all of a history's operations a key, or none", has, others)
	}
	if b.keyless && len(b.keys) == 1 {
		return 0, nil
	}
	i, ok := b.keyIndex[k]
	if !ok {
		i = int32(len(b.keys))
		b.keys = append(b.keys, k)
		b.keyIndex[k] = i
	}
	return i, nil
}

// place sets where the operation went, as far as the event tells.
func (b *Builder) place(o *Operation, e *Event, line int) error {
	if e.Node != "" {
		i := b.nodes.index(e.Node, []string{""})
		if i > math.MaxInt16 {
			return b.fail(line, "the history has more than %d nodes, which is as many as fit", math.MaxInt16)
		}
		o.Node = int16(i)
	}
	if e.Path != "" {
		i := b.paths.index(e.Path, []string{""})
		if i > math.MaxInt16 {
			return b.fail(line, "the history has more than %d read paths, which is as many as fit", math.MaxInt16)
		}
		o.Path = int16(i)
	}
	return nil
}

func (b *Builder) argument(o *Operation, e *Event, line int) error {
	if o.F != CAS {
		o.Argument = b.data.Pack(e.Value)
		return nil
	}
	expected, replacement, ok := e.Value.AsPair()
	if !ok {
		return b.fail(line, "expected the value of a cas to be [expected new], found %s", shown(e.Value))
	}
	o.Argument, o.Result = b.data.Pack(expected), b.data.Pack(replacement)
	return nil
}

func (b *Builder) complete(e *Event, c *client, position int32, line int) error {
	if !c.open {
		if e.Type == Info {
			b.strays.note(place(line, int(position)))
			return nil
		}
		return b.fail(line, "process %d completes %s with %s but has invoked nothing", e.Process.Client, quoteShort(e.F), e.Type)
	}
	o := b.operations.at(c.operation)
	if f := b.functions.list[o.F]; e.F != f && e.F != "" {
		return b.fail(line, "process %d completes %s but the operation it invoked at %s is %s",
			e.Process.Client, quoteShort(e.F), place(c.line, int(c.invoked)), quoteShort(f))
	}
	if k := b.keys[o.Key]; e.Key != k && !e.Key.IsNil() {
		return b.fail(line, "process %d completes an operation on key %s but the one it invoked at %s is on key %s",
			e.Process.Client, shown(e.Key), place(c.line, int(c.invoked)), shown(k))
	}
	if err := b.place(o, e, line); err != nil {
		return err
	}
	c.open = false
	switch e.Type {
	case OK:
		o.Outcome, o.Completed, o.Return = Happened, position, e.Time
		o.Version = e.Version.orUnknown()
		b.result(o, e)
	case Fail:
		o.Outcome, o.Completed, o.Return = Failed, position, e.Time
	case Info:
		c.retired = true
	}
	return nil
}

// result puts what an ok told into the operation.
func (b *Builder) result(o *Operation, e *Event) {
	switch o.F {
	case CAS:
		if expected, replacement, ok := e.Value.AsPair(); ok {
			o.Argument, o.Result = b.data.Pack(expected), b.data.Pack(replacement)
		}
	case Write, Add, Enqueue, Acquire, Release:
		if !e.Value.IsNil() {
			o.Argument = b.data.Pack(e.Value)
		}
	default:
		o.Result = b.data.Pack(e.Value)
	}
}

// History gives the history of the events added. Operations still open have an
// unknown outcome. Whole is true; who knows that events are missing unsets it.
// It ends the Builder.
func (b *Builder) History() (*History, error) {
	if b.built {
		return nil, ErrBuilt
	}
	b.built = true
	h := &History{
		Operations: b.operations.join(),
		Faults:     b.faults,
		Functions:  b.functions.all(knownFunctions),
		Keys:       b.keys,
		Nodes:      b.nodes.all([]string{""}),
		Paths:      b.paths.all([]string{""}),
		Data:       b.data,
		Events:     b.events,
		Whole:      true,
	}
	if len(h.Keys) == 0 {
		h.Keys = []Value{Nil}
	}
	if b.renumbered > 0 {
		if int64(b.highest)+int64(b.renumbered) > math.MaxInt32 {
			return nil, &InputError{Message: fmt.Sprintf("expected client numbers that leave room for %d new ones, found one of %d", b.renumbered, b.highest)}
		}
		for i := range h.Operations {
			if p := &h.Operations[i].Process; *p < 0 {
				*p = b.highest - *p
			}
		}
	}
	h.Warnings = b.warnings()
	*b = Builder{built: true}
	return h, nil
}

func (b *Builder) warnings() []string {
	var w []string
	if o := b.backwards; o.count > 0 {
		w = append(w, fmt.Sprintf("time runs backwards %s, first at %s; the order of the events stands", times(o.count), o.first))
	}
	if o := b.reused; o.count > 0 {
		w = append(w, fmt.Sprintf("a process goes on after an unknown outcome %s, first at %s; it counts as a new process from there", times(o.count), o.first))
	}
	if o := b.strays; o.count > 0 {
		w = append(w, fmt.Sprintf("a process reports info with nothing invoked %s, first at %s; ignored", times(o.count), o.first))
	}
	return w
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// place names an event for people: by its line where there is one.
func place(line, position int) string {
	if line > 0 {
		return fmt.Sprintf("line %d", line)
	}
	return fmt.Sprintf("event %d", position)
}

// fail makes the error about the event that was added last.
func (b *Builder) fail(line int, format string, a ...any) error {
	message := fmt.Sprintf(format, a...)
	if line == 0 {
		message = fmt.Sprintf("event %d: %s", b.events-1, message)
	}
	return &InputError{Line: line, Message: message}
}
