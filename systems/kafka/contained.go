package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"

	"github.com/stalemate-io/stalemate/systems"
	"github.com/stalemate-io/stalemate/systems/docker"
	"github.com/stalemate-io/stalemate/systems/local"
	"github.com/stalemate-io/stalemate/systems/node"
)

// member is a node that is started, killed and paused, as a process of this machine
// or as a container.
type member interface {
	systems.Member
	Asleep() error
	Close() error
}

var (
	_ member = (*local.Member)(nil)
	_ member = (*docker.Member)(nil)
)

// OfficialImage names the official image that has the mode, LocalImage what "make
// kafka-images" builds where no registry answers.
func (m Mode) OfficialImage() string {
	return map[Mode]string{ZooKeeper: "apache/kafka:3.9.2", KRaft: "apache/kafka:4.3.1"}[m]
}

// LocalImage names the mode's image that this machine builds.
func (m Mode) LocalImage() string { return "stalemate-" + string(m) }

// Every image of Kafka is used in the way of the official one: java is in its path, and
// the jars are here. What it starts by itself is not used.
const containedLibs = "/opt/kafka/libs"

// Where a node in a container listens: for nodes, and for clients.
const (
	containedInternal = 9093
	containedClient   = 9092
)

// openSpace makes the space of the containers and sees to the image.
func (c *Cluster) openSpace(ctx context.Context) (err error) {
	if c.space, err = docker.OpenSpace(ctx); err != nil {
		return err
	}
	if err := c.chooseImage(ctx); err != nil {
		return err
	}
	c.installation = Installation{Java: "java", Libs: containedLibs}
	c.installation.Version, err = c.versionInside(ctx)
	return err
}

// ChooseImage gives the image that nodes run from where the user names none: the local
// one if the engine has it, else the official one.
func (m Mode) ChooseImage(ctx context.Context, e *docker.Engine) (string, error) {
	return e.FirstImage(ctx, m.LocalImage(), m.OfficialImage())
}

func (c *Cluster) chooseImage(ctx context.Context) (err error) {
	o, engine := &c.options, c.space.Engine()
	if o.Image == "" {
		if o.Image, err = o.Mode.ChooseImage(ctx, engine); err != nil {
			return err
		}
	}
	if err := engine.Image(ctx, o.Image); err != nil {
		return fmt.Errorf("%w; make kafka-images builds %s without a registry, --image names another", err, o.Mode.LocalImage())
	}
	return nil
}

// versionInside asks Kafka in the image for its version, which has to have the mode.
func (c *Cluster) versionInside(ctx context.Context) (string, error) {
	out, err := c.space.Run(ctx, docker.Command{
		Image: c.options.Image, Entrypoint: []string{c.installation.Java}, Args: c.installation.kafka([]string{"kafka.Kafka", "--version"}),
	})
	if err != nil {
		return "", fmt.Errorf("asking the image %s for Kafka's version (its jars are expected in %s): %w", c.options.Image, containedLibs, err)
	}
	// It may be followed by the commit.
	version, _, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if !has(version, c.options.Mode) {
		return "", fmt.Errorf("the image %s is of Kafka %q, which has no mode %s: expected one such as %s",
			c.options.Image, version, c.options.Mode, c.options.Mode.OfficialImage())
	}
	return version, nil
}

// placeContainers makes a host for each node. One port of it is published: of a broker
// that for clients, of a controller the only one.
func (c *Cluster) placeContainers(ctx context.Context) error {
	hosts, errs := make([]*docker.Host, len(c.ids)), make([]error, len(c.ids))
	var wg sync.WaitGroup
	for i, id := range c.ids {
		published := containedClient
		if id[0] == 'c' {
			published = containedInternal
		}
		wg.Go(func() { hosts[i], errs[i] = c.space.Host(ctx, string(id), published) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	c.hosts = map[node.ID]*docker.Host{}
	for i, id := range c.ids {
		c.hosts[id] = hosts[i]
		c.places[id] = containedPlace(id, hosts[i].Address(), hosts[i].ClientAddr())
	}
	return nil
}

// containedPlace is the place of a node whose host has an address on the run's network
// and is reached from this machine by another.
func containedPlace(id node.ID, address, published string) place {
	at := func(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }
	return place{
		number: number(id), home: docker.DataDir,
		internal: at("0.0.0.0", containedInternal), inside: at(address, containedInternal),
		listen: at("0.0.0.0", containedClient), client: published,
	}
}

// contain makes the container of a node, which finds its folder there.
func (c *Cluster) contain(ctx context.Context, id node.ID) error {
	m, err := c.hosts[id].Member(ctx, docker.Command{
		Image: c.options.Image, Entrypoint: []string{c.installation.Java}, Args: c.arguments(id),
		Folder: c.dir(id), Log: c.log(id),
	})
	if err != nil {
		return err
	}
	c.members[id] = m
	return nil
}

// inContainer is a tool that runs from the image.
func (c *Cluster) inContainer(ctx context.Context, id node.ID, arguments []string) ([]byte, error) {
	return c.space.Run(ctx, docker.Command{
		Image: c.options.Image, Entrypoint: []string{c.installation.Java}, Args: c.installation.kafka(arguments), Folder: c.dir(id),
	})
}
