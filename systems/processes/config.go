package processes

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/stalemate-io/stalemate/systems/node"
)

// NodeConfig is all that a node has to know: its configuration file, as JSON.
type NodeConfig struct {
	// Self is the node's name: c1, c2, … for a controller, b1, b2, … for a
	// broker.
	Self    node.ID  `json:"self"`
	Cluster Settings `json:"cluster"`
	// Listen is the host:port where the node is reached.
	Listen string `json:"listen"`
	// Peers are the addresses of the other nodes as this one is to dial them.
	Peers map[node.ID]string `json:"peers"`
	// Advertised are the addresses that clients are told of.
	Advertised map[node.ID]string `json:"advertised"`
	// Store are the addresses of the coordination service, one a server, as
	// this node is to dial them; only push has one.
	Store []string `json:"store,omitempty"`
	// Disk is the folder that holds the node's disk, Trace the file that its
	// trace is appended to; empty for none.
	Disk  string `json:"disk"`
	Trace string `json:"trace,omitempty"`
}

// ReadConfig reads a node's configuration file.
func ReadConfig(path string) (NodeConfig, error) {
	var c NodeConfig
	text, err := os.ReadFile(path)
	if err != nil {
		return c, fmt.Errorf("node configuration: %w", err)
	}
	if err = json.Unmarshal(text, &c); err == nil {
		err = c.check()
	}
	if err != nil {
		return c, fmt.Errorf("node configuration %s: %w", path, err)
	}
	return c, nil
}

func (c *NodeConfig) check() error {
	if err := c.Cluster.Check(); err != nil {
		return err
	}
	if _, err := c.Role(); err != nil {
		return err
	}
	switch {
	case c.Listen == "":
		return errors.New(`no "listen": expected the host:port at which the node is reached`)
	case c.Disk == "":
		return errors.New(`no "disk": expected the folder that holds the node's disk`)
	case c.Cluster.System == "push" && len(c.Store) == 0:
		return errors.New(`no "store": expected the addresses of the ZooKeeper servers`)
	}
	for _, id := range c.Cluster.IDs() {
		if id != c.Self && c.Peers[id] == "" {
			return fmt.Errorf(`no address of %s in "peers": expected the host:port at which %s reaches it`, id, c.Self)
		}
	}
	return nil
}

func (c *NodeConfig) write(path string) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// Role is what the node is, in the words of Roles.
func (c *NodeConfig) Role() (string, error) {
	for _, id := range c.Cluster.ControllerIDs() {
		if id == c.Self {
			return c.Cluster.System + "-controller", nil
		}
	}
	for _, id := range c.Cluster.BrokerIDs() {
		if id == c.Self {
			return c.Cluster.System + "-broker", nil
		}
	}
	return "", fmt.Errorf("no node %q: expected c1 to c%d or b1 to b%d", c.Self, c.Cluster.Controllers, c.Cluster.Brokers)
}
