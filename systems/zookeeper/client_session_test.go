package zookeeper

import (
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestHostsPaceReconnectsAndNeverStartsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHosts("server:2181")
		if err := h.Init([]string{"server:2181"}); err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			start := time.Now()
			address, startOver := h.Next()
			if address != "server:2181" || startOver {
				t.Errorf("attempt %d: %s, %v", i, address, startOver)
			}
			want := reconnectPause
			if i == 0 {
				want = 0
			}
			if took := time.Since(start); took != want {
				t.Errorf("attempt %d came after %v, want %v", i, took, want)
			}
		}
	})
}

func TestAReleasedHostLetsTheLibraryLookWhetherToQuit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHosts("server:2181")
		h.Next()
		time.AfterFunc(reconnectPause/2, h.release)
		start := time.Now()
		if _, startOver := h.Next(); !startOver {
			t.Error("the list does not start over")
		}
		if took := time.Since(start); took != reconnectPause/2 {
			t.Errorf("waited %v", took)
		}
		h.release()
	})
}

// mute listens and never says anything, as a paused server does.
func mute(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// gone is an address at which nobody listens.
func gone(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestASessionEndsInBoundedTimeWhateverItsServerDoes(t *testing.T) {
	for rule, address := range map[string]string{
		"a paused server accepts and says nothing": mute(t),
		"a killed server refuses":                  gone(t),
	} {
		t.Run(rule, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			s, err := openSession([]string{address}, time.Minute, nil)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			if err := s.ready(ctx); err == nil || !strings.Contains(err.Error(), address) {
				t.Errorf("ready: %v", err)
			}
			// A request that waits for the connection is let go as well.
			pending := make(chan error, 1)
			go func() {
				_, _, err := s.Get("/x")
				pending <- err
			}()
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if err := <-pending; err == nil {
				t.Error("a request on a session without server was answered")
			}
			if err := s.Close(); err != nil {
				t.Errorf("second close: %v", err)
			}
		})
	}
}
