package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"pgregory.net/rapid"
)

// TestCrashKeepsAPrefix: after a crash a disk is as it was at some moment, not
// before the start of the last Sync that was done.
func TestCrashKeepsAPrefix(t *testing.T) {
	type state struct {
		log  []string
		file string
	}
	rapid.Check(t, func(t *rapid.T) {
		w := New(Config{Seed: rapid.Uint64().Draw(t, "seed")})
		if err := w.Add("a", func(env node.Env) node.Machine { return &mute{env: env} }); err != nil {
			t.Fatal(err)
		}
		w.Run(0)
		env := w.Machine("a").(*mute).env
		read := func() (s state) {
			for _, r := range env.Disk().Records("log") {
				s.log = append(s.log, string(r))
			}
			s.file = string(env.Disk().Read("file"))
			return s
		}
		states := []state{{}}
		synced := 0
		for i := range rapid.IntRange(0, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0, 1:
				env.Disk().Append("log", fmt.Append(nil, i))
			case 2:
				env.Disk().Truncate("log", rapid.IntRange(0, 5).Draw(t, "keep"))
			case 3:
				env.Disk().Write("file", fmt.Append(nil, i))
			case 4:
				began := len(states) - 1
				env.Disk().Sync(func() { synced = max(synced, began) })
				continue
			default:
				w.Run(w.Now() + time.Duration(rapid.IntRange(0, 2000).Draw(t, "us"))*time.Microsecond)
				continue
			}
			states = append(states, read())
		}
		given := env.Disk().Records("log")
		copied := slices.Clone(given)
		w.Crash("a")
		w.Restart("a")
		w.Run(w.Now())
		env = w.Machine("a").(*mute).env
		got := read()
		if !slices.ContainsFunc(states[synced:], func(s state) bool { return slices.Equal(s.log, got.log) && s.file == got.file }) {
			t.Fatalf("the disk came back as %v; it was %v, of which the first %d are safe", got, states, synced+1)
		}
		env.Disk().Truncate("log", 0)
		env.Disk().Append("log", []byte("other"))
		for i := range given {
			if string(given[i]) != string(copied[i]) {
				t.Fatal("records that were given out have changed")
			}
		}
	})
}

func TestSlowDisk(t *testing.T) {
	w, a, _ := mutes(t, Config{Seed: 1})
	faults(t, w, "at 0s slow-disk 2s a")
	w.Run(0)
	var done []time.Duration
	for range 2 {
		a().env.Disk().Sync(func() { done = append(done, w.Now()) })
	}
	w.Run(time.Minute)
	if len(done) != 2 || done[0] < 2*time.Second || done[1] < 4*time.Second {
		t.Errorf("the Syncs were done at %v; want them one after the other, 2 s each", done)
	}
}
