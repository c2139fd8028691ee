package leadership

import "github.com/stalemate-io/stalemate/systems/sim"

// Add adds the clients to a simulated world, and those of the final reads if
// Options.Final says when.
func Add(w *sim.World, o Options) error {
	record := func() Recording { return w.Recording() }
	clients, err := NewClients(o, record)
	if err != nil {
		return err
	}
	if o.Final > 0 {
		w.At(o.Final, func() { w.Record(FinalReads()) })
		clients = append(clients, NewFinalClients(o, record)...)
	}
	for _, c := range clients {
		if err := w.AddClient(c.ID, c.New); err != nil {
			return err
		}
	}
	return nil
}
