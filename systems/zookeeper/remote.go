package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/stalemate-io/stalemate/systems"
)

// connectTimeout bounds the wait for the servers of a Remote to serve.
const connectTimeout = 15 * time.Second

// Remote is an ensemble that somebody else runs. It can be asked and used, not
// broken: what breaks returns an error that is errors.ErrUnsupported, and Links
// is nil. Its nodes are named by their addresses.
type Remote struct {
	addrs   []string
	version string
}

var _ systems.Cluster = (*Remote)(nil)

// Connect checks that every server of an ensemble serves and that one of them
// leads. addrs are the client addresses as host:port. The servers have to allow
// the four letter word srvr (4lw.commands.whitelist; they do by default).
func Connect(ctx context.Context, addrs []string) (*Remote, error) {
	if len(addrs) == 0 {
		return nil, errors.New("no address to connect to: want host:port,…")
	}
	for i, addr := range addrs {
		if host, port, err := net.SplitHostPort(addr); err != nil || host == "" || port == "" {
			return nil, fmt.Errorf("address %q: want host:port", addr)
		}
		if slices.Contains(addrs[:i], addr) {
			return nil, fmt.Errorf("address %q is given twice: want each server once", addr)
		}
	}
	r := &Remote{addrs: slices.Clone(addrs)}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	// The leader need not be among the addresses, but all have to serve.
	serve := func(roles Roles) bool {
		for _, role := range roles {
			if role.Err != nil {
				return false
			}
		}
		return true
	}
	roles, err := awaitRoles(ctx, "all servers to serve", r.Roles, serve, nil)
	if err != nil {
		return nil, err
	}
	r.version = roles[addrs[0]].Version
	return r, nil
}

// Nodes lists the addresses in the order given to Connect.
func (r *Remote) Nodes() []string { return slices.Clone(r.addrs) }

// Version is the version of the first server, as it says it.
func (r *Remote) Version() string { return r.version }

// ClientAddr is the node's name, which is its address.
func (r *Remote) ClientAddr(node string) string { return node }

// Roles asks every server what it is.
func (r *Remote) Roles(ctx context.Context) Roles { return askAll(ctx, r.addrs, Ask) }

// Await asks the servers until cond holds of their roles, as Ensemble.Await.
func (r *Remote) Await(ctx context.Context, want string, cond func(Roles) bool) (Roles, error) {
	return awaitRoles(ctx, want, r.Roles, cond, nil)
}

// Leader names the server that leads, if it is among the addresses.
func (r *Remote) Leader(ctx context.Context) (string, error) { return leader(ctx, r.Roles) }

// Kill is unsupported.
func (r *Remote) Kill(_ context.Context, node string) error { return unsupported("kill", node) }

// Start is unsupported.
func (r *Remote) Start(_ context.Context, node string) error { return unsupported("start", node) }

// Pause is unsupported.
func (r *Remote) Pause(_ context.Context, node string) error { return unsupported("pause", node) }

// Resume is unsupported.
func (r *Remote) Resume(_ context.Context, node string) error { return unsupported("resume", node) }

// Links is nil: the links of somebody else's servers cannot be broken.
func (r *Remote) Links() systems.Links { return nil }

// Close does nothing: nothing was started.
func (r *Remote) Close() error { return nil }

func unsupported(what, node string) error {
	return fmt.Errorf("cannot %s %s, which is not ours; run the ensemble with --on local to break it: %w", what, node, errors.ErrUnsupported)
}
