package kafka

import (
	"context"
	"fmt"
	"time"

	"github.com/stalemate-io/stalemate/systems/zookeeper"
)

// store is an ensemble of ZooKeeper servers.
type store struct {
	servers interface {
		Nodes() []string
		Close() error
	}
	at func(server string) string // host:port at which brokers reach a server
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
		c.store, c.options.StoreImage = store{e, e.Inside}, e.Image()
		return nil
	}
	e, err := zookeeper.Launch(ctx, o)
	if err != nil {
		return err
	}
	c.store = store{e, e.ClientAddr}
	return nil
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
