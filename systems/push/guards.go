package push

import "fmt"

// Guards are the protections that can be switched off, one known bug each. The
// zero value has all of them off; see [AllGuards].
type Guards struct {
	// ControllerEpochGate makes brokers refuse requests of a controller older
	// than the newest they heard of (KAFKA-532). The newest is remembered in
	// memory only. Off: a zombie controller's pushes win over its successor's.
	ControllerEpochGate bool
	// ControllerEpochCheck makes every write of the controller conditional on
	// the version of /controller_epoch, and ends what a controller is doing
	// when its session expires (KAFKA-6082, KAFKA-5642). Off: the event under
	// way goes on in the next session, and changes the store after a
	// successor has read it; nobody pushes that change.
	ControllerEpochCheck bool
	// ConditionalWrites makes writes of a partition's state conditional on its
	// version. Off: a change written in between is overwritten unseen. It
	// earns its place where leaders write the in-sync set themselves
	// (DirectISR): the late write of a deposed leader makes it leader again.
	ConditionalWrites bool
	// LeaderEpochCheck makes brokers ignore a LeaderAndIsr whose leader epoch
	// is not above their own, and a StopReplica below it (KIP-570). Off: a
	// late copy brings an old role back.
	LeaderEpochCheck bool
	// ResendOnFailover makes a new controller push all of its state to all
	// brokers. Off: what its predecessor wrote and did not push stays unsaid.
	ResendOnFailover bool
	// ResendUntilAnswered sends a push again when its answer is late. Off: the
	// push is given up and the next one goes out, so a broker may miss one for
	// good.
	ResendUntilAnswered bool
	// AnnounceBrokersFirst makes a new controller push the list of live
	// brokers before any role (KAFKA-4443). Off: brokers refuse to follow
	// leaders they have not heard of, and answer that all went well.
	AnnounceBrokersFirst bool
	// BrokerEpoch tells incarnations of one broker apart (KIP-380): the
	// controller notices a broker that came back before it was missed, and a
	// broker refuses requests meant for its previous life. Off: a broker that
	// restarts quickly gets no roles and no metadata.
	BrokerEpoch bool
	// ISROnlyElection elects only in-sync replicas. Off: any live replica, at
	// the price of acknowledged records.
	ISROnlyElection bool
	// FetchLeaderEpoch makes leaders compare the leader epoch in fetch and
	// produce requests with their own (KIP-320). Off: a leader of an older
	// epoch serves clients and followers who know better, and the other way
	// round.
	FetchLeaderEpoch bool
	// EpochTruncation makes a new follower cut its log where the leader's
	// epochs say that the two diverge (KIP-101, KIP-279). Off: it cuts at its
	// own high watermark, and two logs may come to differ below it.
	EpochTruncation bool
}

// AllGuards has every guard on, as Kafka 3.x does.
func AllGuards() Guards {
	var g Guards
	for _, e := range guardTable {
		*e.field(&g) = true
	}
	return g
}

// guardTable names the guards, in the order in which they are listed.
var guardTable = []struct {
	name  string
	field func(*Guards) *bool
}{
	{"controller-epoch-gate", func(g *Guards) *bool { return &g.ControllerEpochGate }},
	{"controller-epoch-check", func(g *Guards) *bool { return &g.ControllerEpochCheck }},
	{"conditional-writes", func(g *Guards) *bool { return &g.ConditionalWrites }},
	{"leader-epoch-check", func(g *Guards) *bool { return &g.LeaderEpochCheck }},
	{"resend-on-failover", func(g *Guards) *bool { return &g.ResendOnFailover }},
	{"resend-until-answered", func(g *Guards) *bool { return &g.ResendUntilAnswered }},
	{"announce-brokers-first", func(g *Guards) *bool { return &g.AnnounceBrokersFirst }},
	{"broker-epoch", func(g *Guards) *bool { return &g.BrokerEpoch }},
	{"isr-only-election", func(g *Guards) *bool { return &g.ISROnlyElection }},
	{"fetch-leader-epoch", func(g *Guards) *bool { return &g.FetchLeaderEpoch }},
	{"epoch-truncation", func(g *Guards) *bool { return &g.EpochTruncation }},
}

// GuardNames lists the names that Set takes.
func GuardNames() []string {
	names := make([]string, len(guardTable))
	for i, e := range guardTable {
		names[i] = e.name
	}
	return names
}

// Set switches a guard by its name. The error lists the names there are.
func (g *Guards) Set(name string, on bool) error {
	for _, e := range guardTable {
		if e.name == name {
			*e.field(g) = on
			return nil
		}
	}
	return fmt.Errorf("push has no guard %q; it has %q", name, GuardNames())
}
