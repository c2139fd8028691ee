package kafkalogs

import (
	"strings"
	"testing"
)

func TestDetect(t *testing.T) {
	for text, want := range map[string]bool{
		"[2019-06-01 10:00:00,101] INFO Resigned (kafka.controller.KafkaController)\n":              true,
		"[2019-06-01 10:00:00,101] INFO x (state.change.logger)":                                    true,
		"[2019-06-01 10:00:00,101] INFO x (org.example.Other)":                                      false,
		"\n\nTopic: o\tPartitionCount: 1\n\tTopic: o\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1": true,
		"Dumping x\nbaseOffset: 0 lastOffset: 0 partitionLeaderEpoch: 1":                            true,
		`/brokers/topics/o/partitions/0/state {"leader":2,"leader_epoch":5}`:                        true,
		`{"index":0,"time":1,"process":0,"type":"invoke","f":"read","key":"x"}`:                     false,
		"{:index 0, :type :invoke, :f :read, :process 0}":                                           false,
		"INFO  jepsen.util - 0\t:invoke\t:read\tnil":                                                false,
		"": false,
		strings.Repeat("nothing\n", headLines) + "[2019-06-01 10:00:00,101] INFO x (state.change.logger)": false,
		strings.Repeat("x", longest+1): false,
	} {
		if got := detect(strings.NewReader(text)); got != want {
			t.Errorf("%.60q: %v, want %v", text, got, want)
		}
	}
}
