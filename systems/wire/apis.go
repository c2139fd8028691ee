package wire

import (
	"cmp"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Keys of the requests that clients send.
const (
	keyProduce            = 0
	keyFetch              = 1
	keyListOffsets        = 2
	keyMetadata           = 3
	keyApiVersions        = 18
	keyElectLeaders       = 43
	keyAlterReassignments = 45
	keyDescribeQuorum     = 55
	keyDescribeCluster    = 60
)

// clientVersions are the versions of requests that clients are served.
var clientVersions = map[int16]versions{
	keyProduce:            {3, 12}, // with record batches, and topics by name
	keyFetch:              {4, lastNamedFetch},
	keyListOffsets:        {1, 7},
	keyMetadata:           {0, 12},
	keyApiVersions:        {0, 4},
	keyElectLeaders:       {0, 2},
	keyAlterReassignments: {0, 1},
	keyDescribeCluster:    {0, 1},
}

// kraftVersions are clientVersions and what only kraft serves.
var kraftVersions = func() map[int16]versions {
	all := maps.Clone(clientVersions)
	all[keyDescribeQuorum] = versions{0, 2}
	return all
}()

// versions is a range of versions, both ends included.
type versions struct{ min, max int16 }

func (v versions) has(n int16) bool { return v.min <= n && n <= v.max }

// clientExchanges are those of the workloads, who are clients of one question at a
// time.
var clientExchanges = []exchange{
	metadata.at(keyMetadata, 12),
	wholeMetadata.at(keyMetadata, 12),
	electLeaders.at(keyElectLeaders, 2),
	alterReassignments.at(keyAlterReassignments, 0),
	produce.at(keyProduce, 10),
	fetch.at(keyFetch, lastNamedFetch),
}

// served lists what clients may send, for ApiVersions. What nodes send each other is
// not for them.
func served(client map[int16]versions) []kmsg.ApiVersionsResponseApiKey {
	var keys []kmsg.ApiVersionsResponseApiKey
	for key, v := range client {
		k := kmsg.NewApiVersionsResponseApiKey()
		k.ApiKey, k.MinVersion, k.MaxVersion = key, v.min, v.max
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b kmsg.ApiVersionsResponseApiKey) int { return cmp.Compare(a.ApiKey, b.ApiKey) })
	return keys
}
