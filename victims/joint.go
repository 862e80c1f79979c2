package victims

import (
	"math"
	"slices"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// Where headroom is short as well as a node, one set has to make both. What
// makes headroom may be on any node, and is one problem that all nodes share.

// searchJoint looks for a set that makes room on a node and headroom at once.
// Such a set contains one that makes room on the node, so the cheapest of
// those is a bound, and the answer where it makes headroom as well.
func (d *decision) searchJoint(n NodeID, short resources.Mask) {
	d.want()
	d.gatherLocal(n, short)
	if d.pruning() {
		d.solveLocal(&d.found, &d.local)
		switch {
		case !d.found.Found && d.found.Proven:
			return
		case d.found.Found && d.found.Proven && d.makesHeadroom(&d.found, &d.local):
			d.offer(n, &d.found, d.local.ids)
			return
		}
	}
	if !d.searchHeadroom() {
		return
	}
	d.want()
	d.local.join(d, n)
	d.solve(&d.found, &d.local)
	d.offer(n, &d.found, d.local.ids)
}

// searchHeadroom solves what all nodes share: the cheapest set that makes
// headroom. It reports false where there is none, and then no node has a plan.
func (d *decision) searchHeadroom() bool {
	if d.pooled {
		return !d.hopeless
	}
	d.pooled = true
	d.pool.gatherHeadroom(d)
	d.wanted = resources.Copy(d.wanted, d.needs.most)
	d.setNeeds()
	d.problem.Needs[0].Short = nil // no node's
	d.run(&d.shared, &d.pool, nil)
	d.hopeless = !d.shared.Found && d.shared.Proven
	d.sumUpPool()
	return !d.hopeless
}

// makesHeadroom reports whether a set meets every headroom need.
func (d *decision) makesHeadroom(s *cover.Selection, u *unitSet) bool {
	for i, short := range d.needs.short {
		if !d.meets(u, s.Units, int32(1+i), short) {
			return false
		}
	}
	return true
}

// meets reports whether the units that count for a row of needs sum to short.
func (d *decision) meets(u *unitSet, units []int32, row int32, short resources.Vector) bool {
	clear(d.sum)
	for _, i := range units {
		if unit := &u.units[i]; slices.Contains(unit.Needs, row) {
			d.sum = resources.Add(d.sum, d.sum, unit.Size)
		}
	}
	return resources.Fits(short, d.sum)
}

// poolSums are what bounds need of the candidates that make headroom.
type poolSums struct {
	fewest []int64 // for each need, a number of victims below which none meets it
	rank   int64   // the least
	newest int64   // when the last of them was scheduled, as taskRow.newest has it
	least  resources.Vector
}

// sumUpPool sums the candidates up that make headroom.
func (d *decision) sumUpPool() {
	s := &d.poolSums
	s.rank, s.newest = math.MaxInt64, math.MinInt64
	for i, id := range d.pool.ids {
		s.rank = min(s.rank, d.pool.units[i].Levels[LevelRank])
		s.newest = max(s.newest, d.c.newest(id))
		if size := d.c.size(id); i == 0 {
			s.least = append(s.least[:0], size...)
		} else {
			s.least = resources.Min(s.least, s.least, size)
		}
	}
	s.fewest = s.fewest[:0]
	for i, short := range d.needs.short {
		clear(d.sum)
		for u := range d.pool.units {
			if unit := &d.pool.units[u]; slices.Contains(unit.Needs, int32(1+i)) {
				d.sum = resources.Max(d.sum, d.sum, unit.Size)
			}
		}
		var fewest int64
		for t, lack := range short {
			if lack > 0 && d.sum[t] > 0 {
				fewest = max(fewest, (lack-1)/d.sum[t]+1)
			}
		}
		s.fewest = append(s.fewest, fewest)
	}
}

// headroomBeats raises the bound of a node by what headroom takes, and reports
// whether the best plan beats it then.
//
// At least count victims are on the node, and at least fewest of all make
// headroom. So besides count there are those that the node has too few for.
func (d *decision) headroomBeats(b *nodeBound) bool {
	if !d.needs.open() || !d.pooled {
		return false
	}
	count, elsewhere := b.levels[LevelVictims], int64(0)
	for i, fewest := range d.poolSums.fewest {
		here := d.newestBelow(d.newest[1][:0], b.node, int32(i), fewest)
		d.newest[1] = here
		if more := fewest - int64(len(here)); i == 0 || more > elsewhere {
			d.newest[0], d.newest[1] = here, d.newest[0]
			elsewhere = more
		}
	}
	newest := d.newest[0] // of those on the node that make headroom
	b.elsewhere = elsewhere
	b.levels[LevelVictims] = count + elsewhere
	rank := min(d.leastRank(d.c.digest.gauges[b.node].minPriority), d.poolSums.rank)
	b.levels[LevelSumRanks] = (count + elsewhere) * rank
	// With exactly so many victims, all of newest are among them, and count are
	// on the node.
	work := d.leastLost(b.node, max(count-int64(len(newest)), 0))
	for _, start := range newest {
		work = work.AddNanos(d.since(start), 1)
	}
	work = work.AddNanos(d.since(d.poolSums.newest), uint64(elsewhere))
	if elsewhere > 0 || work.Compare(b.work) > 0 {
		b.work = work
	}
	return d.beaten(b)
}

// newestBelow sets dst to when the last tasks on a node were scheduled that may
// make headroom for a need, the last first, and returns it. It takes no more
// than the given number.
func (d *decision) newestBelow(dst []int64, n NodeID, need int32, most int64) []int64 {
	digest := &d.c.digest.nodes[n]
	for j, w := range digest.leaves {
		if leaf := &d.leaves[w]; leaf.level <= need && leaf.veto == 0 {
			dst = insertNewest(dst, int(most), digest.times[j:j+1])
		}
	}
	return dst
}
