package histories

// chunks is a list of operations that grows without moving them.
type chunks struct {
	full [][]Operation
	last []Operation
	n    int
	hint int
}

const chunkSize = 1 << 15

func (c *chunks) expect(n int) {
	if c.n == 0 {
		c.hint = n
	}
}

func (c *chunks) add(o Operation) {
	if len(c.last) == cap(c.last) {
		if c.last != nil {
			c.full = append(c.full, c.last)
		}
		// The first chunk is as large as expected; the others have one size, so
		// that at finds its way.
		size := chunkSize
		if c.n == 0 {
			size = max(c.hint, 16)
		}
		c.last = make([]Operation, 0, size)
	}
	c.last = append(c.last, o)
	c.n++
}

func (c *chunks) at(i int) *Operation {
	if len(c.full) == 0 {
		return &c.last[i]
	}
	if i < len(c.full[0]) {
		return &c.full[0][i]
	}
	i -= len(c.full[0])
	if n := 1 + i/chunkSize; n < len(c.full) {
		return &c.full[n][i%chunkSize]
	}
	return &c.last[i%chunkSize]
}

// join gives all operations in one slice, letting go of each chunk once it is
// copied.
func (c *chunks) join() []Operation {
	if len(c.full) == 0 {
		return c.last
	}
	all := make([]Operation, 0, c.n)
	for i, chunk := range c.full {
		all = append(all, chunk...)
		c.full[i] = nil
	}
	return append(all, c.last...)
}
