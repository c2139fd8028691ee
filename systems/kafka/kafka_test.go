package kafka

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stalemate-io/stalemate/systems/protocol"
)

func TestTheNewestKafkaWithTheModeIsFound(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache) // where there is no XDG
	t.Setenv("KAFKA_HOME", "")
	root, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	add := func(version string, complete bool) {
		dir := filepath.Join(root, "stalemate", "kafka-"+version)
		must(t, os.MkdirAll(filepath.Join(dir, "libs"), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, "libs", "kafka_2.13-"+version+".jar"), nil, 0o644))
		if complete {
			must(t, os.WriteFile(filepath.Join(dir, "complete"), nil, 0o644))
		}
	}
	find := func(mode Mode) string {
		in, err := Find(t.Context(), mode, "", "")
		var missing *MissingError
		if errors.As(err, &missing) {
			return "missing"
		}
		if err != nil {
			t.Skip(err) // no Java
		}
		return in.Version
	}
	if got := find(KRaft); got != "missing" {
		t.Errorf("found %s in an empty cache", got)
	}
	add("3.9.2", true)
	add("3.10.0", true)
	add("4.1.0", true)
	add("4.3.1", true)
	add("4.4.0", false) // half brought
	if zk, kraft := find(ZooKeeper), find(KRaft); zk != "3.10.0" || kraft != "4.3.1" {
		t.Errorf("found %s with ZooKeeper and %s with the log", zk, kraft)
	}
	t.Setenv("KAFKA_HOME", filepath.Join(root, "stalemate", "kafka-4.1.0"))
	if zk, kraft := find(ZooKeeper), find(KRaft); zk != "missing" || kraft != "4.1.0" {
		t.Errorf("KAFKA_HOME gives %s with ZooKeeper and %s with the log", zk, kraft)
	}
}

func TestNobodyIsAdvertisedPastItsProxy(t *testing.T) {
	p := place{number: 1, internal: "127.0.0.1:1001", inside: "127.0.0.1:2001", listen: "127.0.0.1:3001", client: "127.0.0.1:3001"}
	for _, mode := range []Mode{ZooKeeper, KRaft} {
		o, err := Options{Mode: mode, Dir: "x"}.withDefaults()
		must(t, err)
		for name, text := range map[string]string{"broker": brokerProperties(o, p, nil), "controller": controllerProperties(o, p, nil)} {
			told := ""
			for line := range strings.Lines(text) {
				if addresses, is := strings.CutPrefix(line, "advertised.listeners="); is {
					told = addresses
				}
			}
			if !strings.Contains(told, "://"+p.inside) || strings.Contains(told, p.internal) {
				t.Errorf("a %s's %s tells %q", mode, name, told)
			}
		}
	}
}

func TestReplicas(t *testing.T) {
	o, err := Options{Mode: KRaft, Dir: "x", Brokers: 4, Partitions: 5}.withDefaults()
	must(t, err)
	for p, got := range assignments(o) {
		first := int32(p%4) + 1
		if len(got) != 3 || got[0] != first || !slices.Equal(got, o.replicasFrom(first)) {
			t.Errorf("partition %d has replicas %v", p, got)
		}
	}
}

func TestWhatCannotBeLaunched(t *testing.T) {
	for want, o := range map[string]Options{
		"no mode":      {Dir: "x"},
		"no folder":    {Mode: KRaft},
		"10 brokers":   {Mode: KRaft, Dir: "x", Brokers: 10},
		"2 controller": {Mode: KRaft, Dir: "x", Controllers: 2},
		"partitions":   {Mode: KRaft, Dir: "x", Partitions: -1},
		"time-out":     {Mode: KRaft, Dir: "x", SessionTimeout: time.Millisecond},
		"heap":         {Mode: KRaft, Dir: "x", HeapMB: 1},
	} {
		if _, err := Launch(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want something about %q", o, err, want)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRealKafka(t *testing.T) {
	if os.Getenv("STALEMATE_KAFKA") == "" {
		t.Skip("make test-kafka runs this against real Kafka, which takes two minutes and 100 MB of jars")
	}
	for _, mode := range []Mode{KRaft, ZooKeeper} {
		t.Run(string(mode), func(t *testing.T) {
			if _, err := Find(t.Context(), mode, "", ""); err != nil {
				t.Skip(err)
			}
			breakAndRead(t, Options{Mode: mode})
		})
	}
}

// breakAndRead launches a cluster, moves a leader, breaks a link and a broker, and
// reads what was committed.
func breakAndRead(t *testing.T, o Options) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	o.Dir, o.Partitions = t.TempDir(), 2
	c, err := Launch(ctx, o)
	must(t, err)
	defer func() { must(t, c.Close()) }()
	leader, err := c.Leader(ctx)
	if err != nil || !slices.Contains(c.Nodes(), leader) {
		t.Fatalf("the controller is %q, %v", leader, err)
	}
	began := time.Now()
	// A broker that is cut off by everybody loses its partitions.
	if c.Links() != nil {
		c.each(t, "b1", c.Links().Cut)
	} else {
		must(t, c.Pause(ctx, "b1"))
	}
	p := protocol.Partition{Topic: Topic}
	moved := func() error {
		a, err := c.knows(ctx, "b2")
		if err != nil {
			return err
		}
		for _, b := range a.Partitions {
			if b.Partition == p && b.Leader > 1 {
				return nil
			}
		}
		return errors.New("b1 still leads")
	}
	must(t, c.until(ctx, "another leader", moved))
	if c.Links() != nil {
		c.each(t, "b1", c.Links().Heal)
	} else {
		must(t, c.Resume(ctx, "b1"))
	}
	must(t, c.Kill(ctx, "b3"))
	must(t, c.Start(ctx, "b3"))
	must(t, c.Died())
	must(t, c.Stop(ctx))
	truth, err := c.Truth(ctx)
	must(t, err)
	first, last := map[protocol.Partition]Change{}, map[protocol.Partition]Change{}
	for _, ch := range truth {
		if _, known := first[ch.Partition]; !known {
			first[ch.Partition] = ch
		}
		if before := last[ch.Partition]; before.Order >= ch.Order || before.LeaderEpoch > ch.LeaderEpoch {
			t.Errorf("%+v follows %+v", ch, before)
		}
		last[ch.Partition] = ch
	}
	if f, l := first[p], last[p]; f.Leader != 1 || f.LeaderEpoch != 0 || l.LeaderEpoch == 0 || l.Committed.Before(began.Add(-time.Second)) {
		t.Errorf("partition 0 began as %+v and ended as %+v", f, l)
	}
}

// each does something to all links of a node.
func (c *Cluster) each(t *testing.T, name string, do func(from, to string) error) {
	t.Helper()
	for _, other := range append(c.Nodes(), c.Dependencies()...) {
		if other != name {
			must(t, errors.Join(do(name, other), do(other, name)))
		}
	}
}
