package checker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stalemate-io/stalemate/histories"
)

// verdict puts together what the checks said.
func (j *judgement) verdict(promise Level) *Verdict {
	v := &Verdict{
		Format: Format, Promise: promise, Model: j.modelName(),
		Levels: j.answers, Engine: j.linear.Engine, ConfirmedBy: j.linear.ConfirmedBy,
		Measured: j.stale.measured, StaleReads: len(j.stale.stale),
		Anomalies: []Anomaly{}, AnomalyCounts: map[string]int{}, Warnings: []string{},
	}
	j.count(v)
	v.StrongestHeld, v.WeakestBroken = edges(j.answers)
	v.Verdict = j.class()
	v.Holds = j.answers[promise]
	if j.options.MaxStaleness > 0 {
		v.Holds = j.bounded(v.Holds)
	}
	v.StalenessMS, v.VersionsBehind = summary(j.stale.stale)
	if j.stale.measured {
		v.Nodes, v.Keys = byNode(j.view, j.stale.stale), byKey(j.view, j.stale.stale)
		v.Convergence = convergence(j.h, j.faults, j.stale.stale)
	}
	if j.set != nil {
		v.Elements = &j.set.Elements
	}
	j.explain(v)
	j.warn(v)
	v.Reason = j.sentence(v)
	return v
}

// modelName names the model as it was asked for.
func (c *check) modelName() string { return cmp.Or(c.options.Model, string(c.spec.model)) }

// count fills in how much was looked at.
func (j *judgement) count(v *Verdict) {
	for _, op := range j.view.operations {
		switch {
		case op.Outcome == histories.Failed, op.F == histories.Read && op.Outcome != histories.Happened:
			continue
		case op.F == histories.Read:
			v.Reads++
		case op.Outcome == histories.Unknown:
			v.Unknown++
		}
		v.Operations++
	}
}

func (j *judgement) class() Class {
	switch {
	case j.answers[Linearizable] == Holds:
		return ClassLinearizable
	case j.answers[OrderedLag] == Holds:
		return ClassOrderedLag
	case j.answers[OrderedLag] == Violated:
		return ClassDivergent
	}
	return ClassUndecided
}

// bounded adds the bound on staleness to the promise.
func (j *judgement) bounded(promise Answer) Answer {
	switch {
	case promise == Violated || len(j.tooStale) > 0:
		return Violated
	case !j.stale.measured || j.stale.noOrder != "":
		return Undecided
	}
	return promise
}

// maxAnomalies is how many anomalies of one kind a verdict shows.
const maxAnomalies = 3

// explain adds the anomalies, the gravest first.
func (j *judgement) explain(v *Verdict) {
	x := &explainer{h: j.h, faults: j.faults}
	// show adds a kind of which there are so many, and describes some of those
	// that are at hand.
	show := func(kind string, count, atHand int, describe func(int) Anomaly) {
		if count == 0 {
			return
		}
		v.AnomalyCounts[kind] = count
		for i := range min(atHand, maxAnomalies) {
			v.Anomalies = append(v.Anomalies, describe(i))
		}
	}
	if j.order != nil {
		x.resolver, x.registers = j.order.resolver, j.order.registers
		for _, kind := range []string{kindConflict, kindPhantom, kindFork, kindRegress} {
			var flaws []flaw
			for _, f := range j.order.flaws {
				if f.kind == kind {
					flaws = append(flaws, f)
				}
			}
			if kind == kindConflict && j.options.Model == modelLeadership {
				kind = kindDualLeader
				for i := range flaws {
					flaws[i].kind = kind
				}
			}
			show(kind, len(flaws), len(flaws), func(i int) Anomaly { return x.flaw(&flaws[i]) })
		}
		show(kindStuck, len(j.stuck), len(j.stuck), func(i int) Anomaly { return x.stale(&j.stuck[i], kindStuck) })
		worst := worstByNode(j.h, j.tooStale)
		show(kindTooStale, len(j.tooStale), len(worst), func(i int) Anomaly { return x.stale(&worst[i], kindTooStale) })
		for _, l := range sessionLevels {
			var flaws []sessionFlaw
			for _, f := range j.sessions.flaws {
				if f.level == l {
					flaws = append(flaws, f)
				}
			}
			show(string(l), len(flaws), len(flaws), func(i int) Anomaly { return x.session(&flaws[i]) })
		}
		worst = worstByNode(j.h, j.stale.stale)
		show(kindStaleRead, len(j.stale.stale), len(worst), func(i int) Anomaly { return x.stale(&worst[i], kindStaleRead) })
	}
	failures := j.linear.Failures
	atHand := len(failures)
	if len(v.Anomalies) > 0 {
		atHand = min(atHand, 1) // what the order check found says more
	}
	show(kindNotLinear, len(failures), atHand, func(i int) Anomaly { return x.linear(&failures[i]) })
	if j.set != nil {
		show(kindLost, len(j.set.lost), len(j.set.lost), func(i int) Anomaly { return x.lost(j.set.lost[i]) })
	}
}

// worstByNode gives the read of each node that lagged most, the worst first.
func worstByNode(h *histories.History, stale []staleRead) []staleRead {
	worst := make(map[int32]staleRead)
	for _, s := range stale {
		id := int32(h.Operations[s.op].Node)
		if w, ok := worst[id]; !ok || s.lag > w.lag || s.lag == w.lag && s.behind > w.behind {
			worst[id] = s
		}
	}
	var out []staleRead
	for _, id := range sortedKeys(worst) {
		out = append(out, worst[id])
	}
	slices.SortStableFunc(out, func(a, b staleRead) int { return cmp.Compare(b.lag, a.lag) })
	return out
}

// warn says what a reader of the numbers has to know.
func (j *judgement) warn(v *Verdict) {
	if !j.stale.measured && j.stale.reason != "" {
		v.Warnings = append(v.Warnings, "staleness not measured on every key: "+j.stale.reason)
	}
	if j.stale.unplaced != "" {
		v.Warnings = append(v.Warnings, "staleness not measured of every read: "+j.stale.unplaced)
	}
	if j.stale.measured && !j.stale.exact {
		v.Warnings = append(v.Warnings, cmp.Or(j.stale.noOrder, j.openOrder())+"; each lag and number of versions is the least it can have been")
	}
	if v.Reads == v.Operations {
		v.Warnings = append(v.Warnings, "the history holds no write, so that nothing could be stale")
	}
}

// openOrder says that writes may have come in several orders, and why.
func (j *judgement) openOrder() string {
	if j.versions {
		return "the order of some writes is open, as not every acknowledged write has a version"
	}
	return "the order of some writes is open, as there are no versions"
}

// sentence says in one sentence why the verdict is what it is.
func (j *judgement) sentence(v *Verdict) string {
	switch v.Verdict {
	case ClassLinearizable:
		if !j.spec.model.isRegister() {
			return "one order of all operations agrees with real time and with what each returned"
		}
		return "every read saw the newest acknowledged write"
	case ClassOrderedLag:
		lag := ""
		if v.StalenessMS.Max > 0 {
			lag = fmt.Sprintf(" by at most %s and %s", milliseconds(int64(v.StalenessMS.Max*1e6)), plural(int(v.VersionsBehind.Max), "version"))
		}
		if v.StaleReads == 0 {
			return "not linearizable, yet every observer walked forward through one order"
		}
		return fmt.Sprintf("%d of %s stale%s, yet every observer walked forward through one order", v.StaleReads, plural(v.Reads, "read"), lag)
	case ClassDivergent:
		return "no single order explains what was observed: " + j.divergence(v)
	}
	if j.reason != "" {
		return j.reason
	}
	return "what was observed does not decide it"
}

// divergence names the anomalies that a divergent verdict rests on.
func (j *judgement) divergence(v *Verdict) string {
	words := map[string]string{
		kindConflict:   "the order of writes contradicts itself (conflict)",
		kindDualLeader: "two leaders under one version (dual-leader)",
		kindPhantom:    "a value was read that nobody had committed (phantom)",
		kindFork:       "observers saw writes in opposite orders (fork)",
		kindRegress:    "an observer went back (regress)",
		kindStuck:      "an observer stayed behind after everything was healed (stuck)",
	}
	for _, a := range v.Anomalies {
		if w, ok := words[a.Kind]; ok {
			return w
		}
	}
	return "a weaker level is broken"
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// rankOf orders classes from best to worst.
var rankOf = map[Class]int{ClassLinearizable: 0, ClassOrderedLag: 1, ClassUndecided: 2, ClassDivergent: 3}

// answerRank orders answers from best to worst.
var answerRank = map[Answer]int{Holds: 0, Undecided: 1, Violated: 2}

// worst makes the verdict over several paths: the worst class of any, the sums
// of the numbers, and a promise that holds where every path's does.
func (c *check) worst(paths map[string]*Verdict) *Verdict {
	names := slices.Sorted(maps.Keys(paths))
	out := &Verdict{
		Format: Format, Verdict: ClassLinearizable, Holds: Holds, Model: c.modelName(), Measured: true,
		Levels: map[Level]Answer{}, Anomalies: []Anomaly{}, AnomalyCounts: map[string]int{},
		Warnings: append([]string{}, c.h.Warnings...), Paths: paths, Within: within(c.h),
	}
	for _, l := range Levels() {
		out.Levels[l] = Holds
	}
	engines := map[string]bool{}
	decisive := ""
	for _, name := range names {
		p := paths[name]
		if rankOf[p.Verdict] > rankOf[out.Verdict] || decisive == "" {
			out.Verdict, out.Reason, decisive = p.Verdict, name+": "+p.Reason, name
		}
		if answerRank[p.Holds] > answerRank[out.Holds] || out.Promise == "" {
			out.Holds, out.Promise = p.Holds, p.Promise
		}
		for l, a := range p.Levels {
			if answerRank[a] > answerRank[out.Levels[l]] {
				out.Levels[l] = a
			}
		}
		out.Reads += p.Reads
		out.StaleReads += p.StaleReads
		out.Unknown = max(out.Unknown, p.Unknown)
		out.Operations = max(out.Operations, p.Operations-p.Reads)
		out.Measured = out.Measured && p.Measured
		out.StalenessMS.widen(p.StalenessMS)
		out.VersionsBehind.widen(p.VersionsBehind)
		if p.Engine != "" {
			engines[p.Engine] = true
		}
	}
	out.Operations += out.Reads
	out.Engine = strings.Join(slices.Sorted(maps.Keys(engines)), "+")
	out.StrongestHeld, out.WeakestBroken = edges(out.Levels)
	return out
}
