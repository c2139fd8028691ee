package zookeeper

import (
	"errors"
	"fmt"
	"time"
)

// Options says what ensemble to launch. The zero value of every field but Dir
// means its default.
type Options struct {
	// Servers is 1, 3 or 5; 3 by default. One server runs standalone.
	Servers int
	// TickTime is the unit of the servers' time-outs; 2 s by default.
	TickTime time.Duration
	// SyncLimit is for how many ticks a follower and its leader bear with each
	// other's silence; 2 by default.
	SyncLimit int
	// InitLimit is how many ticks a follower may take to connect to a leader
	// and catch up with it; 10 by default.
	InitLimit int
	// Dir is the folder for configurations, data and logs, one folder a
	// server. Required.
	Dir string
	// HeapMB is the largest Java heap of a server in MiB; 128 by default.
	HeapMB int
	// Home is a ZooKeeper of the user's choice, as ZOOKEEPER_HOME names it;
	// by default ZOOKEEPER_HOME and then the distribution's package.
	Home string
	// Java is the java command; by default that of JAVA_HOME, then of PATH.
	Java string
}

// The defaults of Options.
const (
	DefaultServers   = 3
	DefaultTickTime  = 2 * time.Second
	DefaultSyncLimit = 2
	DefaultInitLimit = 10
	DefaultHeapMB    = 128
)

// withDefaults fills in the defaults and checks the rest.
func (o Options) withDefaults() (Options, error) {
	setDefault(&o.Servers, DefaultServers)
	setDefault(&o.TickTime, DefaultTickTime)
	setDefault(&o.SyncLimit, DefaultSyncLimit)
	setDefault(&o.InitLimit, DefaultInitLimit)
	setDefault(&o.HeapMB, DefaultHeapMB)
	switch {
	case o.Dir == "":
		return o, errors.New("no folder for the ensemble's data: set Dir")
	case o.Servers != 1 && o.Servers != 3 && o.Servers != 5:
		return o, fmt.Errorf("an ensemble of %d servers: want 1, 3 or 5", o.Servers)
	case o.TickTime < 100*time.Millisecond || o.TickTime > time.Minute:
		return o, fmt.Errorf("a tick time of %v: want between 100ms and 1m", o.TickTime)
	case o.TickTime%time.Millisecond != 0:
		return o, fmt.Errorf("a tick time of %v: want whole milliseconds", o.TickTime)
	case o.SyncLimit < 1:
		return o, fmt.Errorf("a sync limit of %d ticks: want 1 or more", o.SyncLimit)
	case o.InitLimit < 1:
		return o, fmt.Errorf("an init limit of %d ticks: want 1 or more", o.InitLimit)
	case o.HeapMB < 32:
		return o, fmt.Errorf("a heap of %d MiB: want 32 or more", o.HeapMB)
	}
	return o, nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
