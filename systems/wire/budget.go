package wire

import "sync"

// Decoding costs memory beyond the bytes that are decoded: a list makes room for as
// many entries as it claims to have, and it may claim as many as there are bytes
// left, each of which becomes a struct. So large requests are decoded a few at a
// time, whoever sends them.

const (
	// maxRequest is how many bytes a request may have: far more than any that
	// nodes send, and as much as Kafka's producers put into one by default.
	maxRequest = 1 << 20
	// decodingBudget is how many bytes are decoded at a time, from however many
	// connections, and perByte how many bytes of memory each may take.
	decodingBudget = maxRequest
	perByte        = 128
)

// budget is a number of bytes that many share.
type budget struct {
	total int
	mu    sync.Mutex
	freed sync.Cond
	free  int
}

func newBudget(total int) *budget {
	b := &budget{total: total, free: total}
	b.freed.L = &b.mu
	return b
}

// take waits for n bytes of the budget, or all of it where n is more, and returns
// what gives them back.
func (b *budget) take(n int) (done func()) {
	n = min(n, b.total)
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.free < n {
		b.freed.Wait()
	}
	b.free -= n
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.free += n
		b.freed.Broadcast()
	}
}
