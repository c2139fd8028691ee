package checker

import "github.com/stalemate-io/stalemate/histories"

// model names a sequential specification: what an object does when operations
// come one at a time. Every key of a history is an object of its own.
type model string

// The models. Their names are the ones used on the command line.
const (
	// modelRegister holds one value: read, write.
	modelRegister model = "register"
	// modelCASRegister is a register with compare-and-set as well; it accepts
	// everything modelRegister accepts.
	modelCASRegister model = "cas-register"
	// modelVersionedRegister is a cas-register that counts its changes: an ok
	// write or cas returns the version it made, one more than the version
	// before, and a read returns value and version of one and the same state.
	// An operation without a version is held to its value alone.
	modelVersionedRegister model = "versioned-register"
	// modelMutex is held or free: acquire, release. Who holds it is not part
	// of the model, as in Knossos.
	modelMutex model = "mutex"
	// modelCounter is a sum: add, read.
	modelCounter model = "counter"
	// modelSet only grows: add, and a read that returns all elements.
	modelSet model = "set"
	// modelQueue is first in, first out: enqueue, dequeue. An ok dequeue of
	// nil found the queue empty.
	modelQueue model = "queue"
)

// modelLeadership is how Options.Model names a register whose keys are partitions
// or the like and whose values are their leaders: it is checked as modelRegister,
// and one version with two values is called what it is, two leaders.
const modelLeadership = "leadership"

// models lists every model that linearizable knows, in the order in which
// they are documented.
func models() []model {
	return []model{
		modelRegister, modelCASRegister, modelVersionedRegister,
		modelMutex, modelCounter, modelSet, modelQueue,
	}
}

// nilReads says what an ok read that returned nil means.
type nilReads uint8

const (
	// nilUnconstrained: the client learned nothing, as in Knossos. Such a
	// read constrains no order and is left out.
	nilUnconstrained nilReads = iota
	// nilAbsent: there was no value, as for a znode that does not exist.
	nilAbsent
)

// spec is what the operations of a history are held against.
type spec struct {
	model model
	// initial gives the value that a key has before its first operation, by
	// index into History.Keys; keys that are not in it start with fallback.
	// Nil is: absent for registers, free for a mutex, 0 for a counter, empty
	// for a set or queue. Held (any value but nil and false) starts a mutex
	// as held.
	initial  map[int32]histories.Datum
	fallback histories.Datum
	nilReads nilReads
	// version is the version of the initial value of a versioned register: 0
	// for a znode that stands, -1 for one whose creation makes version 0.
	version int64
}

// start is the initial value of a key.
func (s *spec) start(key int32) histories.Datum {
	if d, ok := s.initial[key]; ok {
		return d
	}
	return s.fallback
}
