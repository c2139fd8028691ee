//go:build !linux

package local

import (
	"errors"
	"net"
)

// TellsDiallers says whether Dialler works on this system.
const TellsDiallers = false

// Dialler tells which of some processes has dialled a connection; not here.
func Dialler(net.Conn, map[int]string) (string, error) { return "", errors.ErrUnsupported }
