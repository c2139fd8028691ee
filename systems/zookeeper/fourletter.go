package zookeeper

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// The modes in which a server answers srvr.
const (
	ModeLeader     = "leader"
	ModeFollower   = "follower"
	ModeObserver   = "observer"
	ModeStandalone = "standalone"
)

// askTimeout bounds one question to one server.
const askTimeout = 500 * time.Millisecond

// answerLimit bounds what is read of an answer; srvr takes a few hundred bytes.
const answerLimit = 64 << 10

// ErrNotServing is the answer of a server that runs and has no leader.
var ErrNotServing = errors.New("the server runs but is not serving: it has no leader")

// Status is what a server says of itself.
type Status struct {
	// Mode is one of the Mode constants.
	Mode string
	// Zxid is the newest transaction the server has applied; its upper 32
	// bits are the epoch of the leader that proposed it.
	Zxid uint64
	// Version is the server's version, as "3.8.0".
	Version string
}

// Leads says whether the server thinks that it is the one that orders writes.
func (s Status) Leads() bool { return s.Mode == ModeLeader || s.Mode == ModeStandalone }

// Ask asks the server whose client address is addr for its status. It returns
// ErrNotServing where the server has no leader, and gives up after half a
// second or when ctx is over.
func Ask(ctx context.Context, addr string) (Status, error) {
	answer, err := fourLetterWord(ctx, addr, "srvr")
	if err != nil {
		return Status{}, err
	}
	return parseStatus(answer)
}

// fourLetterWord sends a command word and reads the answer, which ends with the
// connection.
func fourLetterWord(ctx context.Context, addr, word string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	if _, err := io.WriteString(conn, word); err != nil {
		return "", fmt.Errorf("%s to %s: %w", word, addr, err)
	}
	answer, err := io.ReadAll(io.LimitReader(conn, answerLimit))
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s to %s: no answer in time: %w", word, addr, ctx.Err())
	case err != nil:
		return "", fmt.Errorf("%s to %s: %w", word, addr, err)
	case len(answer) == 0:
		return "", fmt.Errorf("%s to %s: the server closed the connection without an answer", word, addr)
	}
	return string(answer), nil
}

// parseStatus reads the answer to srvr, as servers from 3.4 on give it.
func parseStatus(answer string) (Status, error) {
	if strings.Contains(answer, "not currently serving requests") {
		return Status{}, ErrNotServing
	}
	if strings.Contains(answer, "not in the whitelist") {
		return Status{}, errors.New("the server does not allow the command srvr: want 4lw.commands.whitelist=srvr in its configuration")
	}
	var s Status
	lines := bufio.NewScanner(strings.NewReader(answer))
	for lines.Scan() {
		key, value, ok := strings.Cut(lines.Text(), ": ")
		if !ok {
			continue
		}
		switch key {
		case "Mode":
			s.Mode = value
		case "Zxid":
			zxid, err := strconv.ParseUint(value, 0, 64)
			if err != nil {
				return Status{}, fmt.Errorf("answer to srvr: Zxid is %q: want a number", value)
			}
			s.Zxid = zxid
		case "Zookeeper version":
			version, _, _ := strings.Cut(value, ",")
			s.Version, _, _ = strings.Cut(version, "-")
		}
	}
	if s.Mode == "" {
		return Status{}, fmt.Errorf("answer to srvr has no line \"Mode: …\"; it begins %.60q", answer)
	}
	return s, nil
}
