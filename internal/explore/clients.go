package explore

import (
	"slices"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/internal/toys"
	"github.com/stalemate-io/stalemate/workloads/data"
	"github.com/stalemate-io/stalemate/workloads/leadership"
)

// movers is how many clients of workload data move leaders, for the others to
// have something to miss.
const movers = 2

// drawn gives the clients of a search, which write into the plan what they do.
func (s *Search) drawn(k *toys.Cluster, p *Plan) ([]leadership.Client, error) {
	record := func() leadership.Recording { return k.Recording() }
	o := leadership.Options{
		Brokers: k.Brokers, Controllers: k.Controllers, Partitions: k.Partitions, Paths: k.Paths,
		Clients: s.Clients, From: warmup, Until: p.Heal, Final: p.Final,
		Issued: func(op leadership.Op) { p.Ops = append(p.Ops, op) },
	}
	if p.Workload != toys.Data {
		clients, err := leadership.NewClients(o, record)
		return append(clients, leadership.NewFinalClients(o, record)...), err
	}
	o.Clients, o.Movers = movers, movers
	clients, err := leadership.NewClients(o, unrecorded)
	if err != nil {
		return nil, err
	}
	d := data.Options{
		Brokers: k.Brokers, Partitions: k.Partitions, First: movers, Clients: s.Clients,
		From: o.From, Until: o.Until, Final: o.Final, Issued: o.Issued,
	}
	who, err := data.NewClients(d, record)
	return slices.Concat(clients, who, data.NewFinalClients(d, record)), err
}

// scripted gives clients that do what the plan says.
func (p *Plan) scripted(k *toys.Cluster) ([]leadership.Client, error) {
	record := func() leadership.Recording { return k.Recording() }
	o := leadership.Options{Controllers: k.Controllers}
	if p.Workload != toys.Data {
		return leadership.NewScript(p.Ops, o, record)
	}
	var moves, rest []leadership.Op
	for _, op := range p.Ops {
		if op.Do == leadership.Produce || op.Do == leadership.Fetch {
			rest = append(rest, op)
		} else {
			moves = append(moves, op)
		}
	}
	clients, err := leadership.NewScript(moves, o, unrecorded)
	if err != nil {
		return nil, err
	}
	who, err := data.NewScript(rest, data.Options{Brokers: k.Brokers}, record)
	return append(clients, who...), err
}

// unrecorded records nothing: in a history of values, who leads is no operation.
func unrecorded() leadership.Recording { return discard{} }

type discard struct{}

func (discard) Invoke(histories.Event) {}
func (discard) OK(histories.Event)     {}
func (discard) Fail(string)            {}
func (discard) Info(string)            {}
