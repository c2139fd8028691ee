package main

import (
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// guard ends everything at once on the second interrupt. The first one cancels
// the command's context, which ends the run in order; who interrupts twice does
// not want to wait for that.
type guard struct {
	signals chan os.Signal
	done    chan struct{}
	wait    sync.WaitGroup

	mu   sync.Mutex
	held []io.Closer
}

// newGuard begins to listen, and says so in report when it has to. Release it
// when the run has ended.
func newGuard(report *progress) *guard {
	g := &guard{signals: make(chan os.Signal, 2), done: make(chan struct{})}
	signal.Notify(g.signals, os.Interrupt, syscall.SIGTERM)
	g.wait.Go(func() {
		if !g.signalled() {
			return
		}
		report.say("interrupted: ending in good order; interrupt again to kill everything at once")
		if !g.signalled() {
			return
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, c := range g.held {
			_ = c.Close()
		}
		os.Exit(exitFailed)
	})
	return g
}

// signalled waits for a signal, and reports whether one came before the release.
func (g *guard) signalled() bool {
	select {
	case <-g.signals:
		return true
	case <-g.done:
		return false
	}
}

// holds adds what is closed on the second interrupt.
func (g *guard) holds(c io.Closer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = append(g.held, c)
}

// release stops listening.
func (g *guard) release() {
	signal.Stop(g.signals)
	close(g.done)
	g.wait.Wait()
}
