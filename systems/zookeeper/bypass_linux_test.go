package zookeeper

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// noBypass looks at every connection to a server's own peer ports: the dialling
// side has to be this program, in which the links live.
func noBypass(t *testing.T, e *Ensemble) {
	leaderAndFollowers(t, e)
	ports := make(map[string]string) // own peer port in hex: whose
	for i, node := range e.Nodes() {
		text, err := os.ReadFile(filepath.Join(e.Options().Dir, node, "zoo.cfg"))
		if err != nil {
			t.Fatal(err)
		}
		own := fmt.Sprintf("server.%d=127.0.0.1:", i+1)
		_, after, ok := strings.Cut(string(text), own)
		var quorum, election int
		if _, err := fmt.Sscanf(after, "%d:%d", &quorum, &election); !ok || err != nil {
			t.Fatalf("no line %q in\n%s", own, text)
		}
		ports[fmt.Sprintf("%04X", quorum)] = node + " quorum"
		ports[fmt.Sprintf("%04X", election)] = node + " election"
	}
	mine := make(map[string]bool)
	fds, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if target, err := os.Readlink(fd); err == nil && strings.HasPrefix(target, "socket:[") {
			mine[strings.Trim(target, "socket:[]")] = true
		}
	}
	direct := 0
	for _, c := range connections(t) {
		server, ok := ports[c.remotePort]
		switch {
		case !ok:
		case mine[c.inode]:
			direct++
		default:
			t.Errorf("a connection to %s was dialled past the links", server)
		}
	}
	// Three servers keep three election connections, and two followers one
	// connection each to the leader.
	if direct != 5 {
		t.Errorf("%d connections through the links: want 5", direct)
	}
}

type connection struct{ remotePort, inode string }

// connections lists the established TCP connections of this machine, IPv4 and
// IPv6, as Java uses the latter for both.
func connections(t *testing.T) []connection {
	t.Helper()
	var cs []connection
	for _, path := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(path)
		if err != nil {
			continue // no IPv6 here
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			fields := strings.Fields(lines.Text())
			const established = "01"
			if len(fields) > 9 && fields[3] == established {
				_, port, _ := strings.Cut(fields[2], ":")
				cs = append(cs, connection{port, fields[9]})
			}
		}
	}
	return cs
}
