package checker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stalemate-io/stalemate/histories"
)

// keyCheck decides one key: it chooses the engine, and makes a witness of a
// violation.
type keyCheck struct {
	ctx    context.Context
	h      *histories.History
	ops    []int32
	spec   *spec
	key    int32
	engine string
	budget *budget
	zones  *zoneCheck
	proof  time.Duration // linearOptions.WitnessTime
}

// run decides the key. With engine auto, zones are asked first where the model
// is theirs; where written values repeat, the windowed search; and porcupine where
// too much is pending at once for that.
func (k *keyCheck) run() keyOutcome {
	if k.ctx.Err() != nil {
		return keyOutcome{keyResult: keyResult{answer: Undecided, reason: stopped(k.ctx.Err())}}
	}
	if k.engine == engineAuto || k.engine == engineFast {
		if out, done := k.fast(); done {
			return out
		}
	}
	p, err := compile(k.h, k.ops, k.spec, k.key)
	if err != nil {
		return k.refused(err)
	}
	out := keyOutcome{operations: len(p.calls)}
	second := k.engine == enginePorcupine
	if !second {
		out.keyResult = windowedKey(k.ctx, &p, k.budget)
		out.engine = engineWindowed
		second = k.engine == engineAuto && out.crowded
	}
	if second {
		out.keyResult = porcupineKey(k.ctx, &p, k.budget)
		out.engine = enginePorcupine
		if out.answer == Violated && k.engine == enginePorcupine {
			// porcupine does not say where it failed; the windowed search does,
			// where it was not too crowded for it.
			found := windowedKey(k.ctx, &p, k.budget)
			if found.answer == Holds {
				out.err = fmt.Errorf("%w: porcupine refuses what the windowed search accepts, key %d", ErrEnginesDisagree, k.key)
				return out
			}
			out.failedAt = found.failedAt // 0, hence no cut, where it is undecided
		}
	}
	if out.answer != Violated {
		return out
	}
	out.fails = p.calls
	k.prove(&out, &p)
	return out
}

// fast asks the zones; done is false where they do not apply and another
// engine may be asked.
func (k *keyCheck) fast() (out keyOutcome, done bool) {
	out.engine = engineFast
	if !zoneApplies(k.spec.model) {
		if k.engine == engineAuto {
			return out, false
		}
		return k.refused(fmt.Errorf("the fast engine knows only the models %s and %s; use engine auto", modelRegister, modelCASRegister)), true
	}
	violation, err := k.zones.check(k.h, k.ops, k.spec, k.key)
	var notUnique *notUniqueError
	if errors.As(err, &notUnique) && k.engine == engineAuto {
		return out, false
	}
	if err != nil {
		return k.refused(err), true
	}
	out.operations = k.zones.counted
	if violation == nil {
		out.answer = Holds
		return out, true
	}
	out.answer = Violated
	out.kind = violation.kind
	out.fails = k.zones.calls(violation)
	k.prove(&out, &program{machine: registerMachine{uint64(k.spec.start(k.key))}})
	return out, true
}

// refused is the outcome for a key that could not be looked at.
func (k *keyCheck) refused(err error) keyOutcome {
	return keyOutcome{keyResult: keyResult{answer: Undecided, reason: err.Error()}}
}
