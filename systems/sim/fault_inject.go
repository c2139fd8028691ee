package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems/node"
)

// active is a fault that is in force.
type active struct {
	fault *Fault
	nodes []node.ID
	undo  func()
}

// Role names nodes by what they do at the moment, so that a fault can strike,
// say, @controller whoever that is.
func (w *World) Role(name string, who func() []node.ID) {
	if w.roles == nil {
		w.roles = map[string]func() []node.ID{}
	}
	w.roles[name] = who
}

// Schedule has faults happen, and everything healed at a time: from then on
// nothing is injected, every fault still in force is undone, and every node that
// is down boots. A heal of 0 leaves that out. Each fault goes into the history as
// nemesis events, in the form that package nemesis documents.
func (w *World) Schedule(faults []Fault, heal time.Duration) error {
	for i := range faults {
		f := faults[i]
		if err := f.Validate(); err != nil {
			return fmt.Errorf("fault %q: %w", f.String(), err)
		}
		for _, id := range slices.Concat(f.Nodes, f.Peers) {
			if err := w.known(id); err != nil {
				return fmt.Errorf("fault %q: %w", f.String(), err)
			}
		}
		if heal > 0 && f.At >= heal {
			return fmt.Errorf("fault %q begins when everything is healed already, at %v", f.String(), heal)
		}
		if f.Kind == "expire-session" && w.store == nil {
			return fmt.Errorf("fault %q: this system has no store", f.String())
		}
		w.At(f.At, func() { w.arm(&f) })
	}
	if heal > 0 {
		w.At(heal, w.Heal)
	}
	return nil
}

func (w *World) known(id node.ID) error {
	if role, is := strings.CutPrefix(string(id), "@"); is {
		if w.roles[role] == nil {
			return fmt.Errorf("nobody can say who %s is", id)
		}
		return nil
	}
	if w.byID[id] == nil {
		return fmt.Errorf("there is no node %q", id)
	}
	return nil
}

// resolve gives the hosts behind names and roles, each once.
func (w *World) resolve(ids []node.ID) (hosts []*host) {
	add := func(id node.ID) {
		if h := w.byID[id]; h != nil && !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	for _, id := range ids {
		role, is := strings.CutPrefix(string(id), "@")
		if !is {
			add(id)
			continue
		}
		for _, id := range w.roles[role]() {
			add(id)
		}
	}
	return hosts
}

// arm injects a fault, or has it wait for its moment.
func (w *World) arm(f *Fault) {
	switch {
	case w.healed:
	case f.Message != "":
		w.armMessage(f)
	case f.On != nil:
		seen, done := 0, false
		w.OnTrace(func(id node.ID, t node.Trace) {
			if done || w.healed || t.What != f.On.What || f.On.Key != "" && t.Key != f.On.Key {
				return
			}
			if f.On.Node != "" && !slices.ContainsFunc(w.resolve([]node.ID{f.On.Node}), func(h *host) bool { return h.id == id }) {
				return
			}
			if seen++; seen == f.On.Nth {
				done = true
				w.inject(f, w.resolve(f.Nodes))
			}
		})
	case f.Effect > 0:
		hosts := w.resolve(f.Nodes)
		if len(hosts) > 0 && hosts[0].up {
			hosts[0].fuse = uint64(f.Effect)
			hosts[0].blow = func() {
				if !w.healed {
					w.inject(f, hosts)
				}
			}
		}
	default:
		w.inject(f, w.resolve(f.Nodes))
	}
}

// inject puts a fault in force.
func (w *World) inject(f *Fault, hosts []*host) {
	if len(hosts) == 0 {
		return // nobody has the role now
	}
	nodes := make([]node.ID, len(hosts))
	for i, h := range hosts {
		nodes[i] = h.id
	}
	k := kindNamed(f.Kind)
	w.nemesis("start-"+f.Kind, nodes, f.String())
	undo := k.inject(w, f, hosts)
	w.nemesis("start-"+f.Kind, nodes, f.String())
	a := &active{f, nodes, undo}
	if k.Instant {
		w.end(a)
		return
	}
	w.active = append(w.active, a)
	if f.For > 0 {
		w.at(w.now+f.For, func() {
			if i := slices.Index(w.active, a); i >= 0 {
				w.active = slices.Delete(w.active, i, i+1)
				w.end(a)
			}
		})
	}
}

func (w *World) end(a *active) {
	what := a.fault.String()
	w.nemesis("stop-"+a.fault.Kind, a.nodes, what)
	if a.undo != nil {
		a.undo()
	}
	w.nemesis("stop-"+a.fault.Kind, a.nodes, what)
}

// Heal undoes every fault in force, boots every node that is down, and lets no
// fault begin any more. What crashed or paused by other means than a fault is
// brought back too.
func (w *World) Heal() {
	w.healed = true
	for len(w.active) > 0 {
		a := w.active[0]
		w.active = w.active[1:]
		w.end(a)
	}
	for _, h := range w.hosts {
		h.fuse, h.downs = 0, 0
		for h.pauses > 0 {
			h.resume()
		}
		h.start()
	}
}

// Healed reports whether Heal was called.
func (w *World) Healed() bool { return w.healed }

// nemesis records what is done to the world.
func (w *World) nemesis(f string, nodes []node.ID, what string) {
	names := make([]histories.Value, len(nodes))
	for i, id := range nodes {
		names[i] = histories.String(string(id))
	}
	w.Record(histories.Event{
		Process: histories.Nemesis,
		Type:    histories.Info,
		F:       f,
		Value:   histories.List(names...),
		Extra:   []histories.Field{{Name: "what", Value: histories.String(what)}},
	})
}

// armMessage waits for a message to strike.
func (w *World) armMessage(f *Fault) {
	seen := 0
	var remove func()
	remove = w.Intercept(func(e *Envelope, fate *Fate) {
		if seen >= f.Nth || w.healed || e.Answer || !w.among(e.From, f.Nodes) ||
			len(f.Peers) > 0 && !w.among(e.To, f.Peers) || e.Kind() != f.Message {
			return
		}
		if seen++; seen < f.Nth {
			return
		}
		switch f.Kind {
		case "lose-message":
			fate.Lose = true
		case "delay-message":
			fate.Delay += f.Amount
		case "double-message":
			fate.Copies++
		}
		nodes := []node.ID{e.From, e.To}
		for _, moment := range []string{"start-", "start-", "stop-", "stop-"} {
			w.nemesis(moment+f.Kind, nodes, f.String())
		}
		w.at(w.now, remove)
	})
}

func (w *World) among(id node.ID, names []node.ID) bool {
	return slices.ContainsFunc(w.resolve(names), func(h *host) bool { return h.id == id })
}

// The kinds of faults. Each returns how it is undone.

func kill(_ *World, _ *Fault, hosts []*host) func() {
	for _, h := range hosts {
		h.downs++
		h.crash()
	}
	return func() {
		for _, h := range hosts {
			h.downs--
			h.start()
		}
	}
}

func pauseNode(_ *World, _ *Fault, hosts []*host) func() {
	for _, h := range hosts {
		h.pause()
	}
	return func() {
		for _, h := range hosts {
			h.resume()
		}
	}
}

// between gives the links from some hosts to others, or to all that are no
// clients.
func (w *World) between(from []*host, to []node.ID) (links []*link) {
	peers := w.resolve(to)
	if len(to) == 0 {
		for _, h := range w.hosts {
			if !h.client {
				peers = append(peers, h)
			}
		}
	}
	for _, a := range from {
		for _, b := range peers {
			if a != b {
				links = append(links, a.link(b))
			}
		}
	}
	return links
}

// strike changes links and gives how that is undone.
func strike(links []*link, change func(l *link, sign int)) func() {
	for _, l := range links {
		change(l, 1)
	}
	return func() {
		for _, l := range links {
			change(l, -1)
		}
	}
}

func cutOff(links []*link) func() {
	return strike(links, func(l *link, sign int) { l.cut += sign })
}

func both(links []*link) []*link {
	for _, l := range links[:len(links):len(links)] {
		links = append(links, l.to.link(l.from))
	}
	return links
}

func isolate(w *World, _ *Fault, hosts []*host) func() {
	return cutOff(both(w.between(hosts, nil)))
}

func cut(w *World, f *Fault, hosts []*host) func() {
	return cutOff(w.between(hosts, f.Peers))
}

func halves(w *World, f *Fault, hosts []*host) func() {
	return cutOff(both(w.between(hosts, f.Peers)))
}

func slowLink(w *World, f *Fault, hosts []*host) func() {
	return strike(w.between(hosts, f.Peers), func(l *link, sign int) { l.slow += time.Duration(sign) * f.Amount })
}

func holdLink(w *World, f *Fault, hosts []*host) func() {
	return strike(w.between(hosts, f.Peers), func(l *link, sign int) {
		if l.held += sign; l.held == 0 {
			l.release()
		}
	})
}

func lose(w *World, f *Fault, hosts []*host) func() {
	return strike(w.between(hosts, f.Peers), func(l *link, sign int) { l.loss += sign * f.PerMille })
}

func duplicate(w *World, f *Fault, hosts []*host) func() {
	return strike(w.between(hosts, f.Peers), func(l *link, sign int) { l.twice += sign * f.PerMille })
}

func reorder(w *World, f *Fault, hosts []*host) func() {
	return strike(w.between(hosts, f.Peers), func(l *link, sign int) { l.unordered += sign })
}

// each changes hosts and gives how that is undone.
func each(hosts []*host, change func(h *host, sign int)) func() {
	for _, h := range hosts {
		change(h, 1)
	}
	return func() {
		for _, h := range hosts {
			change(h, -1)
		}
	}
}

func slowNode(_ *World, f *Fault, hosts []*host) func() {
	return each(hosts, func(h *host, sign int) { h.cost += time.Duration(sign) * f.Amount })
}

func slowDisk(_ *World, f *Fault, hosts []*host) func() {
	return each(hosts, func(h *host, sign int) { h.disk.slow += time.Duration(sign) * f.Amount })
}

func clockJump(_ *World, f *Fault, hosts []*host) func() {
	for _, h := range hosts {
		h.setClock(f.Amount, h.clock.drift)
	}
	return nil
}

func clockDrift(_ *World, f *Fault, hosts []*host) func() {
	return each(hosts, func(h *host, sign int) { h.setClock(0, h.clock.drift+int64(sign*f.PerMille)*1000) })
}

func expireSession(w *World, _ *Fault, hosts []*host) func() {
	for _, h := range hosts {
		w.store.ExpireSession(h.id)
	}
	return nil
}

func storeLag(_ *World, f *Fault, hosts []*host) func() {
	return each(hosts, func(h *host, sign int) {
		if h.server != nil {
			h.server.slow += time.Duration(sign) * f.Amount
		}
	})
}
