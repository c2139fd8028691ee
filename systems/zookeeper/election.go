package zookeeper

import (
	"encoding/binary"
	"fmt"
	"io"
)

// A server opens an election connection with a hello: the protocol's version, a
// negative number; its id; and the length and text of the address at which it
// wants to be dialled back. Of two servers the one with the smaller id is always
// dialled back, at the address in its hello, whatever the other's configuration
// says. Without a change on the way such a connection would bypass the links.
const (
	helloOneAddress    = -65536
	helloManyAddresses = -65535
	helloFixedBytes    = 8 + 8 + 4
	helloMaxAddress    = 2048 // the servers' own limit
)

// readvertise returns a links.Route greeting that puts address, at which the
// dialled server is to dial back, in place of what the hello says. What is not
// such a hello passes unchanged.
func readvertise(address string) func(io.Reader) ([]byte, error) {
	return func(r io.Reader) ([]byte, error) {
		fixed := make([]byte, helloFixedBytes)
		if n, err := io.ReadFull(r, fixed[:8]); err != nil {
			return fixed[:n], err
		}
		switch int64(binary.BigEndian.Uint64(fixed)) {
		case helloOneAddress, helloManyAddresses:
		default:
			return fixed[:8], nil
		}
		if n, err := io.ReadFull(r, fixed[8:]); err != nil {
			return fixed[:8+n], err
		}
		length := binary.BigEndian.Uint32(fixed[16:])
		if length > helloMaxAddress {
			return fixed, fmt.Errorf("election hello with an address of %d bytes: want at most %d", length, helloMaxAddress)
		}
		old := make([]byte, length)
		if n, err := io.ReadFull(r, old); err != nil {
			return append(fixed, old[:n]...), err
		}
		binary.BigEndian.PutUint32(fixed[16:], uint32(len(address)))
		return append(fixed, address...), nil
	}
}
