package victims

import (
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// If a node is short and headroom as well, each need by itself says little: tasks on
// the node may meet both, and others meet headroom alone. A sum over all needs, with
// a weight for each type of each of them, says how many victims it takes together.
//
// Two nodes may lack different amounts, but what queues lack is the same for all. So
// what tasks elsewhere have of a mixture is worked out once, and serves all nodes.
//
// Amounts are rounded for the victims: what is lacking down, and what tasks have up. No
// more of a type counts than is lacking of it. So a set that meets all needs has as much
// of every mixture as is lacking, whatever its weights.

// A jointMix sums up what tasks give to the node and to the queues that lack headroom.
type jointMix struct {
	node  mixture
	heads []mixture  // of the queues whose lack does not follow from that of another
	tops  []jointTop // the tasks of the band that have most of it, the largest first
}

// A jointTop is what a task elsewhere has of a mixture.
type jointTop struct {
	share int64
	node  NodeID
}

// mostTops is how many tops a mixture has at most. If a plan may have more victims
// elsewhere, each of those counts as the last one.
const mostTops = 24

// even gives all types of all needs the same weight, as parts of what the ask wants and
// of what queues lack.
func (m *jointMix) even(d *decision) {
	m.node.even(d.size)
	m.heads = m.heads[:0]
	for i, lacks := range d.needs.short {
		if !d.needs.ruled[i] {
			m.heads = rows.Next(m.heads)
			m.heads[len(m.heads)-1].even(lacks)
			m.heads[len(m.heads)-1].aim(lacks) // it is the same for all nodes
		}
	}
}

// even gives each type of some amounts the same weight as a part of them.
func (m *mixture) even(amounts resources.Vector) {
	m.rows = m.rows[:0]
	for t, v := range amounts {
		if v > 0 {
			m.rows = append(m.rows, mixRowOf(t, v))
		}
	}
}

// aim aims at a node that is short of some amounts, and returns what is lacking of the
// mixture.
func (m *jointMix) aim(d *decision, short resources.Vector) int64 {
	sum, k := m.node.aim(short), 0
	for i, lacks := range d.needs.short {
		if !d.needs.ruled[i] {
			sum += m.heads[k].aim(lacks)
			k++
		}
	}
	return sum
}

// ofHeads returns what a task of a size and level has of what queues lack.
func (m *jointMix) ofHeads(d *decision, size resources.Vector, level int32) (share int64) {
	k := 0
	for i := range d.needs.short {
		if d.needs.ruled[i] {
			continue
		}
		if level <= int32(i) {
			share += m.heads[k].of(size)
		}
		k++
	}
	return share
}

// list lists the tops of a mixture. They fall, and of equal ones the first of the band
// comes first, so that nothing depends on rows.
func (m *jointMix) list(d *decision, b *band) {
	m.tops = m.tops[:0]
	for i := range b.rows {
		x := &b.rows[i]
		// It is on no node that matters, so that its own needs do not count.
		share := m.ofHeads(d, d.c.size(x.id), x.level)
		if len(m.tops) == mostTops {
			if share <= m.tops[mostTops-1].share {
				continue
			}
			m.tops = m.tops[:mostTops-1]
		}
		at := len(m.tops)
		m.tops = append(m.tops, jointTop{})
		for ; at > 0 && m.tops[at-1].share < share; at-- {
			m.tops[at] = m.tops[at-1]
		}
		m.tops[at] = jointTop{share, x.node}
	}
	d.trial.pay(int64(len(b.rows) * len(m.heads) * len(d.types)))
}

// turn raises the weights of what was given too little, and lowers the others, by
// less in each round.
func (m *jointMix) turn(d *decision, given *jointGiven, round int64) {
	m.node.turnBy(given.node, round)
	for k := range m.heads {
		m.heads[k].turnBy(rows.At(given.heads, k, d.c.types), round)
	}
}

// turnBy changes weights by up to twice the part that is missing or too much, and by
// less the later the round.
func (m *mixture) turnBy(given resources.Vector, round int64) {
	for i := range m.rows {
		r := &m.rows[i]
		// A lack that is too small for the mixture to see tells nothing.
		lack := r.open >> r.shift
		if lack <= 0 {
			continue
		}
		// Half of the lack at most, so that no type is forgotten in one round.
		missing := min(max(lack-given[r.typ]>>r.shift, -lack/2), lack/2)
		w := r.weight + r.weight*(missing<<10/lack)*12/(6+round)>>10
		r.weight = min(max(w, 1), max(heaviest/r.whole, 1))
	}
}

// jointGiven is what some tasks give to each need: of those that have most of a mixture
// it tells which weights are too low.
type jointGiven struct {
	short resources.Vector // of the node
	node  resources.Vector
	heads []int64 // a row for each of jointMix.heads
}

// reset makes it nothing.
func (g *jointGiven) reset(d *decision, mix *jointMix) {
	g.node, g.heads = rows.Zeros(g.node, d.c.types), rows.Zeros(g.heads, d.c.types*len(mix.heads))
}

// add adds a task.
func (g *jointGiven) add(d *decision, x *jointItem) {
	if x.on {
		addWithin(g.node, x.size, g.short)
	}
	k := 0
	for i, lacks := range d.needs.short {
		if d.needs.ruled[i] {
			continue
		}
		if x.level <= int32(i) {
			addWithin(rows.At(g.heads, k, d.c.types), x.size, lacks)
		}
		k++
	}
}

// addWithin adds a size to a sum, of each type no more than is lacking.
func addWithin(sum, size, lacks resources.Vector) {
	for t, lack := range lacks {
		sum[t] += min(size[t], lack)
	}
}
