package processes

import (
	"context"
	"errors"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/stalemate-io/stalemate/systems/links"
	"github.com/stalemate-io/stalemate/systems/local"
	"github.com/stalemate-io/stalemate/systems/node"
)

// configFile is a node's configuration, in its folder.
const configFile = "node.json"

// install finds a place for every node, writes their folders and opens the proxies
// between them.
func (c *Cluster) install(ctx context.Context) error {
	for _, id := range c.ids {
		p := &process{id: id, dir: filepath.Join(c.options.Dir, string(id))}
		p.log = filepath.Join(p.dir, "node.log")
		if err := errors.Join(os.RemoveAll(p.dir), os.MkdirAll(p.dir, 0o755)); err != nil {
			return err
		}
		c.nodes[id] = p
	}
	if c.options.Space != nil {
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
	if err := c.openMesh(ctx); err != nil {
		return err
	}
	advertised := map[node.ID]string{}
	for id, p := range c.nodes {
		advertised[id] = p.address
	}
	for _, id := range c.ids {
		if err := c.configure(ctx, c.nodes[id], advertised); err != nil {
			return err
		}
	}
	return nil
}

// placeProcesses gives each node a port of this machine, held until release.
func (c *Cluster) placeProcesses() (release func(), err error) {
	ports, err := local.ReservePorts(len(c.ids))
	if err != nil {
		return nil, err
	}
	for i, id := range c.ids {
		p := c.nodes[id]
		p.address = net.JoinHostPort("127.0.0.1", strconv.Itoa(ports.Numbers[i]))
		p.listen, p.inside, p.home = p.address, p.address, p.dir
	}
	return ports.Release, nil
}

// openMesh makes the links that proxies lie on, which listen where nodes reach this
// machine.
func (c *Cluster) openMesh(ctx context.Context) error {
	host := "127.0.0.1"
	if c.options.Space != nil && c.options.Proxied {
		var err error
		if host, err = c.options.Space.Gateway(ctx); err != nil {
			return err
		}
	}
	c.mesh = links.NewAt(host, append(c.Nodes(), c.Dependencies()...)...)
	return nil
}

// configure writes what a node has to know and makes it ready to be started.
func (c *Cluster) configure(ctx context.Context, p *process, advertised map[node.ID]string) error {
	config := NodeConfig{
		Self: p.id, Cluster: c.options.Settings, Listen: p.listen, Peers: map[node.ID]string{}, Advertised: advertised,
		Disk: diskIn(p.home), Trace: traceIn(p.home),
	}
	if err := c.connect(p, &config); err != nil {
		return err
	}
	role, err := config.Role()
	if err != nil {
		return err
	}
	if err := config.write(filepath.Join(p.dir, configFile)); err != nil {
		return err
	}
	args := []string{role, "--config", filepath.Join(p.home, configFile)}
	if c.options.Space != nil {
		return c.contain(ctx, p, args)
	}
	p.member = &local.Member{Name: string(p.id), Command: local.Command{
		Path: c.options.Program, Args: append(slices.Clone(c.options.Args), args...), Dir: p.dir, Log: p.log,
	}}
	return nil
}

// connect tells a node where it reaches the others and the store: directly, or
// through proxies of its own.
func (c *Cluster) connect(p *process, config *NodeConfig) error {
	reach := func(r links.Route) (string, error) {
		if c.options.direct() {
			return r.Target, nil
		}
		r.From = string(p.id)
		port, err := c.mesh.Open(r)
		return net.JoinHostPort(c.mesh.Host(), strconv.Itoa(port)), err
	}
	for id, other := range c.nodes {
		if id == p.id {
			continue
		}
		address, err := reach(links.Route{To: string(id), Target: other.inside, Frames: c.intercept.on(p.id, id)})
		if err != nil {
			return err
		}
		config.Peers[id] = address
	}
	for _, name := range slices.Sorted(maps.Keys(c.options.Store)) {
		address, err := reach(links.Route{To: name, Target: c.options.Store[name]})
		if err != nil {
			return err
		}
		config.Store = append(config.Store, address)
	}
	return nil
}
