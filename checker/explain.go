package checker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stalemate-io/stalemate/histories"
)

// explainer puts violations into words: what was done, when, through which
// server, what contradicts it, and which fault was active.
type explainer struct {
	h         *histories.History
	faults    []fault
	resolver  *resolver
	registers []*keyOrder
}

// witness describes the operations of a proof, in order of invocation.
func (x *explainer) witness(ops ...int32) []Witness {
	slices.Sort(ops)
	ops = slices.Compact(ops)
	out := make([]Witness, 0, len(ops))
	for _, i := range ops {
		out = append(out, x.one(i))
	}
	return out
}

func (x *explainer) one(i int32) Witness {
	op := &x.h.Operations[i]
	w := Witness{
		Index: int(op.Invoked), Process: int(op.Process),
		F: functionName(x.h, op.F), Key: x.key(op.Key), Value: x.value(op), Node: x.h.Nodes[op.Node],
		Outcome: outcomeName(op.Outcome), Text: x.text(i),
	}
	if op.Call != histories.UnknownTime {
		c := ms(op.Call)
		w.CallMS = &c
	}
	if op.Outcome == histories.Happened && op.Return != histories.UnknownTime && op.Return != histories.OpenTime {
		r := ms(op.Return)
		w.ReturnMS = &r
	}
	if op.Version != histories.UnknownVersion {
		v := op.Version
		w.Version = &v
	}
	return w
}

// outcomeName is the type of the event that ended an operation.
func outcomeName(o histories.Outcome) string {
	switch o {
	case histories.Happened:
		return histories.OK.String()
	case histories.Failed:
		return histories.Fail.String()
	}
	return histories.Info.String()
}

// value is what an operation wrote or returned, as verdict.json shows it.
func (x *explainer) value(op *histories.Operation) histories.Value {
	v := x.h.Data.Unpack
	switch op.F {
	case histories.CAS:
		return histories.List(v(op.Argument), v(op.Result))
	case histories.Read, histories.Dequeue:
		return v(op.Result)
	}
	return v(op.Argument)
}

// text says what an operation did: "write of 57 to r1 by client 4 through zk1,
// acknowledged at 11.520 s (version 57)".
func (x *explainer) text(i int32) string {
	op := &x.h.Operations[i]
	var b strings.Builder
	b.WriteString(x.deed(op))
	fmt.Fprintf(&b, " by client %d", op.Process)
	if op.Node > 0 {
		fmt.Fprintf(&b, " through %s", x.h.Nodes[op.Node])
	}
	switch {
	case op.Outcome == histories.Failed && op.Completed == histories.Open:
		b.WriteString(", which the system's own log does not hold")
	case op.Outcome == histories.Failed:
		b.WriteString(", which failed")
	case op.Outcome == histories.Happened && op.Completed == histories.Open:
		b.WriteString(", never answered, which the system's own log holds")
	case op.Outcome == histories.Unknown:
		b.WriteString(", outcome unknown" + x.at(" since ", op.Call, op.Invoked))
	case op.F == histories.Read:
		fmt.Fprintf(&b, ", %s", x.span(op))
	default:
		b.WriteString(", acknowledged" + x.at(" at ", op.Return, op.Completed))
	}
	if op.Version != histories.UnknownVersion {
		fmt.Fprintf(&b, " (version %d)", op.Version)
	}
	return b.String()
}

// deed is what was done to what.
func (x *explainer) deed(op *histories.Operation) string {
	show := func(d histories.Datum) string { return short(x.h.Data.Unpack(d)) }
	to := x.key(op.Key)
	switch op.F {
	case histories.Read:
		if op.Outcome != histories.Happened {
			return "read" + prefixed(" of ", to)
		}
		return "read" + prefixed(" of ", to) + " that returned " + show(op.Result)
	case histories.Write:
		return "write of " + show(op.Argument) + prefixed(" to ", to)
	case histories.CAS:
		return "compare-and-set from " + show(op.Argument) + " to " + show(op.Result) + prefixed(" on ", to)
	case histories.Dequeue:
		return "dequeue" + prefixed(" from ", to) + " of " + show(op.Result)
	case histories.Acquire, histories.Release:
		return functionName(x.h, op.F) + prefixed(" of ", to)
	}
	return functionName(x.h, op.F) + " of " + show(op.Argument) + prefixed(" to ", to)
}

// key names a key; empty where the history has but one object.
func (x *explainer) key(key int32) string {
	if k := x.h.Keys[key]; !k.IsNil() {
		return short(k)
	}
	return ""
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// maxShown is how much of a long value a text shows, in bytes.
const maxShown = 60

func short(v histories.Value) string {
	if s, ok := v.AsString(); ok {
		return cutShort(s)
	}
	return cutShort(v.String())
}

func cutShort(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + "…"
}

// at tells a time where the history has one, else the place in the history.
func (x *explainer) at(prefix string, ns int64, position int32) string {
	if ns == histories.UnknownTime || ns == histories.OpenTime {
		return fmt.Sprintf("%sevent %d", prefix, position)
	}
	return prefix + seconds(ns)
}

// span tells from when to when an operation went on.
func (x *explainer) span(op *histories.Operation) string {
	return "asked" + x.at(" at ", op.Call, op.Invoked) + " and answered" + x.at(" at ", op.Return, op.Completed)
}

// during names the fault active at an operation, in a clause of its own.
func (x *explainer) during(i int32) string {
	op := &x.h.Operations[i]
	f, active := active(x.faults, op.Invoked)
	if f == nil {
		return ""
	}
	role := ""
	if node := x.h.Nodes[op.Node]; node != "" && slices.Contains(f.targets, node) {
		role = node + " was its target; "
	}
	if active {
		return "; " + role + "fault then: " + f.String()
	}
	return "; " + role + "last fault before: " + f.String()
}

// stale puts a stale read into words.
func (x *explainer) stale(s *staleRead, kind string) Anomaly {
	h := x.h
	read, missed := &h.Operations[s.op], &h.Operations[s.missed]
	var b strings.Builder
	b.WriteString(x.text(s.op))
	known := fmt.Sprintf(", though %s had been", short(h.Data.Unpack(x.valueOf(s.missed))))
	if missed.F == histories.Read {
		known += " read"
	} else {
		known += " acknowledged"
	}
	b.WriteString(known)
	fmt.Fprintf(&b, " by client %d", missed.Process)
	if missed.Node > 0 {
		fmt.Fprintf(&b, " through %s", h.Nodes[missed.Node])
	}
	b.WriteString(x.at(" at ", missed.Return, missed.Completed))
	if s.lag >= 0 {
		fmt.Fprintf(&b, ", %s earlier", milliseconds(s.lag))
	}
	if s.behind > 1 {
		fmt.Fprintf(&b, "; it was %d versions behind", s.behind)
	}
	b.WriteString(x.during(s.op))
	ops := []int32{s.op, s.missed}
	if reg := x.registers[read.Key]; reg != nil {
		if w := reg.states[x.resolver.seen[s.op]].op; w != noOp {
			ops = append(ops, w)
		}
		if w := reg.states[x.resolver.seen[s.missed]].op; w != noOp {
			ops = append(ops, w)
		}
	}
	return Anomaly{Kind: kind, Key: x.key(read.Key), Node: h.Nodes[read.Node], Text: b.String(), Witness: x.witness(ops...)}
}

func milliseconds(ns int64) string {
	if ns > 0 && ns < 1000 {
		return fmt.Sprintf("%d ns", ns)
	}
	if ns < 10_000_000 {
		return fmt.Sprintf("%.3g ms", float64(ns)/1e6)
	}
	return fmt.Sprintf("%.0f ms", float64(ns)/1e6)
}

// valueOf is the value that an operation wrote or saw.
func (x *explainer) valueOf(i int32) histories.Datum {
	op := &x.h.Operations[i]
	if op.F == histories.Read {
		return op.Result
	}
	return written(op)
}

// flaw puts a violation of one order into words.
func (x *explainer) flaw(f *flaw) Anomaly {
	a := Anomaly{Kind: f.kind, Witness: x.witness(x.evidence(f)...)}
	last := f.ops[len(f.ops)-1]
	a.Node = x.h.Nodes[x.h.Operations[last].Node]
	if f.key != noState {
		a.Key = x.key(f.key)
	}
	switch f.kind {
	case kindRegress:
		a.Text = x.regress(f)
	case kindPhantom:
		a.Text = x.phantom(f)
	case kindFork:
		a.Node = ""
		a.Text = x.fork(f)
	default:
		a.Text = x.list(f.why, f.ops)
	}
	a.Text += x.during(last)
	return a
}

// evidence is the operations of a flaw and what shows where the states stand that
// they wrote or saw.
func (x *explainer) evidence(f *flaw) []int32 {
	ops := slices.Clone(f.ops)
	for _, i := range f.ops {
		if s := x.resolver.seen[i]; s != noState {
			ops = append(ops, x.resolver.evidence(x.registers[x.h.Operations[i].Key], s)...)
		}
	}
	return ops
}

func (x *explainer) regress(f *flaw) string {
	if len(f.ops) != 2 {
		return x.list(x.observer(f.observer)+" went back to an older value", f.ops)
	}
	return fmt.Sprintf("%s went back: %s; then %s", x.observer(f.observer), x.text(f.ops[0]), x.text(f.ops[1]))
}

func (x *explainer) observer(id int32) string {
	if int(id) < len(x.h.Nodes) {
		return x.h.Nodes[id]
	}
	return fmt.Sprintf("client %d", int(id)-len(x.h.Nodes))
}

func (x *explainer) phantom(f *flaw) string {
	i := f.ops[len(f.ops)-1]
	if f.why != "" {
		return x.list(f.why, f.ops)
	}
	op := &x.h.Operations[i]
	for j := range x.h.Operations {
		w := &x.h.Operations[j]
		if w.Outcome == histories.Failed && w.Key == op.Key && (w.F == histories.Write || w.F == histories.CAS) && written(w) == op.Result {
			return x.text(i) + ", a value whose only writer failed: " + x.text(int32(j))
		}
	}
	return x.text(i) + ", a value that nobody wrote"
}

// fork tells a cycle across keys, from its earliest operation on.
func (x *explainer) fork(f *flaw) string {
	first := 0
	for n, i := range f.ops {
		if x.h.Operations[i].Invoked < x.h.Operations[f.ops[first]].Invoked {
			first = n
		}
	}
	cycle := slices.Concat(f.ops[first:], f.ops[:first])
	return x.list("no single order explains what was seen; each of these has to come before the next, and the last before the first", cycle)
}

// maxListed is how many operations a text lists; the witness holds them all.
const maxListed = 8

func (x *explainer) list(head string, ops []int32) string {
	var b strings.Builder
	b.WriteString(head)
	for n, i := range ops {
		if n == maxListed {
			fmt.Fprintf(&b, "; and %d more", len(ops)-n)
			break
		}
		sep := "; "
		if n == 0 {
			sep = ": "
		}
		b.WriteString(sep + x.text(i))
	}
	return b.String()
}

// linear puts a failure of the linearizability check into words.
func (x *explainer) linear(f *linearFailure) Anomaly {
	a := Anomaly{Kind: kindNotLinear, Key: x.key(f.Key), Witness: x.witness(slices.Clone(f.Witness)...)}
	for n := range a.Witness {
		if slices.Contains(f.Loose, f.Witness[n]) {
			a.Witness[n].Text += "; only its invocation matters"
		}
	}
	a.Text = fmt.Sprintf("%s: no order of these %d operations agrees with real time", f.Kind, len(f.Witness))
	if len(f.Witness) == 1 {
		a.Text = fmt.Sprintf("%s: this operation could not have happened at any time", f.Kind)
	}
	if len(f.Witness) > 0 {
		last := f.Witness[len(f.Witness)-1]
		a.Node = x.h.Nodes[x.h.Operations[last].Node]
		a.Text += x.during(last)
	}
	return a
}

// sessionWords says what each guarantee's violation looks like.
var sessionWords = map[Level]string{
	MonotonicReads:    "a client read an older value after a newer one",
	ReadYourWrites:    "a client did not read its own write",
	MonotonicWrites:   "a client's writes took effect in the wrong order",
	WritesFollowReads: "a client's write took effect before what it had read",
}

func (x *explainer) session(f *sessionFlaw) Anomaly {
	op := &x.h.Operations[f.second]
	return Anomaly{
		Kind: string(f.level), Key: x.key(op.Key), Node: x.h.Nodes[op.Node],
		Text:    x.list(sessionWords[f.level], []int32{f.first, f.second}) + x.during(f.second),
		Witness: x.witness(f.first, f.second),
	}
}

// lost tells of an element that is gone.
func (x *explainer) lost(e element) Anomaly {
	ops := []int32{e.known, e.lastAbsent}
	if e.add != noOp {
		ops = append(ops, e.add)
	}
	missed := &x.h.Operations[e.lastAbsent]
	return Anomaly{
		Kind: kindLost, Key: x.key(missed.Key), Node: x.h.Nodes[missed.Node],
		Text: fmt.Sprintf("an element was there and is gone: %s; a read by client %d%s did not return it, nor did any later one%s",
			x.text(e.known), missed.Process, x.at(", asked at ", missed.Call, missed.Invoked), x.during(e.lastAbsent)),
		Witness: x.witness(ops...),
	}
}
