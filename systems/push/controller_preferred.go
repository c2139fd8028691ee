package push

// schedulePreferredElection gives leadership back to preferred replicas from
// time to time, where that is asked for.
func (c *Controller) schedulePreferredElection() {
	if c.cfg.PreferredElection <= 0 {
		return
	}
	c.session.after(c.cfg.PreferredElection, func() {
		c.put(func(done func()) {
			var ps []*partition
			for _, p := range c.cluster.partitions {
				first := p.replicas[0]
				if p.known && p.state.Leader != first && c.cluster.serving(first) && contains(p.state.ISR, first) {
					ps = append(ps, p)
				}
			}
			b := c.newBatch()
			c.change(ps, "preferred-election", c.preferredElection, b, func([]outcome) {
				b.send()
				done()
			})
		})
		c.schedulePreferredElection()
	})
}
