package kafka

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stalemate-io/stalemate/histories/kafkalogs"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/zookeeper"
)

// Change is a change of leadership that the cluster committed.
type Change struct {
	Partition   protocol.Partition
	Leader      int32
	LeaderEpoch int32
	// Order is the record's offset in the metadata log, or the zxid.
	Order int64
	// Committed is when: the record's or the transaction's own time, in whole
	// milliseconds. It is a moment of the node that wrote it, before everybody
	// had it.
	Committed time.Time
}

// Stop kills every node, servers of ZooKeeper too, so that what they wrote can be
// read: the kernel has all of it.
func (c *Cluster) Stop(ctx context.Context) error {
	var wg sync.WaitGroup
	errs := make([]error, len(c.ids))
	for i, id := range c.ids {
		wg.Go(func() {
			if m := c.members[id]; m.Asleep() == nil {
				errs[i] = m.Kill(ctx)
			}
		})
	}
	wg.Wait()
	if c.store.servers != nil {
		errs = append(errs, c.store.servers.Close())
	}
	return errors.Join(errs...)
}

// Truth reads what a stopped cluster has committed, in its order.
func (c *Cluster) Truth(ctx context.Context) ([]Change, error) {
	if c.space != nil {
		return truth(ctx, c.options, c.inContainer)
	}
	return Remains{c.options, c.installation}.Truth(ctx)
}

// Remains is what a cluster leaves in Options.Dir, however it ended, and a Kafka to
// read it with. It is read once no node runs any more.
type Remains struct {
	Options      Options
	Installation Installation
}

// Truth reads what the cluster has committed, in its order.
func (r Remains) Truth(ctx context.Context) ([]Change, error) { return truth(ctx, r.Options, r.here) }

// tool runs a class of Kafka's in the folder of a node that has stopped, and gives what
// it prints. The class comes after what is for Java, before what is for itself.
type tool func(ctx context.Context, id node.ID, arguments []string) ([]byte, error)

// here is a tool that runs on this machine.
func (r Remains) here(ctx context.Context, id node.ID, arguments []string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, r.Installation.Java, r.Installation.kafka(arguments)...)
	cmd.Dir, cmd.Stderr = filepath.Join(r.Options.Dir, string(id)), &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}

func truth(ctx context.Context, o Options, run tool) ([]Change, error) {
	if o.Mode == ZooKeeper {
		return storeTruth(o)
	}
	return logTruth(ctx, o, run)
}

// logTruth gives the changes in the metadata log that a majority of the controllers
// have on their disks.
func logTruth(ctx context.Context, o Options, run tool) ([]Change, error) {
	ids := o.ControllerIDs()
	logs := make([][]kafkalogs.Fact, len(ids))
	errs := make([]error, len(ids))
	var wg sync.WaitGroup
	for i, id := range ids {
		wg.Go(func() { logs[i], errs[i] = dump(ctx, o, id, run) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	type record struct {
		offset    int64
		epoch     int32 // of the batch
		partition string
	}
	held := map[record]int{}
	var out []Change
	last := map[string]int32{}
	for _, log := range logs {
		for _, f := range log {
			held[record{f.Offset, f.ControllerEpoch, f.Partition}]++
		}
	}
	longest := slices.MaxFunc(logs, func(a, b []kafkalogs.Fact) int { return len(a) - len(b) })
	for _, f := range longest {
		if held[record{f.Offset, f.ControllerEpoch, f.Partition}] <= len(ids)/2 {
			continue
		}
		if epoch, known := last[f.Partition]; known && epoch == f.State.LeaderEpoch {
			continue // of the in-sync replicas only
		}
		last[f.Partition] = f.State.LeaderEpoch
		ms, err := strconv.ParseInt(f.Time, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("metadata log, offset %d: the record's time is %q: expected milliseconds", f.Offset, f.Time)
		}
		p, err := partitionOf(f.Partition)
		if err != nil {
			return nil, err
		}
		out = append(out, Change{p, f.State.Leader, f.State.LeaderEpoch, f.Offset, time.UnixMilli(ms)})
	}
	return out, nil
}

// dump reads a controller's metadata log with Kafka's own tool.
func dump(ctx context.Context, o Options, id node.ID, run tool) ([]kafkalogs.Fact, error) {
	const files = "data/__cluster_metadata-0/*.log"
	names, err := fs.Glob(os.DirFS(filepath.Join(o.Dir, string(id))), files)
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("no metadata log of %s (%s in %s)", id, files, filepath.Join(o.Dir, string(id)))
	}
	slices.Sort(names)
	out, err := run(ctx, id, []string{"-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"org.apache.kafka.tools.DumpLogSegments", "--cluster-metadata-decoder", "--files", strings.Join(names, ",")})
	if err != nil {
		return nil, fmt.Errorf("metadata log of %s: kafka-dump-log: %w", id, err)
	}
	var facts []kafkalogs.Fact
	_, err = kafkalogs.Read(bytes.NewReader(out), "metadata log of "+string(id), func(f *kafkalogs.Fact) {
		if f.Offset >= 0 {
			facts = append(facts, *f)
		}
	})
	return facts, err
}

// partitionOf takes a name as Kafka prints it apart.
func partitionOf(name string) (protocol.Partition, error) {
	i := strings.LastIndexByte(name, '-')
	if i < 1 {
		return protocol.Partition{}, fmt.Errorf("partition %q: expected topic-number", name)
	}
	n, err := strconv.ParseInt(name[i+1:], 10, 32)
	if err != nil {
		return protocol.Partition{}, fmt.Errorf("partition %q: expected topic-number", name)
	}
	return protocol.Partition{Topic: name[:i], Index: int32(n)}, nil
}

// storeIn is the folder of the ensemble that a cluster in dir has.
func storeIn(dir string) string { return filepath.Join(dir, "zookeeper") }

// storeTruth gives the changes of partition states in the transaction logs of
// ZooKeeper's servers.
func storeTruth(o Options) ([]Change, error) {
	const topics = "/brokers/topics/"
	dirs, err := zookeeper.DataDirs(storeIn(o.Dir))
	if err != nil {
		return nil, err
	}
	writes, err := zookeeper.Writes(dirs, func(path string) bool {
		return strings.HasPrefix(path, topics) && strings.HasSuffix(path, "/state")
	})
	if err != nil {
		return nil, err
	}
	var out []Change
	last := map[protocol.Partition]int32{}
	for _, w := range writes {
		if w.Deleted || w.Uncertain {
			continue
		}
		// topic/partitions/number/state
		parts := strings.Split(strings.TrimPrefix(w.Path, topics), "/")
		var s struct {
			Leader      *int32 `json:"leader"`
			LeaderEpoch *int32 `json:"leader_epoch"`
		}
		if len(parts) != 4 || json.Unmarshal(w.Data, &s) != nil || s.Leader == nil || s.LeaderEpoch == nil {
			return nil, fmt.Errorf("zxid %#x: %s holds %q: expected a partition's state", w.Zxid, w.Path, w.Data)
		}
		p, err := partitionOf(parts[0] + "-" + parts[2])
		if err != nil {
			return nil, fmt.Errorf("zxid %#x: %w", w.Zxid, err)
		}
		if epoch, known := last[p]; known && epoch == *s.LeaderEpoch {
			continue // of the in-sync replicas only
		}
		last[p] = *s.LeaderEpoch
		out = append(out, Change{p, *s.Leader, *s.LeaderEpoch, w.Zxid, w.Time})
	}
	return out, nil
}
