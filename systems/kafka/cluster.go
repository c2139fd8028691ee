package kafka

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/stalemate-io/stalemate/systems"
	"github.com/stalemate-io/stalemate/systems/docker"
	"github.com/stalemate-io/stalemate/systems/links"
	"github.com/stalemate-io/stalemate/systems/local"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/tcp"
)

// Cluster is a running Kafka.
type Cluster struct {
	members
	options      Options
	installation Installation
	id           string
	ids          []node.ID // controllers of the quorum first
	places       map[node.ID]place
	store        store       // in ZooKeeper mode
	mesh         *links.Mesh // of processes
	space        *docker.Space
	hosts        map[node.ID]*docker.Host // of containers
	admin        *tcp.Node
	topicID      [16]byte
	holds        holds
}

var _ systems.Dependent = (*Cluster)(nil)

// members are the nodes of a Cluster.
type members = systems.Members[node.ID, member]

// launchTimeout bounds a launch, and a restart, whose context does not.
const launchTimeout = 3 * time.Minute

// Launch starts a cluster and returns once its topic is there and all brokers know
// its leaders. Where it fails nothing is left running.
func Launch(ctx context.Context, o Options) (*Cluster, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, err
	}
	c := &Cluster{options: o, members: members{}, places: map[node.ID]place{}}
	if o.Mode == KRaft {
		c.ids = o.ControllerIDs()
	}
	c.ids = append(c.ids, o.BrokerIDs()...)
	if err := c.find(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if err := c.launch(ctx); err != nil {
		return nil, fmt.Errorf("launch of Kafka %s with %d brokers in %s: %w", c.installation.Version, o.Brokers, o.Dir, errors.Join(err, c.Close()))
	}
	return c, nil
}

// find finds what the nodes run from.
func (c *Cluster) find(ctx context.Context) (err error) {
	if c.options.Containers {
		return c.openSpace(ctx)
	}
	c.installation, err = Find(ctx, c.options.Mode, c.options.Home, c.options.Java)
	return err
}

func (c *Cluster) launch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, launchTimeout)
	defer cancel()
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		return err
	}
	id[0] = 'K' // Kafka takes none that begins with a dash
	c.id = base64.RawURLEncoding.EncodeToString(id)
	if c.options.Mode == ZooKeeper {
		if err := c.launchStore(ctx); err != nil {
			return err
		}
	}
	if err := c.install(ctx); err != nil {
		return err
	}
	var err error
	if c.admin, err = c.newAdmin(); err != nil {
		return err
	}
	for _, id := range c.ids {
		if err := c.members[id].Start(); err != nil {
			return err
		}
	}
	return c.createTopic(ctx)
}

// Options are those of the launch with the defaults filled in.
func (c *Cluster) Options() Options { return c.options }

// Versions names what the cluster runs from.
func (c *Cluster) Versions() map[string]string {
	v := map[string]string{"kafka": c.installation.Version}
	if c.space == nil {
		v["java"] = c.installation.JavaVersion
		return v
	}
	v["docker"], v["image"] = c.space.Engine().Version(), c.options.Image
	if c.options.Mode == ZooKeeper {
		v["zookeeper-image"] = c.options.StoreImage
	}
	return v
}

// Nodes lists the nodes that a nemesis may strike: controllers of the quorum, and
// brokers.
func (c *Cluster) Nodes() []string {
	names := make([]string, len(c.ids))
	for i, id := range c.ids {
		names[i] = string(id)
	}
	return names
}

// Dependencies lists the servers of ZooKeeper, where the mode has them.
func (c *Cluster) Dependencies() []string {
	if c.store.servers == nil {
		return nil
	}
	return c.store.servers.Nodes()
}

// Start brings a killed node back on its data and returns once it answers. A broker
// whose session with ZooKeeper has outlived it finds its name taken and gives up; it is
// started again then, as by whoever looks after it.
func (c *Cluster) Start(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, launchTimeout)
	defer cancel()
	for {
		if err := c.members.Start(ctx, name); err != nil {
			return err
		}
		err := c.awaitAnswer(ctx, node.ID(name))
		var died *local.DiedError
		if err == nil || !errors.As(c.members[node.ID(name)].Died(), &died) || !strings.Contains(died.Tail, "NodeExistsException") {
			return err
		}
	}
}

// Links gives the links between nodes, nil where this machine cannot tell who
// dials.
func (c *Cluster) Links() systems.Links {
	if c.space != nil {
		return c.space.Links()
	}
	if !local.TellsDiallers {
		return nil
	}
	return c.mesh
}

// Close kills every node, closes the links, and removes the containers.
func (c *Cluster) Close() error {
	errs := []error{systems.Each(c.members, member.Close)}
	if c.admin != nil {
		errs = append(errs, c.admin.Close())
	}
	if c.store.servers != nil {
		errs = append(errs, c.store.servers.Close())
	}
	if c.mesh != nil {
		errs = append(errs, c.mesh.Close())
	}
	if c.space != nil {
		errs = append(errs, c.space.Close())
	}
	return errors.Join(errs...)
}
