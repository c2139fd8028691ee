package epochlog

import "sort"

// EpochEnd says where the records of an epoch end in some log: at End, exclusive.
type EpochEnd struct {
	Epoch int32
	End   int64
}

// epochs is the leader epoch cache of KIP-101: for each epoch that has records,
// the offset of its first one, ascending in both. It answers where an epoch
// ends without a search through the log.
type epochs []epochStart

type epochStart struct {
	epoch int32
	start int64
}

// epochsBefore gives the epochs of a log without records that begins at the
// offset, the record before which is of the given epoch. Nothing comes before
// offset 0.
func epochsBefore(offset int64, epoch int32) epochs {
	if offset == 0 {
		return nil
	}
	return epochs{{epoch, offset}}
}

// append notes that a record of the epoch stands at the offset.
func (e *epochs) append(epoch int32, offset int64) {
	if n := len(*e); n == 0 || (*e)[n-1].epoch < epoch {
		*e = append(*e, epochStart{epoch, offset})
	}
}

// floor gives the index of the largest epoch that is not above the given one,
// -1 if all are.
func (e epochs) floor(epoch int32) int {
	return sort.Search(len(e), func(i int) bool { return e[i].epoch > epoch }) - 1
}

// truncate drops the epochs that begin at or after the offset. The first entry
// of a log that begins after offset 0 stands for what came before and stays.
func (e *epochs) truncate(to, start int64) {
	n := len(*e)
	for n > 0 && (*e)[n-1].start >= to && (n > 1 || start == 0) {
		n--
	}
	*e = (*e)[:n]
}

// compact makes the log begin at the offset, the record before which is of the
// given epoch.
func (e *epochs) compact(offset int64, epoch int32) {
	kept := epochs{{epoch, offset}}
	for _, s := range *e {
		if s.epoch > epoch {
			kept = append(kept, s)
		}
	}
	*e = kept
}
