package wire

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stalemate-io/stalemate/systems/kraft"
	"github.com/stalemate-io/stalemate/systems/kraft/epochlog"
	"github.com/stalemate-io/stalemate/systems/kraft/raft"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/stalemate-io/stalemate/systems/push"
	"pgregory.net/rapid"
)

var testCluster = Cluster{ID: "stalemate", Addresses: map[node.ID]string{
	"b1": "127.0.0.1:9092", "b2": "127.0.0.1:9093", "b3": "[::1]:9094", "c1": "127.0.0.1:9190", "c2": "127.0.0.1:9191",
}}

// exchanged is a request and an answer that fits it.
type exchanged struct{ request, answer node.Message }

// Generators. A list is never generated both nil and empty: nobody tells them apart.
var (
	aNode = rapid.Custom(func(t *rapid.T) node.ID {
		return node.ID(fmt.Sprintf("%s%d", rapid.SampledFrom([]string{"b", "c"}).Draw(t, "kind"), rapid.IntRange(1, 3000).Draw(t, "n")))
	})
	aNodeOrNone = rapid.OneOf(rapid.Just(node.ID("")), aNode)
	aController = rapid.Map(aNodeOrNone, func(id node.ID) string { return string(id) })
	aPartition  = rapid.Custom(func(t *rapid.T) protocol.Partition {
		return protocol.Partition{Topic: rapid.StringMatching(`[a-z.]{1,9}`).Draw(t, "topic"), Index: rapid.Int32Min(0).Draw(t, "index")}
	})
	number32  = rapid.OneOf(rapid.Int32Range(-1, 3), rapid.Int32())
	number64  = rapid.OneOf(rapid.Int64Range(-1, 3), rapid.Int64())
	aReplica  = rapid.OneOf(rapid.Int32Range(1, 3), rapid.Int32Min(0))
	anOffset  = rapid.Int64Min(0)
	brokers   = rapid.SliceOfN(rapid.OneOf(rapid.Int32Range(1, 3), rapid.Int32()), 0, 4)
	someBytes = rapid.SliceOfN(rapid.Byte(), 0, 20)
	paths     = rapid.SampledFrom([]protocol.ReadPath{"", protocol.ReadBroker, protocol.ReadLeader, protocol.ReadQuorum})
)

func someOf[T any](t *rapid.T, g *rapid.Generator[T]) []T {
	return rapid.SliceOfN(g, 0, 4).Draw(t, "some")
}

// knownCode is one that has a number of its own.
func knownCode(t *rapid.T) protocol.Code {
	var all []protocol.Code
	for n := int16(0); n < 128; n++ {
		if c, ok := names[n]; ok {
			all = append(all, c)
		}
	}
	return rapid.SampledFrom(all).Draw(t, "code")
}

func pushHeader(t *rapid.T) push.Header {
	return push.Header{
		Controller: number32.Draw(t, "controller"), ControllerEpoch: number32.Draw(t, "controller epoch"),
		BrokerEpoch: number64.Draw(t, "broker epoch"), ID: rapid.Uint64().Draw(t, "id"),
	}
}

func pushState(full bool) *rapid.Generator[push.PartitionState] {
	return rapid.Custom(func(t *rapid.T) push.PartitionState {
		s := push.PartitionState{
			Partition: aPartition.Draw(t, "partition"), ControllerEpoch: number32.Draw(t, "ce"), Leader: number32.Draw(t, "leader"),
			LeaderEpoch: number32.Draw(t, "le"), ISR: brokers.Draw(t, "isr"), Version: number32.Draw(t, "version"),
			Replicas: brokers.Draw(t, "replicas"),
		}
		if full {
			s.Adding, s.Removing, s.IsNew = brokers.Draw(t, "adding"), brokers.Draw(t, "removing"), rapid.Bool().Draw(t, "new")
		}
		return s
	})
}

func codesFor[T any](t *rapid.T, parts []T) []protocol.Code {
	var out []protocol.Code
	for range parts {
		out = append(out, knownCode(t))
	}
	return out
}

// distinct makes partitions differ, as they do in a request that is answered by name.
func distinct[T any](parts []T, at func(*T) *protocol.Partition) []T {
	for i := range parts {
		at(&parts[i]).Index = int32(i)
	}
	return parts
}

var pushMessages = map[string]func(*rapid.T) exchanged{
	"LeaderAndIsr": func(t *rapid.T) exchanged {
		q := &push.LeaderAndISRRequest{Header: pushHeader(t), Partitions: someOf(t, pushState(true)), LiveLeaders: brokers.Draw(t, "live")}
		return exchanged{q, &push.LeaderAndISRResponse{Error: knownCode(t), Partitions: codesFor(t, q.Partitions)}}
	},
	"UpdateMetadata": func(t *rapid.T) exchanged {
		q := &push.UpdateMetadataRequest{Header: pushHeader(t), Partitions: someOf(t, pushState(false)), LiveBrokers: brokers.Draw(t, "live")}
		return exchanged{q, &push.UpdateMetadataResponse{Error: knownCode(t)}}
	},
	"StopReplica": func(t *rapid.T) exchanged {
		q := &push.StopReplicaRequest{Header: pushHeader(t), Partitions: someOf(t, rapid.Custom(func(t *rapid.T) push.StopReplicaPartition {
			return push.StopReplicaPartition{
				Partition: aPartition.Draw(t, "p"), LeaderEpoch: number32.Draw(t, "le"), Delete: rapid.Bool().Draw(t, "delete"),
			}
		}))}
		return exchanged{q, &push.StopReplicaResponse{Error: knownCode(t), Partitions: codesFor(t, q.Partitions)}}
	},
	"AlterPartition": func(t *rapid.T) exchanged {
		q := &push.AlterPartitionRequest{Broker: number32.Draw(t, "b"), BrokerEpoch: number64.Draw(t, "be"), Partitions: someOf(t, rapid.Custom(func(t *rapid.T) push.AlterPartition {
			return push.AlterPartition{
				Partition: aPartition.Draw(t, "p"), LeaderEpoch: number32.Draw(t, "le"), ISR: brokers.Draw(t, "isr"), Version: number32.Draw(t, "v"),
			}
		}))}
		a := &push.AlterPartitionResponse{Error: knownCode(t)}
		for range q.Partitions {
			a.Partitions = append(a.Partitions, push.AlterPartitionResult{
				Error: knownCode(t), Leader: number32.Draw(t, "l"), LeaderEpoch: number32.Draw(t, "le"), ISR: brokers.Draw(t, "isr"), Version: number32.Draw(t, "v"),
			})
		}
		return exchanged{q, a}
	},
	"ControlledShutdown": func(t *rapid.T) exchanged {
		return exchanged{
			&push.ControlledShutdownRequest{Broker: number32.Draw(t, "b"), BrokerEpoch: number64.Draw(t, "be")},
			&push.ControlledShutdownResponse{Error: knownCode(t), Remaining: someOf(t, aPartition)},
		}
	},
	"Fetch": func(t *rapid.T) exchanged {
		q := &push.ReplicaFetchRequest{
			Replica: aReplica.Draw(t, "r"), BrokerEpoch: number64.Draw(t, "be"),
			Partitions: someOf(t, rapid.Custom(func(t *rapid.T) push.ReplicaFetch {
				return push.ReplicaFetch{
					Partition: aPartition.Draw(t, "p"), Offset: number64.Draw(t, "o"), LeaderEpoch: number32.Draw(t, "le"), LastFetchedEpoch: number32.Draw(t, "last"),
				}
			})),
		}
		distinct(q.Partitions, func(f *push.ReplicaFetch) *protocol.Partition { return &f.Partition })
		a := &push.ReplicaFetchResponse{}
		for _, f := range q.Partitions {
			if rapid.Bool().Draw(t, "nothing to say") {
				continue
			}
			r := push.ReplicaFetchResult{Partition: f.Partition, Error: knownCode(t), HighWatermark: number64.Draw(t, "hw")}
			if rapid.Bool().Draw(t, "diverging") {
				r.Diverging, r.DivergingEpoch, r.DivergingEnd = true, number32.Draw(t, "epoch"), anOffset.Draw(t, "end")
			}
			r.Records = someOf(t, rapid.Custom(func(t *rapid.T) push.Record {
				return push.Record{Epoch: rapid.Int32Range(0, 2).Draw(t, "e"), Value: number64.Draw(t, "v")}
			}))
			a.Partitions = append(a.Partitions, r)
		}
		return exchanged{q, a}
	},
}

func batches(t *rapid.T) []*epochlog.Batch {
	return someOf(t, rapid.Custom(func(t *rapid.T) *epochlog.Batch {
		return &epochlog.Batch{
			Base: anOffset.Draw(t, "base"), Epoch: number32.Draw(t, "epoch"), Control: rapid.Bool().Draw(t, "control"),
			Records: rapid.SliceOfN(someBytes, 1, 4).Draw(t, "records"),
		}
	}))
}

func end(t *rapid.T) *epochlog.EpochEnd {
	if rapid.Bool().Draw(t, "in line") {
		return nil
	}
	return &epochlog.EpochEnd{Epoch: number32.Draw(t, "epoch"), End: anOffset.Draw(t, "end")}
}

func aStanding(t *rapid.T) raft.Standing {
	return raft.Standing{Epoch: number32.Draw(t, "epoch"), Leader: aNodeOrNone.Draw(t, "leader")}
}

func snapshotID(t *rapid.T) raft.SnapshotID {
	return raft.SnapshotID{End: anOffset.Draw(t, "end"), Epoch: number32.Draw(t, "epoch")}
}

var kraftMessages = map[string]func(*rapid.T) exchanged{
	"Vote": func(t *rapid.T) exchanged {
		return exchanged{
			&raft.VoteRequest{
				Candidate: aNode.Draw(t, "c"), Epoch: number32.Draw(t, "e"), LastEpoch: number32.Draw(t, "le"),
				LastOffset: number64.Draw(t, "lo"), PreVote: rapid.Bool().Draw(t, "pre"),
			},
			&raft.VoteResponse{Error: knownCode(t), Standing: aStanding(t), Granted: rapid.Bool().Draw(t, "granted")},
		}
	},
	"BeginQuorumEpoch": func(t *rapid.T) exchanged {
		return exchanged{
			&raft.BeginQuorumEpochRequest{Leader: aNode.Draw(t, "l"), Epoch: number32.Draw(t, "e")},
			&raft.BeginQuorumEpochResponse{Error: knownCode(t), Standing: aStanding(t)},
		}
	},
	"EndQuorumEpoch": func(t *rapid.T) exchanged {
		return exchanged{
			&raft.EndQuorumEpochRequest{Leader: aNode.Draw(t, "l"), Epoch: number32.Draw(t, "e"), Preferred: someOf(t, aNode)},
			&raft.EndQuorumEpochResponse{Error: knownCode(t), Standing: aStanding(t)},
		}
	},
	"Fetch of the log": func(t *rapid.T) exchanged {
		a := &raft.FetchResponse{Error: knownCode(t), Standing: aStanding(t), HighWatermark: number64.Draw(t, "hw"), Diverging: end(t), Batches: batches(t)}
		if rapid.Bool().Draw(t, "snapshot") {
			id := snapshotID(t)
			a.Snapshot = &id
		}
		return exchanged{&raft.FetchRequest{
			Replica: aNode.Draw(t, "r"), Epoch: number32.Draw(t, "e"), Offset: number64.Draw(t, "o"),
			LastEpoch: number32.Draw(t, "le"), HighWatermark: number64.Draw(t, "hw"),
		}, a}
	},
	"FetchSnapshot": func(t *rapid.T) exchanged {
		return exchanged{
			&raft.FetchSnapshotRequest{Replica: aNode.Draw(t, "r"), Epoch: number32.Draw(t, "e"), ID: snapshotID(t), Position: rapid.Int().Draw(t, "p")},
			&raft.FetchSnapshotResponse{
				Error: knownCode(t), Standing: aStanding(t), ID: snapshotID(t),
				Size: rapid.Int().Draw(t, "size"), Position: rapid.Int().Draw(t, "p"), Bytes: someBytes.Draw(t, "bytes"),
			},
		}
	},
	"DescribeQuorum": func(t *rapid.T) exchanged {
		position := rapid.Custom(func(t *rapid.T) raft.Position {
			return raft.Position{Replica: aNode.Draw(t, "r"), End: number64.Draw(t, "end")}
		})
		return exchanged{&raft.DescribeQuorumRequest{}, &raft.DescribeQuorumResponse{
			Error: knownCode(t), Standing: aStanding(t), HighWatermark: number64.Draw(t, "hw"),
			Voters: someOf(t, position), Observers: someOf(t, position),
		}}
	},
	"BrokerRegistration": func(t *rapid.T) exchanged {
		return exchanged{
			&kraft.BrokerRegistrationRequest{Broker: number32.Draw(t, "b"), Incarnation: rapid.Uint64().Draw(t, "i")},
			&kraft.BrokerRegistrationResponse{Error: knownCode(t), Epoch: number64.Draw(t, "e")},
		}
	},
	"BrokerHeartbeat": func(t *rapid.T) exchanged {
		return exchanged{
			&kraft.BrokerHeartbeatRequest{
				Broker: number32.Draw(t, "b"), Epoch: number64.Draw(t, "e"), Applied: number64.Draw(t, "a"), WantFence: rapid.Bool().Draw(t, "w"),
			},
			&kraft.BrokerHeartbeatResponse{Error: knownCode(t), CaughtUp: rapid.Bool().Draw(t, "c"), Fenced: rapid.Bool().Draw(t, "f")},
		}
	},
	"AlterPartition": func(t *rapid.T) exchanged {
		return exchanged{
			&kraft.AlterPartitionRequest{
				Broker: number32.Draw(t, "b"), BrokerEpoch: number64.Draw(t, "be"), Partition: aPartition.Draw(t, "p"),
				LeaderEpoch: number32.Draw(t, "le"), PartitionEpoch: number32.Draw(t, "pe"),
				ISR: someOf(t, rapid.Custom(func(t *rapid.T) kraft.InSync {
					return kraft.InSync{Broker: number32.Draw(t, "b"), BrokerEpoch: number64.Draw(t, "be")}
				})),
			},
			&kraft.AlterPartitionResponse{
				Error: knownCode(t), Leader: number32.Draw(t, "l"), LeaderEpoch: number32.Draw(t, "le"),
				PartitionEpoch: number32.Draw(t, "pe"), ISR: brokers.Draw(t, "isr"),
			},
		}
	},
	"Fetch of partitions": func(t *rapid.T) exchanged {
		q := &kraft.ReplicaFetchRequest{
			Broker: aReplica.Draw(t, "b"), BrokerEpoch: number64.Draw(t, "be"),
			Partitions: someOf(t, rapid.Custom(func(t *rapid.T) kraft.ReplicaPosition {
				return kraft.ReplicaPosition{
					Partition: aPartition.Draw(t, "p"), LeaderEpoch: number32.Draw(t, "le"), Offset: number64.Draw(t, "o"), LastEpoch: number32.Draw(t, "last"),
				}
			})),
		}
		distinct(q.Partitions, func(f *kraft.ReplicaPosition) *protocol.Partition { return &f.Partition })
		a := &kraft.ReplicaFetchResponse{Error: knownCode(t)}
		for _, f := range q.Partitions {
			a.Partitions = append(a.Partitions, kraft.ReplicaData{
				Partition: f.Partition, LeaderEpoch: f.LeaderEpoch, Offset: f.Offset, Error: knownCode(t),
				Diverging: end(t), Batches: batches(t), HighWatermark: number64.Draw(t, "hw"),
			})
		}
		return exchanged{q, a}
	},
}

func adminResponse(t *rapid.T) *protocol.AdminResponse {
	return &protocol.AdminResponse{
		Error: knownCode(t), Leader: number32.Draw(t, "l"), LeaderEpoch: number32.Draw(t, "le"),
		Version: number64.Draw(t, "v"), Controller: aController.Draw(t, "c"),
	}
}

var clientMessages = map[string]func(*rapid.T) exchanged{
	"Metadata of a partition": func(t *rapid.T) exchanged {
		return exchanged{
			&protocol.MetadataRequest{Partition: aPartition.Draw(t, "p"), Path: paths.Draw(t, "path")},
			&protocol.MetadataResponse{
				Error: knownCode(t), Leader: number32.Draw(t, "l"), LeaderEpoch: number32.Draw(t, "le"), ISR: brokers.Draw(t, "isr"),
				Offset: number64.Draw(t, "o"), Controller: aController.Draw(t, "c"),
			},
		}
	},
	"Metadata of the cluster": func(t *rapid.T) exchanged {
		q := &protocol.ClusterRequest{}
		if rapid.Bool().Draw(t, "some topics") {
			q.Topics = rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,3}`), 1, 3).Draw(t, "topics")
		}
		return exchanged{q, &protocol.ClusterResponse{
			Error:   knownCode(t),
			Brokers: rapid.SliceOfN(rapid.Int32Range(1, 3000), 0, 4).Draw(t, "brokers"), Offset: number64.Draw(t, "o"),
			Controller: rapid.SampledFrom([]string{"", "c1", "c7"}).Draw(t, "c"), // else it counts as a broker, too
			Partitions: someOf(t, rapid.Custom(func(t *rapid.T) protocol.Belief {
				return protocol.Belief{
					Partition: aPartition.Draw(t, "p"), Error: knownCode(t), Leader: number32.Draw(t, "l"),
					LeaderEpoch: number32.Draw(t, "le"), Replicas: brokers.Draw(t, "r"), ISR: brokers.Draw(t, "isr"),
				}
			})),
		}}
	},
	"ElectLeaders": func(t *rapid.T) exchanged {
		return exchanged{&protocol.ElectLeadersRequest{Partition: aPartition.Draw(t, "p"), Target: number32.Draw(t, "t")}, adminResponse(t)}
	},
	"AlterPartitionReassignments": func(t *rapid.T) exchanged {
		return exchanged{&protocol.AlterReassignmentRequest{Partition: aPartition.Draw(t, "p"), Replicas: brokers.Draw(t, "r")}, adminResponse(t)}
	},
	"Produce": func(t *rapid.T) exchanged {
		return exchanged{
			&protocol.ProduceRequest{
				Partition: aPartition.Draw(t, "p"), Value: number64.Draw(t, "v"), AcksAll: rapid.Bool().Draw(t, "all"), LeaderEpoch: number32.Draw(t, "le"),
			},
			&protocol.ProduceResponse{Error: knownCode(t), Offset: number64.Draw(t, "o"), LeaderEpoch: number32.Draw(t, "le")},
		}
	},
	"Fetch by a consumer": func(t *rapid.T) exchanged {
		return exchanged{
			&protocol.FetchRequest{Partition: aPartition.Draw(t, "p"), Offset: number64.Draw(t, "o"), LeaderEpoch: number32.Draw(t, "le")},
			&protocol.FetchResponse{
				Error: knownCode(t), Values: someOf(t, number64), HighWatermark: number64.Draw(t, "hw"), LeaderEpoch: number32.Draw(t, "le"),
			},
		}
	},
}

// TestEveryMessageArrivesAsItWasSent sends each kind of request and its answer
// through bytes and back.
func TestEveryMessageArrivesAsItWasSent(t *testing.T) {
	for system, p := range map[string]*Protocol{"push": Push(testCluster), "kraft": Kraft(testCluster)} {
		kinds := []map[string]func(*rapid.T) exchanged{clientMessages, pushMessages}
		if system == "kraft" {
			kinds[1] = kraftMessages
		}
		tested := map[reflect.Type]bool{}
		for _, list := range kinds {
			for name, draw := range list {
				t.Run(system+"/"+name, rapid.MakeCheck(func(t *rapid.T) {
					x := draw(t)
					tested[reflect.TypeOf(x.request)] = true
					id, from := number32.Draw(t, "id"), aNode.Draw(t, "from")
					frame, err := p.AppendRequest([]byte("before"), id, from, x.request)
					if err != nil {
						t.Fatal(err)
					}
					r, err := p.ParseRequest(frameOf(t, frame[len("before"):]))
					if err != nil {
						t.Fatal(err)
					}
					if r.ID != id || r.From != from || r.Answer != nil {
						t.Fatalf("request %d of %s arrived as %d of %s, answered at once with %x", id, from, r.ID, r.From, r.Answer)
					}
					same(t, x.request, r.Message)
					answer, err := p.AppendResponse(nil, r, x.answer)
					if err != nil {
						t.Fatal(err)
					}
					answer = frameOf(t, answer)
					if got, err := p.ResponseID(answer); got != id || err != nil {
						t.Fatalf("answer to %d: %v, wanted %d", got, err, id)
					}
					m, err := p.ParseResponse(x.request, answer)
					if err != nil {
						t.Fatal(err)
					}
					same(t, x.answer, m)
				}))
			}
		}
		for kind := range p.byMessage {
			if !tested[kind] {
				t.Errorf("%s: %v was not sent by this test", system, kind)
			}
		}
	}
}

// frameOf checks the length of a frame and gives what follows.
func frameOf(t *rapid.T, frame []byte) []byte {
	if len(frame) < 4 || len(frame)-4 != int(frame[0])<<24|int(frame[1])<<16|int(frame[2])<<8|int(frame[3]) {
		t.Fatalf("%d bytes after a length of %x", len(frame)-4, frame[:4])
	}
	return frame[4:]
}

func same(t *rapid.T, sent, got node.Message) {
	t.Helper()
	if d := cmp.Diff(sent, got, cmpopts.EquateEmpty(), cmp.Comparer((*epochlog.Batch).Equal)); d != "" {
		t.Fatalf("sent (-) and received (+) differ:\n%s", d)
	}
}
