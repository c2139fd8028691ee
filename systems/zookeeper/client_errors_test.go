package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/stalemate-io/stalemate/histories"
)

func TestWhatAnErrorSaysOfAWrite(t *testing.T) {
	tests := []struct {
		rule string
		err  error
		want histories.Type
	}{
		{"no error: it happened", nil, histories.OK},
		{"another version was there: it did not happen", zk.ErrBadVersion, histories.Fail},
		{"no such znode", zk.ErrNoNode, histories.Fail},
		{"the znode exists", zk.ErrNodeExists, histories.Fail},
		{"the znode has children", zk.ErrNotEmpty, histories.Fail},
		{"not allowed", zk.ErrNoAuth, histories.Fail},
		{"never sent", zk.ErrNoServer, histories.Fail},
		{"a wrapped refusal is a refusal", fmt.Errorf("set: %w", zk.ErrBadVersion), histories.Fail},
		{"the connection broke before the answer came", zk.ErrConnectionClosed, histories.Info},
		{"the session was being closed", zk.ErrClosing, histories.Info},
		{"the session expired: says nothing of what it sent before", zk.ErrSessionExpired, histories.Info},
		{"the session moved", zk.ErrSessionMoved, histories.Info},
		{"the request was written in part", io.ErrShortWrite, histories.Info},
		{"the server says something the library has no name for", errors.New("unknown error: -4"), histories.Info},
		{"nobody waits for the answer any longer", errTimeout, histories.Info},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			if got := writeType(test.err); got != test.want {
				t.Errorf("a write with %v is %v, want %v", test.err, got, test.want)
			}
			wantRead := histories.Fail
			if test.err == nil {
				wantRead = histories.OK
			}
			if got := readType(test.err); got != wantRead {
				t.Errorf("a read with %v is %v, want %v", test.err, got, wantRead)
			}
		})
	}
}

func TestAwaitLeavesWhatDoesNotEnd(t *testing.T) {
	release, left := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := await(ctx, func(context.Context) (int, error) {
		defer close(left)
		<-release
		return 1, nil
	})
	if !errors.Is(err, errTimeout) {
		t.Errorf("got %v, want %v", err, errTimeout)
	}
	close(release)
	<-left
}

func TestAwaitTellsTheEndOfTheRunFromATimeout(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	block := make(chan struct{})
	defer close(block)
	_, err := await(ctx, func(context.Context) (int, error) { <-block; return 0, nil })
	if err == nil || errors.Is(err, errTimeout) {
		t.Errorf("got %v", err)
	}
}
