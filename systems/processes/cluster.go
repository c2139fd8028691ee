package processes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/stalemate-io/stalemate/systems"
	"github.com/stalemate-io/stalemate/systems/docker"
	"github.com/stalemate-io/stalemate/systems/links"
	"github.com/stalemate-io/stalemate/systems/local"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/tcp"
)

// Options say how to launch a cluster.
type Options struct {
	Settings
	// Dir is the cluster's folder. What an earlier cluster left in it is
	// removed.
	Dir string
	// Program and Args run a node: the arguments are followed by the role and
	// --config with the file. Default is this program and "node".
	Program string
	Args    []string
	// Store are the servers of the coordination service, if the system has
	// one: host:port by name. Nodes reach each through a proxy of their own.
	Store map[string]string
	// Space, if not nil, is where each node is a container, instead of a process of
	// this machine. They run this program; Program and Args have no meaning.
	// Store are addresses in the space then.
	Space *docker.Space
	// Proxied has containers reach each other and the store through proxies of
	// this process, as processes do, instead of directly. Their links can be
	// delayed then, and single messages intercepted; else links are cut by routes
	// of the space.
	Proxied bool
}

// Cluster is a toy system that runs as processes of this machine, or in containers.
type Cluster struct {
	nodes
	options Options
	ids     []node.ID
	mesh    *links.Mesh
	admin   *tcp.Node

	intercept interceptors
}

var _ systems.Dependent = (*Cluster)(nil)

// nodes are the members of a Cluster.
type nodes = systems.Members[node.ID, *process]

const (
	// launchTimeout bounds a launch, and a restart, whose context does not.
	launchTimeout = time.Minute
	// launchAttempts is how many sets of ports are tried.
	launchAttempts = 3
)

// Launch starts a cluster and returns once its brokers know who leads each
// partition of its topic. Where it fails nothing is left running.
func Launch(ctx context.Context, o Options) (*Cluster, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, launchTimeout)
	defer cancel()
	for attempt := 1; ; attempt++ {
		c := newCluster(o)
		err := c.launch(ctx)
		if err == nil {
			return c, nil
		}
		err = errors.Join(err, c.Close())
		var died *local.DiedError
		if attempt == launchAttempts || !errors.As(err, &died) || !died.PortTaken() {
			return nil, fmt.Errorf("launch of %d controllers and %d brokers of %s in %s: %w", o.Controllers, o.Brokers, o.System, o.Dir, err)
		}
	}
}

// complete fills in defaults, and says what nothing can be launched with.
func (o Options) complete() (Options, error) {
	o.Settings = o.WithDefaults()
	if err := o.Check(); err != nil {
		return o, err
	}
	if o.System == "push" && len(o.Store) == 0 {
		return o, errors.New("push keeps its state in ZooKeeper: expected the addresses of its servers")
	}
	var err error
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return o, err
	}
	if o.Program == "" {
		if o.Program, err = os.Executable(); err != nil {
			return o, fmt.Errorf("this program's own file, to run nodes with: %w", err)
		}
		o.Args = []string{"node"}
	}
	return o, nil
}

// direct says whether nodes reach each other without a proxy between them.
func (o *Options) direct() bool { return o.Space != nil && !o.Proxied }

func newCluster(o Options) *Cluster {
	c := &Cluster{options: o, ids: o.IDs(), nodes: nodes{}}
	c.intercept.protocol = wireProtocol(o.System, nil)
	return c
}

func (c *Cluster) launch(ctx context.Context) error {
	err := c.install(ctx)
	if err != nil {
		return err
	}
	if c.admin, err = c.newAdmin(); err != nil {
		return err
	}
	for _, id := range c.ids {
		if err := c.nodes[id].Start(); err != nil {
			return err
		}
	}
	err = c.awaitLeaders(ctx)
	if errors.Is(err, context.DeadlineExceeded) && c.options.Space != nil && c.options.Proxied {
		err = fmt.Errorf("%w; its containers reach each other through this machine at %s: a firewall may keep them from it", err, c.mesh.Host())
	}
	return err
}

// Options are those of the launch with the defaults filled in.
func (c *Cluster) Options() Options { return c.options }

// Nodes lists the nodes, controllers first.
func (c *Cluster) Nodes() []string {
	names := make([]string, len(c.ids))
	for i, id := range c.ids {
		names[i] = string(id)
	}
	return names
}

// Dependencies lists the servers of the store, if the system has one.
func (c *Cluster) Dependencies() []string { return slices.Sorted(maps.Keys(c.options.Store)) }

// ClientAddr is the host:port at which clients reach a node, empty for a name
// that is none. No link lies on the way.
func (c *Cluster) ClientAddr(name string) string {
	if p, ok := c.nodes[node.ID(name)]; ok {
		return p.address
	}
	return ""
}

// Log is the path of what a node prints, empty for a name that is none.
func (c *Cluster) Log(name string) string {
	if p, ok := c.nodes[node.ID(name)]; ok {
		return p.log
	}
	return ""
}

// Start brings a killed node back on its disk and returns once it answers. It
// may not know yet what happened while it was away.
func (c *Cluster) Start(ctx context.Context, name string) error {
	if err := c.nodes.Start(ctx, name); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, launchTimeout)
	defer cancel()
	return c.awaitAnswer(ctx, c.nodes[node.ID(name)])
}

// Links gives the links between the nodes, and between them and the servers of
// the store by their names; those of clients cannot be broken.
func (c *Cluster) Links() systems.Links {
	if c.options.direct() {
		return c.options.Space.Links()
	}
	return c.mesh
}

// Stop has every node leave in good order, so that its disk and its trace can be
// read. Those that have not left when ctx is over are killed. Brokers leave first:
// those of push hand over what they lead to a controller.
func (c *Cluster) Stop(ctx context.Context) error {
	var errs []error
	for _, ids := range [][]node.ID{c.options.BrokerIDs(), c.options.ControllerIDs()} {
		leaving := nodes{}
		for _, id := range ids {
			leaving[id] = c.nodes[id]
		}
		errs = append(errs, systems.Each(leaving, func(p *process) error {
			if p.Asleep() == local.ErrStopped {
				return nil
			}
			return p.Terminate(ctx)
		}))
	}
	return errors.Join(errs...)
}

// Close kills every node, paused ones too, and closes the links. A space of
// containers is left to whom it belongs.
func (c *Cluster) Close() error {
	err := systems.Each(c.nodes, func(p *process) error {
		if p.member == nil {
			return nil
		}
		return p.Close()
	})
	if c.admin != nil {
		err = errors.Join(err, c.admin.Close())
	}
	if c.mesh != nil {
		err = errors.Join(err, c.mesh.Close())
	}
	return err
}
