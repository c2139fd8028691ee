package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/reports"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/tcp"
	"github.com/stalemate-io/stalemate/systems/wire"
)

// overhead tells, as a table, what the tool itself adds to an operation on a live
// system: the recording, and the way to a node that answers at once and back.
// Whatever an operation takes beyond that is the system's.
func overhead(operations int) (string, error) {
	dir, err := os.MkdirTemp("", "stalemate-bench")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	file, err := os.Create(filepath.Join(dir, "history.jsonl"))
	if err != nil {
		return "", err
	}
	defer file.Close()
	rec := histories.NewRecorder(file)
	client := rec.Client()
	call, closeBoth, err := caller()
	if err != nil {
		return "", err
	}
	defer closeBoth()
	q, a := question(), answer()
	codec := wire.Kraft(wire.Cluster{ID: "bench"})

	table := reports.NewTable("what the tool adds to an operation", "median", "p99")
	for _, row := range []struct {
		what string
		do   func() error
	}{
		{"record its invoke and its end in a file", func() error { return record(client, func() error { return nil }) }},
		{"Kafka's bytes: question and answer, written and read", func() error { return bytesOf(codec, q, a) }},
		{"a call to a node that answers at once, over TCP, in those bytes", call},
		{"all of it: a recorded call", func() error { return record(client, call) }},
	} {
		times := make([]time.Duration, operations)
		for i := range times {
			start := time.Now()
			if err := row.do(); err != nil {
				return "", fmt.Errorf("%s: %w", row.what, err)
			}
			times[i] = time.Since(start)
		}
		slices.Sort(times)
		table.Row(row.what, micros(times[len(times)/2]), micros(times[len(times)*99/100]))
	}
	if err := rec.Close(); err != nil {
		return "", err
	}
	return table.String(), nil
}

func micros(d time.Duration) string { return fmt.Sprintf("%.1f µs", float64(d)/1e3) }

func question() *protocol.MetadataRequest {
	return &protocol.MetadataRequest{Partition: protocol.Partition{Topic: "t", Index: 3}, Path: protocol.ReadBroker}
}

func answer() *protocol.MetadataResponse {
	return &protocol.MetadataResponse{Leader: 1, LeaderEpoch: 7, ISR: []int32{1, 2, 3}, Offset: 1234, Controller: "c1"}
}

// record does something as a recorded read.
func record(client *histories.Client, do func() error) error {
	op := client.Invoke(histories.Event{F: "read", Key: histories.String("t-3"), Node: "b1", Path: string(protocol.ReadBroker)})
	if err := do(); err != nil {
		op.Info(err)
		return err
	}
	op.OK(histories.Event{Value: histories.String("1@7"), Version: histories.At(7)})
	return nil
}

// bytesOf does what both sides of a call do with its bytes.
func bytesOf(c *wire.Protocol, q *protocol.MetadataRequest, a *protocol.MetadataResponse) error {
	frame, err := c.AppendRequest(nil, 1, "x1", q)
	if err != nil {
		return err
	}
	r, err := c.ParseRequest(frame[4:])
	if err != nil {
		return err
	}
	if frame, err = c.AppendResponse(nil, r, a); err != nil {
		return err
	}
	_, err = c.ParseResponse(q, frame[4:])
	return err
}

// prompt is a node that answers at once.
type prompt struct{ env node.Env }

func (prompt) Start() {}
func (prompt) Receive(_ node.ID, _ node.Message, reply func(node.Message)) {
	if reply != nil {
		reply(answer())
	}
}

// caller starts a node and a client, and gives a call from one to the other.
func caller() (call func() error, closeBoth func() error, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	boot := func(env node.Env) node.Machine { return prompt{env} }
	codec := wire.Kraft(wire.Cluster{ID: "bench", Addresses: map[node.ID]string{"b1": l.Addr().String()}})
	server, err := tcp.Start(tcp.Config{Self: "b1", New: boot, Protocol: codec, Listener: l})
	if err != nil {
		return nil, nil, err
	}
	client, err := tcp.Start(tcp.Config{Self: "x1", New: boot, Protocol: codec, Peers: map[node.ID]string{"b1": l.Addr().String()}})
	if err != nil {
		return nil, nil, errors.Join(err, server.Close())
	}
	answered := make(chan error, 1)
	call = func() error {
		client.Post(func(m node.Machine) {
			m.(prompt).env.Call("b1", question(), time.Second, func(_ node.Message, err error) { answered <- err })
		})
		return <-answered
	}
	return call, func() error { return errors.Join(client.Close(), server.Close()) }, nil
}
