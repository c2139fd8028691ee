package local

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// Ports are picked below the range that kernels draw the source ports of
// outgoing connections from (Linux from 32768, the others from 49152), so that
// a port stays free for a server that is killed and started again.
const (
	firstPort = 10240
	lastPort  = 32767
)

// Ports are TCP ports of the loopback address, held until Release.
type Ports struct {
	Numbers   []int
	listeners []net.Listener
}

// ReservePorts finds n free ports and holds them. The one who is to use a port
// can bind it only after Release; until then nobody else can.
func ReservePorts(n int) (*Ports, error) {
	p := &Ports{}
	span := lastPort - firstPort + 1
	at := rand.IntN(span)
	var last error
	for range span {
		if len(p.Numbers) == n {
			return p, nil
		}
		port := firstPort + at
		at = (at + 1) % span
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			last = err
			continue
		}
		p.listeners = append(p.listeners, l)
		p.Numbers = append(p.Numbers, port)
	}
	p.Release()
	return nil, fmt.Errorf("no %d free TCP ports between %d and %d: %w", n, firstPort, lastPort, last)
}

// Release frees the ports for those who are to bind them.
func (p *Ports) Release() {
	for _, l := range p.listeners {
		l.Close()
	}
	p.listeners = nil
}
