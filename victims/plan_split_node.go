package victims

import (
	"math/bits"
	"slices"

	"github.com/go-preempt/preempt/internal/rows"
)

// A node is split by all sets of its tasks that count for both needs. Each set is a pair
// of needs, and most pairs are told by bounds alone. Of the others the covers are sought:
// first on the node, where few rows are, and then elsewhere, where what was found out about
// one node is kept for the next.

// node splits a node, and reports whether it has no plan of lesser levels than the best,
// besides what it leaves as that.
//
// It reports false if it does not know: then the node is for the steps that come after.
func (d splitSearch) node(p *prospect) (shown bool) {
	x := &d.pool.joint.split
	most, ok := d.most(p)
	if !ok || x.on[p.node] > splitMost || d.trial.meter.Left <= 0 {
		return false
	}
	defer d.pay()
	// Nodes whose tasks all differ are like no others.
	counted := d.count(p.node)
	if counted && d.refutedByLikes(p.node, most) {
		return true
	}
	if d.collect(p); counted {
		if d.learnLikes(p, most) {
			return true
		}
		d.collect(p)
	}
	// Whoever may not go is left out, and all sets are looked at again: those with another
	// that is like it were passed over.
	for x.out = -1; !d.sets(p); x.out = -1 {
		if x.out < 0 {
			return false
		}
		x.leaveOut(x.out)
	}
	return true
}

// leaveOut takes a task out of both.
func (x *split) leaveOut(i int) {
	x.both = slices.Delete(x.both, i, i+1)
	for side := range x.gives {
		n := len(x.rough[side])
		x.gives[side] = slices.Delete(x.gives[side], i*n, (i+1)*n)
	}
}

// sets looks at all sets of the tasks that count for both, and reports whether none of
// them is part of a lesser plan, besides what it leaves as the best.
func (d splitSearch) sets(p *prospect) (shown bool) {
	for set := range uint32(1) << len(d.pool.joint.split.both) {
		if d.twice(set) {
			continue
		}
		if d.lack(set); !d.pair(p, set) {
			return false
		}
	}
	return true
}

// pay takes the work of covers off the budget.
func (d splitSearch) pay() {
	x := &d.pool.joint.split
	d.trial.pay(x.heads.work + x.others.work)
	x.heads.work, x.others.work = 0, 0
}

// collect lists the tasks on a node, those that make headroom by themselves. Only a few
// rules are asked: the others are asked about those that are to go.
func (d splitSearch) collect(p *prospect) {
	j, x := &d.pool.joint, &d.pool.joint.split
	d.tie(p)
	s := d.siteOf(p.node)
	j.short = append(j.short[:0], s.short...)
	x.others.reset(len(x.rough[0]))
	x.ids, x.both, x.gives[0], x.gives[1] = x.ids[:0], x.both[:0], x.gives[0][:0], x.gives[1][:0]
	if s.mask == 0 {
		return // whoever makes headroom counts as elsewhere
	}
	digest := &d.c.digest.nodes[p.node]
	for i := range digest.lanes {
		l := &digest.lanes[i]
		if !d.allows(l.flags, l.priority) {
			continue
		}
		for k := l.first; k < l.end; k++ {
			item := jointItem{digest.ids[k], digest.size(i, d.c.types), j.band.levels[digest.leaves[k]], true}
			switch {
			case d.eligible.leaves[digest.leaves[k]].veto != 0:
			case item.level == noLevel:
				x.others.sizes = d.amounts(x.others.sizes, 0, item)
				x.ids = append(x.ids, item.id)
			default:
				x.gives[0], x.gives[1] = d.amounts(x.gives[0], 0, item), d.amounts(x.gives[1], 1, item)
				x.both = append(x.both, item)
			}
		}
	}
	d.trial.pay(int64(len(digest.ids) * len(d.types)))
	d.weighOthers()
}

// weighOthers makes the first bound on others.
func (d splitSearch) weighOthers() {
	x := &d.pool.joint.split
	x.others.even(d.missing(0, 0))
	x.others.keep()
}

// lack sets what others and heads lack if some of the tasks go that count for both.
func (d splitSearch) lack(set uint32) {
	x := &d.pool.joint.split
	for side := range x.short {
		d.missing(side, set)
		x.others.work += int64(len(x.both) * len(x.short[side]))
	}
	x.least[0], x.least[1] = x.others.fewest(x.short[0]), x.heads.fewest(x.short[1])
}

// missing sets what one side lacks then, and returns it. It may be negative, and says then
// how much there is to spare.
func (d splitSearch) missing(side int, set uint32) []int64 {
	x, short := &d.pool.joint.split, d.pool.joint.split.short[side][:0]
	for k := range x.rough[side] {
		if r := &x.rough[side][k]; side == 0 {
			short = append(short, r.lack(d.pool.joint.short[r.typ]))
		} else {
			short = append(short, x.lacks[k])
		}
	}
	for i := range x.both {
		if set>>i&1 == 0 {
			continue
		}
		for k, v := range rows.At(x.gives[side], i, len(short)) {
			short[k] -= v
		}
	}
	x.short[side] = short
	return short
}

// twice reports whether a set of tasks that count for both gives the same as another
// one: of those that are alike the first go first.
func (d splitSearch) twice(set uint32) bool {
	x := &d.pool.joint.split
	for i := 1; i < len(x.both); i++ {
		if set>>(i-1)&3 == 2 && x.same(0, i) && x.same(1, i) {
			return true
		}
	}
	return false
}

// same reports whether a task of both gives as much to one side as the one before it.
func (x *split) same(side, i int) bool {
	n := len(x.rough[side])
	return slices.Equal(rows.At(x.gives[side], i-1, n), rows.At(x.gives[side], i, n))
}

// pair looks for covers of what others and heads lack if a set of tasks goes, and reports
// whether there are none with fewer victims than the best plan has, besides what it
// leaves as that.
//
// Each round either raises one of the two numbers, or finds a better plan, which lowers
// what a lesser one may have. So they meet.
func (d splitSearch) pair(p *prospect, set uint32) (shown bool) {
	x, taken := &d.pool.joint.split, int64(bits.OnesCount32(set))
	for {
		if most, ok := d.most(p); !ok || taken+x.least[0]+x.least[1] > most {
			return ok
		}
		// Of tasks that are alike no more are known; see gatherNode. A plan of so many victims
		// is for the search by items.
		if max(x.least[0], x.least[1]) > mostTops {
			return false
		}
		switch x.others.cover(x.short[0], int(x.least[0]), nil) {
		case uncovered:
			x.least[0]++
			continue
		case unclear:
			return false
		}
		switch d.coverHeads(p.node) {
		case uncovered:
			x.least[1]++
			continue
		case unclear:
			return false
		}
		if x.plenty {
			return false // nobody knows whether there are so many
		}
		best := d.best.Total.Levels
		if !d.take(p, set) {
			if x.out >= 0 {
				return false
			}
			continue // somebody may not go
		}
		if d.best.Total.Levels == best {
			return false // laws over sums, or something else than the number of victims
		}
	}
}

// coverHeads looks for a cover of what headroom lacks. Tasks of the node itself are part
// of other sets.
//
// A need that has no cover makes an end of all that are as large, with as many rows or
// fewer. Nodes that are alike have the same needs, so that most are told by that.
func (d splitSearch) coverHeads(n NodeID) coverage {
	x := &d.pool.joint.split
	need, count := x.short[1], x.least[1]
	for i := range x.gaps {
		if gap := &x.gaps[i]; count <= gap.count && within(gap.need, need) {
			return uncovered
		}
	}
	// Nodes share what does not cover a need. So nobody is left out at first, but for rows
	// that are like so many others that no cover has all of them.
	got := x.heads.cover(need, int(count), func(i int32) bool { return int64(x.tasks[i].copy) >= count })
	if got == uncovered {
		x.gaps = rows.Next(x.gaps)
		gap := &x.gaps[len(x.gaps)-1]
		gap.need, gap.count = append(gap.need[:0], need...), count
	}
	if got != covered || len(x.both) == 0 || !slices.ContainsFunc(x.heads.picks, func(i int32) bool { return x.tasks[i].node == n }) {
		return got
	}
	return x.heads.cover(need, int(count), func(i int32) bool {
		return x.tasks[i].node == n || int64(x.tasks[i].copy) >= count+splitMost
	})
}

// take offers a plan of a set and two covers. These are rough, and laws over sums and
// budgets were not asked: so a search over its few tasks decides. None is offered if some
// task elsewhere is no candidate. It reports false if one on the node is none; that one
// gives nothing from now on.
func (d splitSearch) take(p *prospect, set uint32) bool {
	j, x := &d.pool.joint, &d.pool.joint.split
	here, all := d.siteOf(p.node), true
	j.items = j.items[:0]
	for i := range x.both {
		if set>>i&1 == 0 {
			continue
		}
		if !d.candidate(x.both[i].id, &here) {
			x.out = i
			return false
		}
		j.items = append(j.items, x.both[i])
	}
	for _, i := range x.others.picks {
		if !d.candidate(x.ids[i], &here) {
			clear(x.others.row(i))
			all = false
		}
		j.items = append(j.items, jointItem{id: x.ids[i], on: true})
	}
	there := d.elsewhere()
	for _, i := range x.heads.picks {
		// Others that are like it may have been left out.
		if !x.sifted && !d.candidate(x.tasks[i].id, &there) {
			x.foul = true
		}
		j.items = append(j.items, jointItem{id: x.tasks[i].id})
	}
	if all && !x.foul {
		d.attempt(p)
	}
	return all
}
