package wire

import (
	"errors"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var errOnePartition = errors.New("expected one partition of one topic")

// electLeaders asks for one partition's election. Kafka's own request asks for the
// preferred leader; a tagged field asks for somebody else.
var electLeaders = translation[protocol.ElectLeadersRequest, protocol.AdminResponse, *kmsg.ElectLeadersRequest, *kmsg.ElectLeadersResponse]{
	request: func(_ *Cluster, m *protocol.ElectLeadersRequest, q *kmsg.ElectLeadersRequest) error {
		t := kmsg.NewElectLeadersRequestTopic()
		t.Topic, t.Partitions = m.Partition.Topic, []int32{m.Partition.Index}
		q.Topics = append(q.Topics, t)
		setInt(&q.UnknownTags, tagTarget, int64(m.Target))
		return nil
	},
	parse: func(_ *Cluster, q *kmsg.ElectLeadersRequest) (*protocol.ElectLeadersRequest, error) {
		parts, err := elections(q)
		if len(parts) != 1 || err != nil {
			return nil, err
		}
		return parts[0], nil
	},
	response: func(_ *Cluster, q *kmsg.ElectLeadersRequest, a *protocol.AdminResponse, r *kmsg.ElectLeadersResponse) error {
		answerElections(q, []*protocol.AdminResponse{a}, r)
		return setOutcome(&r.UnknownTags, a)
	},
	outcome: func(_ *Cluster, _ *protocol.ElectLeadersRequest, r *kmsg.ElectLeadersResponse) (*protocol.AdminResponse, error) {
		a, err := outcomeOf(&r.UnknownTags)
		if err != nil {
			return nil, err
		}
		for i := range r.Topics {
			for j := range r.Topics[i].Partitions {
				a.Error = codeOf(r.Topics[i].Partitions[j].ErrorCode)
			}
		}
		if r.ErrorCode != 0 {
			a.Error = codeOf(r.ErrorCode)
		}
		return a, nil
	},
}

// elections splits a request into one for each partition.
func elections(q *kmsg.ElectLeadersRequest) ([]*protocol.ElectLeadersRequest, error) {
	target, err := int32Field(&q.UnknownTags, tagTarget, protocol.NoLeader)
	var parts []*protocol.ElectLeadersRequest
	for i := range q.Topics {
		for _, p := range q.Topics[i].Partitions {
			parts = append(parts, &protocol.ElectLeadersRequest{Partition: nameOfPartition(q.Topics[i].Topic, p), Target: target})
		}
	}
	return parts, err
}

func answerElections(q *kmsg.ElectLeadersRequest, answers []*protocol.AdminResponse, r *kmsg.ElectLeadersResponse) {
	for i := range q.Topics {
		t := kmsg.NewElectLeadersResponseTopic()
		t.Topic = q.Topics[i].Topic
		for _, index := range q.Topics[i].Partitions {
			p := kmsg.NewElectLeadersResponseTopicPartition()
			p.Partition, p.ErrorCode = index, code(answers[0].Error)
			if answers[0].Error == protocol.NotController {
				r.ErrorCode = p.ErrorCode // sends Kafka's clients on to the controller
			}
			t.Partitions, answers = append(t.Partitions, p), answers[1:]
		}
		r.Topics = append(r.Topics, t)
	}
}

// setOutcome says what was done; Kafka's answers say no more than whether.
func setOutcome(t *kmsg.Tags, a *protocol.AdminResponse) error {
	controller, err := number(node.ID(a.Controller))
	setInt(t, tagLeader, int64(a.Leader))
	setInt(t, tagLeaderEpoch, int64(a.LeaderEpoch))
	setInt(t, tagVersion, a.Version)
	setInt(t, tagController, int64(controller))
	return err
}

// outcomeOf is the inverse of setOutcome.
func outcomeOf(t *kmsg.Tags) (*protocol.AdminResponse, error) {
	a := &protocol.AdminResponse{}
	leader, err1 := int32Field(t, tagLeader, protocol.NoLeader)
	epoch, err2 := int32Field(t, tagLeaderEpoch, -1)
	version, err3 := intField(t, tagVersion, -1)
	number, err4 := int32Field(t, tagController, noNode)
	controller, err5 := nodeOf(number)
	a.Leader, a.LeaderEpoch, a.Version, a.Controller = leader, epoch, version, string(controller)
	return a, errors.Join(err1, err2, err3, err4, err5)
}

// alterReassignments moves one partition to other brokers (KIP-455).
var alterReassignments = translation[protocol.AlterReassignmentRequest, protocol.AdminResponse, *kmsg.AlterPartitionAssignmentsRequest, *kmsg.AlterPartitionAssignmentsResponse]{
	request: func(_ *Cluster, m *protocol.AlterReassignmentRequest, q *kmsg.AlterPartitionAssignmentsRequest) error {
		p := kmsg.NewAlterPartitionAssignmentsRequestTopicPartition()
		p.Partition, p.Replicas = m.Partition.Index, m.Replicas
		t := kmsg.NewAlterPartitionAssignmentsRequestTopic()
		t.Topic = m.Partition.Topic
		t.Partitions = append(t.Partitions, p)
		q.Topics = append(q.Topics, t)
		return nil
	},
	parse: func(_ *Cluster, q *kmsg.AlterPartitionAssignmentsRequest) (*protocol.AlterReassignmentRequest, error) {
		if parts := reassignments(q); len(parts) == 1 {
			return parts[0], nil
		}
		return nil, nil
	},
	response: func(_ *Cluster, q *kmsg.AlterPartitionAssignmentsRequest, a *protocol.AdminResponse, r *kmsg.AlterPartitionAssignmentsResponse) error {
		answerReassignments(q, []*protocol.AdminResponse{a}, r)
		return setOutcome(&r.UnknownTags, a)
	},
	outcome: func(_ *Cluster, _ *protocol.AlterReassignmentRequest, r *kmsg.AlterPartitionAssignmentsResponse) (*protocol.AdminResponse, error) {
		a, err := outcomeOf(&r.UnknownTags)
		if err != nil {
			return nil, err
		}
		for i := range r.Topics {
			for j := range r.Topics[i].Partitions {
				a.Error = codeOf(r.Topics[i].Partitions[j].ErrorCode)
			}
		}
		if r.ErrorCode != 0 {
			a.Error = codeOf(r.ErrorCode)
		}
		return a, nil
	},
}

func reassignments(q *kmsg.AlterPartitionAssignmentsRequest) []*protocol.AlterReassignmentRequest {
	var parts []*protocol.AlterReassignmentRequest
	for i := range q.Topics {
		for j := range q.Topics[i].Partitions {
			p := &q.Topics[i].Partitions[j]
			parts = append(parts, &protocol.AlterReassignmentRequest{
				Partition: nameOfPartition(q.Topics[i].Topic, p.Partition), Replicas: p.Replicas,
			})
		}
	}
	return parts
}

func answerReassignments(q *kmsg.AlterPartitionAssignmentsRequest, answers []*protocol.AdminResponse, r *kmsg.AlterPartitionAssignmentsResponse) {
	for i := range q.Topics {
		t := kmsg.NewAlterPartitionAssignmentsResponseTopic()
		t.Topic = q.Topics[i].Topic
		for j := range q.Topics[i].Partitions {
			p := kmsg.NewAlterPartitionAssignmentsResponseTopicPartition()
			p.Partition, p.ErrorCode = q.Topics[i].Partitions[j].Partition, code(answers[0].Error)
			if answers[0].Error == protocol.NotController {
				r.ErrorCode = p.ErrorCode
			}
			t.Partitions, answers = append(t.Partitions, p), answers[1:]
		}
		r.Topics = append(r.Topics, t)
	}
}
