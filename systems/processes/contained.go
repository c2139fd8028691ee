package processes

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/stalemate-io/stalemate/systems"
	"github.com/stalemate-io/stalemate/systems/docker"
	"github.com/stalemate-io/stalemate/systems/local"
	"github.com/stalemate-io/stalemate/systems/node"
)

// member is a node that is started, killed and paused, as a process of this machine
// or as a container.
type member interface {
	systems.Member
	Terminate(context.Context) error
	Asleep() error
	Close() error
}

var (
	_ member = (*local.Member)(nil)
	_ member = (*docker.Member)(nil)
)

// Where a node in a container listens, and what it keeps there.
const (
	containedPort   = "9092"
	containedConfig = "/conf/node.json"
	containedDir    = "/data"
)

// containers are the engine and the space of a cluster whose nodes are containers.
type containers struct {
	engine *docker.Engine
	space  *docker.Space

	once   sync.Once
	copied error
}

// openContainers makes a space on the engine that the environment names.
func openContainers(ctx context.Context) (*containers, error) {
	engine, err := docker.Connect(ctx)
	if err != nil {
		return nil, err
	}
	space, err := engine.Open(ctx)
	if err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	return &containers{engine: engine, space: space}, nil
}

func (c *containers) close() error { return errors.Join(c.space.Close(), c.engine.Close()) }

// installContained makes the nodes' containers. They dial each other directly: their
// links are broken by routes.
func (c *Cluster) installContained(ctx context.Context) (err error) {
	if c.containers, err = openContainers(ctx); err != nil {
		return err
	}
	for _, id := range c.ids {
		c.nodes[id] = &process{id: id, dir: filepath.Join(c.options.Dir, string(id))}
	}
	var mu sync.Mutex
	hosts, advertised := map[node.ID]*docker.Host{}, map[node.ID]string{}
	err = systems.Each(c.nodes, func(p *process) error {
		h, err := c.containers.space.Host(ctx, string(p.id), 9092)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		p.address = h.ClientAddr()
		hosts[p.id], advertised[p.id] = h, p.address
		return nil
	})
	if err != nil {
		return err
	}
	return systems.Each(c.nodes, func(p *process) error {
		config := NodeConfig{
			Self: p.id, Cluster: c.options.Settings, Listen: "0.0.0.0:" + containedPort, Peers: map[node.ID]string{}, Advertised: advertised,
			Disk: diskIn(containedDir), Trace: traceIn(containedDir),
		}
		for id, h := range hosts {
			if id != p.id {
				config.Peers[id] = h.Address() + ":" + containedPort
			}
		}
		return c.contain(ctx, p, hosts[p.id], config)
	})
}

// contain makes the container of a node.
func (c *Cluster) contain(ctx context.Context, p *process, h *docker.Host, config NodeConfig) error {
	role, err := config.Role()
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(p.dir), os.MkdirAll(p.dir, 0o755)); err != nil {
		return err
	}
	if err := config.write(filepath.Join(p.dir, "node.json")); err != nil {
		return err
	}
	p.log = filepath.Join(p.dir, "node.log")
	m, err := h.Member(ctx, docker.Command{
		Image: c.containers.space.OwnImage(), Args: []string{"node", role, "--config", containedConfig},
		Files: []docker.File{{Path: containedConfig, Data: text}}, Log: p.log,
	})
	if err != nil {
		return err
	}
	p.member = m
	return nil
}

// copyTimeout bounds how long the nodes' logs, disks and traces take to be copied.
const copyTimeout = 30 * time.Second

// copyOut brings what ended nodes have written into their folders, once.
func (c *Cluster) copyOut() error {
	c.containers.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), copyTimeout)
		defer cancel()
		c.containers.copied = systems.Each(c.nodes, func(p *process) error {
			m, ok := p.member.(*docker.Member)
			if !ok {
				return nil
			}
			return errors.Join(m.Collect(ctx), m.CopyOut(ctx, containedDir, p.dir))
		})
	})
	return c.containers.copied
}
