package live

import (
	"time"

	"github.com/stalemate-io/stalemate/workloads/data"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// Workload makes the clients of an experiment. When they begin and stop is the
// experiment's to say; each calls ended when it has done its last operation.
type Workload interface {
	// Begin makes those that work until the load is over.
	Begin(until time.Duration, ended func(), record func() leadership.Recording) ([]leadership.Client, error)
	// Finish makes those that read once more.
	Finish(ended func(), record func() leadership.Recording) []leadership.Client
}

// Leadership is the workload of clients that move leaders and ask who leads.
type Leadership leadership.Options

// Begin makes the clients that work until the load is over.
func (o Leadership) Begin(until time.Duration, ended func(), record func() leadership.Recording) ([]leadership.Client, error) {
	o.From, o.Until, o.Final, o.Ended = 0, until, 0, ended
	return leadership.NewClients(leadership.Options(o), record)
}

// Finish makes the clients that read once more.
func (o Leadership) Finish(ended func(), record func() leadership.Recording) []leadership.Client {
	o.Final, o.Ended = 0, ended
	return leadership.NewFinalClients(leadership.Options(o), record)
}

// Data is the workload of clients that produce and fetch.
type Data data.Options

// Begin makes the clients that work until the load is over.
func (o Data) Begin(until time.Duration, ended func(), record func() leadership.Recording) ([]leadership.Client, error) {
	o.From, o.Until, o.Final, o.Ended = 0, until, 0, ended
	return data.NewClients(data.Options(o), record)
}

// Finish makes the clients that read once more.
func (o Data) Finish(ended func(), record func() leadership.Recording) []leadership.Client {
	o.Final, o.Ended = 0, ended
	return data.NewFinalClients(data.Options(o), record)
}
