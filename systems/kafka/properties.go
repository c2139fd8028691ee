package kafka

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stalemate-io/stalemate/systems/node"
)

// The configuration that all nodes share: small, quiet, and moved by nobody but
// clients and faults.
const shared = `listener.security.protocol.map=CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT,CLIENT:PLAINTEXT
num.network.threads=1
num.io.threads=2
num.replica.fetchers=1
background.threads=2
num.recovery.threads.per.data.dir=1
auto.create.topics.enable=false
auto.leader.rebalance.enable=false
unclean.leader.election.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
min.insync.replicas=1
log.cleaner.enable=false
`

// place is where a node listens and is reached.
type place struct {
	number   int    // Kafka's id
	home     string // its folder, by the path that it knows
	internal string // host:port at which it listens for nodes
	inside   string // host:port at which nodes reach it
	listen   string // host:port at which it listens for clients; brokers only
	client   string // host:port at which this process reaches it
}

func (p place) data() string       { return filepath.Join(p.home, "data") }
func (p place) properties() string { return filepath.Join(p.home, propertiesFile) }
func (p place) logging() string    { return filepath.Join(p.home, loggingFile) }

// The files in a node's folder that tell it what to do.
const (
	propertiesFile = "server.properties"
	loggingFile    = "log4j.properties"
)

// brokerProperties is a broker's configuration. store are the addresses of
// ZooKeeper, or the quorum's as id@host:port.
func brokerProperties(o Options, p place, store []string) string {
	var b strings.Builder
	b.WriteString(shared)
	fmt.Fprintf(&b, "listeners=INTERNAL://%s,CLIENT://%s\n", p.internal, p.listen)
	fmt.Fprintf(&b, "advertised.listeners=INTERNAL://%s,CLIENT://%s\n", p.inside, p.client)
	fmt.Fprintf(&b, "inter.broker.listener.name=INTERNAL\nlog.dirs=%s\n", p.data())
	session := o.SessionTimeout.Milliseconds()
	// A follower is out of sync after the same silence that makes a broker dead.
	fmt.Fprintf(&b, "replica.lag.time.max.ms=%d\n", session)
	if o.Mode == ZooKeeper {
		fmt.Fprintf(&b, "broker.id=%d\nzookeeper.connect=%s\nzookeeper.session.timeout.ms=%d\nzookeeper.connection.timeout.ms=30000\nrequest.timeout.ms=%d\n",
			p.number, strings.Join(store, ","), session, o.PushTimeout.Milliseconds())
		return b.String()
	}
	fmt.Fprintf(&b, "process.roles=broker\nnode.id=%d\ncontroller.listener.names=CONTROLLER\n", p.number)
	fmt.Fprintf(&b, "broker.session.timeout.ms=%d\nbroker.heartbeat.interval.ms=%d\n", session, session/4)
	b.WriteString(quorum(o, store))
	return b.String()
}

// controllerProperties is the configuration of a controller of the quorum.
func controllerProperties(o Options, p place, voters []string) string {
	var b strings.Builder
	b.WriteString(shared)
	fmt.Fprintf(&b, "process.roles=controller\nnode.id=%d\nlog.dirs=%s\n", p.number, p.data())
	// The leader of the quorum tells everybody where it is advertised (KIP-853), and
	// that must not be past its proxy.
	fmt.Fprintf(&b, "listeners=CONTROLLER://%s\nadvertised.listeners=CONTROLLER://%s\n", p.internal, p.inside)
	b.WriteString("controller.listener.names=CONTROLLER\n")
	fmt.Fprintf(&b, "broker.session.timeout.ms=%d\n", o.SessionTimeout.Milliseconds())
	b.WriteString(quorum(o, voters))
	return b.String()
}

func quorum(o Options, voters []string) string {
	return fmt.Sprintf("controller.quorum.voters=%s\ncontroller.quorum.election.timeout.ms=%d\ncontroller.quorum.fetch.timeout.ms=%d\n",
		strings.Join(voters, ","), o.ElectionTimeout.Milliseconds(), o.FetchTimeout.Milliseconds())
}

// metaProperties marks a data folder as formatted for the cluster, as Kafka's
// storage tool does.
func metaProperties(cluster string, number int) string {
	return fmt.Sprintf("version=1\ncluster.id=%s\nnode.id=%d\n", cluster, number)
}

// logging sends everything to the standard output, so that a node has one log,
// which "stalemate check" reads too.
const (
	log4j1 = `log4j.rootLogger=INFO, stdout
log4j.appender.stdout=org.apache.log4j.ConsoleAppender
log4j.appender.stdout.layout=org.apache.log4j.PatternLayout
log4j.appender.stdout.layout.ConversionPattern=[%d] %p %m (%c)%n
log4j.logger.state.change.logger=TRACE
log4j.logger.org.apache.zookeeper=WARN
`
	log4j2 = `appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = [%d] %p %m (%c)%n
rootLogger.level = INFO
rootLogger.appenderRef.out.ref = out
logger.state.name = state.change.logger
logger.state.level = TRACE
`
)

// javaArguments are those of a node.
func javaArguments(o Options, in Installation, p place) []string {
	logging := "-Dlog4j.configuration=file:" + p.logging()
	if numbersOf(in.Version)[0] >= 4 {
		logging = "-Dlog4j2.configurationFile=" + p.logging()
	}
	return in.kafka([]string{
		fmt.Sprintf("-Xmx%dm", o.HeapMB),
		// Few cores for many nodes: what starts soonest disturbs least.
		"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
		logging,
		"kafka.Kafka", p.properties(),
	})
}

// number is a node's id in Kafka's terms: N for broker bN, 3000+N for controller
// cN, as package wire has it.
func number(id node.ID) int {
	n := 0
	for _, c := range id[1:] {
		n = 10*n + int(c-'0')
	}
	if id[0] == 'c' {
		n += 3000
	}
	return n
}

// assignments spreads the partitions' replicas over the brokers.
func assignments(o Options) [][]int32 {
	out := make([][]int32, o.Partitions)
	for p := range out {
		for r := range o.Replicas {
			out[p] = append(out[p], int32((p+r)%o.Brokers)+1)
		}
	}
	return slices.Clip(out)
}
