package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/stalemate-io/stalemate/systems"
	"github.com/stalemate-io/stalemate/systems/docker"
)

// Images of ZooKeeper. All are told what to do in the way of the official one: by
// /conf/zoo.cfg and by the environment; their data are in /data.
const (
	OfficialImage = "zookeeper:3.9"
	// LocalImage is what make images builds where no registry answers.
	LocalImage = "stalemate-zookeeper"
)

// The ports of a server in a container, and the folder of its data there.
const (
	containedClient   = 2181
	containedQuorum   = 2888
	containedElection = 3888
	containedData     = "/data"
)

// Contained is a ZooKeeper ensemble whose servers are containers.
type Contained struct {
	containers
	options Options
	image   string
	space   *docker.Space
	own     bool // the space is removed with the ensemble
	names   []string
	version string

	once   sync.Once
	closed error
}

var _ systems.Cluster = (*Contained)(nil)

// containers are the members of a Contained.
type containers = systems.Members[string, *contained]

// contained is a server in a container.
type contained struct {
	name string
	dir  string
	host *docker.Host
	*docker.Member
}

// containedTimeout bounds a launch whose context does not, without the pulling of
// images.
const containedTimeout = 2 * time.Minute

// ChooseImage gives the image that servers run from where the user names none: the
// local one if the engine has it, else the official one.
func ChooseImage(ctx context.Context, e *docker.Engine) (string, error) {
	return e.FirstImage(ctx, LocalImage, OfficialImage)
}

// LaunchContained starts an ensemble of containers in a space of its own on the
// Docker engine that the environment names, as LaunchIn does.
func LaunchContained(ctx context.Context, o Options, image string) (*Contained, error) {
	space, err := docker.OpenSpace(ctx)
	if err != nil {
		return nil, err
	}
	e, err := LaunchIn(ctx, space, o, image)
	if err != nil {
		return nil, errors.Join(err, space.Close())
	}
	e.own = true
	return e, nil
}

// LaunchIn starts an ensemble of containers in a space, from an image; where that is
// empty ChooseImage chooses. It returns once all servers serve and one leads. Where
// it fails nothing is left running. Home and Java of the options have no meaning
// here.
func LaunchIn(ctx context.Context, space *docker.Space, o Options, image string) (*Contained, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &Contained{options: o, image: image, space: space, containers: containers{}}
	if err := e.launch(ctx); err != nil {
		return nil, fmt.Errorf("launch of %d ZooKeeper servers as containers: %w", o.Servers, errors.Join(err, e.Close()))
	}
	return e, nil
}

func (e *Contained) launch(ctx context.Context) (err error) {
	engine := e.space.Engine()
	if e.image == "" {
		if e.image, err = ChooseImage(ctx, engine); err != nil {
			return err
		}
	}
	if err := engine.Image(ctx, e.image); err != nil {
		return fmt.Errorf("%w; make images builds %s without a registry, --zookeeper-image names another", err, LocalImage)
	}
	ctx, cancel := context.WithTimeout(ctx, containedTimeout)
	defer cancel()
	for id := 1; id <= e.options.Servers; id++ {
		name := "zk" + strconv.Itoa(id)
		e.names = append(e.names, name)
		e.containers[name] = &contained{name: name, dir: filepath.Join(e.options.Dir, name)}
	}
	// A server is told of all others' addresses, so all hosts come first.
	err = systems.Each(e.containers, func(s *contained) (err error) {
		s.host, err = e.space.Host(ctx, s.name, containedClient)
		return err
	})
	if err != nil {
		return err
	}
	if err := systems.Each(e.containers, func(s *contained) error { return e.start(ctx, s) }); err != nil {
		return err
	}
	roles, err := awaitRoles(ctx, "all servers to serve and one to lead", e.Roles, Roles.AllServe, e.Died)
	if err != nil {
		return err
	}
	e.version = roles[e.names[0]].Version
	return nil
}

// start makes a server's container and starts it for the first time.
func (e *Contained) start(ctx context.Context, s *contained) (err error) {
	if err := errors.Join(os.RemoveAll(s.dir), os.MkdirAll(s.dir, 0o755)); err != nil {
		return writeError(err)
	}
	files := map[string]string{
		"/conf/zoo.cfg":          e.configuration(),
		"/conf/log4j.properties": log4jProperties,
		"/conf/logback.xml":      logbackXML,
		containedData + "/myid":  strconv.Itoa(slices.Index(e.names, s.name)+1) + "\n",
	}
	command := docker.Command{Image: e.image, Env: containedEnvironment(e.options), Log: filepath.Join(s.dir, "server.log")}
	for path, text := range files {
		command.Files = append(command.Files, docker.File{Path: path, Data: []byte(text)})
	}
	if s.Member, err = s.host.Member(ctx, command); err != nil {
		return err
	}
	return s.Start()
}

// configuration is the same for all servers.
func (e *Contained) configuration() string {
	var peers []string
	for _, name := range e.names {
		peers = append(peers, fmt.Sprintf("%s:%d:%d", e.containers[name].host.Address(), containedQuorum, containedElection))
	}
	return configurationAt(e.options, containedData, "0.0.0.0", containedClient, peers)
}

// containedEnvironment sets what javaArguments sets, for any image: every Java
// heeds JAVA_TOOL_OPTIONS, and the official image's script has its own words for
// the heap.
func containedEnvironment(o Options) []string {
	return []string{
		fmt.Sprintf("JAVA_TOOL_OPTIONS=-Xmx%dm -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData -Dzookeeper.preAllocSize=4096", o.HeapMB),
		fmt.Sprintf("ZK_SERVER_HEAP=%d", o.HeapMB),
	}
}

// Nodes lists the servers: zk1, zk2 and so on, by server id.
func (e *Contained) Nodes() []string { return slices.Clone(e.names) }

// Version is the servers' version, as they say it.
func (e *Contained) Version() string { return e.version }

// Image is what the servers run from.
func (e *Contained) Image() string { return e.image }

// Engine is the version of the Docker engine.
func (e *Contained) Engine() string { return e.space.Engine().Version() }

// ClientAddr is the host:port at which clients reach a server; empty for a name
// that is none. No link lies on the way.
func (e *Contained) ClientAddr(node string) string {
	if s, ok := e.containers[node]; ok {
		return s.host.ClientAddr()
	}
	return ""
}

// Inside is the host:port at which the other containers of the space reach a server;
// empty for a name that is none.
func (e *Contained) Inside(node string) string {
	if s, ok := e.containers[node]; ok {
		return net.JoinHostPort(s.host.Address(), strconv.Itoa(containedClient))
	}
	return ""
}

// Roles asks every server what it is.
func (e *Contained) Roles(ctx context.Context) Roles {
	return askAll(ctx, e.names, func(ctx context.Context, name string) (Status, error) {
		s := e.containers[name]
		if err := s.Asleep(); err != nil {
			return Status{}, err
		}
		return Ask(ctx, s.host.ClientAddr())
	})
}

// Await asks the servers until cond holds of their roles, as Ensemble.Await.
func (e *Contained) Await(ctx context.Context, want string, cond func(Roles) bool) (Roles, error) {
	return awaitRoles(ctx, want, e.Roles, cond, nil)
}

// Leader names the server that leads; where two say so, the one of the newer
// epoch.
func (e *Contained) Leader(ctx context.Context) (string, error) { return leader(ctx, e.Roles) }

// Start brings a killed server back on its data and returns once it serves.
func (e *Contained) Start(ctx context.Context, node string) error {
	if err := e.containers.Start(ctx, node); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, launchTimeout)
	defer cancel()
	serves := func(r Roles) bool { return r[node].Err == nil }
	_, err := awaitRoles(ctx, node+" to serve", e.Roles, serves, e.containers[node].Died)
	return err
}

// Links gives the links between the servers, which can be cut and healed; those of
// clients cannot be broken.
func (e *Contained) Links() systems.Links { return e.space.Links() }

// DataDirs lists the folders that hold the servers' snapshots and transaction logs
// once the ensemble is closed.
func (e *Contained) DataDirs() []string {
	var dirs []string
	for _, name := range e.names {
		dirs = append(dirs, filepath.Join(e.containers[name].dir, "data"))
	}
	return dirs
}

// copyTimeout bounds how long the servers' data take to be copied.
const copyTimeout = 30 * time.Second

// Close kills every server, copies its log and its data into its folder, and
// removes the space if that is the ensemble's own.
func (e *Contained) Close() error {
	e.once.Do(func() { e.closed = e.close() })
	return e.closed
}

func (e *Contained) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), copyTimeout)
	defer cancel()
	err := systems.Each(e.containers, func(s *contained) error {
		if s.Member == nil {
			return nil
		}
		return errors.Join(s.Member.Close(), s.CopyOut(ctx, containedData, filepath.Join(s.dir, "data")))
	})
	if e.own {
		err = errors.Join(err, e.space.Close())
	}
	return err
}
