package live

import (
	"errors"
	"sync/atomic"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/workloads"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// tally counts what clients complete, for whoever watches the run.
type tally struct{ ok, failed, unknown atomic.Int64 }

// recording records one client's operations with a Recorder.
type recording struct {
	client *histories.Client
	open   *histories.Pending
	tally  *tally
}

var _ leadership.Recording = (*recording)(nil)

func (r *recording) Invoke(e histories.Event) { r.open = r.client.Invoke(e) }

func (r *recording) OK(result histories.Event) {
	r.open.OK(result)
	r.tally.ok.Add(1)
}

func (r *recording) Fail(why string) {
	r.open.Fail(errors.New(why))
	r.tally.failed.Add(1)
}

func (r *recording) Info(why string) {
	r.open.Info(errors.New(why))
	r.tally.unknown.Add(1)
}

func (t *tally) counts() workloads.Counts {
	return workloads.Counts{OK: t.ok.Load(), Failed: t.failed.Load(), Unknown: t.unknown.Load()}
}
