package docker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"

	"github.com/moby/moby/client"

	"github.com/stalemate-io/stalemate/systems"
)

const (
	// runLabel is on everything of a run, with the run's name on the engine.
	runLabel = "io.stalemate.run"
	// hostLabel is on hosts, with the node's name.
	hostLabel = "io.stalemate.host"
	// imageLabel is on images that hold this program.
	imageLabel = "io.stalemate.image"
)

// Space is what one run has on an engine: a network, the hosts on it, and the
// containers of the nodes.
type Space struct {
	engine *Engine
	name   string
	image  string // that of this program
	own    bool   // the engine is let go with the space

	mu      sync.Mutex
	hosts   map[string]*Host
	members []*Member
}

// OpenSpace makes a space on the engine that the environment names. Where it fails
// nothing is left.
func OpenSpace(ctx context.Context) (*Space, error) {
	e, err := Connect(ctx)
	if err != nil {
		return nil, err
	}
	s, err := e.Open(ctx)
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	s.own = true
	return s, nil
}

// Open makes a space with an empty network. Where it fails nothing is left.
func (e *Engine) Open(ctx context.Context) (*Space, error) {
	s := &Space{engine: e, name: "stalemate-" + strings.ToLower(rand.Text()[:8]), hosts: map[string]*Host{}}
	var err error
	if s.image, err = e.OwnImage(ctx); err != nil {
		return nil, err
	}
	_, err = e.api.NetworkCreate(ctx, s.name, client.NetworkCreateOptions{Driver: "bridge", Labels: s.labels()})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a network for the run: %w", err), s.Close())
	}
	return s, nil
}

// Engine is what the space is on.
func (s *Space) Engine() *Engine { return s.engine }

// Gateway is the address of this machine on the space's network.
func (s *Space) Gateway(ctx context.Context) (string, error) {
	n, err := s.engine.api.NetworkInspect(ctx, s.name, client.NetworkInspectOptions{})
	if err != nil {
		return "", err
	}
	for _, c := range n.Network.IPAM.Config {
		if c.Gateway.Is4() {
			return c.Gateway.String(), nil
		}
	}
	return "", fmt.Errorf("network %s has no IPv4 gateway", s.name)
}

// Name is the value of the label that everything of the space carries.
func (s *Space) Name() string { return s.name }

// OwnImage is the image that holds this program.
func (s *Space) OwnImage() string { return s.image }

func (s *Space) labels() map[string]string { return map[string]string{runLabel: s.name} }

// host finds a host by its node's name.
func (s *Space) host(node string) (*Host, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h, ok := s.hosts[node]; ok {
		return h, nil
	}
	return nil, fmt.Errorf("no node %q", node)
}

// Links gives the directed links between the hosts of the space. They can be cut
// and healed, and no more.
func (s *Space) Links() systems.Links { return links{s} }

// Close removes everything that carries the space's label. It is safe to call
// twice.
func (s *Space) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), actTimeout)
	defer cancel()
	s.mu.Lock()
	for _, m := range s.members {
		m.abandon()
	}
	for _, h := range s.hosts {
		h.hangUp()
	}
	s.mu.Unlock()
	err := s.engine.remove(ctx, s.name)
	if s.own {
		err = errors.Join(err, s.engine.Close())
	}
	return err
}

// address is a host's address on the network of the run.
type address = netip.Addr
