package jobs

import (
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// needs are what victims must free below the queues of the path, wherever they
// run: for a max, and for the max of a quota. They are the same for all ways to
// place the members, whose sum is what counts. The queues are nested, so what a
// task helps is told by one number, its level: the first of them that it is
// below.
type needs struct {
	queues []queue.ID         // that are short, from the leaf upwards
	short  []resources.Vector // what each lacks, in types of rem
	// The types in which a queue is short for its max, and for that of its quota.
	headroom, quota []resources.Mask
	masks           []resources.Mask // the types in which those from a level on are short
	most            resources.Vector // the largest lack per type
}

// open reports whether any queue is short.
func (n *needs) open() bool { return len(n.queues) > 0 }

// prepare finds what queues are short of for all members of todo. What forbids
// the job to preempt has been checked before. So of the quotas only the max is
// left, and that only for a non-preemptible job.
func (n *needs) prepare(c *jobCase) {
	n.queues, n.short = n.queues[:0], n.short[:0]
	n.headroom, n.quota = n.headroom[:0], n.quota[:0]
	n.most = c.block(1)
	for q := range c.tree.Up(c.job.Queue) {
		n.add(c, q)
	}
	n.masks = rows.Zeros(n.masks, len(n.queues)+1)
	for i := len(n.queues) - 1; i >= 0; i-- {
		n.masks[i] = n.masks[i+1] | n.headroom[i] | n.quota[i]
	}
}

// add adds what queue q is short of, if anything.
func (n *needs) add(c *jobCase, q queue.ID) {
	short := resources.Vector(c.block(1))
	var headroom, quota resources.Mask
	most := c.tree.Max(q)
	for t := range (most.Defined & c.wants).All() {
		if lack := c.gate.usage(q, t, coming) + c.rem[t] - most.Value[t]; lack > 0 {
			short[t] = lack
			headroom = headroom.With(t)
		}
	}
	// The max and the quota of a queue lack what they lack of one and the same
	// tasks: what goes for the one makes room for the other. So the larger counts.
	if a := c.gate.account(q); a != nil {
		for t, lack := range a.Need(c.block(1), c.claim()) {
			if lack > 0 {
				short[t] = max(short[t], lack)
				quota = quota.With(t)
			}
		}
	}
	if headroom|quota == 0 {
		return
	}
	n.queues = append(n.queues, q)
	n.short = append(n.short, short)
	n.headroom = append(n.headroom, headroom)
	n.quota = append(n.quota, quota)
	n.most = resources.Max(n.most, n.most, short)
}

// level returns the first queue that is short and contains leaf, or the number
// of such queues.
func (n *needs) level(t *queue.Tree, leaf queue.ID) int32 {
	for i, q := range n.queues {
		if t.Contains(q, leaf) {
			return int32(i)
		}
	}
	return int32(len(n.queues))
}

// cut takes a candidate off what the queues above it lack, given as one row per
// queue, or puts it back if sign is +1.
func (n *needs) cut(short []int64, c *candidate, sign int64) {
	if !n.open() {
		return
	}
	types := len(short) / len(n.queues)
	for i := int(c.leaf.level); i < len(n.queues); i++ {
		addTo(short[i*types:(i+1)*types], c.size, sign)
	}
}
