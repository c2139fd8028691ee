package toys

import (
	"fmt"
	"time"

	"github.com/stalemate-io/stalemate/systems/sim"
	"github.com/stalemate-io/stalemate/workloads/data"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// addClients adds the clients of the trial's workload to a cluster; they record
// in its history.
func (t *Trial) addClients(k *Cluster, heal time.Duration) error {
	final := heal + t.Settle
	switch t.Workload {
	case "", Leadership:
		o := leadership.Options{
			Brokers: k.Brokers, Controllers: k.Controllers, Partitions: k.Partitions, Paths: k.Paths,
			Clients: t.Clients, Think: t.Think, From: t.Warmup, Until: heal, Final: final,
		}
		clients, err := leadership.NewClients(o, recordings(k.World))
		if err != nil {
			return err
		}
		return join(k.World, final, append(clients, leadership.NewFinalClients(o, recordings(k.World))...))
	case Data:
		o := data.Options{
			Brokers: k.Brokers, Partitions: k.Partitions,
			Clients: t.Clients, Think: t.Think, From: t.Warmup, Until: heal, Final: final,
		}
		clients, err := data.NewClients(o, recordings(k.World))
		if err != nil {
			return err
		}
		return join(k.World, final, append(clients, data.NewFinalClients(o, recordings(k.World))...))
	}
	return fmt.Errorf("no workload %q; expected %s or %s", t.Workload, Leadership, Data)
}

func recordings(w *sim.World) func() leadership.Recording {
	return func() leadership.Recording { return w.Recording() }
}

// join adds clients to a world and marks when the final reads begin.
func join(w *sim.World, final time.Duration, clients []leadership.Client) error {
	w.At(final, func() { w.Record(leadership.FinalReads()) })
	for _, c := range clients {
		if err := w.AddClient(c.ID, c.New); err != nil {
			return err
		}
	}
	return nil
}
