package checker

import "slices"

// sortByHigh sorts words by their upper 32 bits, in linear time for long
// inputs. It returns the sorted words and a spare buffer, which may have
// changed places.
func sortByHigh(words, spare []uint64) (sorted, rest []uint64) {
	if len(words) < 512 {
		slices.Sort(words)
		return words, spare
	}
	if cap(spare) < len(words) {
		spare = make([]uint64, len(words))
	}
	spare = spare[:len(words)]
	high := uint64(0)
	for _, w := range words {
		high |= w >> 32
	}
	const digit = 11
	var count [1 << digit]int
	for shift := 0; high>>shift != 0; shift += digit {
		clear(count[:])
		for _, w := range words {
			count[w>>(32+shift)&(1<<digit-1)]++
		}
		at := 0
		for d, n := range count {
			count[d], at = at, at+n
		}
		for _, w := range words {
			d := w >> (32 + shift) & (1<<digit - 1)
			spare[count[d]] = w
			count[d]++
		}
		words, spare = spare, words
	}
	return words, spare
}
