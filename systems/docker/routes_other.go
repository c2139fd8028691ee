//go:build !linux

package docker

import (
	"errors"
	"net/netip"
)

func acceptFromAll() error         { return errors.ErrUnsupported }
func blackhole(netip.Addr) error   { return errors.ErrUnsupported }
func unblackhole(netip.Addr) error { return errors.ErrUnsupported }
