package processes

import (
	"fmt"
	"time"

	"github.com/stalemate-io/stalemate/systems/kraft"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/push"
)

// Settings say what a cluster is made of. All its nodes share them.
type Settings struct {
	// System is push or kraft.
	System string `json:"system"`
	// Controllers are c1, c2, …, Brokers b1, b2, …, and Partitions those of
	// the one topic, t.
	Controllers int `json:"controllers"`
	Brokers     int `json:"brokers"`
	Partitions  int `json:"partitions"`
	// SessionTimeout is after how much silence a controller or a broker is
	// taken for dead. Default 6 s.
	SessionTimeout time.Duration `json:"session_timeout"`
	// Off and On switch guards of the system by name.
	Off []string `json:"guards_off,omitempty"`
	On  []string `json:"guards_on,omitempty"`
}

// Systems lists the systems there are.
func Systems() []string { return []string{"push", "kraft"} }

// WithDefaults fills in what was left out.
func (s Settings) WithDefaults() Settings {
	if s.SessionTimeout == 0 {
		s.SessionTimeout = 6 * time.Second
	}
	return s
}

// Check says what no cluster can be made of.
func (s Settings) Check() error {
	switch s.System {
	case "push":
		cfg, err := s.push()
		if err != nil {
			return err
		}
		return cfg.Validate()
	case "kraft":
		cfg, err := s.kraft()
		if err != nil {
			return err
		}
		return cfg.Validate()
	}
	return fmt.Errorf("no system %q: expected push or kraft", s.System)
}

// ControllerIDs lists the controllers' names.
func (s Settings) ControllerIDs() []node.ID { return named("c", s.Controllers) }

// BrokerIDs lists the brokers' names.
func (s Settings) BrokerIDs() []node.ID { return named("b", s.Brokers) }

// IDs lists the names of all nodes, controllers first.
func (s Settings) IDs() []node.ID { return append(s.ControllerIDs(), s.BrokerIDs()...) }

func named(letter string, n int) []node.ID {
	ids := make([]node.ID, n)
	for i := range ids {
		ids[i] = node.ID(fmt.Sprint(letter, i+1))
	}
	return ids
}

// Topic lists the partitions of the cluster's topic.
func (s Settings) Topic() []protocol.Partition {
	p := make([]protocol.Partition, s.Partitions)
	for i := range p {
		p[i] = protocol.Partition{Topic: "t", Index: int32(i)}
	}
	return p
}

// Paths lists the read paths that the system has.
func (s Settings) Paths() []protocol.ReadPath {
	if s.System == "kraft" {
		return []protocol.ReadPath{protocol.ReadBroker, protocol.ReadLeader, protocol.ReadQuorum}
	}
	return []protocol.ReadPath{protocol.ReadBroker, protocol.ReadLeader}
}

func (s Settings) kraft() (kraft.Config, error) {
	s = s.WithDefaults()
	cfg := kraft.Cluster(s.Controllers, s.Brokers, s.Partitions)
	cfg.SessionTimeout = s.SessionTimeout
	cfg.HeartbeatInterval = s.SessionTimeout / 4
	return cfg, s.guards(&cfg.Guards)
}

func (s Settings) push() (push.Config, error) {
	cfg := push.Cluster(s.Controllers, s.Brokers, s.Partitions)
	return cfg, s.guards(&cfg.Guards)
}

func (s Settings) guards(g interface{ Set(string, bool) error }) error {
	for _, name := range s.Off {
		if err := g.Set(name, false); err != nil {
			return err
		}
	}
	for _, name := range s.On {
		if err := g.Set(name, true); err != nil {
			return err
		}
	}
	return nil
}
