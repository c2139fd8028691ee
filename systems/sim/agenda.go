package sim

import "time"

// agenda holds what is going to happen, in order of time and, at one time, in
// the order in which it was put there. That order is total, so it does not
// depend on how the heap is laid out.
//
// The heap is four-ary: it is shallower than a binary one and its children lie
// side by side in memory. Cancelled items stay until their time comes or until
// they are the larger part of the heap, whichever is first; most timers of a
// distributed system are time-outs that never fire.
type agenda struct {
	heap []entry
	seq  uint64
	dead int
	free *item
}

type entry struct {
	at   time.Duration
	seq  uint64
	item *item
}

func (a entry) before(b entry) bool {
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}

// add puts an item on the agenda; at must not be in the past.
func (a *agenda) add(at time.Duration, it *item) {
	a.seq++
	it.state = scheduled
	a.heap = append(a.heap, entry{at, a.seq, it})
	a.up(len(a.heap) - 1)
}

// next takes the first item that was not cancelled; ok is false when there is
// none or when it lies after until.
func (a *agenda) next(until time.Duration) (e entry, ok bool) {
	for len(a.heap) > 0 {
		e = a.heap[0]
		if e.item.state == cancelled {
			a.pop()
			a.dead--
			continue
		}
		if e.at > until {
			return entry{}, false
		}
		a.pop()
		return e, true
	}
	return entry{}, false
}

// cancel takes a scheduled item back.
func (a *agenda) cancel(it *item) {
	if it.state != scheduled {
		return
	}
	it.state = cancelled
	a.dead++
	if a.dead > 256 && a.dead > len(a.heap)/2 {
		a.sweep()
	}
}

// sweep drops cancelled items.
func (a *agenda) sweep() {
	a.rebuild(func(e *entry) bool { return e.item.state != cancelled })
	a.dead = 0
}

// rebuild keeps the entries for which keep is true, which may change their
// time, and restores the order.
func (a *agenda) rebuild(keep func(*entry) bool) {
	kept := a.heap[:0]
	for i := range a.heap {
		if keep(&a.heap[i]) {
			kept = append(kept, a.heap[i])
		}
	}
	clear(a.heap[len(kept):])
	a.heap = kept
	for i := (len(a.heap) - 2) / 4; i >= 0; i-- {
		a.down(i)
	}
}

func (a *agenda) pop() {
	last := len(a.heap) - 1
	a.heap[0] = a.heap[last]
	a.heap[last] = entry{}
	a.heap = a.heap[:last]
	if last > 1 {
		a.down(0)
	}
}

func (a *agenda) up(i int) {
	e := a.heap[i]
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(a.heap[parent]) {
			break
		}
		a.heap[i] = a.heap[parent]
		i = parent
	}
	a.heap[i] = e
}

func (a *agenda) down(i int) {
	n := len(a.heap)
	if i >= n {
		return
	}
	e := a.heap[i]
	for {
		first := 4*i + 1
		if first >= n {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, n); c++ {
			if a.heap[c].before(a.heap[least]) {
				least = c
			}
		}
		if !a.heap[least].before(e) {
			break
		}
		a.heap[i] = a.heap[least]
		i = least
	}
	a.heap[i] = e
}

// take gives a blank item, reusing one that is over.
func (a *agenda) take() *item {
	it := a.free
	if it == nil {
		return &item{pooled: true}
	}
	a.free = it.next
	*it = item{pooled: true}
	return it
}

// recycle gives back an item that nobody refers to any more.
func (a *agenda) recycle(it *item) {
	if !it.pooled {
		return
	}
	*it = item{next: a.free, pooled: true}
	a.free = it
}
