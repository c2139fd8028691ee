package kafka

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/stalemate-io/stalemate/systems"
	"github.com/stalemate-io/stalemate/systems/links"
	"github.com/stalemate-io/stalemate/systems/local"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/tcp"
	"github.com/stalemate-io/stalemate/systems/zookeeper"
)

// Cluster is a running Kafka.
type Cluster struct {
	members
	options      Options
	installation Installation
	id           string
	ids          []node.ID // controllers of the quorum first
	places       map[node.ID]place
	store        *zookeeper.Ensemble // in ZooKeeper mode
	mesh         *links.Mesh
	admin        *tcp.Node
	topicID      [16]byte
	holds        holds
}

var _ systems.Dependent = (*Cluster)(nil)

// members are the nodes of a Cluster.
type members = systems.Members[node.ID, *local.Member]

// launchTimeout bounds a launch, and a restart, whose context does not.
const launchTimeout = 3 * time.Minute

// Launch starts a cluster and returns once its topic is there and all brokers know
// its leaders. Where it fails nothing is left running.
func Launch(ctx context.Context, o Options) (*Cluster, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	in, err := Find(ctx, o.Mode, o.Home, o.Java)
	if err != nil {
		return nil, err
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, launchTimeout)
	defer cancel()
	c := &Cluster{options: o, installation: in, members: members{}, places: map[node.ID]place{}}
	if o.Mode == KRaft {
		c.ids = o.ControllerIDs()
	}
	c.ids = append(c.ids, o.BrokerIDs()...)
	if err := c.launch(ctx); err != nil {
		return nil, fmt.Errorf("launch of Kafka %s with %d brokers in %s: %w", in.Version, o.Brokers, o.Dir, errors.Join(err, c.Close()))
	}
	return c, nil
}

func (c *Cluster) launch(ctx context.Context) error {
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		return err
	}
	id[0] = 'K' // Kafka takes none that begins with a dash
	c.id = base64.RawURLEncoding.EncodeToString(id)
	if c.options.Mode == ZooKeeper {
		var err error
		c.store, err = zookeeper.Launch(ctx, zookeeper.Options{
			Servers: c.options.Controllers, TickTime: time.Second, Dir: storeIn(c.options.Dir),
			Home: c.installation.Libs, Java: c.installation.Java,
		})
		if err != nil {
			return err
		}
	}
	if err := c.install(); err != nil {
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

// install gives every node its ports, its proxy and its folder.
func (c *Cluster) install() error {
	ports, err := local.ReservePorts(2 * len(c.ids))
	if err != nil {
		return err
	}
	defer ports.Release()
	// All members before the first proxy, which asks them who dials.
	for _, id := range c.ids {
		c.members[id] = c.newMember(id)
	}
	c.mesh = links.New(append(c.Nodes(), c.Dependencies()...)...)
	for i, id := range c.ids {
		p := place{number: number(id), internal: hostPort(ports.Numbers[2*i]), client: hostPort(ports.Numbers[2*i+1])}
		if p.proxy, err = c.proxy(string(id), p.internal); err != nil {
			return err
		}
		c.places[id] = p
	}
	var store []string
	if c.store != nil {
		for _, server := range c.store.Nodes() {
			address, err := c.proxy(server, c.store.ClientAddr(server))
			if err != nil {
				return err
			}
			store = append(store, address)
		}
	} else {
		for _, id := range c.options.ControllerIDs() {
			store = append(store, fmt.Sprintf("%d@%s", c.places[id].number, c.places[id].proxy))
		}
	}
	for _, id := range c.ids {
		if err := c.installNode(id, store); err != nil {
			return err
		}
	}
	return nil
}

// proxy opens the proxy in front of a node, which finds out who dials; where that
// cannot be, nodes reach each other directly.
func (c *Cluster) proxy(to, target string) (string, error) {
	if !local.TellsDiallers {
		return target, nil
	}
	route := links.Route{To: to, Target: target, Who: c.who}
	if slices.Contains(c.Pushed(), to) {
		route.Frames = c.holds.on(node.ID(to))
	}
	port, err := c.mesh.Open(route)
	return hostPort(port), err
}

func (c *Cluster) installNode(id node.ID, store []string) error {
	dir := filepath.Join(c.options.Dir, string(id))
	data := filepath.Join(dir, "data")
	text := brokerProperties(c.options, c.places[id], store, data)
	if id[0] == 'c' {
		text = controllerProperties(c.options, c.places[id], store, data)
	}
	log := log4j1
	if numbersOf(c.installation.Version)[0] >= 4 {
		log = log4j2
	}
	files := map[string]string{
		filepath.Join(dir, "server.properties"): text,
		filepath.Join(dir, "log4j.properties"):  log,
	}
	if c.options.Mode == KRaft {
		files[filepath.Join(data, "meta.properties")] = metaProperties(c.id, c.places[id].number)
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(data, 0o755)); err != nil {
		return err
	}
	for path, text := range files {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// newMember makes the command of a node from the files that install writes.
func (c *Cluster) newMember(id node.ID) *local.Member {
	dir := filepath.Join(c.options.Dir, string(id))
	return &local.Member{Name: string(id), Command: local.Command{
		Path: c.installation.Java,
		Args: javaArguments(c.options, c.installation, filepath.Join(dir, "log4j.properties"), filepath.Join(dir, "server.properties")),
		Dir:  dir, Log: filepath.Join(dir, "server.log"),
	}}
}

func hostPort(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// who tells which node a connection to a proxy comes from.
func (c *Cluster) who(conn net.Conn) (string, error) {
	pids := map[int]string{}
	for id, m := range c.members {
		if pid := m.Pid(); pid != 0 {
			pids[pid] = string(id)
		}
	}
	return local.Dialler(conn, pids)
}

// Options are those of the launch with the defaults filled in.
func (c *Cluster) Options() Options { return c.options }

// Installation is what the cluster runs from.
func (c *Cluster) Installation() Installation { return c.installation }

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
	if c.store == nil {
		return nil
	}
	return c.store.Nodes()
}

// Start brings a killed node back on its data and returns once it listens.
func (c *Cluster) Start(ctx context.Context, name string) error {
	if err := c.members.Start(ctx, name); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, launchTimeout)
	defer cancel()
	return c.awaitListening(ctx, node.ID(name))
}

// Links gives the links between nodes, nil where this machine cannot tell who
// dials.
func (c *Cluster) Links() systems.Links {
	if !local.TellsDiallers {
		return nil
	}
	return c.mesh
}

// Close kills every node and closes the links.
func (c *Cluster) Close() error {
	errs := []error{systems.Each(c.members, (*local.Member).Close)}
	if c.admin != nil {
		errs = append(errs, c.admin.Close())
	}
	if c.store != nil {
		errs = append(errs, c.store.Close())
	}
	if c.mesh != nil {
		errs = append(errs, c.mesh.Close())
	}
	return errors.Join(errs...)
}
