package docker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
)

// RoutesCommand is the command of this program that a host runs: it calls
// ServeRoutes on its standard input and output.
const RoutesCommand = "routes"

// routeTimeout bounds one change of a route.
const routeTimeout = 5 * time.Second

// Host is the place of a node: a network namespace with an address and a
// published port.
type Host struct {
	space *Space
	node  string
	id    string

	address address
	port    int
	client  string // host:port on the loopback of the engine's machine

	mu   sync.Mutex // one request at a time
	conn client.HijackedResponse
	in   *bufio.Reader
	out  *io.PipeReader
}

// Host starts the host of a node that listens on a port, which is published on
// the loopback interface alone.
func (s *Space) Host(ctx context.Context, node string, port int) (*Host, error) {
	ctx, cancel := context.WithTimeout(ctx, actTimeout)
	defer cancel()
	h := &Host{space: s, node: node, port: port}
	if err := h.start(ctx); err != nil {
		return nil, fmt.Errorf("the host of %s: %w", node, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hosts[node] = h
	return h, nil
}

func (h *Host) start(ctx context.Context) error {
	s, api := h.space, h.space.engine.api
	exposed, err := network.ParsePort(fmt.Sprintf("%d/tcp", h.port))
	if err != nil {
		return err
	}
	labels := s.labels()
	labels[hostLabel] = h.node
	made, err := api.ContainerCreate(ctx, client.ContainerCreateOptions{
		Name: s.name + "-" + h.node + "-host",
		Config: &container.Config{
			Image: s.image, Cmd: []string{RoutesCommand}, Labels: labels, Hostname: h.node,
			ExposedPorts: network.PortSet{exposed: {}},
			// The container's input ends with the first connection to it,
			// and the program with its input: no host outlives its run.
			OpenStdin: true, StdinOnce: true, AttachStdin: true, AttachStdout: true,
		},
		HostConfig: &container.HostConfig{
			NetworkMode:  container.NetworkMode(s.name),
			PortBindings: network.PortMap{exposed: {{HostIP: loopback}}},
			CapDrop:      []string{"ALL"}, CapAdd: []string{"NET_ADMIN"},
			// ServeRoutes turns reverse path filters off, under /proc/sys.
			ReadonlyPaths: []string{},
		},
	})
	if err != nil {
		return err
	}
	h.id = made.ID
	attached, err := api.ContainerAttach(ctx, h.id, client.ContainerAttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	if err != nil {
		return err
	}
	h.connect(attached.HijackedResponse)
	if _, err := api.ContainerStart(ctx, h.id, client.ContainerStartOptions{}); err != nil {
		return err
	}
	if err := h.request(ctx, "open"); err != nil {
		return err
	}
	return h.look(ctx, exposed)
}

// connect takes the two ends of the host's program.
func (h *Host) connect(conn client.HijackedResponse) {
	out, in := io.Pipe()
	h.conn, h.out, h.in = conn, out, bufio.NewReader(out)
	go func() {
		_, err := stdcopy.StdCopy(in, in, conn.Reader)
		in.CloseWithError(errors.Join(errors.New("the host's program has ended"), err))
	}()
}

// look finds out where the host is.
func (h *Host) look(ctx context.Context, exposed network.Port) error {
	c, err := h.space.engine.api.ContainerInspect(ctx, h.id, client.ContainerInspectOptions{})
	if err != nil {
		return err
	}
	endpoint := c.Container.NetworkSettings.Networks[h.space.name]
	if endpoint == nil || !endpoint.IPAddress.IsValid() {
		return errors.New("it has no address on the run's network")
	}
	h.address = endpoint.IPAddress
	bindings := c.Container.NetworkSettings.Ports[exposed]
	if len(bindings) == 0 {
		return fmt.Errorf("the engine has not published port %v", exposed)
	}
	h.client = net.JoinHostPort(loopback.String(), bindings[0].HostPort)
	return nil
}

// Address is the host's IPv4 address on the network of the run.
func (h *Host) Address() string { return h.address.String() }

// ClientAddr is the host:port at which clients on the engine's machine reach the
// node. No link lies on the way.
func (h *Host) ClientAddr() string { return h.client }

// request has the host's program do something.
func (h *Host) request(ctx context.Context, words ...string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { h.out.CloseWithError(context.Cause(ctx)) })
	defer stop()
	if _, err := fmt.Fprintln(h.conn.Conn, strings.Join(words, " ")); err != nil {
		return fmt.Errorf("%s: %w", h.node, err)
	}
	answer, err := h.in.ReadString('\n')
	if err != nil {
		return fmt.Errorf("%s: %s: %w", h.node, strings.Join(words, " "), err)
	}
	if answer = strings.TrimSpace(answer); answer != done {
		return fmt.Errorf("%s: %s: %s", h.node, strings.Join(words, " "), answer)
	}
	return nil
}

// hangUp ends the host's program.
func (h *Host) hangUp() {
	if h.conn.Conn != nil {
		h.conn.Close()
		h.out.CloseWithError(net.ErrClosed)
	}
}
