package sim

import "math/rand/v2"

// stream gives the source of randomness for one purpose. Streams of different
// purposes are independent, so that a fault added to one link, or one node that
// draws once more, leaves every other choice of the run as it was. That is what
// makes shrinking a schedule worthwhile.
func stream(seed uint64, purpose string, number uint64) *rand.Rand {
	// FNV-1a over the purpose, then two rounds of the splitmix64 finisher:
	// seeds and numbers are small and alike, the streams must not be.
	h := uint64(14695981039346656037)
	for i := range len(purpose) {
		h = (h ^ uint64(purpose[i])) * 1099511628211
	}
	a := mix(seed ^ mix(h+number))
	return rand.New(rand.NewPCG(a, mix(a^h)))
}

func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
