package checker

import (
	"fmt"
	"math"
	"slices"

	"github.com/stalemate-io/stalemate/histories"
)

// Models lists the names of the models that Options.Model takes.
func Models() []string {
	var names []string
	for _, m := range models() {
		names = append(names, string(m))
	}
	return append(names, modelLeadership)
}

// chooseModel gives the model that is asked for, or that the functions of the
// history name.
func chooseModel(h *histories.History, name string) (model, error) {
	if name == modelLeadership {
		return modelRegister, nil
	}
	if name != "" {
		if m := model(name); slices.Contains(models(), m) {
			return m, nil
		}
		return "", fmt.Errorf("no model is called %q; the models are %v", name, Models())
	}
	var used [math.MaxUint8 + 1]bool // by Func
	for i := range h.Operations {
		used[h.Operations[i].F] = true
	}
	for f := range h.Functions {
		if used[histories.Func(f)] && !modelled(histories.Func(f)) {
			return "", fmt.Errorf("no model has operations called %q; the models are %v", h.Functions[f], models())
		}
	}
	switch {
	case used[histories.Acquire] || used[histories.Release]:
		return modelMutex, nil
	case used[histories.Enqueue] || used[histories.Dequeue]:
		return modelQueue, nil
	case used[histories.CAS]:
		return modelCASRegister, nil
	case used[histories.Add]:
		return addModel(h), nil
	}
	return modelRegister, nil
}

// modelled reports whether some model has the function.
func modelled(f histories.Func) bool {
	return slices.ContainsFunc(models(), func(m model) bool { _, ok := actions[m][f]; return ok })
}

// addModel tells a counter from a set: a set is read as a collection.
func addModel(h *histories.History) model {
	for i := range h.Operations {
		op := &h.Operations[i]
		if op.F != histories.Read || op.Outcome != histories.Happened {
			continue
		}
		switch h.Data.Unpack(op.Result).Kind() {
		case histories.ListKind, histories.SetKind:
			return modelSet
		case histories.IntKind:
			return modelCounter
		}
	}
	return modelSet
}

// isRegister reports whether a model's reads return one written value, which is
// what an order of writes is about.
func (m model) isRegister() bool {
	return m == modelRegister || m == modelCASRegister || m == modelVersionedRegister
}

// newSpec makes the specification that the options ask for.
func newSpec(h *histories.History, o *Options) (spec, error) {
	m, err := chooseModel(h, o.Model)
	if err != nil {
		return spec{}, err
	}
	s := spec{model: m, fallback: h.Data.Pack(o.Default), nilReads: nilAbsent}
	if !o.Default.IsNil() {
		s.nilReads = nilUnconstrained
	}
	// The version before the first change: nothing stands at -1, and what is
	// created stands at 0.
	if o.Default.IsNil() {
		s.version = -1
	}
	s.initial = make(map[int32]histories.Datum, len(o.Initial))
	for k, key := range h.Keys {
		if v, ok := o.Initial[key]; ok {
			s.initial[int32(k)] = h.Data.Pack(v)
		}
	}
	return s, nil
}
