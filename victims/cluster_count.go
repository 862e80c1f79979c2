package victims

// count adds the amounts of a row to its queues and node, or takes them away.
func (c *Cluster) count(id TaskID, sign int64) {
	r := &c.tasks[id]
	c.touch(r.node)
	size := c.size(id)
	if sign > 0 {
		must(c.tree.Add(r.leaf, size))
	}
	if r.evictable() {
		c.evictable[r.leaf] += int32(sign)
	}
	if r.state.leaving() {
		c.countLeaving(id, sign)
	}
	if sign < 0 {
		must(c.tree.Remove(r.leaf, size))
	}
	present, coming := c.row(c.present, r.node), c.row(c.coming, r.node)
	for i, v := range size {
		present[i] -= sign * v
		coming[i] -= sign * v
	}
}

// countLeaving adds the amounts of a row to what is leaving, or takes them away.
func (c *Cluster) countLeaving(id TaskID, sign int64) {
	r := &c.tasks[id]
	size := c.size(id)
	if sign > 0 {
		must(c.tree.Mark(r.leaf, size))
	} else {
		must(c.tree.Unmark(r.leaf, size))
	}
	coming := c.row(c.coming, r.node)
	for i, v := range size {
		coming[i] += sign * v
	}
}

// touch notes that the tasks of a node have changed. Its digest is made anew
// when a decision next needs it; see [Cluster.settle].
func (c *Cluster) touch(n NodeID) {
	if g := &c.digest.gauges[n]; g.fresh {
		g.fresh = false
		c.stale(n)
	}
}

// must panics if the tree refuses what the cluster has checked: someone
// else has changed the tree.
func must(err error) {
	if err != nil {
		panic("victims: usage of the tree was changed from outside: " + err.Error())
	}
}

// setState changes the state of a row and what is leaving with it.
func (c *Cluster) setState(id TaskID, s State) {
	r := &c.tasks[id]
	was, evictable := r.state, r.evictable()
	r.state = s
	switch {
	case evictable && !r.evictable():
		c.evictable[r.leaf]--
	case !evictable && r.evictable():
		c.evictable[r.leaf]++
	}
	c.touch(r.node)
	switch {
	case s.leaving() && !was.leaving():
		c.countLeaving(id, +1)
	case !s.leaving() && was.leaving():
		c.countLeaving(id, -1)
		c.unwait(id)
	}
}
