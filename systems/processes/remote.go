package processes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/stalemate-io/stalemate/systems"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/tcp"
)

// Remote is a cluster that somebody else runs, with stalemate node: clients reach
// its nodes, and nothing else of it can be touched.
type Remote struct {
	system    string
	ids       []node.ID
	addresses map[node.ID]string
}

var _ systems.Cluster = (*Remote)(nil)

// ErrNotOurs is what comes of doing anything to a Remote.
var ErrNotOurs = errors.New("the cluster is run by somebody else: its nodes cannot be killed, paused or asked who leads")

// dialTimeout bounds how long a node of a Remote may take to accept a connection.
const dialTimeout = 5 * time.Second

var nodeName = regexp.MustCompile(`^[cb][1-9][0-9]{0,2}$`)

// ParseNodes reads a list such as "c1=host:9001,b1=host:9092".
func ParseNodes(list string) (map[node.ID]string, error) {
	addresses := map[node.ID]string{}
	for _, one := range strings.Split(list, ",") {
		name, address, _ := strings.Cut(strings.TrimSpace(one), "=")
		if _, _, err := net.SplitHostPort(address); err != nil || !nodeName.MatchString(name) {
			return nil, fmt.Errorf("node %q: expected a name and where it is reached, such as c1=host:9001 or b1=host:9092", one)
		}
		if addresses[node.ID(name)] != "" {
			return nil, fmt.Errorf("node %s is named twice", name)
		}
		addresses[node.ID(name)] = address
	}
	return addresses, nil
}

// Connect makes a Remote of the nodes at the addresses, each of which must accept a
// connection. It needs a controller and a broker at least.
func Connect(ctx context.Context, system string, addresses map[node.ID]string) (*Remote, error) {
	r := &Remote{system: system, addresses: addresses, ids: slices.Sorted(maps.Keys(addresses))}
	if len(r.ControllerIDs()) == 0 || len(r.BrokerIDs()) == 0 {
		return nil, errors.New("expected one controller (c1=host:port) and one broker (b1=host:port) at least")
	}
	dialer := net.Dialer{Timeout: dialTimeout}
	for _, id := range r.ids {
		conn, err := dialer.DialContext(ctx, "tcp", addresses[id])
		if err == nil {
			err = conn.Close()
		}
		if err != nil {
			return nil, fmt.Errorf("node %s: %w", id, err)
		}
	}
	return r, nil
}

// ControllerIDs lists the controllers that are known.
func (r *Remote) ControllerIDs() []node.ID { return r.named('c') }

// BrokerIDs lists the brokers that are known.
func (r *Remote) BrokerIDs() []node.ID { return r.named('b') }

func (r *Remote) named(letter byte) (ids []node.ID) {
	for _, id := range r.ids {
		if id[0] == letter {
			ids = append(ids, id)
		}
	}
	return ids
}

// Client runs a client of the cluster in this process.
func (r *Remote) Client(id node.ID, new node.New, seed uint64) (*tcp.Node, error) {
	return tcp.Start(tcp.Config{
		Self: id, New: new, Protocol: wireProtocol(r.system, r.addresses), Peers: r.addresses, Seed: seed,
	})
}

// Paths lists the read paths that the system has.
func (r *Remote) Paths() []protocol.ReadPath { return Settings{System: r.system}.Paths() }

// Nodes lists the nodes that are known.
func (r *Remote) Nodes() []string {
	names := make([]string, len(r.ids))
	for i, id := range r.ids {
		names[i] = string(id)
	}
	return names
}

// Leader, Kill, Start, Pause and Resume give ErrNotOurs.
func (r *Remote) Leader(context.Context) (string, error) { return "", ErrNotOurs }
func (r *Remote) Kill(context.Context, string) error     { return ErrNotOurs }
func (r *Remote) Start(context.Context, string) error    { return ErrNotOurs }
func (r *Remote) Pause(context.Context, string) error    { return ErrNotOurs }
func (r *Remote) Resume(context.Context, string) error   { return ErrNotOurs }

// Links is nil: none can be broken.
func (r *Remote) Links() systems.Links { return nil }

// Died is nil: nobody tells.
func (r *Remote) Died() error { return nil }

// Close does nothing: the cluster goes on.
func (r *Remote) Close() error { return nil }
