package zookeeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/stalemate-io/stalemate/systems"
	"github.com/stalemate-io/stalemate/systems/links"
	"github.com/stalemate-io/stalemate/systems/local"
)

// Ensemble is a ZooKeeper ensemble of processes of this machine.
type Ensemble struct {
	servers
	options      Options
	installation Installation
	names        []string
	mesh         *links.Mesh
	version      string
}

// servers are the members of an Ensemble.
type servers = systems.Members[string, *server]

var _ systems.Cluster = (*Ensemble)(nil)

const (
	// launchTimeout bounds a launch, and a restart, whose context does not.
	launchTimeout = time.Minute
	// launchAttempts is how many sets of ports are tried.
	launchAttempts = 3
	// quorumPatience bridges the moment between a server's election and its
	// listening for followers. Dialling directly they would be refused and try
	// again after 0.1 s; through a proxy they cannot see the refusal and would
	// hold the election anew.
	quorumPatience = 500 * time.Millisecond
)

// errPortTaken is a launch that lost a port to somebody between the port's
// reservation and the server's binding it.
var errPortTaken = errors.New("a port was taken by another program")

// Launch starts an ensemble and returns once all its servers serve and one of
// them leads. Where it fails nothing is left running.
func Launch(ctx context.Context, o Options) (*Ensemble, error) {
	return launch(ctx, o, func(n int) (*local.Ports, error) { return local.ReservePorts(n) })
}

func launch(ctx context.Context, o Options, reserve func(int) (*local.Ports, error)) (*Ensemble, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, err
	}
	in, err := Find(ctx, o.Home, o.Java)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, launchTimeout)
	defer cancel()
	for attempt := 1; ; attempt++ {
		e := newEnsemble(o, in)
		err := e.launch(ctx, reserve)
		if err == nil {
			return e, nil
		}
		err = errors.Join(err, e.Close())
		if !errors.Is(err, errPortTaken) || attempt == launchAttempts {
			return nil, fmt.Errorf("launch of %d ZooKeeper servers in %s: %w", o.Servers, o.Dir, err)
		}
	}
}

func newEnsemble(o Options, in Installation) *Ensemble {
	e := &Ensemble{options: o, installation: in, servers: servers{}}
	for id := 1; id <= o.Servers; id++ {
		name := "zk" + strconv.Itoa(id)
		e.names = append(e.names, name)
		e.servers[name] = &server{Member: &local.Member{Name: name}}
	}
	e.mesh = links.New(e.names...)
	return e
}

func (e *Ensemble) launch(ctx context.Context, reserve func(int) (*local.Ports, error)) error {
	ports, err := reserve(3 * len(e.names))
	if err != nil {
		return err
	}
	err = e.install(ports.Numbers)
	ports.Release()
	if err != nil {
		return err
	}
	for _, name := range e.names {
		if err := e.servers[name].Start(); err != nil {
			return err
		}
	}
	roles, err := awaitRoles(ctx, "all servers to serve and one to lead", e.Roles, Roles.AllServe, e.launchCheck())
	if err != nil {
		return err
	}
	e.version = roles[e.names[0]].Version
	return nil
}

// install writes every server's folder. ports are three a server: for clients,
// for followers, for elections.
func (e *Ensemble) install(ports []int) error {
	conf := filepath.Join(e.options.Dir, "conf")
	if err := os.MkdirAll(conf, 0o755); err != nil {
		return writeError(err)
	}
	for name, text := range map[string]string{"log4j.properties": log4jProperties, "logback.xml": logbackXML} {
		if err := os.WriteFile(filepath.Join(conf, name), []byte(text), 0o644); err != nil {
			return writeError(err)
		}
	}
	known, err := e.connect(ports)
	if err != nil {
		return err
	}
	for i, name := range e.names {
		s := e.servers[name]
		dir := filepath.Join(e.options.Dir, name)
		s.client = hostPort(ports[3*i])
		s.Command = local.Command{
			Path: e.installation.Java, Args: javaArguments(e.options, e.installation, conf, filepath.Join(dir, "zoo.cfg")),
			Dir: dir, Log: filepath.Join(dir, "server.log"),
		}
		// An earlier attempt's log would be taken for this one's.
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		config := configuration(e.options, e.dataDir(name), ports[3*i], known[i])
		if err := s.install(dir, i+1, config); err != nil {
			return err
		}
	}
	return nil
}

// dataDir is where a server keeps its snapshots and transaction logs.
func (e *Ensemble) dataDir(name string) string {
	return filepath.Join(e.options.Dir, name, "data")
}

// connect opens the proxies between the servers and returns, for each server,
// the ports of all as it is to know them.
func (e *Ensemble) connect(ports []int) ([][]peer, error) {
	known := make([][]peer, len(e.names))
	for i := range e.names {
		known[i] = make([]peer, len(e.names))
		known[i][i] = peer{ports[3*i+1], ports[3*i+2]}
	}
	open := func(i, j, target int, r links.Route) (int, error) {
		r.From, r.To, r.Target = e.names[i], e.names[j], hostPort(target)
		return e.mesh.Open(r)
	}
	for j := range e.names {
		for i := range j {
			// Server i, of the smaller id, is dialled back by j at the address
			// in its hello, which therefore has to be that of j's proxy.
			var err [4]error
			known[j][i].election, err[0] = open(j, i, ports[3*i+2], links.Route{})
			known[i][j].election, err[1] = open(i, j, ports[3*j+2], links.Route{
				Greeting: readvertise(hostPort(known[j][i].election)),
			})
			known[i][j].quorum, err[2] = open(i, j, ports[3*j+1], links.Route{Patience: quorumPatience})
			known[j][i].quorum, err[3] = open(j, i, ports[3*i+1], links.Route{Patience: quorumPatience})
			if err := errors.Join(err[:]...); err != nil {
				return nil, err
			}
		}
	}
	return known, nil
}

func hostPort(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// launchCheck ends the wait for a server that will never serve.
func (e *Ensemble) launchCheck() func() error {
	const logEvery = 20 // reading the logs costs more than asking
	asked := 0
	return func() error {
		asked++
		for _, name := range e.names {
			s := e.servers[name]
			died := s.died()
			if (died != nil || asked%logEvery == 0) && s.portTaken() {
				return fmt.Errorf("%w (%s says so in %s)", errPortTaken, name, s.Command.Log)
			}
			if died != nil {
				return died
			}
		}
		return nil
	}
}

// Nodes lists the servers: zk1, zk2 and so on, by server id.
func (e *Ensemble) Nodes() []string { return slices.Clone(e.names) }

// Version is the servers' version, as they say it.
func (e *Ensemble) Version() string { return e.version }

// Java is the version of the Java that runs the servers.
func (e *Ensemble) Java() string { return e.installation.JavaVersion }

// Options are the options of the launch with the defaults filled in.
func (e *Ensemble) Options() Options { return e.options }

// ClientAddr is the host:port at which clients reach a server; empty for a name
// that is none. No link lies on the way.
func (e *Ensemble) ClientAddr(node string) string {
	if s, ok := e.servers[node]; ok {
		return s.client
	}
	return ""
}

// Log is the path of a server's log; empty for a name that is none.
func (e *Ensemble) Log(node string) string {
	if s, ok := e.servers[node]; ok {
		return s.Command.Log
	}
	return ""
}

// Roles asks every server what it is.
func (e *Ensemble) Roles(ctx context.Context) Roles {
	return askAll(ctx, e.names, func(ctx context.Context, name string) (Status, error) {
		return e.servers[name].ask(ctx)
	})
}

// Await asks the servers until cond holds of their roles, and returns these.
// When ctx is over first the error names want and every server's last answer.
func (e *Ensemble) Await(ctx context.Context, want string, cond func(Roles) bool) (Roles, error) {
	return awaitRoles(ctx, want, e.Roles, cond, nil)
}

// Leader names the server that leads; where two say so, the one of the newer
// epoch.
func (e *Ensemble) Leader(ctx context.Context) (string, error) { return leader(ctx, e.Roles) }

// Start brings a killed server back on its data and returns once it serves. A
// server that serves may still lack what was written while it was away.
func (e *Ensemble) Start(ctx context.Context, node string) error {
	if err := e.servers.Start(ctx, node); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, launchTimeout)
	defer cancel()
	serves := func(r Roles) bool { return r[node].Err == nil }
	_, err := awaitRoles(ctx, node+" to serve", e.Roles, serves, e.servers[node].died)
	return err
}

// Links gives the links between the servers; those of clients cannot be broken.
func (e *Ensemble) Links() systems.Links { return e.mesh }

// Close kills every server, paused ones too, and closes the links.
func (e *Ensemble) Close() error {
	return errors.Join(systems.Each(e.servers, (*server).Close), e.mesh.Close())
}

// sortedKeys gives the keys of m in their order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
