package kraft

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/stalemate-io/stalemate/systems/kraft/epochlog"
	"github.com/stalemate-io/stalemate/systems/kraft/metadata"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// partition is a broker's copy of a partition.
type partition struct {
	b     *Broker
	state *metadata.PartitionState // as the role store has it
	log   *epochlog.Log
	hw    int64

	// As the leader:
	start     int64 // log end offset when it became leader
	followers []*follower
	pending   []InSync // in-sync replicas asked for and not granted yet, if any
	waiting   []produced
}

// follower is what a leader knows of one.
type follower struct {
	id          int32
	brokerEpoch int64
	end         int64 // log end offset that it has acknowledged; -1 unknown
	// A follower counts as caught up at the time when it fetched from what
	// then was the end of the leader's log.
	caughtUp  time.Duration
	fetchedAt time.Duration
	leaderEnd int64 // the leader's end at its last fetch
}

// produced is a record that waits for all in-sync replicas.
type produced struct {
	offset int64
	epoch  int32
	reply  func(node.Message)
}

func openPartition(b *Broker, s *metadata.PartitionState) (*partition, error) {
	log, err := epochlog.Open(b.env.Disk(), s.Key)
	if err != nil {
		return nil, err
	}
	none := *s
	none.LeaderEpoch, none.Leader = -1, metadata.NoLeader
	return &partition{b: b, state: &none, log: log}, nil
}

func (p *partition) leads() bool { return p.state.Leader == p.b.id }

// become takes on a state. Only a new leader epoch changes the role.
func (p *partition) become(s *metadata.PartitionState) {
	old := p.state
	if s.LeaderEpoch != old.LeaderEpoch {
		p.stopLeading()
	}
	p.state = s
	p.pending = nil
	if s.LeaderEpoch != old.LeaderEpoch {
		p.b.trace("role", s)
		p.start = p.log.End()
		p.followers = nil
	}
	if !p.leads() {
		return
	}
	now := p.b.env.Now()
	// A replica that goes and comes back begins with nothing.
	p.followers = slices.DeleteFunc(p.followers, func(f *follower) bool { return !slices.Contains(s.Replicas, f.id) })
	for _, id := range s.Replicas {
		if id != p.b.id && p.follower(id) == nil {
			p.followers = append(p.followers, &follower{id: id, brokerEpoch: -1, end: -1, caughtUp: now})
		}
	}
	p.advance()
}

// stopLeading answers those who wait for this leader. Their records may survive.
func (p *partition) stopLeading() {
	waiting := p.waiting
	p.waiting, p.pending = nil, nil
	for _, w := range waiting {
		w.reply(&protocol.ProduceResponse{Error: protocol.RequestTimedOut, Offset: w.offset, LeaderEpoch: w.epoch})
	}
}

func (p *partition) follower(id int32) *follower {
	for _, f := range p.followers {
		if f.id == id {
			return f
		}
	}
	return nil
}

// end is the end of what counts as replicated here.
func (p *partition) end() int64 {
	if p.b.cfg.Guards.DataFlush {
		return p.log.Durable()
	}
	return p.log.End()
}

// advance moves the high watermark to what all in-sync replicas have, those
// included that are about to be: they may be in sync already.
func (p *partition) advance() {
	hw := p.end()
	for _, f := range p.followers {
		if slices.Contains(p.state.ISR, f.id) || slices.ContainsFunc(p.pending, func(r InSync) bool { return r.Broker == f.id }) {
			hw = min(hw, f.end)
		}
	}
	if hw <= p.hw {
		return
	}
	p.hw = hw
	for len(p.waiting) > 0 && p.waiting[0].offset < hw {
		w := p.waiting[0]
		p.waiting = p.waiting[1:]
		w.reply(&protocol.ProduceResponse{Offset: w.offset, LeaderEpoch: w.epoch})
	}
}

// append adds a value as the leader.
func (p *partition) append(value int64) (int64, error) {
	offset := p.log.End()
	b := &epochlog.Batch{Base: offset, Epoch: p.state.LeaderEpoch, Records: [][]byte{binary.AppendVarint(nil, value)}}
	if err := p.log.Append(b); err != nil {
		return 0, err
	}
	p.b.roles.wake(p.state.Partition)
	if p.b.cfg.Guards.DataFlush {
		p.log.Sync(func() {
			if p.leads() {
				p.advance()
			}
		})
	}
	return offset, nil
}

// maxFetch bounds the records in the answer to one fetch.
const maxFetch = 500

// values gives the values from an offset up to the high watermark.
func (p *partition) values(offset int64) []int64 {
	var out []int64
	if offset < 0 || offset >= p.hw {
		return nil
	}
	for _, b := range p.log.From(offset, int(min(p.hw-offset, maxFetch))) {
		for _, r := range b.Records {
			v, _ := binary.Varint(r)
			out = append(out, v)
		}
	}
	return out
}
