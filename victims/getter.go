package victims

// What callbacks ask of a task, without a copy of its row. The row must be that
// of a task or a grant.

// Key returns the key of a task or grant.
func (c *Cluster) Key(id TaskID) string { return c.tasks[id].key }

// NodeOf returns the node of a task or grant.
func (c *Cluster) NodeOf(id TaskID) NodeID { return c.tasks[id].node }

// State returns what a task is doing; see [Granted] for a grant.
func (c *Cluster) State(id TaskID) State { return c.tasks[id].state }

// Tag returns what the caller has put into the Tag of a task or grant.
func (c *Cluster) Tag(id TaskID) uint64 { return c.tags.at(int(id)) }

// Job returns the gang that a task or grant is a member of, or "".
func (c *Cluster) Job(id TaskID) string { return c.jobs.name(c.tasks[id].job) }

// costOf returns the own cost of a task.
func (c *Cluster) costOf(id TaskID) int64 { return c.costs.at(int(id)) }

// rankOf returns the own cost of choosing a node.
func (c *Cluster) rankOf(id NodeID) int64 { return c.nodes[id].rank }
