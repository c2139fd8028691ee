package zookeeper

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/go-zookeeper/zk"

	"github.com/stalemate-io/stalemate/histories"
)

// cacheRig is a cache of one register whose server is played by the test.
type cacheRig struct {
	*cache
	value  int64
	err    error
	reads  int
	events chan zk.Event
}

func newCacheRig() *cacheRig {
	return &cacheRig{cache: &cache{
		quit:    make(chan struct{}),
		changed: make(chan struct{}),
		entries: map[string]reading{},
	}}
}

func (r *cacheRig) start() {
	go r.follow("r0", func() (reading, <-chan zk.Event, error) {
		r.reads++
		if r.err != nil {
			return reading{}, nil, r.err
		}
		r.events = make(chan zk.Event, 1)
		return reading{histories.Int(r.value), histories.At(r.value)}, r.events, nil
	})
	synctest.Wait()
}

func (r *cacheRig) session(state zk.State) {
	r.observe(zk.Event{Type: zk.EventSession, State: state})
	synctest.Wait()
}

func (r *cacheRig) fire() {
	r.events <- zk.Event{Type: zk.EventNodeDataChanged, State: zk.StateSyncConnected}
	synctest.Wait()
}

func (r *cacheRig) want(t *testing.T, value int64, err error) {
	t.Helper()
	got, gotErr := r.read("r0")
	if !errors.Is(gotErr, err) || err == nil && got.value != histories.Int(value) {
		t.Errorf("read gives %v, %v, want %d, %v", got.value, gotErr, value, err)
	}
}

func TestACacheServesWhatItsWatchLastTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newCacheRig()
		defer close(r.quit)
		r.session(zk.StateHasSession)
		r.value = 7
		r.start()
		r.want(t, 7, nil)
		r.value = 8
		r.want(t, 7, nil) // nobody told it yet: this is the lag that is measured
		r.fire()
		r.want(t, 8, nil)
		if _, err := r.read("r1"); !errors.Is(err, errNotCached) {
			t.Errorf("a register that was never read: %v", err)
		}
	})
}

func TestACacheServesWhatItHasWhileDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newCacheRig()
		defer close(r.quit)
		r.want(t, 0, errNotCached)
		r.session(zk.StateHasSession)
		r.start()
		r.value = 9
		for _, state := range []zk.State{zk.StateDisconnected, zk.StateConnecting} {
			r.session(state)
			r.want(t, 0, nil)
		}
		r.session(zk.StateHasSession)
		r.want(t, 9, nil) // a change that no watch told of is read at reconnection
	})
}

func TestACacheForgetsWithItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newCacheRig()
		defer close(r.quit)
		r.session(zk.StateHasSession)
		r.start()
		r.want(t, 0, nil)
		r.session(zk.StateExpired)
		r.want(t, 0, errNotCached)
		r.value, r.err = 9, zk.ErrConnectionClosed
		r.session(zk.StateHasSession)
		r.want(t, 0, errNotCached)
		r.err = nil
		r.session(zk.StateHasSession)
		r.want(t, 9, nil)
	})
}

func TestACacheReadsOnceForEachEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newCacheRig()
		defer close(r.quit)
		r.session(zk.StateHasSession)
		r.err = zk.ErrConnectionClosed
		r.start()
		if r.reads != 1 {
			t.Errorf("%d reads while nothing happened, want 1: a cache must not spin", r.reads)
		}
		r.err = nil
		r.session(zk.StateHasSession)
		r.fire()
		r.fire()
		if r.reads != 4 {
			t.Errorf("%d reads, want 4", r.reads)
		}
	})
}
