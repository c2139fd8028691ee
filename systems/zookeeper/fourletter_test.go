package zookeeper

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

const followerAnswer = `Zookeeper version: 3.8.0-${mvngit.commit.id}, built on 2024-02-26 21:05 UTC
Latency min/avg/max: 0/0.0/0
Received: 2
Sent: 1
Connections: 1
Outstanding: 0
Zxid: 0x20000000f
Mode: follower
Node count: 5
`

func TestParseStatus(t *testing.T) {
	for _, c := range []struct {
		rule    string
		answer  string
		want    Status
		failure string
	}{
		{"a follower of 3.8", followerAnswer, Status{ModeFollower, 0x20000000f, "3.8.0"}, ""},
		{"a leader adds the sizes of proposals",
			strings.Replace(followerAnswer, "Mode: follower", "Mode: leader", 1) + "Proposal sizes last/min/max: 32/32/36\n",
			Status{ModeLeader, 0x20000000f, "3.8.0"}, ""},
		{"a server of 3.4 has a revision in its version", "Zookeeper version: 3.4.14-4c25d480e66aadd371de8bd2fd8da255ac140bcf, built on 03/06/2019 16:18 GMT\nZxid: 0x0\nMode: standalone\n",
			Status{ModeStandalone, 0, "3.4.14"}, ""},
		{"a server without a leader", "This ZooKeeper instance is not currently serving requests\n", Status{}, "not serving"},
		{"a server that does not allow the word", "srvr is not executed because it is not in the whitelist.\n", Status{}, "4lw.commands.whitelist"},
		{"a number that is none", "Zxid: banana\nMode: leader\n", Status{}, `Zxid is "banana"`},
		{"something that is no ZooKeeper", "HTTP/1.1 400 Bad Request\r\n", Status{}, "HTTP/1.1 400"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got, err := parseStatus(c.answer)
			if got != c.want {
				t.Errorf("%+v: want %+v", got, c.want)
			}
			if (err == nil) != (c.failure == "") || err != nil && !strings.Contains(err.Error(), c.failure) {
				t.Errorf("error %v: want %q", err, c.failure)
			}
		})
	}
}

// serve answers every connection with answer and closes it; an empty answer
// never comes.
func serve(t *testing.T, answer string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if answer == "" {
				t.Cleanup(func() { c.Close() })
				continue
			}
			io.ReadFull(c, make([]byte, 4))
			io.WriteString(c, answer)
			c.Close()
		}
	}()
	return l.Addr().String()
}

func TestAskGivesUpOnAServerThatAcceptsAndNeverAnswers(t *testing.T) {
	addr := serve(t, "")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := Ask(ctx, addr); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v: want a time-out", err)
	}
}

func TestConnectNamesWhatIsWrongWithAnAddress(t *testing.T) {
	for _, c := range []struct {
		rule  string
		addrs []string
		want  string
	}{
		{"none", nil, "want host:port"},
		{"no port", []string{"zoo.example.org"}, "want host:port"},
		{"the same twice", []string{"a:1", "a:1"}, "each server once"},
	} {
		if _, err := Connect(t.Context(), c.addrs); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v: want %q", c.rule, err, c.want)
		}
	}
}

func TestConnectSaysWhatEachServerAnswered(t *testing.T) {
	good, bad := serve(t, followerAnswer), serve(t, "This ZooKeeper instance is not currently serving requests\n")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := Connect(ctx, []string{good, bad})
	for _, want := range []string{good + ": follower at zxid 0x20000000f", bad + ": the server runs but is not serving"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want it to say %q", err, want)
		}
	}
}

func TestTheLeaderIsTheOneOfTheNewerEpoch(t *testing.T) {
	at := func(mode string, epoch uint64) Role { return Role{Status: Status{Mode: mode, Zxid: epoch<<32 | 9}} }
	for _, c := range []struct {
		rule  string
		roles Roles
		want  string
		serve bool
	}{
		{"one leads", Roles{"a": at(ModeFollower, 1), "b": at(ModeLeader, 1)}, "b", true},
		{"an old leader has not noticed", Roles{"a": at(ModeLeader, 2), "b": at(ModeLeader, 1), "c": at(ModeFollower, 2)}, "a", false},
		{"nobody leads", Roles{"a": at(ModeFollower, 1), "b": {Err: ErrNotServing}}, "", false},
		{"one that leads and one that is down", Roles{"a": at(ModeLeader, 1), "b": {Err: errStopped}}, "a", false},
		{"one alone", Roles{"a": at(ModeStandalone, 0)}, "a", true},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got, ok := c.roles.Leader(); got != c.want || ok != (c.want != "") {
				t.Errorf("leader %q, %v: want %q", got, ok, c.want)
			}
			if got := c.roles.AllServe(); got != c.serve {
				t.Errorf("all serve: %v, want %v", got, c.serve)
			}
		})
	}
}
