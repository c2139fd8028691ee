package zookeeper

import (
	"fmt"
	"path/filepath"
	"strings"
)

// peer is where one server is reached as another one is told it: the ports for
// its followers, while it leads, and for elections.
type peer struct{ quorum, election int }

// configuration gives the text of a server's zoo.cfg. peers are the ports
// of all servers as this one is to know them, by id from 1; its own are those it
// binds.
func configuration(o Options, dataDir string, clientPort int, peers []peer) string {
	addresses := make([]string, len(peers))
	for i, p := range peers {
		addresses[i] = fmt.Sprintf("127.0.0.1:%d:%d", p.quorum, p.election)
	}
	return configurationAt(o, dataDir, "127.0.0.1", clientPort, addresses)
}

// configurationAt gives the text for a server that takes clients at an address of
// its own, and knows the servers by theirs, host:quorum port:election port.
func configurationAt(o Options, dataDir, client string, clientPort int, peers []string) string {
	var b strings.Builder
	line := func(key string, value any) { fmt.Fprintf(&b, "%s=%v\n", key, value) }
	line("tickTime", o.TickTime.Milliseconds())
	line("initLimit", o.InitLimit)
	line("syncLimit", o.SyncLimit)
	// The file is a Java properties file, in which a backslash escapes.
	line("dataDir", strings.ReplaceAll(filepath.ToSlash(dataDir), `\`, `\\`))
	line("clientPortAddress", client)
	line("clientPort", clientPort)
	// By default a server takes 60 connections from one address: fewer than
	// the clients of one run, all from here.
	line("maxClientCnxns", 0)
	// By default a session lasts at most 20 ticks: less than a client needs to
	// stay with a server that is paused.
	line("maxSessionTimeout", 600_000)
	line("4lw.commands.whitelist", "*")
	// Else each server runs a web server, all of them on port 8080.
	line("admin.enableServer", false)
	if len(peers) > 1 {
		for i, p := range peers {
			line(fmt.Sprintf("server.%d", i+1), p)
		}
	}
	return b.String()
}

// Releases up to 3.7 log through log4j and later ones through logback. Both
// look for these files on the class path; without them the first writes nothing
// and the second every byte received.
const (
	log4jProperties = `log4j.rootLogger=INFO, OUT
log4j.appender.OUT=org.apache.log4j.ConsoleAppender
log4j.appender.OUT.layout=org.apache.log4j.PatternLayout
log4j.appender.OUT.layout.ConversionPattern=%d{HH:mm:ss.SSS} %-5p [%t:%c{1}] %m%n
`
	logbackXML = `<configuration>
  <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d{HH:mm:ss.SSS} %-5p [%t:%logger{0}] %m%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="OUT"/></root>
</configuration>
`
)

// javaArguments gives the arguments of a server's java command.
func javaArguments(o Options, in Installation, confDir, configFile string) []string {
	classPath := append([]string{confDir}, in.ClassPath...)
	return []string{
		fmt.Sprintf("-Xmx%dm", o.HeapMB),
		// One small heap a server and few cores for all: the simple collector
		// and the quick compiler start soonest and disturb least.
		"-XX:+UseSerialGC",
		"-XX:TieredStopAtLevel=1",
		"-XX:-UsePerfData",
		"-Dorg.slf4j.simpleLogger.showDateTime=true",
		"-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
		"-Dorg.slf4j.simpleLogger.showShortLogName=true",
		// The first size of a transaction log in KiB. The default of 64 MiB
		// makes a run's folder as large wherever it is copied.
		"-Dzookeeper.preAllocSize=4096",
		"-cp", strings.Join(classPath, string(filepath.ListSeparator)),
		"org.apache.zookeeper.server.quorum.QuorumPeerMain",
		configFile,
	}
}
