package toys

import (
	"github.com/stalemate-io/stalemate/systems/sim"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// addClients adds the clients of workload leadership to a world; they record in
// its history.
func addClients(w *sim.World, o leadership.Options) error {
	record := func() leadership.Recording { return w.Recording() }
	clients, err := leadership.NewClients(o, record)
	if err != nil {
		return err
	}
	if o.Final > 0 {
		w.At(o.Final, func() { w.Record(leadership.FinalReads()) })
		clients = append(clients, leadership.NewFinalClients(o, record)...)
	}
	for _, c := range clients {
		if err := w.AddClient(c.ID, c.New); err != nil {
			return err
		}
	}
	return nil
}
