package processes

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/stalemate-io/stalemate/systems/links"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/tcp"
)

// Envelope is a request between two nodes, on its way.
type Envelope struct {
	From, To node.ID
	Message  node.Message
}

// Kind names the message as fault schedules do: UpdateMetadata, Vote, …; empty for
// a message that has no name.
func (e *Envelope) Kind() string {
	if k, ok := e.Message.(interface{ Kind() string }); ok {
		return k.Kind()
	}
	return ""
}

// interceptors say what becomes of single requests.
type interceptors struct {
	protocol tcp.Protocol
	list     atomic.Pointer[[]*interceptor] // never changed, only replaced
	mu       sync.Mutex                     // held while it is replaced, and while one is asked
}

type interceptor struct{ judge func(Envelope) links.Fate }

// Intercept has judge say what becomes of each request between two nodes, from now
// on until remove is called; those of clients and those to the store are not
// asked about. Where there are several, the first that does not let a request pass
// decides. They are called one at a time.
func (c *Cluster) Intercept(judge func(Envelope) links.Fate) (remove func()) {
	i := &interceptor{judge}
	c.intercept.replace(func(l []*interceptor) []*interceptor { return append(l, i) })
	return func() {
		c.intercept.replace(func(l []*interceptor) []*interceptor {
			return slices.DeleteFunc(l, func(o *interceptor) bool { return o == i })
		})
	}
}

func (x *interceptors) replace(f func([]*interceptor) []*interceptor) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var old []*interceptor
	if l := x.list.Load(); l != nil {
		old = slices.Clone(*l)
	}
	next := f(old)
	x.list.Store(&next)
}

// on gives what judges the frames from one node to another. What is no request of
// the nodes' protocol passes; the receiver will say so.
func (x *interceptors) on(from, to node.ID) func(frame []byte) links.Fate {
	return func(frame []byte) links.Fate {
		l := x.list.Load()
		if l == nil || len(*l) == 0 {
			return links.Fate{}
		}
		r, err := x.protocol.ParseRequest(frame)
		if err != nil || r.Message == nil {
			return links.Fate{}
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		for _, i := range *l {
			if f := i.judge(Envelope{from, to, r.Message}); f != (links.Fate{}) {
				return f
			}
		}
		return links.Fate{}
	}
}
