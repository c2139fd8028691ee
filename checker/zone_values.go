package checker

import (
	"math/bits"

	"github.com/stalemate-io/stalemate/histories"
)

// valueIndex finds the cluster of a value. Recorders hand out values in rising
// order, so that the written values of a key usually are a dense range with a
// common stride; they then index an array directly, and neighbours in time are
// neighbours in memory. Otherwise it is an open-addressed hash table.
type valueIndex struct {
	table []int32 // cluster number, or noCluster
	dense bool
	// dense: slot = (value - low) >> stride
	low, span uint64
	stride    int
	// hashed: slot = mix(value) & mask, then the next free
	mask uint64
}

const noCluster int32 = -1

// maxSparse is how many slots a dense table may have for each value.
const maxSparse = 4

// build indexes the clusters of z, or fails where two have the same value.
func (x *valueIndex) build(z *zoneCheck) error {
	low, high, differ := uint64(z.initial), uint64(z.initial), uint64(0)
	if len(z.clusters) > 1 {
		// The initial value is often nil, far from the values written, and
		// must not spoil their range; it is looked at by itself.
		low = uint64(z.valueOf(1))
		high = low
	}
	base := low
	for i := 1; i < len(z.clusters); i++ {
		v := uint64(z.valueOf(i))
		low, high, differ = min(low, v), max(high, v), differ|(v^base)
	}
	x.stride = min(bits.TrailingZeros64(differ), 63)
	x.low, x.span = low, (high-low)>>x.stride
	x.dense = x.span < uint64(maxSparse*len(z.clusters)+64)
	size := x.span + 1
	if !x.dense {
		size = uint64(1) << bits.Len(uint(2*len(z.clusters)))
		x.mask = size - 1
	}
	if uint64(cap(x.table)) < size {
		x.table = make([]int32, size)
	}
	x.table = x.table[:size]
	for i := range x.table {
		x.table[i] = noCluster
	}
	for i := 1; i < len(z.clusters); i++ {
		v := z.valueOf(i)
		slot := x.slot(z, v)
		if x.table[slot] != noCluster || v == z.initial {
			return &notUniqueError{z.clusters[i].source}
		}
		x.table[slot] = int32(i)
	}
	return nil
}

// valueOf is the value of a cluster other than the initial one.
func (z *zoneCheck) valueOf(cluster int) histories.Datum {
	return valueLeft(&z.h.Operations[z.clusters[cluster].source])
}

// slot is where a value stands or would stand; the value must be in range
// where the index is dense.
func (x *valueIndex) slot(z *zoneCheck, v histories.Datum) uint64 {
	if x.dense {
		return (uint64(v) - x.low) >> x.stride
	}
	slot := mix(uint64(v)) & x.mask
	for x.table[slot] != noCluster && z.valueOf(int(x.table[slot])) != v {
		slot = (slot + 1) & x.mask
	}
	return slot
}

// find gives the cluster of a value, or noCluster.
func (x *valueIndex) find(z *zoneCheck, v histories.Datum) int32 {
	if v == z.initial {
		return 0
	}
	if x.dense {
		off := uint64(v) - x.low
		if off>>x.stride > x.span || off&(1<<x.stride-1) != 0 {
			return noCluster
		}
	}
	return x.table[x.slot(z, v)]
}
