package push

// event is one thing the controller handles: run begins it, and it has ended
// once done was called, many callbacks later perhaps. drop, where there is one,
// is called instead of run if the queue is cleared before the event's turn.
type event struct {
	run  func(done func())
	drop func()
}

// eventQueue runs events one at a time, in the order they came: the
// controller's single thread.
type eventQueue struct {
	waiting []event
	running bool
	// round makes the done of an event void once the queue was cleared.
	round uint64
}

func (q *eventQueue) put(e event) {
	q.waiting = append(q.waiting, e)
	q.next()
}

func (q *eventQueue) next() {
	if q.running || len(q.waiting) == 0 {
		return
	}
	e := q.waiting[0]
	q.waiting = q.waiting[1:]
	q.running = true
	round, ended := q.round, false
	e.run(func() {
		if q.round != round || ended {
			return
		}
		ended = true
		q.running = false
		q.next()
	})
}

// clear drops the running event and all that wait.
func (q *eventQueue) clear() {
	q.round++
	q.running = false
	q.clearWaiting()
}

// clearWaiting drops all events that wait.
func (q *eventQueue) clearWaiting() {
	waiting := q.waiting
	q.waiting = nil
	for _, e := range waiting {
		if e.drop != nil {
			e.drop()
		}
	}
}
