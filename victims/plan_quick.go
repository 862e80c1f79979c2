// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"math/bits"

	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/sat"
	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
)

// The inner loop of every decision: what a few sums of the digest tell of a node. It is
// the ladder of package least, written by hand: the least rank and priority, the largest size
// of each type, the newest tasks. It says no more than that, only sooner, and most nodes need
// no other look.

// Skip reports whether sums tell that a node has no plan that is cheaper than the best; or
// none of lesser levels, if the search wants only these.
func (d *decision) Skip(at int32) bool {
	n, c, e := NodeID(at), d.c, &d.eligible
	all := &c.digest.digestRows
	switch {
	case e.LeastRank(c.digest.gauges[n].minPriority) > e.Ceiling || d.pool.hopeless:
		return true // law 6, for all of its tasks
	case !d.best.Found:
		return e.TooLarge(c.row(c.digest.least, n)) // law 2, likewise
	case n == d.best.node() && !d.best.Exact && !d.search.Lesser:
		return false // it gets a closer look
	case d.costsMore(n, digestRow{all, n}):
		return true
	}
	// What laws let go tells more than all that is there.
	of, row := d.lawful.sums(n)
	return of != all && d.costsMore(n, digestRow{of, row})
}

// A digestRow is a row that tells of a node.
type digestRow struct {
	of  *digestRows
	row NodeID
}

// A rung is one of what decides between plans, in which those of a node may differ from the best plan.
type rung struct {
	what rulebook.Level
	most int64 // what the best plan has
}

// costsMore reports whether a node has no plan that is cheaper than the best, by nothing else but
// sums. It compares the least that any plan for the node has of each rung with what the best has.
// Of what only some tasks have it takes none to be needed.
func (d *decision) costsMore(n NodeID, sums digestRow) bool {
	g, all := &sums.of.gauges[sums.row], sums.of == &d.c.digest.digestRows
	rank, priority, count := d.eligible.LeastRank(g.minPriority), int64(g.minPriority), int64(0)
	if rank > d.eligible.Ceiling {
		return true // law 6
	}
	plain := d.order.Sequence == nil // what comes first is that victims are plain and of the least priority
	for _, r := range d.best.rungs {
		if r.what >= rulebook.LevelWork && d.search.Lesser {
			return true
		}
		// Only the number of victims, and what is listed after it in [Level], depends on
		// how many must go.
		if r.what >= rulebook.LevelVictims && count == 0 {
			if plain && d.othersMustGo(n, sums) {
				return true
			}
			from := int64(1)
			if r.what == rulebook.LevelVictims {
				from = max(r.most-1, 1) // fewer than the best has, it does not matter by how many
			}
			if count = d.fewest(n, sums, from); count == noLimit {
				return true
			}
			// Kept sums are of all tasks of a node.
			if count < r.most && plain && all && d.sumsTell(n, r.most-1) {
				count = r.most
			}
		}
		least := int64(0)
		switch r.what {
		case rulebook.LevelRank:
			least = rank
		case rulebook.LevelPriority:
			least = priority
		case rulebook.LevelVictims:
			least = count
		case rulebook.LevelSumRanks:
			least = count * rank
		case rulebook.LevelSumPriorities:
			least = count * priority
		case rulebook.LevelWork:
			least = int64(d.compareWork(sums, count))
		case rulebook.LevelExcess:
			if !d.freesAsMuchOfAny(n, count, sums) {
				least = -1
			}
		}
		// What is equal leaves it to the next rung.
		if least != r.most {
			return least > r.most || r.what >= rulebook.LevelWork && plain && d.lanesTell(n, sums, count)
		}
	}
	return d.search.Lesser || !d.c.comesBefore(n, d.best.node())
}

// othersMustGo reports whether the plain tasks of the least priority of a node are not enough.
func (d *decision) othersMustGo(n NodeID, sums digestRow) bool {
	if sums.of.gauges[sums.row].uniform {
		return false
	}
	free, lowest := d.c.row(d.c.coming, n), sums.of.lowest[int(sums.row)*d.c.types:]
	for _, t := range d.types {
		if d.size[t]-free[t] > lowest[t] {
			return true
		}
	}
	return false
}

// compareWork compares the work that so many victims lose at least with that of the best plan. They
// lose at least as much time as the newest tasks, and none weighs less than the least amounts
// together. So each loses at least as much as such a task.
func (d *decision) compareWork(sums digestRow, count int64) int {
	time, work := d.leastTime(sums, count), wide.Uint128(d.best.Total.Work)
	if one := d.leastWeightIn(sums, d.best.bestType); time.MulSat(one).Cmp(work) > 0 {
		return 1 // mostly
	}
	return time.MulSat(d.leastWeight(sums)).Cmp(work)
}

// leastWeight returns what a task of a node weighs at least, and leastWeightIn what it weighs by one
// type alone.
func (d *decision) leastWeight(sums digestRow) uint64 {
	return d.eligible.weights.Of(sums.of.least[int(sums.row)*d.c.types:][:d.c.types])
}

func (d *decision) leastWeightIn(sums digestRow, t int) uint64 {
	return d.eligible.weights.In(t, sums.of.least[int(sums.row)*d.c.types+t])
}

// freesAsMuchOfAny reports whether so many victims on a node free at least as much beyond
// what is wanted as the best plan does. One type that does is enough, and the first to look
// at is the one that decided for the best.
func (d *decision) freesAsMuchOfAny(n NodeID, count int64, sums digestRow) bool {
	if d.best.Total.Excess.Amount == 0 || d.freesAsMuch(n, count, sums, d.best.bestType) {
		return true
	}
	for t := range d.c.types {
		if d.freesAsMuch(n, count, sums, t) {
			return true
		}
	}
	return false
}

// freesAsMuch is that for one type.
func (d *decision) freesAsMuch(n NodeID, count int64, sums digestRow, t int) bool {
	asMuch := d.best.AsMuch[t]
	if asMuch == noLimit {
		return false
	}
	freed := count * sums.of.least[int(sums.row)*d.c.types+t]
	if d.wants.Has(t) {
		freed -= max(d.size[t]-d.c.coming[int(n)*d.c.types+t], d.needs.most[t], 0)
	}
	return freed >= asMuch
}

// fewest returns a number of victims on a node below which no plan has any, from one on, by the
// largest size of each type alone. It is noLimit if nobody there has any of some type. It reads two
// rows of blocks that lie next to each other, and no lane.
func (d *decision) fewest(n NodeID, sums digestRow, from int64) (count int64) {
	free, largest := d.c.row(d.c.coming, n), sums.of.largest[int(sums.row)*d.c.types:]
	count = from
	for _, t := range d.types {
		if lack := d.size[t] - free[t]; !reaches(count, largest[t], lack) {
			if largest[t] == 0 {
				return noLimit
			}
			if count++; !reaches(count, largest[t], lack) { // mostly one more is enough, and to divide is dear
				count = (lack-1)/largest[t] + 1
			}
		}
	}
	return count
}

// lanesTell reports whether a node has no plan that is cheaper than the best, if sums tell that
// none has lesser levels. A plan of the same levels is so many plain victims of the least priority
// that laws let go. They lose at least as much work as those that lose the least. Of a
// single victim, as for asks that are about as large as tasks, that is all that there is to know.
func (d *decision) lanesTell(n NodeID, sums digestRow, count int64) bool {
	if count > numLatest {
		return false
	}
	digest, priority := &d.c.digest.nodes[n], sums.of.gauges[sums.row].minPriority
	short, floor := d.scratch.short, d.scratch.floor
	d.nodeNeed(short, n)
	// None may be smaller than what the largest others leave open.
	for t, largest := range d.c.row(sums.of.largest, sums.row) {
		floor[t] = max(short[t]-sat.Mul(count-1, largest), 0)
	}
	alone := count == 1 && !d.needs.open()
	var memory [numLatest]resources.Wide
	works := memory[:0]
	for i := range digest.lanes {
		l := &digest.lanes[i]
		if l.flags != 0 || l.priority > priority {
			break
		}
		if l.priority < priority {
			continue // laws keep all of it
		}
		d.trial.pay(int64(6 + len(d.types)))
		size := digest.size(i, d.c.types)
		if !resources.Fits(floor, size) {
			continue
		}
		weight := d.eligible.weights.Of(size)
		for j := l.first; j < l.end; j++ {
			if d.without.Rule == "" && d.lawful.keeps(digest, j, l.priority) {
				continue
			}
			work, among := resources.Wide(wide.Mul(d.search.Since(digest.times[j]), weight)), false
			if alone {
				if c := d.search.Compare(work, size, short); c < 0 || c == 0 && d.c.comesBefore(n, d.best.node()) {
					return false
				}
				break
			}
			if works, among = least.InsertWork(works, count, work); !among {
				break // those after it lose no less
			}
		}
	}
	d.trial.pay(10 * int64(len(works)))
	var sum resources.Wide
	for _, work := range works {
		sum = sum.Add(work)
	}
	return alone || int64(len(works)) < count || sum.Compare(d.best.Total.Work) > 0
}

// reaches reports whether count times amount, which may be beyond int64, is at
// least short. Count and amount are not negative.
func reaches(count, amount, short int64) bool {
	hi, lo := bits.Mul64(uint64(count), uint64(amount))
	return hi > 0 || short <= 0 || lo >= uint64(short)
}

// leastTime returns the time that so many victims on a node lose at least.
func (d *decision) leastTime(sums digestRow, count int64) (time wide.Uint128) {
	latest := sums.of.latest[int(sums.row)*numLatest:][:numLatest]
	for _, start := range latest[:min(count, numLatest)] {
		time = time.AddSat(wide.Of(d.search.Since(start)))
	}
	if count > numLatest {
		time = time.AddSat(wide.Mul(d.search.Since(latest[numLatest-1]), uint64(count-numLatest)))
	}
	return time
}

// sumsTell reports whether sums at even prices tell that so few plain tasks of the least priority
// of a node are not enough.
func (d *decision) sumsTell(n NodeID, count int64) bool {
	need := siteNeed{short: d.scratch.short}
	need.mask = d.nodeNeed(need.short, n)
	d.trial.pay(int64(len(d.types)))
	return d.sums.tooFew(n, count, need)
}

// A sumRow says how amounts of a type are summed up.
type sumRow struct {
	weight int64
	open   int64 // more of it plays no part
	round  int64 // what an amount is rounded up by
	shift  uint8 // how many bits of an amount play no part
}

// sumRowOf returns a row for a type of which nodes have an amount on average.
func sumRowOf(amount int64) sumRow {
	const most = 30 // bits
	shift := max(bits.Len64(uint64(amount))-most, 0)
	whole := max(amount>>shift, 1)
	return sumRow{weight: 1 << (most + 4) / whole, open: min(whole<<shift, 1<<54) * sumNodes, round: 1<<shift - 1, shift: uint8(shift)}
}

// keptSums are, for each node, what its tasks with most of all types together sum up to.
// Weights of types by what an ask lacks would take a look at each lane. Weights by what
// nodes have are the same for all asks: so the sums are kept from one decision to the next,
// and the answer is a look at one number. They hold of a node as long as its digest is the
// same one and the same types are lacking. What a decision finds does not depend on them:
// they only save work.
type keptSums struct {
	of    *Cluster
	rows  []sumRow // of all types
	epoch uint64   // the number of times that the weights have changed
	at    []keptSum
	sums  []int64 // numSums for each node: what its first, first two, ... tasks have
}

// A keptSum says for what the sums of a node hold.
type keptSum struct {
	made, epoch uint64
	mask        resources.Mask // the types that are summed up
}

const (
	// numSums is how many sums a node has. For more victims the lanes are looked at.
	// It takes one more than the most victims that plans of the bench loads have.
	numSums = 16
	// A capacity counts with so many bits, so that a node more or less hardly ever
	// changes weights.
	sumBits = 6
	// A task has no more than so many times what a node has: sums stay in range.
	sumNodes = 1 << 8
)

// reset takes note of the capacities of a cluster. What was summed up with other
// weights is void.
func (k *keptSums) reset(c *Cluster) {
	same := k.of == c && len(k.rows) == c.types
	if k.of = c; len(k.rows) != c.types {
		k.rows = make([]sumRow, c.types)
	}
	for t := range k.rows {
		mean := c.total[t] / int64(max(c.NodeLen(), 1))
		cut := max(bits.Len64(uint64(mean))-sumBits, 0)
		row := sumRowOf(mean >> cut << cut)
		if row != k.rows[t] {
			k.rows[t], same = row, false
		}
	}
	if !same {
		k.epoch++
	}
	if n := len(c.nodes) - len(k.at); n > 0 {
		k.at = append(k.at, make([]keptSum, n)...)
		k.sums = append(k.sums, make([]int64, n*numSums)...)
	}
}

// tooFew reports whether it is certain that so few of the plain tasks of the least
// priority of a node do not give what it lacks, in the types of a mask.
func (k *keptSums) tooFew(n NodeID, count int64, need siteNeed) bool {
	if count < 1 || count > numSums {
		return false
	}
	// All types together: whoever has much of one often has little of
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
		*at = keptSum{k.of.digest.made[n], k.epoch, need.mask}
		k.sumUp(n, need.mask)
	}
	return k.sums[int(n)*numSums+int(count)-1] < open
}

// A siteNeed is what a node lacks.
type siteNeed struct {
	short resources.Vector
	mask  resources.Mask
}

// sumUp sums up the tasks of a node that have most in the types of a mask.
func (k *keptSums) sumUp(n NodeID, mask resources.Mask) {
	digest, types := &k.of.digest.nodes[n], k.of.types
	sums := rows.At(k.sums, int(n), numSums)
	clear(sums)
	falling := sums[:0]
	var alike [numSums]int64
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
		shares := alike[:min(l.tasks(), numSums)]
		for k := range shares {
			shares[k] = share
		}
		falling = rows.InsertFalling(falling, numSums, shares)
	}
	// The last of them is what so many tasks have at most, and one before it what fewer do.
	for i := 1; i < numSums; i++ {
		sums[i] += sums[i-1]
	}
}
