package victims

import (
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// needs are what a plan must make room for under the maxima of the path. The
// queues are nested, so what a task helps is told by one number, its level:
// the first of them that it is below.
type needs struct {
	queues []queue.ID         // that lack headroom, from the leaf upwards
	short  []resources.Vector // what each lacks, in the types that the ask wants
	masks  []resources.Mask   // the types in which those from a level on are short
	// rows[on][level] are the rows of Problem.Needs that a task of the level
	// counts for: the node's is row 0, where it is on the node, then one for
	// each queue.
	rows [2][][]int32
	most resources.Vector // the largest lack per type
}

// open reports whether any headroom is needed.
func (n *needs) open() bool { return len(n.queues) > 0 }

// prepareNeeds finds the headroom that is lacking: e + ask - max, where it is
// positive, for each queue on the path. (Step 2.)
func (d *decision) prepareNeeds() {
	n := &d.needs
	d.blocks = d.blocks[:0]
	n.queues, n.short, n.masks = n.queues[:0], n.short[:0], n.masks[:0]
	n.most = zeros(n.most, d.c.types)
	for q := range d.tree.Up(d.ask.Queue) {
		most := d.max(q)
		var short resources.Vector
		for t := range most.Defined.All() {
			if lack := d.usage(q, t, coming) + d.size[t] - most.Value[t]; lack > 0 {
				if short == nil {
					short = d.block()
				}
				short[t] = lack
				n.most[t] = max(n.most[t], lack)
			}
		}
		if short != nil {
			n.queues = append(n.queues, q)
			n.short = append(n.short, short)
			n.masks = append(n.masks, resources.Positive(short))
		}
	}
	n.masks = append(n.masks, 0)
	for i := len(n.queues) - 1; i >= 0; i-- {
		n.masks[i] |= n.masks[i+1]
	}
	n.prepareRows()
}

// prepareRows lists the rows of each level, off the node and on it.
func (n *needs) prepareRows() {
	for on := range n.rows {
		n.rows[on] = n.rows[on][:cap(n.rows[on])]
		for level := range len(n.queues) + 1 {
			if level == len(n.rows[on]) {
				n.rows[on] = append(n.rows[on], nil)
			}
			rows := n.rows[on][level][:0]
			if on == 1 {
				rows = append(rows, 0)
			}
			for i := level; i < len(n.queues); i++ {
				rows = append(rows, int32(1+i))
			}
			n.rows[on][level] = rows
		}
	}
}

// level returns the first queue that lacks headroom and contains leaf, or the
// number of such queues.
func (n *needs) level(t *queue.Tree, leaf queue.ID) int32 {
	for i, q := range n.queues {
		if t.Contains(q, leaf) {
			return int32(i)
		}
	}
	return int32(len(n.queues))
}

// block returns a row of zeros, one amount per type, that lives as long as the
// decision.
func (d *decision) block() resources.Vector {
	from := len(d.blocks)
	for range d.c.types {
		d.blocks = append(d.blocks, 0)
	}
	return d.blocks[from:len(d.blocks):len(d.blocks)]
}
