package kafka

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/stalemate-io/stalemate/systems/links"
	"github.com/stalemate-io/stalemate/systems/local"
	"github.com/stalemate-io/stalemate/systems/node"
)

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
	return &local.Member{Name: string(id), Command: local.Command{
		Path: c.installation.Java,
		Args: c.arguments(id),
		Dir:  c.dir(id), Log: c.log(id),
	}}
}

// dir is the folder of a node on this machine.
func (c *Cluster) dir(id node.ID) string { return filepath.Join(c.options.Dir, string(id)) }

// log is the file there of what a node prints.
func (c *Cluster) log(id node.ID) string { return filepath.Join(c.dir(id), "server.log") }

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
