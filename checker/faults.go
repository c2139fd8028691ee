package checker

import (
	"fmt"
	"strings"

	"github.com/stalemate-io/stalemate/histories"
)

// fault is one disturbance of the system: from the first event that says it
// starts to the last one that says it stops. The events are the nemesis's:
// start-NAME and stop-NAME, each once before and once after it was done, or in
// older histories plain start and stop.
type fault struct {
	name    string
	targets []string
	from    int64 // nanoseconds; histories.UnknownTime where the history has no times
	to      int64 // histories.OpenTime where it was never stopped
	// start and stop are positions in the history; stop is histories.Open where
	// it was never stopped.
	start, stop int32
}

// findFaults pairs the events of the nemesis.
func findFaults(h *histories.History) []fault {
	var faults []fault
	for i := range h.Faults {
		e := &h.Faults[i]
		switch name, isStop, ok := faultName(e.F); {
		case !ok:
		case isStop:
			for k := range faults {
				// The second stop event of a pair moves the end on, unless the
				// same fault has started again since.
				if f := &faults[k]; f.name == name && !startedAgain(faults[k+1:], name) {
					f.to, f.stop = e.Time, int32(e.Index)
				}
			}
		default:
			if k := openFault(faults, name); k >= 0 {
				faults[k].note(e)
				continue
			}
			f := fault{name: name, from: e.Time, to: histories.OpenTime, start: int32(e.Index), stop: histories.Open}
			f.note(e)
			faults = append(faults, f)
		}
	}
	return faults
}

// faultName takes start-NAME or stop-NAME apart.
func faultName(f string) (name string, stop, ok bool) {
	for _, prefix := range []string{"start", "stop"} {
		if rest, found := strings.CutPrefix(f, prefix); found && (rest == "" || rest[0] == '-') {
			if rest = strings.TrimPrefix(rest, "-"); rest == "" {
				rest = "fault"
			}
			return rest, prefix == "stop", true
		}
	}
	return "", false, false
}

func openFault(faults []fault, name string) int {
	for k := len(faults) - 1; k >= 0; k-- {
		if faults[k].name == name && faults[k].stop == histories.Open {
			return k
		}
	}
	return -1
}

func startedAgain(later []fault, name string) bool {
	for k := range later {
		if later[k].name == name {
			return true
		}
	}
	return false
}

// note takes the targets from an event that tells them.
func (f *fault) note(e *histories.Event) {
	elements, ok := e.Value.Elements()
	if !ok || len(f.targets) > 0 {
		return
	}
	for _, v := range elements {
		if s, ok := v.AsString(); ok {
			f.targets = append(f.targets, s)
		}
	}
}

// String describes the fault: pause-leader zk3, 8.000 s - 11.500 s.
func (f *fault) String() string {
	s := strings.Join(append([]string{f.name}, f.targets...), " ")
	switch {
	case f.from == histories.UnknownTime:
		return s
	case f.to == histories.OpenTime:
		return fmt.Sprintf("%s, from %s on", s, seconds(f.from))
	}
	return fmt.Sprintf("%s, %s - %s", s, seconds(f.from), seconds(f.to))
}

// active gives the fault during which an event happened, else the last one that
// had ended before it, else nil.
func active(faults []fault, position int32) (f *fault, during bool) {
	for k := range faults {
		if faults[k].start > position {
			break
		}
		if faults[k].stop >= position {
			return &faults[k], true
		}
		f = &faults[k]
	}
	return f, false
}

// finalReads is the position from which reads are final: the nemesis has healed
// everything and the system had time to settle; histories.Open where the
// history does not say so.
func finalReads(h *histories.History) int32 {
	for i := range h.Faults {
		if h.Faults[i].F == "final-reads" {
			return int32(h.Faults[i].Index)
		}
	}
	return histories.Open
}

// seconds shows a time since the start of a run: to the millisecond, and within
// the first second, where whole runs in memory may lie, to what tells times
// apart.
func seconds(ns int64) string {
	switch {
	case ns >= 1_000_000_000 || ns%1_000_000 == 0:
		return fmt.Sprintf("%.3f s", float64(ns)/1e9)
	case ns >= 1_000_000:
		return strings.TrimRight(fmt.Sprintf("%.6f", float64(ns)/1e9), "0") + " s"
	case ns >= 1_000:
		return fmt.Sprintf("%.4g µs", float64(ns)/1e3)
	}
	return fmt.Sprintf("%d ns", ns)
}
