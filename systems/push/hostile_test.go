package push

import "testing"

func TestAFetchFromBeforeTheLogDiverges(t *testing.T) {
	c := settled(t, nil) // t-0 is on 1, 2, 3 and led by 1
	a := request[*ReplicaFetchResponse](c, "b1", &ReplicaFetchRequest{Replica: 2, Partitions: []ReplicaFetch{
		{Partition: t0, Offset: -1, LeaderEpoch: -1, LastFetchedEpoch: -1},
	}})
	if len(a.Partitions) != 1 || !a.Partitions[0].Diverging || a.Partitions[0].DivergingEnd != 0 {
		t.Errorf("a follower that says it is at offset -1 is told %+v; expected where to begin", a.Partitions)
	}
}
