package histories

// client is what the Builder knows of one process.
type client struct {
	operation int // the open operation
	line      int // the source line of its invoke
	invoked   int32
	alias     int32 // which of the new numbers it goes by; 0 for its own
	open      bool
	retired   bool // an outcome is unknown: the next invoke is a new client's
}

// clientTable finds clients by number. Small numbers, which nearly all are,
// need no hashing.
type clientTable struct {
	small []*client
	large map[int]*client
}

const smallClients = 1 << 14

func (t *clientTable) get(number int) *client {
	if number < len(t.small) {
		if c := t.small[number]; c != nil {
			return c
		}
	}
	if number < smallClients {
		for len(t.small) <= number {
			t.small = append(t.small, nil)
		}
		c := new(client)
		t.small[number] = c
		return c
	}
	c, ok := t.large[number]
	if !ok {
		if t.large == nil {
			t.large = make(map[int]*client)
		}
		c = new(client)
		t.large[number] = c
	}
	return c
}
