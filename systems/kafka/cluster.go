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
	"strings"
	"time"

	"github.com/stalemate-io/stalemate/systems"
	"github.com/stalemate-io/stalemate/systems/docker"
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

// store is an ensemble of ZooKeeper servers.
type store struct {
	servers interface {
		Nodes() []string
		Close() error
	}
	at func(server string) string // host:port at which brokers reach a server
}

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

// launchStore starts the servers of ZooKeeper where the nodes are.
func (c *Cluster) launchStore(ctx context.Context) error {
	o := zookeeper.Options{
		Servers: c.options.Controllers, TickTime: time.Second, Dir: storeIn(c.options.Dir),
		Home: c.installation.Libs, Java: c.installation.Java,
	}
	if c.space != nil {
		e, err := zookeeper.LaunchIn(ctx, c.space, o, c.options.StoreImage)
		if err != nil {
			return err
		}
		c.store = store{e, e.Inside}
		return nil
	}
	e, err := zookeeper.Launch(ctx, o)
	if err != nil {
		return err
	}
	c.store = store{e, e.ClientAddr}
	return nil
}

// install gives every node its place and its folder.
func (c *Cluster) install(ctx context.Context) error {
	if c.space != nil {
		if err := c.placeContainers(ctx); err != nil {
			return err
		}
	} else {
		release, err := c.placeProcesses()
		if err != nil {
			return err
		}
		defer release()
	}
	addresses, err := c.storeAddresses()
	if err != nil {
		return err
	}
	for _, id := range c.ids {
		if err := c.installNode(id, addresses); err != nil {
			return err
		}
		if c.space != nil {
			if err := c.contain(ctx, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// placeProcesses gives every node its ports, held until release, and its proxy.
func (c *Cluster) placeProcesses() (release func(), err error) {
	ports, err := local.ReservePorts(2 * len(c.ids))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			ports.Release()
		}
	}()
	for i, id := range c.ids {
		p := place{number: number(id), home: c.dir(id), internal: hostPort(ports.Numbers[2*i]), listen: hostPort(ports.Numbers[2*i+1])}
		p.client = p.listen
		if id[0] == 'c' {
			p.client = p.internal
		}
		c.places[id] = p
		// All members before the first proxy, which asks them who dials.
		c.members[id] = c.newMember(id)
	}
	c.mesh = links.New(append(c.Nodes(), c.Dependencies()...)...)
	for id, p := range c.places {
		if p.inside, err = c.proxy(string(id), p.internal); err != nil {
			return nil, err
		}
		c.places[id] = p
	}
	return ports.Release, nil
}

// storeAddresses lists where nodes reach what keeps the metadata, as a broker is told:
// the servers of ZooKeeper, or the voters of the quorum.
func (c *Cluster) storeAddresses() (addresses []string, err error) {
	if c.options.Mode == KRaft {
		for _, id := range c.options.ControllerIDs() {
			addresses = append(addresses, fmt.Sprintf("%d@%s", c.places[id].number, c.places[id].inside))
		}
		return addresses, nil
	}
	for _, server := range c.Dependencies() {
		address, err := c.proxy(server, c.store.at(server))
		if err != nil {
			return nil, err
		}
		addresses = append(addresses, address)
	}
	return addresses, nil
}

// proxied says whether there are proxies between nodes.
func (c *Cluster) proxied() bool { return c.space == nil && local.TellsDiallers }

// proxy opens the proxy in front of a node, which finds out who dials; where there
// are none, nodes reach each other directly.
func (c *Cluster) proxy(to, target string) (string, error) {
	if !c.proxied() {
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
	dir := c.dir(id)
	data := filepath.Join(dir, "data")
	text := brokerProperties(c.options, c.places[id], store)
	if id[0] == 'c' {
		text = controllerProperties(c.options, c.places[id], store)
	}
	log := log4j1
	if numbersOf(c.installation.Version)[0] >= 4 {
		log = log4j2
	}
	files := map[string]string{
		filepath.Join(dir, propertiesFile): text,
		filepath.Join(dir, loggingFile):    log,
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
	dir := c.dir(id)
	return &local.Member{Name: string(id), Command: local.Command{
		Path: c.installation.Java,
		Args: c.arguments(id),
		Dir:  dir, Log: filepath.Join(dir, "server.log"),
	}}
}

// dir is the folder of a node on this machine.
func (c *Cluster) dir(id node.ID) string { return filepath.Join(c.options.Dir, string(id)) }

// arguments are those of a node's Java.
func (c *Cluster) arguments(id node.ID) []string {
	return javaArguments(c.options, c.installation, c.places[id])
}

func hostPort(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// who tells which node a connection to a proxy comes from.
func (c *Cluster) who(conn net.Conn) (string, error) {
	pids := map[int]string{}
	for id, m := range c.members {
		if p, ok := m.(*local.Member); ok && p.Pid() != 0 {
			pids[p.Pid()] = string(id)
		}
	}
	return local.Dialler(conn, pids)
}

// Options are those of the launch with the defaults filled in.
func (c *Cluster) Options() Options { return c.options }

// Versions names what the cluster runs from.
func (c *Cluster) Versions() map[string]string {
	v := map[string]string{"kafka": c.installation.Version}
	if c.space != nil {
		v["docker"], v["image"] = c.space.Engine().Version(), c.options.Image
	} else {
		v["java"] = c.installation.JavaVersion
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
