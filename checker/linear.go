package checker

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The engines of the linearizability check, as they are named in a verdict.
const (
	engineAuto      = "auto"      // the fastest that applies to each key
	engineFast      = "fast"      // zones; see zone.go
	engineWindowed  = "windowed"  // just-in-time search; see windowed.go
	enginePorcupine = "porcupine" // Wing-Gong-Lowe search by porcupine
)

// ErrEnginesDisagree is the Err of a linearResult where two engines contradict
// each other: a bug in one of them, and never a verdict on a history.
var ErrEnginesDisagree = errors.New("internal error: two linearizability engines disagree, please report this history")

// linearOptions bounds the check and chooses its engine. The zero value
// chooses by itself and uses the default bounds.
type linearOptions struct {
	// Engine is one of the names above; empty means auto.
	Engine string
	// Timeout bounds the whole check, Memory the bytes that the search may
	// hold beyond the history, over all keys together. Zero means
	// defaultTimeout and defaultMemory.
	Timeout time.Duration
	Memory  int64
	// Workers is how many keys are looked at side by side; zero means one a
	// processor.
	Workers int
	// WitnessTime bounds the cutting of one key's witness, and again its
	// confirmation; zero means defaultWitnessTime.
	WitnessTime time.Duration
}

const (
	defaultTimeout = 5 * time.Minute
	defaultMemory  = 2 << 30

	defaultWitnessTime = time.Second
)

// linearResult is the answer for all keys together: Violated if some key is,
// else Undecided if some key is, else Holds. A violation always wins, since it
// is a proof and what could not be looked at cannot take it back.
type linearResult struct {
	Answer Answer
	// Reason says in one sentence why the answer is Undecided.
	Reason string
	// Engine names the engine that decided; where several did (one a key),
	// their names joined by "+".
	Engine string
	// ConfirmedBy is "porcupine" once porcupine has found every witness not
	// linearizable too.
	ConfirmedBy string
	// Keys and Operations say how much was checked. Operations counts those
	// that constrain something: neither failed ones nor unknown reads.
	Keys, Operations int
	// Failures holds one entry for each key that is not linearizable, in
	// order of key.
	Failures []linearFailure
	// Err is set where the answer must not be used at all.
	Err error
}

// linearFailure is the proof that one key is not linearizable.
type linearFailure struct {
	Key int32
	// Kind is the violation in a few words: "stale read", "read of a failed
	// write", "value nobody wrote", …
	Kind string
	// Witness holds the operations of the proof as indexes into
	// History.Operations, in order of invocation; see witness.go for what it
	// proves and in which sense it is minimal.
	Witness []int32
	// Loose is the part of Witness of which the proof uses the invocation
	// only: the rest contradicts itself whether or not and whenever these
	// took effect. In order of invocation.
	Loose []int32
	// AsWrite is the part of Witness that are compare-and-sets of which the
	// proof uses the value they left, and not the one they expected.
	AsWrite []int32
	// Anchor, where it is not -1, is the first operation that the proof rests
	// on: a write of Witness before which everything that was over is left out,
	// since it overwrote whatever that did.
	Anchor int32
	// Minimal is false where the budget ended before the witness was minimal,
	// or where a minimal one would have too many loose operations to follow.
	Minimal bool
}

// linearizable says whether the operations of each key of v can be put in one
// order that agrees with real time and with spec (Herlihy & Wing 1990). Keys
// are spread over a fixed number of workers.
func linearizable(ctx context.Context, v view, spec spec, o linearOptions) linearResult {
	o = o.withDefaults()
	if err := o.validate(&spec); err != nil {
		return linearResult{Answer: Undecided, Reason: err.Error(), Err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	outcomes := make([]keyOutcome, len(v.keys))
	share := &budget{memory: o.Memory / int64(o.Workers)}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(o.Workers, len(v.keys)) {
		workers.Go(func() {
			var zones zoneCheck
			for {
				key := int(next.Add(1)) - 1
				if key >= len(v.keys) {
					return
				}
				if len(v.keys[key]) > 0 {
					k := keyCheck{ctx, v.history, v.keys[key], &spec, int32(key), o.Engine, share, &zones, o.WitnessTime}
					outcomes[key] = k.run()
				}
			}
		})
	}
	workers.Wait()
	return summarize(outcomes)
}

func (o linearOptions) withDefaults() linearOptions {
	if o.Engine == "" {
		o.Engine = engineAuto
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	if o.WitnessTime <= 0 {
		o.WitnessTime = defaultWitnessTime
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	return o
}

// validate refuses what no engine can be asked.
func (o linearOptions) validate(s *spec) error {
	if !slices.Contains(models(), s.model) {
		return fmt.Errorf("no model is called %q; the models are %v", s.model, models())
	}
	if !slices.Contains([]string{engineAuto, engineFast, engineWindowed, enginePorcupine}, o.Engine) {
		return fmt.Errorf("no engine is called %q; the engines are auto, fast, windowed and porcupine", o.Engine)
	}
	return nil
}

// keyOutcome is the answer for one key; its engine is empty for a key that has
// no operations.
type keyOutcome struct {
	keyResult
	failure    linearFailure
	confirmed  bool
	operations int
	err        error
}

// summarize makes one answer of those of the keys.
func summarize(keys []keyOutcome) linearResult {
	r := linearResult{Answer: Holds}
	var engines []string
	confirmed := true
	for i := range keys {
		k := &keys[i]
		if k.answer == "" {
			continue
		}
		r.Keys++
		r.Operations += k.operations
		if k.engine != "" && !slices.Contains(engines, k.engine) {
			engines = append(engines, k.engine)
		}
		if k.err != nil && r.Err == nil {
			r.Err = k.err
		}
		switch k.answer {
		case Violated:
			r.Answer = Violated
			r.Failures = append(r.Failures, k.failure)
			confirmed = confirmed && k.confirmed
		case Undecided:
			if r.Reason == "" {
				r.Reason = k.reason
			}
			if r.Answer == Holds {
				r.Answer = Undecided
			}
		}
	}
	slices.Sort(engines)
	r.Engine = strings.Join(engines, "+")
	if r.Err != nil {
		r.Answer, r.Reason, r.Failures = Undecided, r.Err.Error(), nil
	}
	if r.Answer == Violated {
		r.Reason = ""
		if confirmed {
			r.ConfirmedBy = enginePorcupine
		}
	}
	return r
}
