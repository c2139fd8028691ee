package checker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/stalemate-io/stalemate/histories"
)

// ErrNothingChecked is returned for a history that holds no operation the
// checks could look at. A check that looked at nothing is not a pass.
var ErrNothingChecked = errors.New("the history holds no completed operation that could be checked")

// Check judges a history. It returns an error, and no verdict, where the
// options ask for what does not exist, where the history holds nothing to check
// or an operation that the model does not have, and where two engines contradict
// each other. The history must not be used elsewhere meanwhile.
func Check(h *histories.History, o Options) (*Verdict, error) {
	return CheckContext(context.Background(), h, o)
}

// CheckContext is Check that gives up the search for a linearization when ctx
// is over; what it has not decided by then is Undecided.
func CheckContext(ctx context.Context, h *histories.History, o Options) (*Verdict, error) {
	s, err := newSpec(h, &o)
	if err != nil {
		return nil, err
	}
	if err := checkable(h, &s); err != nil {
		return nil, err
	}
	c := &check{h: h, spec: s, options: &o, faults: findFaults(h), versions: hasVersions(h)}
	paths := readPaths(h)
	if len(paths) < 2 {
		path := ""
		if len(paths) == 1 {
			path = h.Paths[paths[0]]
		}
		v, err := c.path(ctx, everyPath, c.promise(path))
		if err == nil {
			v.Warnings = append(v.Warnings, h.Warnings...)
		}
		return v, err
	}
	all := make(map[string]*Verdict, len(paths))
	for _, p := range paths {
		v, err := c.path(ctx, p, c.promise(h.Paths[p]))
		if err != nil {
			return nil, err
		}
		all[pathName(h.Paths[p])] = v
	}
	return c.worst(all), nil
}

// pathName names a path in a verdict; reads that tell none have one too.
func pathName(path string) string {
	if path == "" {
		return "unnamed"
	}
	return path
}

// checkable refuses a history in which nothing that was asked came back, in which
// nothing could contradict anything, or that the model does not fit.
func checkable(h *histories.History, s *spec) error {
	some := false
	acts := actions[s.model]
	for i := range h.Operations {
		op := &h.Operations[i]
		if op.Outcome == histories.Failed {
			continue
		}
		act, ok := acts[op.F]
		if !ok {
			return &unsupportedError{s.model, functionName(h, op.F)}
		}
		if op.Outcome == histories.Happened && !skipsRead(s, op, act) {
			some = true
		}
	}
	if !some {
		return ErrNothingChecked
	}
	if !observes(h) {
		return fmt.Errorf("%w: nothing in it tells what the system held, such as a read, a compare-and-set or a version, so that nothing could contradict what was written", ErrNothingChecked)
	}
	return nil
}

// observes reports whether an operation that came back tells anything of the
// state that it met. Writes that were acknowledged agree with any order.
func observes(h *histories.History) bool {
	return slices.ContainsFunc(h.Operations, func(op histories.Operation) bool {
		if op.Outcome != histories.Happened {
			return false
		}
		switch op.F {
		case histories.Write, histories.Add, histories.Enqueue:
			return op.Version != histories.UnknownVersion
		}
		return true
	})
}

// check is one history being judged.
type check struct {
	h       *histories.History
	spec    spec
	options *Options
	faults  []fault
	// versions tells whether the system gave any.
	versions bool
}

// promise is the level that reads over a path are held to.
func (c *check) promise(path string) Level {
	if l, ok := c.options.Promises[path]; ok && l != "" {
		return l
	}
	if c.options.Promise != "" {
		return c.options.Promise
	}
	return Linearizable
}

// path judges what one read path shows.
func (c *check) path(ctx context.Context, path int16, promise Level) (*Verdict, error) {
	v := newView(c.h, path)
	j := &judgement{check: c, view: &v, answers: map[Level]Answer{None: Holds}}
	var order sync.WaitGroup
	if c.spec.model.isRegister() && c.versions {
		// The order of versions is asked for whatever the search will say, so
		// that both can be looked for at once.
		order.Go(j.findOrder)
	}
	j.linear = linearizable(ctx, v, c.searched(), linearOptions{
		Engine: c.options.Engine, Timeout: c.options.Timeout, Memory: int64(c.options.MemoryMB) << 20,
	})
	order.Wait()
	if j.linear.Err != nil {
		return nil, j.linear.Err
	}
	j.answers[Linearizable] = j.linear.Answer
	if c.spec.model.isRegister() {
		j.judgeRegister()
	} else {
		j.judgeObject()
	}
	return j.verdict(promise), nil
}

// searched is the specification that the search for a linearization is asked. A
// versioned register is searched by its values alone, where the fast engine may
// answer; that its reads and writes agree with their versions, and the versions
// with real time, is then checked by the order check. An engine that was asked
// for by name gets the whole model.
func (c *check) searched() spec {
	s := c.spec
	if s.model == modelVersionedRegister && (c.options.Engine == "" || c.options.Engine == engineAuto) {
		s.model = modelCASRegister
	}
	return s
}

// judgement gathers what the checks say of one path.
type judgement struct {
	*check
	view    *view
	linear  linearResult
	answers map[Level]Answer
	reason  string // why something is undecided

	order    *orderResult
	stale    staleness
	sessions sessionResult
	set      *setResult
	stuck    []staleRead
	tooStale []staleRead
}

// judgeRegister runs the checks that are about the order of writes. What is
// linearizable holds everything weaker and has no stale read, so that these
// checks are left out, unless there are versions, which have to agree too.
func (j *judgement) judgeRegister() {
	if j.linear.Answer == Holds && !j.versions {
		for _, l := range Levels() {
			j.answers[l] = Holds
		}
		j.stale = staleness{measured: true, exact: true}
		return
	}
	if j.order == nil {
		j.findOrder()
	}
	j.answers[OrderedLag] = j.order.Answer
	for l, a := range j.sessions.answers {
		j.answers[l] = a
	}
	j.findStuck()
	j.findTooStale()
	j.byVersions()
	if j.linear.Answer == Undecided {
		j.reason = j.linear.Reason
	}
	if j.order.Answer == Undecided {
		j.reason = strings.TrimPrefix(j.reason+"; "+j.order.Reason, "; ")
	}
	closeAnswers(j.answers)
}

// findOrder looks for one order of all writes, and at what follows from it.
func (j *judgement) findOrder() {
	j.order = oneOrder(j.view, &j.spec)
	j.stale = measureStaleness(j.order)
	j.sessions = sessions(j.order)
}

// byVersions lets the versions decide linearizability where they give the order
// of all writes: on a known order, a history is linearizable iff no rule of its
// keys is broken and no read is stale. What a compare-and-set found is beyond
// that, so that a pass is not concluded where there is one.
func (j *judgement) byVersions() {
	if !j.stale.measured || !j.stale.exact {
		return
	}
	if len(j.stale.stale) > 0 {
		j.answers[Linearizable] = Violated
		return
	}
	if j.order.Answer == Undecided && j.answers[Linearizable] == Holds {
		// The values fit an order, but whether the versions fit it is open.
		j.answers[Linearizable] = Undecided
		return
	}
	if j.linear.Answer == Undecided && j.order.Answer == Holds && !j.has(histories.CAS) {
		j.answers[Linearizable] = Holds
		j.linear.Engine = "versions"
	}
}

// judgeObject is for the models without an order of writes: they are
// linearizable or not, and sets are accounted for.
func (j *judgement) judgeObject() {
	if j.spec.model == modelSet {
		s := accountSet(j.view)
		j.set = &s
	}
	j.reason = j.linear.Reason
	for _, l := range Levels() {
		if j.answers[l] == "" {
			j.answers[l] = Undecided
		}
	}
	if j.linear.Answer == Violated {
		j.reason = fmt.Sprintf("not linearizable; the weaker levels are about registers, and a %s is none", j.spec.model)
	}
	closeAnswers(j.answers)
}

// findStuck takes the stale reads that came after everything was healed and had
// settled. Lag that does not end is no lag: one order of writes, but an observer
// that never arrives at its end holds another truth.
func (j *judgement) findStuck() {
	from := finalReads(j.h)
	for _, s := range j.stale.stale {
		if j.h.Operations[s.op].Invoked > from {
			j.stuck = append(j.stuck, s)
		}
	}
	if len(j.stuck) > 0 {
		j.answers[OrderedLag] = Violated
	}
}

func (j *judgement) findTooStale() {
	if j.options.MaxStaleness <= 0 {
		return
	}
	for _, s := range j.stale.stale {
		if s.lag > j.options.MaxStaleness.Nanoseconds() {
			j.tooStale = append(j.tooStale, s)
		}
	}
}

// hasVersions reports whether the system gave versions.
func hasVersions(h *histories.History) bool {
	return slices.ContainsFunc(h.Operations, func(op histories.Operation) bool {
		return op.Version != histories.UnknownVersion
	})
}

func (j *judgement) has(f histories.Func) bool {
	return slices.ContainsFunc(j.h.Operations, func(op histories.Operation) bool { return op.F == f })
}
