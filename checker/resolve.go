package checker

import (
	"fmt"
	"slices"

	"github.com/stalemate-io/stalemate/histories"
)

// The kinds of anomalies between a history and the system's own log.
const (
	kindLogLost      = "log-lost"      // acknowledged, or read, and not in the log
	kindLogFailed    = "log-failed"    // certainly did not happen, and in the log
	kindLogVersion   = "log-version"   // another version or value than in the log
	kindLogTwice     = "log-twice"     // asked for once and in the log twice
	kindLogUnwritten = "log-unwritten" // in the log, and no client asked for it
)

// Resolution is what a system's own log says of a history's writes.
type Resolution struct {
	// History is the history with the outcomes that the log tells. It shares
	// everything but the operations with the one resolved.
	History *histories.History
	// Of the writes of unknown outcome, Happened are in the log, Never are not
	// though the log is complete; of the Open ones the log does not tell.
	Happened, Never, Open int

	flaws []flaw
}

// changed reports whether the log told any outcome.
func (r *Resolution) changed() bool { return r.Happened+r.Never > 0 }

// Resolve settles the writes of unknown outcome in a history of registers by the
// system's own log, and compares both. The rules are:
//
//   - A write that alone wrote its value to its key, in the history and in the
//     log, and that the log holds for certain, happened, under the log's version.
//     It is not taken to have ended when its client gave up: it stays open, and
//     whoever saw it says by when it had happened.
//   - A write whose value the log does not hold for its key never happened, if
//     the log is complete, whoever else wrote that value too.
//   - Any other stays unknown: where several wrote one value, the log does not
//     tell which of them it holds; an entry that is not certain decides
//     nothing; nor does one without a version on a key that has versions.
//   - What clients know for certain is never changed. Where the log contradicts
//     it, that is an anomaly, of the system or of its log.
//
// Etcd resolves its histories by its write-ahead log in this way (tests/
// robustness, patch_history). It also draws on the log's order to tell by when
// a write had happened; here the versions say the same to the order check.
func Resolve(h *histories.History, log *histories.Log) *Resolution {
	x := newLogIndex(h, log)
	r := &Resolution{History: h}
	operations := slices.Clone(h.Operations)
	for i := range operations {
		op := &operations[i]
		switch {
		case op.F == histories.Read:
			x.read(r, int32(i))
		case op.F != histories.Write && op.F != histories.CAS:
		case op.Outcome == histories.Unknown:
			x.resolve(r, op)
		default:
			x.compare(r, int32(i))
		}
	}
	x.unwritten(r)
	if r.changed() {
		resolved := *h
		resolved.Operations = operations
		r.History = &resolved
	}
	return r
}

// keyedDatum is a value of a key, keyedVersion a version of one.
type keyedDatum struct {
	key   int32
	value histories.Datum
}

type keyedVersion struct {
	key     int32
	version int64
}

// logIndex finds the entries of a log by value and by version.
type logIndex struct {
	h         *histories.History
	log       *histories.Log
	byValue   map[keyedDatum][]int32 // indexes into log.Writes
	byVersion map[keyedVersion]histories.Datum
	newest    map[int32]int64 // the newest version that the log has of a key
	writers   map[keyedDatum][]int32
	versioned map[int32]bool // the keys of which clients were told versions
}

func newLogIndex(h *histories.History, log *histories.Log) *logIndex {
	x := &logIndex{
		h: h, log: log,
		byValue: map[keyedDatum][]int32{}, byVersion: map[keyedVersion]histories.Datum{}, newest: map[int32]int64{},
		writers: map[keyedDatum][]int32{}, versioned: map[int32]bool{},
	}
	keys := make(map[histories.Value]int32, len(h.Keys))
	for k, key := range h.Keys {
		keys[key] = int32(k)
	}
	for n := range log.Writes {
		w := &log.Writes[n]
		key, ok := keys[w.Key]
		if !ok {
			continue // somebody else's
		}
		value := h.Data.Pack(w.Value)
		at := keyedDatum{key, value}
		x.byValue[at] = append(x.byValue[at], int32(n))
		if v, known := w.Version.Get(); known && !w.Uncertain {
			x.byVersion[keyedVersion{key, v}] = value
			if old, ok := x.newest[key]; !ok || v > old {
				x.newest[key] = v
			}
		}
	}
	for i := range h.Operations {
		op := &h.Operations[i]
		if op.F == histories.Write || op.F == histories.CAS {
			at := keyedDatum{op.Key, written(op)}
			x.writers[at] = append(x.writers[at], int32(i))
		}
		if op.Version != histories.UnknownVersion {
			x.versioned[op.Key] = true
		}
	}
	return x
}

// resolve settles a write of unknown outcome.
func (x *logIndex) resolve(r *Resolution, op *histories.Operation) {
	at := keyedDatum{op.Key, written(op)}
	entries := x.byValue[at]
	switch {
	case len(entries) == 0 && x.log.Complete:
		op.Outcome = histories.Failed
		r.Never++
		return
	case len(entries) != 1 || len(x.writers[at]) != 1:
		r.Open++
		return
	}
	entry := &x.log.Writes[entries[0]]
	version, known := entry.Version.Get()
	if entry.Uncertain || !known && x.versioned[op.Key] {
		r.Open++
		return
	}
	op.Outcome = histories.Happened
	if known {
		op.Version = version
	}
	r.Happened++
}

// compare holds a write whose outcome its client knows against the log.
func (x *logIndex) compare(r *Resolution, i int32) {
	op := &x.h.Operations[i]
	at := keyedDatum{op.Key, written(op)}
	entries := x.byValue[at]
	happened := op.Outcome == histories.Happened
	switch {
	case len(entries) == 0:
		if happened && x.log.Complete {
			r.flaw(kindLogLost, "the system acknowledged the write, and its own log does not hold it", op.Key, i)
		}
		return
	case len(x.writers[at]) != 1:
		return // which of them the log holds it does not tell
	case len(entries) > 1:
		r.flaw(kindLogTwice, fmt.Sprintf("the write was asked for once, and the system's own log holds it %d times", len(entries)), op.Key, i)
		return
	}
	entry := &x.log.Writes[entries[0]]
	version, known := entry.Version.Get()
	switch {
	case entry.Uncertain:
	case !happened:
		r.flaw(kindLogFailed, "the client was told that the write did not happen, and the system's own log holds it", op.Key, i)
	case known && op.Version != histories.UnknownVersion && op.Version != version:
		r.flaw(kindLogVersion, fmt.Sprintf("the write was acknowledged with another version than the %d in the system's own log", version), op.Key, i)
	}
}

// read holds a read that tells its version against the log. Versions up to the
// newest that the log has are in it, if it is complete, but for those before
// its first entry: an initial value is not logged.
func (x *logIndex) read(r *Resolution, i int32) {
	op := &x.h.Operations[i]
	if op.Outcome != histories.Happened || op.Version == histories.UnknownVersion {
		return
	}
	value, ok := x.byVersion[keyedVersion{op.Key, op.Version}]
	newest, some := x.newest[op.Key]
	switch {
	case ok && value != op.Result:
		r.flaw(kindLogVersion, "the read returned another value than the system's own log has under that version", op.Key, i)
	case !ok && some && x.log.Complete && op.Version > newest && len(x.byValue[keyedDatum{op.Key, op.Result}]) == 0:
		r.flaw(kindLogLost, fmt.Sprintf("the read returned what the system's own log, which ends with version %d, does not hold", newest), op.Key, i)
	}
}

// unwritten notes the entries of the log that no client asked for.
func (x *logIndex) unwritten(r *Resolution) {
	keys := make(map[histories.Value]int32, len(x.h.Keys))
	for k, key := range x.h.Keys {
		keys[key] = int32(k)
	}
	for n := range x.log.Writes {
		w := &x.log.Writes[n]
		key, ok := keys[w.Key]
		if !ok || len(x.writers[keyedDatum{key, x.h.Data.Pack(w.Value)}]) > 0 {
			continue
		}
		r.flaw(kindLogUnwritten, fmt.Sprintf("the system's own log holds %s (version %s), which no client of the history wrote", short(w.Value), w.Version), key)
	}
}

func (r *Resolution) flaw(kind, why string, key int32, ops ...int32) {
	r.flaws = append(r.flaws, flaw{kind: kind, why: why, ops: ops, key: key, observer: noObserver})
}
