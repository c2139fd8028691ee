package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/stalemate-io/stalemate/workloads"
)

// progress tells whoever waits how a run goes: on a terminal one line that is
// written over each second, elsewhere a plain line every few seconds.
type progress struct {
	w        io.Writer
	terminal bool

	mu      sync.Mutex
	current string // the fault in force
	open    bool   // the last line has no end yet
}

// plainEvery is after how many seconds a plain line is written.
const plainEvery = 5

// newProgress writes to w, and finds out whether it is a terminal.
func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	return &progress{w: w, terminal: ok && term.IsTerminal(int(f.Fd()))}
}

// say writes a line of its own.
func (p *progress) say(format string, a ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endLine()
	fmt.Fprintf(p.w, format+"\n", a...)
}

// fault notes what is in force, "" for nothing. Where lines are plain and far
// apart, beginning and end are worth one of their own.
func (p *progress) fault(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current = what
	if p.terminal {
		return
	}
	if what == "" {
		what = "healed"
	}
	fmt.Fprintln(p.w, what)
}

// follow writes once a second how far the load is, until done is closed. tick
// is called each time.
func (p *progress) follow(done <-chan struct{}, length time.Duration, counts func() workloads.Counts, tick func()) {
	var (
		start  = time.Now()
		ticker = time.NewTicker(time.Second)
		last   = counts()
		lastAt = start
		second int
	)
	defer ticker.Stop()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.endLine()
	}()
	for {
		select {
		case <-done:
			return
		case now := <-ticker.C:
			tick()
			if second++; !p.terminal && second%plainEvery != 0 {
				continue
			}
			c := counts()
			rate := float64(c.Completed()-last.Completed()) / now.Sub(lastAt).Seconds()
			last, lastAt = c, now
			p.line(now.Sub(start), length, rate, c)
		}
	}
}

// line writes one line of figures.
func (p *progress) line(elapsed, length time.Duration, rate float64, c workloads.Counts) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "%3.0fs of %.0fs  %4.0f ops/s", elapsed.Seconds(), length.Seconds(), rate)
	if c.Paths != nil {
		fmt.Fprintf(&b, "  stale reads so far %d", c.Stale())
	}
	if p.current != "" {
		fmt.Fprintf(&b, "  [%s]", p.current)
	}
	p.put(b.String())
}

// every is after how long a line of figures is worth writing anew.
func (p *progress) every() time.Duration {
	if p.terminal {
		return time.Second / 5
	}
	return plainEvery * time.Second
}

// write writes a line of figures.
func (p *progress) write(format string, a ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put(fmt.Sprintf(format, a...))
}

// end ends the last line.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endLine()
}

// put writes a line, over the last one where that can be; the lock is held.
func (p *progress) put(text string) {
	if p.terminal {
		fmt.Fprintf(p.w, "\r%s\x1b[K", text)
		p.open = true
		return
	}
	fmt.Fprintln(p.w, text)
}

// endLine ends a line that is to be written over; the lock is held.
func (p *progress) endLine() {
	if p.open {
		fmt.Fprintln(p.w)
		p.open = false
	}
}
