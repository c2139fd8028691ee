package docker

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/vishvananda/netlink"
)

// acceptFromAll turns the reverse path filters off. A filter drops what comes
// from where this namespace has no route to, and with it the direction of a link
// that was not cut.
func acceptFromAll() error {
	filters, err := filepath.Glob("/proc/sys/net/ipv4/conf/*/rp_filter")
	if err != nil {
		return err
	}
	for _, filter := range filters {
		now, err := os.ReadFile(filter)
		if err != nil {
			return err
		}
		if strings.TrimSpace(string(now)) == "0" {
			continue
		}
		if err := os.WriteFile(filter, []byte("0\n"), 0); err != nil {
			return err
		}
	}
	return nil
}

// route is the route that leads nowhere: more special than any other to the same
// address, it wins.
func route(to netip.Addr) *netlink.Route {
	return &netlink.Route{
		Type: syscall.RTN_BLACKHOLE,
		Dst:  &net.IPNet{IP: to.AsSlice(), Mask: net.CIDRMask(32, 32)},
	}
}

func blackhole(to netip.Addr) error { return netlink.RouteReplace(route(to)) }

func unblackhole(to netip.Addr) error {
	if err := netlink.RouteDel(route(to)); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}
