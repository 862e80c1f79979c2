package victims

import (
	"math/bits"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// Whether so few tasks of a node are enough is asked of every node, and the weights
// that an ask gives the types make that a look at each lane. But weights by what nodes
// have are the same for all asks. So what the tasks of a node with most of all sum up
// to is kept from one decision to the next, and the answer is a look at one number.

// keptTops are those sums. They hold of a node as long as its digest is the same one
// and the same types are lacking. What a decision finds does not depend on them: they
// only save work.
type keptTops struct {
	of    *Cluster
	rows  []mixRow // of all types
	epoch uint64   // the number of times that the weights have changed
	at    []keptTop
	sums  []int64 // numTops for each node: what its first, first two, ... tasks have
}

// A keptTop says for what the sums of a node hold.
type keptTop struct {
	made, epoch uint64
	mask        resources.Mask // the types that are summed up
}

const (
	// numTops is how many sums a node has. For more victims the lanes are looked at.
	// It takes one more than the most victims that plans of the bench loads have.
	numTops = 16
	// A capacity counts with so many bits, so that a node more or less hardly ever
	// changes weights.
	topBits = 6
	// A task has no more than so many times what a node has: sums stay in range.
	topNodes = 1 << 8
)

// reset takes note of the capacities of a cluster. What was summed up with other
// weights is void.
func (k *keptTops) reset(c *Cluster) {
	same := k.of == c && len(k.rows) == c.types
	if k.of = c; len(k.rows) != c.types {
		k.rows = make([]mixRow, c.types)
	}
	for t := range k.rows {
		mean := c.total[t] / int64(max(c.NodeLen(), 1))
		cut := max(bits.Len64(uint64(mean))-topBits, 0)
		row := mixRowOf(t, mean>>cut<<cut)
		if row.open = min(row.whole<<row.shift, 1<<54) * topNodes; row != k.rows[t] {
			k.rows[t], same = row, false
		}
	}
	if !same {
		k.epoch++
	}
	if n := len(c.nodes) - len(k.at); n > 0 {
		k.at = append(k.at, make([]keptTop, n)...)
		k.sums = append(k.sums, make([]int64, n*numTops)...)
	}
}

// tooFew reports whether it is certain that so few of the plain tasks of the least
// priority of a node do not give what it lacks, in the types of a mask.
func (k *keptTops) tooFew(n NodeID, count int64, need siteNeed) bool {
	if count < 1 || count > numTops {
		return false
	}
	// All types together, as in a mixture: whoever has much of one often has little of
	// another.
	var open int64
	for t := range need.mask.All() {
		r := &k.rows[t]
		if need.short[t] > r.open {
			return false // more than tasks are taken to have
		}
		open += need.short[t] >> r.shift * r.weight
	}
	if at := &k.at[n]; at.epoch != k.epoch || at.mask != need.mask || at.made != k.of.digest.made[n] {
		*at = keptTop{k.of.digest.made[n], k.epoch, need.mask}
		k.sumUp(n, need.mask)
	}
	return k.sums[int(n)*numTops+int(count)-1] < open
}

// A siteNeed is what a node lacks.
type siteNeed struct {
	short resources.Vector
	mask  resources.Mask
}

// sumUp sums up the tasks of a node that have most in the types of a mask.
func (k *keptTops) sumUp(n NodeID, mask resources.Mask) {
	digest, types := &k.of.digest.nodes[n], k.of.types
	sums := rows.At(k.sums, int(n), numTops)
	clear(sums)
	// Lanes are sorted by flags and priority, so those lanes are the first.
	priority := k.of.digest.gauges[n].minPriority
	for i := range digest.lanes {
		l := &digest.lanes[i]
		if l.flags != 0 || l.priority != priority {
			break
		}
		var share int64
		size := digest.size(i, types)
		for t := range mask.All() {
			r := &k.rows[t]
			share += (min(size[t], r.open) + r.round) >> r.shift * r.weight
		}
		insertShares(sums, share, l.tasks())
	}
	// The last of them is what so many tasks have at most, and one before it what fewer do.
	for i := 1; i < numTops; i++ {
		sums[i] += sums[i-1]
	}
}

// insertShares inserts a number of equal shares into a list that falls, and keeps its
// length.
func insertShares(list []int64, share, count int64) {
	at := len(list)
	for at > 0 && list[at-1] < share {
		at--
	}
	end := min(at+int(count), len(list))
	copy(list[end:], list[at:])
	for ; at < end; at++ {
		list[at] = share
	}
}
