package wire

import (
	"fmt"

	"github.com/stalemate-io/stalemate/systems/kraft"
	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// metadata is the question of a workload about one partition. Tagged fields say
// which and over which path; a server that does not know them tells of the whole
// topic, and the answer is found there.
var metadata = translation[protocol.MetadataRequest, protocol.MetadataResponse, *kmsg.MetadataRequest, *kmsg.MetadataResponse]{
	request: func(_ *Cluster, m *protocol.MetadataRequest, q *kmsg.MetadataRequest) error {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &m.Partition.Topic
		q.Topics = []kmsg.MetadataRequestTopic{t}
		setInt(&q.UnknownTags, tagPartition, int64(m.Partition.Index))
		setString(&q.UnknownTags, tagPath, string(m.Path))
		return nil
	},
	parse: func(_ *Cluster, q *kmsg.MetadataRequest) (*protocol.MetadataRequest, error) {
		if field(&q.UnknownTags, tagPartition) == nil || len(q.Topics) != 1 || q.Topics[0].Topic == nil {
			return nil, nil
		}
		index, err := int32Field(&q.UnknownTags, tagPartition, 0)
		return &protocol.MetadataRequest{
			Partition: nameOfPartition(*q.Topics[0].Topic, index),
			Path:      protocol.ReadPath(field(&q.UnknownTags, tagPath)),
		}, err
	},
	response: func(c *Cluster, q *kmsg.MetadataRequest, a *protocol.MetadataResponse, r *kmsg.MetadataResponse) (err error) {
		r.ClusterID = &c.ID
		if r.ControllerID, err = number(node.ID(a.Controller)); err != nil {
			return err
		}
		setInt(&r.UnknownTags, tagOffset, a.Offset)
		index, err := int32Field(&q.UnknownTags, tagPartition, 0)
		p := kmsg.NewMetadataResponseTopicPartition()
		p.Partition, p.ErrorCode, p.Leader, p.LeaderEpoch, p.ISR = index, code(a.Error), a.Leader, a.LeaderEpoch, a.ISR
		t := kmsg.NewMetadataResponseTopic()
		t.Topic, t.TopicID = q.Topics[0].Topic, topicID(*q.Topics[0].Topic)
		t.Partitions = append(t.Partitions, p)
		r.Topics = append(r.Topics, t)
		return err
	},
	outcome: func(_ *Cluster, m *protocol.MetadataRequest, r *kmsg.MetadataResponse) (*protocol.MetadataResponse, error) {
		controller, err := nodeOf(r.ControllerID)
		if err != nil {
			return nil, err
		}
		a := &protocol.MetadataResponse{
			Error: protocol.UnknownTopicOrPartition, Leader: protocol.NoLeader, LeaderEpoch: -1, Controller: string(controller),
		}
		if a.Offset, err = intField(&r.UnknownTags, tagOffset, protocol.NoOffset); err != nil {
			return nil, err
		}
		if len(r.Topics) != 1 {
			return nil, fmt.Errorf("answer on %d topics: expected one", len(r.Topics))
		}
		t := &r.Topics[0]
		if t.ErrorCode != 0 {
			a.Error = codeOf(t.ErrorCode)
			return a, nil
		}
		for i := range t.Partitions {
			if p := &t.Partitions[i]; p.Partition == m.Partition.Index {
				a.Error, a.Leader, a.LeaderEpoch, a.ISR = codeOf(p.ErrorCode), p.Leader, p.LeaderEpoch, p.ISR
			}
		}
		return a, nil
	},
}

// wholeMetadata is a client's question about topics, or about all of them.
var wholeMetadata = translation[protocol.ClusterRequest, protocol.ClusterResponse, *kmsg.MetadataRequest, *kmsg.MetadataResponse]{
	request: func(_ *Cluster, m *protocol.ClusterRequest, q *kmsg.MetadataRequest) error {
		if m.Topics == nil {
			return nil
		}
		q.Topics = []kmsg.MetadataRequestTopic{}
		for i := range m.Topics {
			t := kmsg.NewMetadataRequestTopic()
			t.Topic = &m.Topics[i]
			q.Topics = append(q.Topics, t)
		}
		return nil
	},
	parse: func(_ *Cluster, q *kmsg.MetadataRequest) (*protocol.ClusterRequest, error) {
		m := &protocol.ClusterRequest{}
		if q.Topics == nil || q.Version == 0 && len(q.Topics) == 0 {
			return m, nil
		}
		m.Topics = []string{}
		for i := range q.Topics {
			if name := q.Topics[i].Topic; name != nil {
				m.Topics = append(m.Topics, *name)
			}
		}
		return m, nil
	},
	response: func(c *Cluster, q *kmsg.MetadataRequest, a *protocol.ClusterResponse, r *kmsg.MetadataResponse) (err error) {
		r.ClusterID = &c.ID
		if r.ControllerID, err = number(node.ID(a.Controller)); err != nil {
			return err
		}
		setInt(&r.UnknownTags, tagOffset, a.Offset)
		if a.Error != protocol.None {
			setInt(&r.UnknownTags, tagError, int64(code(a.Error)))
		}
		nodes, err := c.reachable(a)
		if err != nil {
			return err
		}
		for _, n := range nodes {
			b := kmsg.NewMetadataResponseBroker()
			b.NodeID, b.Host, b.Port = n.number, n.host, n.port
			r.Brokers = append(r.Brokers, b)
		}
		r.Topics = topicsOf(a.Partitions)
		for i := range q.Topics {
			if t := &q.Topics[i]; t.Topic == nil || !tellsOf(a, *t.Topic) {
				r.Topics = append(r.Topics, unknownTopic(t, a.Error))
			}
		}
		return nil
	},
	outcome: func(_ *Cluster, _ *protocol.ClusterRequest, r *kmsg.MetadataResponse) (*protocol.ClusterResponse, error) {
		controller, err := nodeOf(r.ControllerID)
		if err != nil {
			return nil, err
		}
		a := &protocol.ClusterResponse{Controller: string(controller)}
		if a.Offset, err = intField(&r.UnknownTags, tagOffset, protocol.NoOffset); err != nil {
			return nil, err
		}
		e, err := int32Field(&r.UnknownTags, tagError, 0)
		if err != nil {
			return nil, err
		}
		a.Error = codeOf(int16(e))
		for i := range r.Brokers {
			if n := r.Brokers[i].NodeID; n <= controllerBase {
				a.Brokers = append(a.Brokers, n)
			}
		}
		for i := range r.Topics {
			t := &r.Topics[i]
			if t.Topic == nil {
				return nil, fmt.Errorf("topic %d of the answer has no name: expected one", i)
			}
			for j := range t.Partitions {
				p := &t.Partitions[j]
				a.Partitions = append(a.Partitions, protocol.Belief{
					Partition: nameOfPartition(*t.Topic, p.Partition), Error: codeOf(p.ErrorCode),
					Leader: p.Leader, LeaderEpoch: p.LeaderEpoch, Replicas: p.Replicas, ISR: p.ISR,
				})
			}
		}
		return a, nil
	},
}

// reachable is a node as clients are told of it.
type reachable struct {
	number int32
	host   string
	port   int32
}

// reachable lists the nodes that a client may have to reach: the live brokers, and
// the active controller, to which it brings what is the controller's to do.
func (c *Cluster) reachable(a *protocol.ClusterResponse) ([]reachable, error) {
	var all []reachable
	for _, b := range a.Brokers {
		host, port := c.address(kraft.BrokerNode(b))
		all = append(all, reachable{b, host, port})
	}
	if a.Controller == "" {
		return all, nil
	}
	n, err := number(node.ID(a.Controller))
	host, port := c.address(node.ID(a.Controller))
	return append(all, reachable{n, host, port}), err
}

func tellsOf(a *protocol.ClusterResponse, topic string) bool {
	for i := range a.Partitions {
		if a.Partitions[i].Partition.Topic == topic {
			return true
		}
	}
	return false
}

// topicsOf puts beliefs, which are in the order of topics, into Kafka's form.
func topicsOf(beliefs []protocol.Belief) []kmsg.MetadataResponseTopic {
	var topics []kmsg.MetadataResponseTopic
	for i := range beliefs {
		b := &beliefs[i]
		if startsTopic(i, func(j int) protocol.Partition { return beliefs[j].Partition }, b.Partition) {
			t := kmsg.NewMetadataResponseTopic()
			t.Topic, t.TopicID = &b.Partition.Topic, topicID(b.Partition.Topic)
			topics = append(topics, t)
		}
		p := kmsg.NewMetadataResponseTopicPartition()
		p.Partition, p.ErrorCode = b.Partition.Index, code(b.Error)
		p.Leader, p.LeaderEpoch, p.Replicas, p.ISR = b.Leader, b.LeaderEpoch, b.Replicas, b.ISR
		t := &topics[len(topics)-1]
		t.Partitions = append(t.Partitions, p)
	}
	return topics
}

// unknownTopic answers for a topic that the node has nothing to say of. One that is
// asked for by its id is none to this cluster's clients, who know names.
func unknownTopic(asked *kmsg.MetadataRequestTopic, e protocol.Code) kmsg.MetadataResponseTopic {
	t := kmsg.NewMetadataResponseTopic()
	t.Topic, t.TopicID = asked.Topic, asked.TopicID
	switch {
	case asked.Topic == nil:
		t.ErrorCode = unknownTopicID
	case e != protocol.None:
		t.ErrorCode = code(e)
	default:
		t.ErrorCode = code(protocol.UnknownTopicOrPartition)
	}
	return t
}

// describeCluster tells who is live and who is the controller (KIP-700).
var describeCluster = translation[protocol.ClusterRequest, protocol.ClusterResponse, *kmsg.DescribeClusterRequest, *kmsg.DescribeClusterResponse]{
	parse: func(*Cluster, *kmsg.DescribeClusterRequest) (*protocol.ClusterRequest, error) {
		return &protocol.ClusterRequest{Topics: []string{}}, nil
	},
	response: func(c *Cluster, _ *kmsg.DescribeClusterRequest, a *protocol.ClusterResponse, r *kmsg.DescribeClusterResponse) (err error) {
		r.ErrorCode, r.ClusterID = code(a.Error), c.ID
		if r.ControllerID, err = number(node.ID(a.Controller)); err != nil {
			return err
		}
		nodes, err := c.reachable(a)
		for _, n := range nodes {
			b := kmsg.NewDescribeClusterResponseBroker()
			b.NodeID, b.Host, b.Port = n.number, n.host, n.port
			r.Brokers = append(r.Brokers, b)
		}
		return err
	},
}

// apiVersions tells which requests are served. FinalizedFeaturesEpoch is the
// metadata offset that the node has applied, as in Kafka's brokers: anybody can
// read from it how far behind a broker is.
func apiVersions(keys []kmsg.ApiVersionsResponseApiKey) exchange {
	return translation[protocol.ClusterRequest, protocol.ClusterResponse, *kmsg.ApiVersionsRequest, *kmsg.ApiVersionsResponse]{
		parse: func(*Cluster, *kmsg.ApiVersionsRequest) (*protocol.ClusterRequest, error) {
			return &protocol.ClusterRequest{Topics: []string{}}, nil
		},
		response: func(_ *Cluster, _ *kmsg.ApiVersionsRequest, a *protocol.ClusterResponse, r *kmsg.ApiVersionsResponse) error {
			r.ApiKeys, r.FinalizedFeaturesEpoch = keys, a.Offset
			return nil
		},
	}.at(keyApiVersions, 3)
}
