package docker

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/stalemate-io/stalemate/systems"
)

var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// links are the directed links of a space. A cut is a route of the sender's that
// leads nowhere.
type links struct{ space *Space }

var _ systems.CutOnly = links{}

// CutOnly says that links can be cut, not delayed or throttled.
func (links) CutOnly() {}

func (l links) Cut(from, to string) error  { return l.route(cutRoute, from, to) }
func (l links) Heal(from, to string) error { return l.route(healRoute, from, to) }

func (l links) route(what, from, to string) error {
	sender, err := l.space.host(from)
	if err != nil {
		return err
	}
	receiver, err := l.space.host(to)
	if err != nil {
		return err
	}
	if sender == receiver {
		return fmt.Errorf("no link from %s to itself", from)
	}
	ctx, cancel := context.WithTimeout(context.Background(), routeTimeout)
	defer cancel()
	return sender.request(ctx, what, receiver.Address())
}

func (l links) Delay(from, to string, _ time.Duration) error { return unshaped("delayed", from, to) }
func (l links) Throttle(from, to string, _ int) error        { return unshaped("throttled", from, to) }

func unshaped(what, from, to string) error {
	return fmt.Errorf("the link from %s to %s cannot be %s between containers, only cut; --on local can: %w", from, to, what, errors.ErrUnsupported)
}
