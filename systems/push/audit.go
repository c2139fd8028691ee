package push

import (
	"fmt"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// Fault is something that a guard is there to prevent, found inside the system
// rather than by its clients.
type Fault struct {
	Kind FaultKind
	At   time.Duration
	Node node.ID
	Key  string // the partition, if any
	What string
}

// FaultKind names a Fault.
type FaultKind string

// The kinds of faults, and the guard that prevents each.
const (
	// SupersededPush: a broker took over a push of an older controller than
	// one it had heard since it booted (controller-epoch-gate).
	SupersededPush FaultKind = "superseded-push"
	// ZombieWrite: a controller wrote a state after its successor's election
	// (controller-epoch-check).
	ZombieWrite FaultKind = "zombie-write"
	// LostUpdate: a state was written over one that its writer had not seen:
	// the leader epoch went back, or the leader changed without it
	// (conditional-writes).
	LostUpdate FaultKind = "lost-update"
	// RoleRegress: a broker went back to a role of an older leader epoch
	// (leader-epoch-check).
	RoleRegress FaultKind = "role-regress"
	// EpochMismatch: a leader served a request that named another leader epoch
	// than its own (fetch-leader-epoch).
	EpochMismatch FaultKind = "epoch-mismatch"
	// CacheRegress: a broker's metadata cache went back to an older leader
	// epoch. No guard prevents it: an overtaken request is enough.
	CacheRegress FaultKind = "cache-regress"
)

// Audit watches the nodes of a world through their traces.
type Audit struct {
	now    func() time.Duration
	faults []Fault
	heard  map[node.ID]int32 // newest controller epoch, by broker, since it booted
	caches map[replicaKey]int32
	roles  map[replicaKey]int32
}

type replicaKey struct {
	node node.ID
	key  string
}

// NewAudit gives an audit that is to be told every trace: hand its Note to the
// world's OnTrace.
func NewAudit(now func() time.Duration) *Audit {
	return &Audit{
		now: now, heard: map[node.ID]int32{}, caches: map[replicaKey]int32{}, roles: map[replicaKey]int32{},
	}
}

// Note takes one trace.
func (a *Audit) Note(id node.ID, t node.Trace) {
	k := replicaKey{id, t.Key}
	switch t.What {
	case TraceStarted:
		a.forget(id)
	case TraceEpochMismatch:
		a.add(EpochMismatch, id, t.Key, fmt.Sprintf("leader of epoch %d served a request of epoch %d", t.Epoch, t.Version))
	case TracePushApplied:
		if epoch := PushEpoch(t.ID); epoch < a.heard[id] {
			a.add(SupersededPush, id, t.Key, fmt.Sprintf("took over a push of controller epoch %d after one of %d", epoch, a.heard[id]))
		} else {
			a.heard[id] = epoch
		}
		switch t.Why {
		case kindUpdateMetadata:
			a.regress(a.caches, k, t.Epoch, CacheRegress, "cache")
		case kindLeaderAndISR:
			a.regress(a.roles, k, t.Epoch, RoleRegress, "role")
		case kindStopReplica:
			delete(a.roles, k)
		}
	}
}

// forget is for a broker that has booted: it starts with nothing.
func (a *Audit) forget(id node.ID) {
	delete(a.heard, id)
	for _, m := range []map[replicaKey]int32{a.caches, a.roles} {
		for k := range m {
			if k.node == id {
				delete(m, k)
			}
		}
	}
}

func (a *Audit) regress(last map[replicaKey]int32, k replicaKey, epoch int32, kind FaultKind, what string) {
	if before, ok := last[k]; ok && epoch < before {
		a.add(kind, k.node, k.key, fmt.Sprintf("%s went from leader epoch %d back to %d", what, before, epoch))
	}
	last[k] = epoch
}

func (a *Audit) add(kind FaultKind, id node.ID, key, what string) {
	a.faults = append(a.faults, Fault{Kind: kind, At: a.now(), Node: id, Key: key, What: what})
}

// Faults gives what was found so far, that in the store's log included.
func (a *Audit) Faults(log []Write) ([]Fault, error) {
	stored, err := auditStore(log)
	return append(stored, a.faults...), err
}

func auditStore(log []Write) ([]Fault, error) {
	var faults []Fault
	var epoch int32
	last := map[protocol.Partition]State{}
	for i := range log {
		w := &log[i]
		if w.Path == controllerEpochPath {
			now, err := decodeEpoch(w.Data)
			if err != nil {
				return faults, err
			}
			epoch = now
			continue
		}
		p, ok := parseStatePath(w.Path)
		if !ok || w.Kind == node.Delete {
			continue
		}
		s, err := DecodeState(w.Path, w.Data)
		if err != nil {
			return faults, err
		}
		before, known := last[p]
		last[p] = s
		found := func(kind FaultKind, what string) {
			faults = append(faults, Fault{Kind: kind, At: w.At, Node: w.By, Key: p.String(), What: what})
		}
		if number(w.By) > controllerBase && s.ControllerEpoch < epoch {
			found(ZombieWrite, fmt.Sprintf("a controller of epoch %d wrote in epoch %d", s.ControllerEpoch, epoch))
		}
		if known && (s.LeaderEpoch < before.LeaderEpoch || s.LeaderEpoch == before.LeaderEpoch && s.Leader != before.Leader) {
			found(LostUpdate, fmt.Sprintf("leader %d in epoch %d written over leader %d in epoch %d",
				s.Leader, s.LeaderEpoch, before.Leader, before.LeaderEpoch))
		}
	}
	return faults, nil
}

// PushEpoch gives the controller epoch of a push from its ID, as it stands in
// traces and headers.
func PushEpoch(id uint64) int32 { return int32(id >> 40) }
