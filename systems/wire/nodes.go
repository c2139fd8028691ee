package wire

import (
	"fmt"
	"math"
	"net"
	"strconv"

	"github.com/stalemate-io/stalemate/systems/node"
)

// controllerBase keeps the numbers of controllers apart from those of brokers.
const controllerBase = 3000

// noNode is the number of no node.
const noNode int32 = -1

// number is the number under which a node stands in requests: N for broker bN,
// 3000+N for controller cN, and -1 for no node.
func number(id node.ID) (int32, error) {
	if id == "" {
		return noNode, nil
	}
	if n, err := strconv.ParseInt(string(id[1:]), 10, 32); err == nil && n > 0 && id[1] != '+' && id[1] != '0' {
		switch {
		case id[0] == 'b' && n <= controllerBase:
			return int32(n), nil
		case id[0] == 'c' && n <= math.MaxInt32-controllerBase:
			return controllerBase + int32(n), nil
		}
	}
	return 0, fmt.Errorf("node %q has no number: expected b1 to b%d, or c1 and so on", id, controllerBase)
}

// nodeOf is the inverse of number.
func nodeOf(n int32) (node.ID, error) {
	switch {
	case n == noNode:
		return "", nil
	case n > 0 && n <= controllerBase:
		return node.ID("b" + strconv.Itoa(int(n))), nil
	case n > controllerBase:
		return node.ID("c" + strconv.Itoa(int(n-controllerBase))), nil
	}
	return "", fmt.Errorf("node number %d: expected 1 to %d for a broker, more for a controller", n, controllerBase)
}

// Cluster is what every answer about a cluster says of it, whoever answers.
type Cluster struct {
	// ID is the cluster's id.
	ID string
	// Addresses are the host:port under which clients reach the nodes,
	// controllers included: what Kafka calls advertised listeners.
	Addresses map[node.ID]string
}

// address gives where clients reach a node; nothing where that is not known.
func (c *Cluster) address(id node.ID) (host string, port int32) {
	host, p, err := net.SplitHostPort(c.Addresses[id])
	if err != nil {
		return "", 0
	}
	n, err := strconv.ParseUint(p, 10, 16)
	if err != nil {
		return "", 0
	}
	return host, int32(n)
}
