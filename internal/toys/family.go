package toys

import (
	"math/rand/v2"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/sim"
)

// Family is a kind of trouble of which every seed gives another instance, the
// same for every system: the same nodes at the same times, where a fault waits
// for what a node does or strikes a single message at what takes that place in
// each system.
type Family struct {
	Name string
	// About says in a few words what happens.
	About string
	// Off are the guards of push that stand in its way, which the family
	// switches off; kraft keeps all of its own.
	Off  []string
	draw func(*draw)
}

// Families lists the families, the one with a bit of everything first.
func Families() []Family { return families }

var families = []Family{
	{Name: "storm", About: "crashes, pauses, cuts, losses, delays and repetitions", draw: (*draw).storm},
	{Name: "write-then-crash", About: "the controller dies between committing and telling, and its successor says nothing of it",
		Off: []string{"resend-on-failover"}, draw: (*draw).writeThenCrash},
	{Name: "lost-push", About: "messages to one node are lost and not sent again",
		Off: []string{"resend-until-answered"}, draw: (*draw).lostPush},
	{Name: "reordered-push", About: "a message is late, and overtaken by its own repetition", draw: (*draw).reorderedPush},
	{Name: "failover-skew", About: "a controller's session ends in mid-change, and it goes on behind its successor",
		Off: []string{"controller-epoch-check"}, draw: (*draw).failoverSkew},
	{Name: "zombie-controller", About: "a controller wakes after its successor's election",
		Off: []string{"controller-epoch-gate"}, draw: (*draw).zombie},
	{Name: "cut-off-leader", About: "whoever is in charge is cut off with a slow clock, and clients reach it", draw: (*draw).cutOff},
}

// Schedule draws the faults of one seed for a cluster.
func (f Family) Schedule(k *Cluster, from, until time.Duration) []sim.Fault {
	d := &draw{
		r: rand.New(rand.NewPCG(k.Config.Seed, 0x7374616c65)), seed: k.Config.Seed, from: from, until: until,
		brokers: k.Brokers, controllers: k.Controllers, push: k.Config.System == "push",
	}
	if d.push {
		d.servers = k.Store().Servers()
	}
	f.draw(d)
	return d.faults
}

type draw struct {
	r                             *rand.Rand
	seed                          uint64
	from, until                   time.Duration
	brokers, controllers, servers []node.ID
	push                          bool
	faults                        []sim.Fault
}

// every calls f at moments about a mean time apart.
func (d *draw) every(mean time.Duration, f func(at time.Duration)) {
	for at := d.from; ; {
		at += mean/2 + time.Duration(d.r.Int64N(int64(mean)))
		if at >= d.until-mean/2 {
			return
		}
		f(at)
	}
}

func (d *draw) broker() node.ID { return d.brokers[d.r.IntN(len(d.brokers))] }

func (d *draw) add(f sim.Fault) { d.faults = append(d.faults, f) }

// between draws a duration.
func (d *draw) between(least, most time.Duration) time.Duration {
	return least + time.Duration(d.r.Int64N(int64(most-least)))
}

// news is the message by which a broker hears who leads: the push, or the fetch
// that asks for it (faults that pick one message strike requests).
func (d *draw) news(b node.ID) sim.Fault {
	if d.push {
		return sim.Fault{Message: "UpdateMetadata", Nth: 1, Nodes: d.controllers, Peers: []node.ID{b}}
	}
	return sim.Fault{Message: "Fetch", Nth: 1, Nodes: []node.ID{b}, Peers: d.controllers}
}

// decided is the trace of a change that is true from then on and that nobody
// else knows of.
func (d *draw) decided() string {
	if d.push {
		return "store-write"
	}
	return "appended"
}

func (d *draw) storm() {
	p := sim.Profile{
		Nodes: append(append([]node.ID{}, d.controllers...), d.brokers...),
		Kinds: []string{"kill-node", "pause-node", "isolate-node", "cut-one-way", "halves", "slow-link", "hold-link", "lose", "duplicate",
			"delay-message", "double-message", "lose-message"},
		Messages: []string{"UpdateMetadata", "LeaderAndIsr", "Fetch", "Vote"},
		Notes:    []string{"store-write", "push-queued", "appended", "committed"},
		From:     d.from, Until: d.until, Every: 700 * time.Millisecond, For: 2500 * time.Millisecond,
	}
	d.faults = p.Schedule(d.seed)
	if d.seed%2 == 0 {
		d.reorderedPush()
	}
}

func (d *draw) writeThenCrash() {
	d.every(6*time.Second, func(at time.Duration) {
		d.add(sim.Fault{At: at, For: d.between(time.Second, 8*time.Second), Kind: "kill-node", Nodes: []node.ID{"@controller"},
			On: &sim.Trigger{Node: "@controller", What: d.decided(), Nth: 1}})
	})
}

func (d *draw) lostPush() {
	d.every(700*time.Millisecond, func(at time.Duration) {
		f := d.news(d.broker())
		f.Kind = "lose-message"
		for n := range 1 + d.r.IntN(3) {
			f.At = at + time.Duration(n)*time.Microsecond
			d.add(f)
		}
	})
}

func (d *draw) reorderedPush() {
	d.every(700*time.Millisecond, func(at time.Duration) {
		f := d.news(d.broker())
		f.At, f.Kind, f.Amount = at, "delay-message", d.between(2*time.Second, 6*time.Second)
		d.add(f)
	})
}

func (d *draw) failoverSkew() {
	d.every(4*time.Second, func(at time.Duration) {
		if !d.push {
			d.add(sim.Fault{At: at, For: d.between(3*time.Second, 7*time.Second), Kind: "isolate-node", Nodes: []node.ID{"@controller"},
				On: &sim.Trigger{Node: "@controller", What: d.decided(), Nth: 1}})
			return
		}
		d.add(sim.Fault{At: at, For: d.between(6*time.Second, 9*time.Second), Kind: "hold-link", Nodes: []node.ID{"@controller"}, Peers: d.servers})
	})
}

func (d *draw) zombie() {
	d.every(5*time.Second, func(at time.Duration) {
		b := d.broker()
		span := d.between(7*time.Second, 12*time.Second)
		if d.r.IntN(2) == 0 || !d.push {
			d.add(sim.Fault{At: at, For: span, Kind: "pause-node", Nodes: []node.ID{"@controller"},
				On: &sim.Trigger{Node: "@controller", What: d.decided(), Nth: 1}})
			return
		}
		d.add(sim.Fault{At: at, For: span, Kind: "cut-one-way", Nodes: []node.ID{"@controller"}, Peers: []node.ID{b}})
		d.add(sim.Fault{At: at + time.Second, For: span + 2*time.Second, Kind: "hold-link", Nodes: []node.ID{"@controller"}, Peers: d.servers})
	})
}

func (d *draw) cutOff() {
	d.every(9*time.Second, func(at time.Duration) {
		span := d.between(4*time.Second, 8*time.Second)
		d.add(sim.Fault{At: at, For: span, Kind: "isolate-node", Nodes: []node.ID{"@controller"}})
		// Its slow clock makes it believe in itself for longer.
		d.add(sim.Fault{At: at, For: span, Kind: "clock-drift", PerMille: -500, Nodes: []node.ID{"@controller"}})
		d.add(sim.Fault{At: at + time.Second, For: d.between(4*time.Second, 8*time.Second), Kind: "isolate-node", Nodes: []node.ID{d.broker()}})
	})
}
