package processes

import (
	"context"
	"net"
	"strconv"

	"github.com/stalemate-io/stalemate/systems"
	"github.com/stalemate-io/stalemate/systems/docker"
	"github.com/stalemate-io/stalemate/systems/local"
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

// containedPort is where a node in a container listens.
const containedPort = 9092

// placeContainers makes a host for each node.
func (c *Cluster) placeContainers(ctx context.Context) error {
	return systems.Each(c.nodes, func(p *process) (err error) {
		if p.host, err = c.options.Space.Host(ctx, string(p.id), containedPort); err != nil {
			return err
		}
		port := strconv.Itoa(containedPort)
		p.address, p.inside = p.host.ClientAddr(), net.JoinHostPort(p.host.Address(), port)
		p.listen, p.home = net.JoinHostPort("0.0.0.0", port), docker.DataDir
		return nil
	})
}

// contain makes the container of a node, which finds its folder there.
func (c *Cluster) contain(ctx context.Context, p *process, args []string) error {
	m, err := p.host.Member(ctx, docker.Command{
		Image: c.options.Space.OwnImage(), Args: append([]string{"node"}, args...), Folder: p.dir, Log: p.log,
	})
	if err != nil {
		return err
	}
	p.member = m
	return nil
}
