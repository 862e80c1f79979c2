package victims

import (
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// A moment says which amounts count: those of now, or those that will be once
// what is already leaving has gone.
type moment uint8

const (
	present moment = 1 + iota
	coming
)

// usageAt returns what a queue uses of a type at a moment.
func usageAt(tree *queue.Tree, q queue.ID, t int, m moment) int64 {
	used := tree.Usage(q)[t]
	if m == coming {
		used -= tree.Preempting(q)[t]
	}
	return used
}

// A shortage is the headroom that is lacking under the maxima of a path. The
// queues are nested, so one number tells what a task helps, its level: the
// first of the queues that it is below. (DESIGN.md, The decision.)
type shortage struct {
	queues []queue.ID         // that lack headroom, from the leaf upwards
	short  []resources.Vector // what each lacks, in the types that are wanted
	masks  []resources.Mask   // the types in which those from a level on are short
	// rows[on][level] are the rows of Problem.Needs that a task of the level
	// counts for: the node's is row 0, if it is on the node, then one for each
	// queue.
	rows [2][][]int32
	most resources.Vector // the largest lack per type
	// ruled says of each queue that one further down lacks at least as much: who
	// makes headroom there makes it here, and nobody else needs to go for it.
	ruled  []bool
	widest int // the last queue that is not ruled
	// whole says that none is ruled: a predicate may want whom amounts do not need.
	whole bool

	types  int
	blocks []int64
}

// open reports whether any headroom is lacking.
func (n *shortage) open() bool { return len(n.queues) > 0 }

// reset makes the shortage ready for queues that lack headroom.
func (n *shortage) reset(types int) {
	n.types, n.blocks = types, n.blocks[:0]
	n.queues, n.short, n.masks = n.queues[:0], n.short[:0], n.masks[:0]
	n.most = rows.Zeros(n.most, types)
}

// lack adds a queue if it lacks headroom: e + size - max, where most is the max
// in the types that are wanted.
func (n *shortage) lack(tree *queue.Tree, q queue.ID, most resources.Limit, size resources.Vector) {
	var short resources.Vector
	for t := range most.Defined.All() {
		lack := usageAt(tree, q, t, coming) + size[t] - most.Value[t]
		if lack <= 0 {
			continue
		}
		if short == nil {
			short = n.block()
		}
		short[t] = lack
		n.most[t] = max(n.most[t], lack)
	}
	if short != nil {
		n.queues = append(n.queues, q)
		n.short = append(n.short, short)
		n.masks = append(n.masks, resources.Positive(short))
	}
}

// settle ends a series of lacks.
func (n *shortage) settle() {
	n.rule()
	n.masks = append(n.masks, 0)
	for i := len(n.queues) - 1; i >= 0; i-- {
		n.masks[i] |= n.masks[i+1]
	}
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

// rule finds out which lacks follow from others.
func (n *shortage) rule() {
	n.ruled, n.widest = n.ruled[:0], 0
	for i, short := range n.short {
		ruled := !n.whole && slices.ContainsFunc(n.short[:i], func(inner resources.Vector) bool { return resources.Fits(short, inner) })
		if n.ruled = append(n.ruled, ruled); !ruled {
			n.widest = i
		}
	}
}

// needOf returns what headroom at a queue takes that does not follow from others.
func (n *shortage) needOf(i int) cover.Need {
	if n.ruled[i] {
		return cover.Need{}
	}
	return cover.Need{Short: n.short[i]}
}

// level returns the first queue that lacks headroom and contains leaf, or the
// number of such queues.
func (n *shortage) level(t *queue.Tree, leaf queue.ID) int32 {
	for i, q := range n.queues {
		if t.Contains(q, leaf) {
			return int32(i)
		}
	}
	return int32(len(n.queues))
}

// block returns a row of zeros, one amount per type, that lives until reset.
func (n *shortage) block() resources.Vector {
	from := len(n.blocks)
	for range n.types {
		n.blocks = append(n.blocks, 0)
	}
	return n.blocks[from:len(n.blocks):len(n.blocks)]
}
