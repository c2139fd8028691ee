package forensics

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stalemate-io/stalemate/histories/kafkalogs"
)

// Judge says what the facts of some files show. Facts of one file come in its
// order; files come in any order. Where nothing can be judged, the error is
// ErrNothing.
func Judge(facts []kafkalogs.Fact, files []kafkalogs.Reading) (*Report, error) {
	a := &analysis{
		report: Report{Counts: map[Kind]int{}, Compared: map[Kind]int{}}, seen: map[string]map[int32]*kafkalogs.Fact{},
		observers: map[string]*observer{}, anew: map[string]bool{},
	}
	for _, f := range files {
		a.report.Files = append(a.report.Files, File{f.File, f.Lines, f.Facts, f.Others, f.Cut})
		if f.Cut {
			a.warn("%s is compressed and ends too early: what it held after line %d is missing", f.File, f.Lines)
		}
	}
	if len(facts) == 0 {
		return &a.report, ErrNothing
	}
	facts = inOrder(facts)
	a.recreated(facts)
	for i := range facts {
		a.look(&facts[i])
	}
	a.elections(facts)
	a.logs(facts)
	a.forks()
	a.shown(facts)
	a.lost(facts)
	a.behind()
	return a.finish(), nil
}

// analysis is the state of a judgement.
type analysis struct {
	report Report
	// seen is every leader epoch that is known of each partition, with one fact
	// that tells its leader.
	seen      map[string]map[int32]*kafkalogs.Fact
	observers map[string]*observer
	names     []string // of observers, as they come
	// anew are partitions that were deleted and created again, so that their
	// epochs do not tell what is newer.
	anew     map[string]bool
	findings []Finding
}

// observer is a node's cache, roles or decisions: what it has of each
// partition, change by change.
type observer struct {
	name    string
	state   map[string]*kafkalogs.Fact // the newest of each partition
	changes []change
	// command is the newest controller that it obeyed.
	command *kafkalogs.Fact
	// batch is the request being handled; ordered says that changes are known to
	// belong to requests, so that their order means something.
	batch   string
	ordered bool
}

// change is one partition's step in one request.
type change struct {
	before, after *kafkalogs.Fact // before is nil where there was nothing
	batch         string
}

// inOrder sorts files of one node by their own clock; facts of one file stay as
// they are. A rotated log is so put together.
func inOrder(facts []kafkalogs.Fact) []kafkalogs.Fact {
	first := map[string]string{}
	for i := range facts {
		f := &facts[i]
		if _, ok := first[f.File]; !ok && f.Time != "" {
			first[f.File] = f.Time
		}
	}
	sorted := slices.Clone(facts)
	slices.SortStableFunc(sorted, func(a, b kafkalogs.Fact) int {
		if a.File == b.File {
			return 0
		}
		return cmp.Or(cmp.Compare(first[a.File], first[b.File]), cmp.Compare(a.File, b.File))
	})
	return sorted
}

// recreated notes partitions whose epochs began anew: dropped by a broker,
// deleted by a controller, or created by one that had them already.
func (a *analysis) recreated(facts []kafkalogs.Fact) {
	type key struct {
		node      int32
		partition string
	}
	had := map[key]bool{}
	for i := range facts {
		f := &facts[i]
		switch k := (key{f.Node, f.Partition}); {
		case f.Kind == kafkalogs.Dropped, f.State.Leader == kafkalogs.LeaderDuringDelete,
			had[k] && (f.Kind == kafkalogs.Created || f.New):
			a.anew[f.Partition] = true
		case f.Kind == kafkalogs.Decided:
			had[k] = true
		}
	}
}

// look takes in one fact.
func (a *analysis) look(f *kafkalogs.Fact) {
	switch f.Kind {
	case kafkalogs.Decided, kafkalogs.SentRole, kafkalogs.SentCache, kafkalogs.Received, kafkalogs.Cached, kafkalogs.Role:
		a.epoch(f)
	case kafkalogs.Fenced:
		a.find(Fenced, "", fmt.Sprintf("%s refused a request of controller %s: %s", nodeName(f.Node), id(f.Controller), f.Why), f)
	case kafkalogs.Refused:
		a.find(Refused, f.Partition, fmt.Sprintf("%s refused a state of %s: %s", nodeName(f.Node), f.Partition, f.Why), f)
	}
	o := a.observer(f)
	if o == nil {
		return
	}
	switch f.Kind {
	case kafkalogs.Handling:
		o.batch, o.ordered = fmt.Sprint(f.Controller, "/", f.Correlation), true
		return
	case kafkalogs.Cached:
		o.batch, o.ordered = fmt.Sprint(f.Controller, "/", f.ControllerEpoch, "/", f.Correlation), true
	case kafkalogs.Dropped:
		delete(o.state, f.Partition)
	}
	a.obeyed(o, f)
	if f.Partition != "" && f.State.LeaderEpoch != kafkalogs.Unknown {
		a.step(o, f)
	}
}

// observer gives who a fact is an observation of, nil if of nobody.
func (a *analysis) observer(f *kafkalogs.Fact) *observer {
	var name string
	switch f.Kind {
	case kafkalogs.Cached, kafkalogs.Dropped, kafkalogs.Commanded:
		name = nodeName(f.Node) + "'s metadata cache"
	case kafkalogs.Role, kafkalogs.Handling:
		name = nodeName(f.Node) + "'s roles"
	case kafkalogs.Decided:
		switch {
		case f.Offset >= 0:
			name = "metadata log " + f.File
		case f.Controller != kafkalogs.Unknown:
			name = "controller " + id(f.Controller)
		default:
			name = "ZooKeeper in " + f.File
		}
	default:
		return nil
	}
	o := a.observers[name]
	if o == nil {
		o = &observer{name: name, state: map[string]*kafkalogs.Fact{}}
		a.observers[name] = o
		a.names = append(a.names, name)
	}
	return o
}

// epoch compares who leads in an epoch with what others tell of it.
func (a *analysis) epoch(f *kafkalogs.Fact) {
	epochs := a.seen[f.Partition]
	if epochs == nil {
		epochs = map[int32]*kafkalogs.Fact{}
		a.seen[f.Partition] = epochs
	}
	other := epochs[f.State.LeaderEpoch]
	switch {
	case other == nil || other.State.Leader == kafkalogs.Unknown:
		epochs[f.State.LeaderEpoch] = f
	case f.State.Leader == kafkalogs.Unknown || a.anew[f.Partition]:
	case f.State.Leader < 0 || other.State.Leader < 0 || f.State.Leader == other.State.Leader:
		a.compared(Conflict)
	default:
		a.compared(Conflict)
		a.find(Conflict, f.Partition, fmt.Sprintf("%s has two leaders in leader epoch %d: %d and %d", f.Partition, f.State.LeaderEpoch, other.State.Leader, f.State.Leader), other, f)
	}
}

// obeyed compares the controller that a node obeys with those it obeyed before.
func (a *analysis) obeyed(o *observer, f *kafkalogs.Fact) {
	if f.Kind == kafkalogs.Decided || f.ControllerEpoch == kafkalogs.Unknown {
		return
	}
	if c := o.command; c != nil {
		a.compared(Zombie)
		if f.ControllerEpoch < c.ControllerEpoch {
			a.find(Zombie, f.Partition, fmt.Sprintf("%s obeyed controller %s of epoch %d after controller %s of epoch %d", o.name, id(f.Controller), f.ControllerEpoch, id(c.Controller), c.ControllerEpoch), c, f)
			return
		}
	}
	o.command = f
}

// step moves an observer to the state that a fact tells.
func (a *analysis) step(o *observer, f *kafkalogs.Fact) {
	before := o.state[f.Partition]
	if before != nil && !a.anew[f.Partition] {
		a.compared(Regress)
		if f.State.LeaderEpoch < before.State.LeaderEpoch {
			a.find(Regress, f.Partition, fmt.Sprintf("%s went back from leader epoch %d of %s (%s) to %d (%s)",
				o.name, before.State.LeaderEpoch, f.Partition, leader(before), f.State.LeaderEpoch, leader(f)), before, f)
		}
	}
	if before == nil || before.State.LeaderEpoch != f.State.LeaderEpoch {
		o.changes = append(o.changes, change{before, f, o.batch})
	}
	o.state[f.Partition] = f
}

// elections compares who was elected in each epoch.
func (a *analysis) elections(facts []kafkalogs.Fact) {
	elected := map[int32]*kafkalogs.Fact{}
	for i := range facts {
		f := &facts[i]
		if f.Kind != kafkalogs.Elected {
			continue
		}
		other := elected[f.ControllerEpoch]
		if other == nil {
			elected[f.ControllerEpoch] = f
			continue
		}
		a.compared(Conflict)
		if other.Controller != f.Controller {
			a.find(Conflict, "", fmt.Sprintf("epoch %d has two controllers: %d and %d", f.ControllerEpoch, other.Controller, f.Controller), other, f)
		}
	}
}

// logs compares the records of metadata logs at one offset.
func (a *analysis) logs(facts []kafkalogs.Fact) {
	at := map[int64]*kafkalogs.Fact{}
	for i := range facts {
		f := &facts[i]
		if f.Offset < 0 {
			continue
		}
		other := at[f.Offset]
		if other == nil {
			at[f.Offset] = f
			continue
		}
		if other.File == f.File {
			continue
		}
		a.compared(Conflict)
		if other.Partition != f.Partition || other.State.Leader != f.State.Leader || other.State.LeaderEpoch != f.State.LeaderEpoch || other.ControllerEpoch != f.ControllerEpoch {
			a.find(Conflict, f.Partition, fmt.Sprintf("two metadata logs differ at offset %d", f.Offset), other, f)
		}
	}
}

// shown compares what tools printed, which tells no epochs.
func (a *analysis) shown(facts []kafkalogs.Fact) {
	by := map[string]*kafkalogs.Fact{}
	differs := map[string]bool{}
	for i := range facts {
		f := &facts[i]
		if f.Kind != kafkalogs.Shown {
			continue
		}
		other := by[f.Partition]
		if other == nil {
			by[f.Partition] = f
			continue
		}
		a.compared(Differ)
		if other.State.Leader != f.State.Leader && !differs[f.Partition] {
			differs[f.Partition] = true
			a.find(Differ, f.Partition, fmt.Sprintf("%s: %s in one, %s in another; without leader epochs nothing tells which is newer", f.Partition, leader(other), leader(f)), other, f)
		}
	}
}

// lost looks for states that were sent to a broker's cache and not received,
// where what the same controller sent later was: a controller's requests to a
// broker come in order.
func (a *analysis) lost(facts []kafkalogs.Fact) {
	type key struct {
		broker            int32
		partition         string
		epoch, controller int32
	}
	got := map[key]bool{}
	heard := map[int32]bool{}
	for i := range facts {
		if f := &facts[i]; f.Kind == kafkalogs.Cached {
			got[key{f.Node, f.Partition, f.State.LeaderEpoch, f.ControllerEpoch}] = true
			heard[f.Node] = true
		}
	}
	type stream struct {
		broker, controller, epoch int32
	}
	later := map[stream]bool{}
	var found []Finding
	for _, f := range slices.Backward(facts) {
		if f.Kind != kafkalogs.SentCache {
			continue
		}
		for _, to := range f.To {
			if !heard[to] {
				continue
			}
			a.compared(Lost)
			s := stream{to, f.Controller, f.ControllerEpoch}
			switch {
			case got[key{to, f.Partition, f.State.LeaderEpoch, f.ControllerEpoch}]:
				later[s] = true
			case later[s]:
				found = append(found, Finding{Lost, f.Partition, fmt.Sprintf("controller %s sent leader epoch %d of %s (%s) to broker %d, which never cached it, though it did what was sent later",
					id(f.Controller), f.State.LeaderEpoch, f.Partition, leader(&f), to), []Quote{quote(&f)}})
			}
		}
	}
	slices.Reverse(found)
	a.findings = append(a.findings, found...)
}

// behind compares where observers end with the newest epoch that is known.
func (a *analysis) behind() {
	for _, name := range a.names {
		o := a.observers[name]
		for _, p := range slices.Sorted(maps.Keys(o.state)) {
			if a.anew[p] {
				continue
			}
			a.compared(Behind)
			newest := slices.Max(slices.Collect(maps.Keys(a.seen[p])))
			if has := o.state[p]; has.State.LeaderEpoch < newest {
				a.find(Behind, p, fmt.Sprintf("%s ends with leader epoch %d of %s (%s), and %d is known (%s)",
					o.name, has.State.LeaderEpoch, p, leader(has), newest, leader(a.seen[p][newest])), has, a.seen[p][newest])
			}
		}
	}
}

func (a *analysis) find(k Kind, partition, text string, facts ...*kafkalogs.Fact) {
	f := Finding{Kind: k, Partition: partition, Text: text}
	for _, fact := range facts {
		f.Lines = append(f.Lines, quote(fact))
	}
	a.findings = append(a.findings, f)
}

// compared counts what a check held against something else.
func (a *analysis) compared(k Kind) { a.report.Compared[k]++ }

func (a *analysis) warn(format string, args ...any) {
	a.report.Warnings = append(a.report.Warnings, fmt.Sprintf(format, args...))
}

// finish sorts what was found and gives the verdict.
func (a *analysis) finish() *Report {
	r := &a.report
	if n := len(a.anew); n > 0 {
		a.warn("not judged, since deleted or created anew, so that epochs do not tell what is newer: %s", some(slices.Sorted(maps.Keys(a.anew))))
	}
	for _, name := range slices.Sorted(slices.Values(a.names)) {
		o := a.observers[name]
		if len(o.changes) == 0 {
			continue
		}
		r.Observers = append(r.Observers, Observer{name, len(o.state), len(o.changes)})
	}
	r.Verdict = OneOrder
	for _, k := range kinds {
		for _, f := range a.findings {
			if f.Kind != k {
				continue
			}
			if r.Counts[k]++; r.Counts[k] <= MaxFindings {
				r.Findings = append(r.Findings, f)
			}
		}
	}
	switch {
	case r.Divergences() > 0:
		r.Verdict = Divergent
	case r.compared() == 0:
		r.Verdict, r.Because = Undecided, "no two lines tell of the same thing, so nothing could be compared"
	case r.Counts[Differ] > 0:
		r.Verdict, r.Because = Undecided, "nodes answered differently, and without leader epochs nothing tells whether one of them was only late"
	case r.Counts[Lost]+r.Counts[Behind] > 0:
		r.Verdict = OrderedLag
	}
	return r
}

func nodeName(node int32) string {
	if node == kafkalogs.Unknown {
		return "a broker"
	}
	return fmt.Sprintf("broker %d", node)
}

func id(n int32) string {
	if n == kafkalogs.Unknown {
		return "(unnamed)"
	}
	return fmt.Sprint(n)
}

// leader says in words who leads in a fact.
func leader(f *kafkalogs.Fact) string {
	switch l := f.State.Leader; l {
	case kafkalogs.Unknown:
		return "leader not told"
	case kafkalogs.NoLeader:
		return "no leader"
	case kafkalogs.LeaderDuringDelete:
		return "being deleted"
	default:
		return fmt.Sprintf("leader %d", l)
	}
}

// some lists a few names.
func some(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
