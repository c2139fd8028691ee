package kafkalogs

import "strings"

// rule is one message of Kafka's that tells something of leadership.
type rule struct {
	// pattern is matched against what was said; see match.
	pattern string
	// fact makes facts of what the stars stood for.
	fact func(s speaker, found []string, f *Fact) bool
}

// rules are the messages of state-change.log, controller.log and server.log, by
// the version that writes them. The first that matches counts.
var rules = []rule{
	// What a controller decides. 1.0 to 3.9; 0.8 has no epoch there.
	{"changed partition * from * to * with state *", func(s speaker, v []string, f *Fact) bool {
		f.New = v[1] == "NewPartition"
		return decided(s, v[0], v[3], f)
	}},
	{"changed partition * state from * to * with assigned replicas *", func(s speaker, v []string, f *Fact) bool {
		f.Kind, f.Partition = Created, partition(v[0])
		return f.Partition != ""
	}},
	{"partition * state changed to * after removing replica *", func(s speaker, v []string, f *Fact) bool {
		return decided(s, v[0], v[1], f)
	}},

	// What it sends. With a state for each partition up to 2.5.
	{"sending become-* LeaderAndIsr request * with correlationId * to broker * for partition *", func(s speaker, v []string, f *Fact) bool {
		f.Correlation = number(v[2])
		return sent(SentRole, s, v[1], v[3], v[4], f)
	}},
	{"sending become-* LeaderAndIsr request * to broker * for partition *", func(s speaker, v []string, f *Fact) bool {
		return sent(SentRole, s, v[1], v[2], v[3], f)
	}},
	{"sending UpdateMetadata request * with correlationId * to broker * for partition *", func(s speaker, v []string, f *Fact) bool {
		f.Correlation = number(v[1])
		return sent(SentCache, s, v[0], v[2], v[3], f)
	}},
	{"sending UpdateMetadata request * to brokers * for partition *", func(s speaker, v []string, f *Fact) bool {
		return sent(SentCache, s, v[0], v[1], v[2], f)
	}},

	// What brokers refuse: the guards.
	{"ignoring LeaderAndIsr request from controller * with correlation id * since its controller epoch * is old. Latest known controller epoch is *", func(s speaker, v []string, f *Fact) bool {
		return fenced(v[0], v[2], v[1], "its controller epoch is old; the latest known is "+v[3], f)
	}},
	{"ignoring LeaderAndIsr request from controller * with correlation id * epoch * for partition * since its associated leader epoch * current leader epoch *", refused},
	{"ignoring LeaderAndIsr request from controller * with correlation id * for partition * since its associated leader epoch * current leader epoch *", func(s speaker, v []string, f *Fact) bool {
		return refused(s, []string{v[0], v[1], "", v[2], v[3], v[4]}, f)
	}},
	{"received invalid LeaderAndIsr request with correlation id * from controller * epoch * with an older leader epoch * for partition * current leader epoch is *", func(s speaker, v []string, f *Fact) bool {
		return refused(s, []string{v[1], v[0], v[2], v[4], v[3] + " is older than the", v[5]}, f)
	}},
	{"received update metadata request with correlation id * from an old controller * with epoch *. Latest known controller epoch is *", func(s speaker, v []string, f *Fact) bool {
		return fenced(v[1], v[2], v[0], "its controller epoch is old; the latest known is "+v[3], f)
	}},
	{"received * request with broker epoch * smaller than the current broker epoch * from controller * with epoch *", func(s speaker, v []string, f *Fact) bool {
		return fenced(v[3], v[4], "", "it is meant for the broker's life before: broker epoch "+v[1]+", now "+v[2], f)
	}},

	// What brokers receive and do.
	{"received LeaderAndIsr request * correlation id * from controller * epoch *", func(s speaker, v []string, f *Fact) bool {
		epoch, name, _ := strings.Cut(v[3], " for partition ")
		f.Kind, f.Correlation, f.Controller, f.ControllerEpoch = Received, number(v[1]), number(v[2]), number(epoch)
		return about(v[0], name, f)
	}},
	{"cached leader info * for partition * in response to UpdateMetadata request sent by controller * epoch * with correlation id *", func(s speaker, v []string, f *Fact) bool {
		f.Kind, f.Controller, f.ControllerEpoch, f.Correlation = Cached, number(v[2]), number(v[3]), number(v[4])
		return about(v[0], v[1], f)
	}},
	{"deleted partition * from metadata cache in response to UpdateMetadata request sent by controller * epoch * with correlation id *", func(s speaker, v []string, f *Fact) bool {
		f.Kind, f.Partition, f.Controller, f.ControllerEpoch, f.Correlation = Dropped, partition(v[0]), number(v[1]), number(v[2]), number(v[3])
		return f.Partition != ""
	}},
	{"handling LeaderAndIsr request correlationId * from controller *", func(s speaker, v []string, f *Fact) bool {
		controller, _, _ := strings.Cut(v[1], " ")
		f.Kind, f.Correlation, f.Controller = Handling, number(v[0]), number(controller)
		return f.Correlation != Unknown
	}},
	{"add * partitions and deleted * partitions from metadata cache in response to UpdateMetadata request sent by controller * epoch * with correlation id *", func(s speaker, v []string, f *Fact) bool {
		f.Kind, f.Controller, f.ControllerEpoch, f.Correlation = Commanded, number(v[2]), number(v[3]), number(v[4])
		return f.ControllerEpoch != Unknown
	}},
	{"leader * starts at leader epoch * from offset *", func(s speaker, v []string, f *Fact) bool {
		return became(s.id, v[0], v[1], f)
	}},
	{"follower * starts at leader epoch * from offset *", func(s speaker, v []string, f *Fact) bool {
		leader := Unknown
		if _, after, ok := strings.Cut(v[2], "Current leader is "); ok {
			id, _, _ := strings.Cut(after, ".")
			leader = number(id)
		}
		return became(leader, v[0], v[1], f)
	}},
	{"* starts at Leader Epoch * from offset *", func(s speaker, v []string, f *Fact) bool { // 1.x to 2.5, server.log
		return s.role == "Partition" && became(s.id, v[0], v[1], f)
	}},

	// Who is elected, in ZooKeeper mode and in the metadata quorum.
	{"* successfully elected as the controller. Epoch incremented to * and *", func(s speaker, v []string, f *Fact) bool {
		return elected(number(v[0]), v[1], f)
	}},
	{"controller * incremented epoch to *", func(s speaker, v []string, f *Fact) bool {
		return elected(number(v[0]), v[1], f)
	}},
	{"becoming the active controller at epoch *, next write offset *", func(s speaker, v []string, f *Fact) bool {
		return elected(s.id, v[0], f)
	}},
	{"becoming the active controller at epoch *", func(s speaker, v []string, f *Fact) bool {
		return elected(s.id, strings.TrimRight(v[0], "."), f)
	}},
	{"completed transition to Leader(*) from *", func(s speaker, v []string, f *Fact) bool {
		epoch, ok := field(v[0], "epoch")
		return ok && elected(s.id, epoch, f)
	}},
}

func decided(s speaker, name, rendering string, f *Fact) bool {
	f.Kind, f.Controller, f.ControllerEpoch = Decided, s.id, s.epoch
	return about(rendering, name, f)
}

func sent(k Kind, s speaker, rendering, to, name string, f *Fact) bool {
	f.Kind, f.Controller, f.ControllerEpoch, f.To = k, s.id, s.epoch, numbers(to)
	return about(rendering, name, f)
}

func became(leader int32, name, epoch string, f *Fact) bool {
	name, _, _ = strings.Cut(name, " with topic id ")
	f.Kind, f.Partition, f.State = Role, partition(name), unknownState()
	f.State.Leader, f.State.LeaderEpoch = leader, number(epoch)
	return f.Partition != "" && f.State.LeaderEpoch != Unknown
}

func fenced(controller, epoch, correlation, why string, f *Fact) bool {
	f.Kind, f.Controller, f.ControllerEpoch, f.Correlation, f.Why = Fenced, number(controller), number(epoch), number(correlation), why
	return f.Controller != Unknown
}

// refused takes controller, correlation, controller epoch, partition, the
// refused leader epoch with how it compares, and the current one.
func refused(_ speaker, v []string, f *Fact) bool {
	f.Kind, f.Controller, f.Correlation, f.ControllerEpoch, f.Partition = Refused, number(v[0]), number(v[1]), number(v[2]), partition(v[3])
	epoch, how, _ := strings.Cut(v[4], " ")
	f.State = unknownState()
	f.State.LeaderEpoch = number(epoch)
	f.Why = "leader epoch " + epoch + " " + how + " current " + strings.TrimRight(v[5], ".")
	return f.Partition != ""
}

func elected(id int32, epoch string, f *Fact) bool {
	f.Kind, f.Controller, f.ControllerEpoch = Elected, id, number(epoch)
	return id != Unknown && f.ControllerEpoch != Unknown
}

// about reads which partition is in which state.
func about(rendering, name string, f *Fact) bool {
	st, ok := state(rendering)
	if f.Partition = partition(name); f.Partition == "" {
		f.Partition = named(rendering)
	}
	f.State = st
	return ok && f.Partition != "" && st.LeaderEpoch != Unknown
}

// said makes a fact of a message; ok is false where it tells nothing of
// leadership.
func said(message string, f *Fact) bool {
	s, rest := splitSpeaker(message)
	f.Node = s.id
	for _, r := range rules {
		v, ok := match(rest, r.pattern)
		if !ok {
			continue
		}
		blank := *f
		if r.fact(s, v, f) {
			return true
		}
		*f = blank
	}
	return false
}
