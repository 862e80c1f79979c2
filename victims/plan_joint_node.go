package victims

import (
	"math"
	"slices"

	"github.com/go-preempt/preempt/resources"
)

// What a joint search does on one node: it raises its bound, tries lessons on it, learns
// a new one, and searches what is left.

// A jointItem is a task that a plan for a node may have.
type jointItem struct {
	id    TaskID
	size  resources.Vector
	level int32 // see shortage
	on    bool  // the node
}

// A jointPick is an item and its share of a mixture.
type jointPick struct {
	share int64
	item  int32
}

// jointRounds is how often weights are changed for one node. It is not measured: every
// round leaves out some of the items, so that the last ones take little time.
const jointRounds = 32

// raise raises the bound of a node by what the even mixture says.
// For a node with room it is the only one: what makes headroom may be anywhere.
func (d jointSearch) raise(p *prospect) {
	rank, priority := d.leastRank(p.node)
	// A node with room has no bound of its own.
	if p.levels == leastLevels {
		p.levels[LevelRank], p.levels[LevelPriority] = rank, priority
	}
	count, spare := d.fewest(&d.pool.joint.mix, p)
	p.spare = spare
	if count < p.levels[LevelVictims] {
		count = p.levels[LevelVictims]
	}
	p.levels[LevelVictims], p.levels[LevelSumRanks], p.levels[LevelSumPriorities] = count, count*rank, count*priority
}

// leastRank returns the least rank and priority of any victim of a plan for a node.
func (d jointSearch) leastRank(n NodeID) (rank, priority int64) {
	least := d.c.digest.gauges[n].minPriority
	rank, priority = d.eligible.leastRank(least), int64(least)
	b := &d.pool.joint.band
	return min(rank, b.leastRank), min(priority, b.leastPriority)
}

// tie notes whether all plans for a node that are less than the best are as good as
// that in the levels before the number of victims.
func (d jointSearch) tie(p *prospect) (tied bool) {
	tied = d.best.Found && slices.Compare(p.levels[:LevelVictims], d.best.Total.Levels[:LevelVictims]) >= 0
	d.pool.joint.tied = tied
	return tied
}

// allows reports whether such plans may have tasks of a lane or of a row of a band.
func (d jointSearch) allows(f flags, priority int32) bool {
	if !d.pool.joint.tied {
		return true
	}
	// Of the highest priority, and of levels that count few, one task tells. Ranks and
	// own costs play no part: whom they would keep out only makes bounds lower.
	best := &d.best.Total.Levels
	return int64(priority) <= best[LevelPriority] &&
		(!f.has(flagOptedOut) || best[LevelOptedOut] > 0) && (!f.has(flagOriginator) || best[LevelOriginators] > 0)
}

// fewest returns a number of victims below which no plan for a node gives what is
// lacking of a mixture, and by how much those that have most exceed it. It knows no
// more than that it takes more than the best plan has.
func (d jointSearch) fewest(mix *jointMix, p *prospect) (count, spare int64) {
	most := int64(mostTops)
	if d.best.Found {
		most = min(d.best.Total.Levels[LevelVictims]+1, mixMost)
	}
	short, tied := d.scratch.short, d.tie(p)
	d.nodeNeed(short, p.node)
	rest := mix.aim(d.decision, short)
	on := d.onNode(mix, p.node, int(most))
	tops, elsewhere := mix.tops, most
	// If the bound of the node itself says how many are there, the others are not.
	if tied {
		elsewhere -= p.here
	}
	for count < most && rest > 0 {
		for len(tops) > 0 && tops[0].node == p.node {
			tops = tops[1:]
		}
		there := int64(0)
		switch {
		case elsewhere <= 0:
		case len(tops) > 0:
			there = tops[0].share
		case len(mix.tops) == mostTops:
			// Those that are not listed have no more than the last.
			there = mix.tops[mostTops-1].share
		}
		switch {
		case len(on) > 0 && on[0] >= there:
			rest, on = rest-on[0], on[1:]
		case there > 0:
			if rest -= there; len(tops) > 0 {
				tops = tops[1:]
			}
			elsewhere--
		default:
			return most, 0 // all together are not enough
		}
		count++
	}
	if rest > 0 {
		return most, 0
	}
	return count, -rest
}

// onNode lists what the tasks on a node have of a mixture, the largest shares first.
func (d jointSearch) onNode(mix *jointMix, n NodeID, most int) []int64 {
	digest, top := &d.c.digest.nodes[n], d.scratch.amounts[:0]
	// Whoever may be a victim counts, and some others: only a few rules are asked.
	for i := range digest.lanes {
		l := &digest.lanes[i]
		if !d.allows(l.flags, l.priority) {
			continue
		}
		size := digest.size(i, d.c.types)
		of, share, last := mix.node.of(size), int64(0), queueOfNone
		for k := l.first; k < l.end; k++ {
			leaf := &d.eligible.leaves[digest.leaves[k]]
			if leaf.veto != 0 {
				continue
			}
			// Neighbours in a lane mostly are of one level, and then share alike.
			if leaf.level != last {
				last, share = leaf.level, of+mix.ofHeads(d.decision, size, leaf.level)
			}
			top = insertTop(top, most, share)
		}
	}
	d.trial.pay(int64(len(digest.ids) * len(d.types) * (1 + len(mix.heads))))
	d.scratch.amounts = top
	return top
}

// insertTop inserts a share into a list that falls and keeps the most largest.
func insertTop(top []int64, most int, share int64) []int64 {
	if share == 0 || len(top) == most && top[most-1] >= share {
		return top
	}
	if len(top) == most {
		top = top[:most-1]
	}
	i := len(top)
	top = append(top, share)
	for ; i > 0 && top[i-1] < share; i-- {
		top[i] = top[i-1]
	}
	top[i] = share
	return top
}

// refuted reports whether some lesson shows that a node has no plan of lesser levels
// than the best.
func (d jointSearch) refuted(p *prospect) bool {
	most, ok := d.most(p)
	j := &d.pool.joint
	// Tops are of the band, and say nothing of plans that need others.
	if !ok || !j.band.tellsOf(most-p.here) {
		return false
	}
	if d.refutedByKinds(p.node, most) {
		return true
	}
	for k := range min(j.learned, mostLessons) {
		if count, _ := d.fewest(&j.lessons[k], p); count > most {
			return true
		}
	}
	return false
}

// refutedSoon is refuted by lessons that ask for no sums.
func (d jointSearch) refutedSoon(p *prospect) bool {
	j := &d.pool.joint
	if len(j.kinds.rows) == 0 {
		return false
	}
	most, ok := d.most(p)
	return ok && j.band.tellsOf(most-p.here) && d.refutedByKinds(p.node, most)
}

// most returns how many victims a plan has at most that is of lesser levels than the
// best. It reports false if such a plan may be better in levels before the number of
// victims.
//
// It is what makes bounds on the number of victims say something: a node that takes more
// than that is out.
func (d jointSearch) most(p *prospect) (most int64, ok bool) {
	best, levels := &d.best.Total.Levels, p.levels
	if !d.tie(p) {
		return 0, false
	}
	// With as many victims as the best, a plan may still be less in the sums of ranks
	// and priorities.
	most = best[LevelVictims]
	rank, priority := d.leastRank(p.node)
	levels[LevelVictims], levels[LevelSumRanks], levels[LevelSumPriorities] = most, most*rank, most*priority
	// If not even the least sums are less, only fewer victims are.
	if slices.Compare(levels[:], best[:]) >= 0 {
		most--
	}
	return most, true
}

// examine looks for a plan of lesser levels on a node. It reports whether there is
// none besides what it leaves as the best.
//
// If it is not known that plans for the node are no better in the levels before the
// number of victims, it still looks for one, but shows nothing.
func (d jointSearch) examine(p *prospect) bool {
	most, ok := d.most(p)
	told := ok && d.pool.joint.band.tellsOf(most-p.here)
	d.collect(p)
	// Even of a band that does not tell all, weights leave out most of the items that no
	// lesser plan has.
	if ok && d.learn(p, most) || told && d.learnKinds(p, most) {
		return told
	}
	if ok && d.coverItems(p) == uncovered {
		return told
	}
	return d.attempt(p) && told
}

// collect lists the tasks that a plan for a node may have.
//
// On the node these are all candidates, and elsewhere those of the band. Rules about a
// single task have been asked about both.
func (d jointSearch) collect(p *prospect) {
	j, tied := &d.pool.joint, d.tie(p)
	s := d.siteOf(p.node)
	j.short = append(j.short[:0], s.short...)
	j.items = j.items[:0]
	digest := &d.c.digest.nodes[p.node]
	for i := range digest.lanes {
		l := &digest.lanes[i]
		if !d.allows(l.flags, l.priority) {
			continue
		}
		for k := l.first; k < l.end; k++ {
			if id := digest.ids[k]; d.candidate(id, &s) {
				level := d.eligible.leaves[digest.leaves[k]].level
				j.items = append(j.items, jointItem{id, d.c.size(id), level, true})
			}
		}
	}
	d.trial.pay(int64(gatherWork / 4 * len(digest.ids)))
	// With as many on the node as the best has in all, a plan is not the lesser one.
	if tied && p.here >= d.best.Total.Levels[LevelVictims] {
		return // there is nobody elsewhere
	}
	for i := range j.band.rows {
		if x := &j.band.rows[i]; x.node != p.node && d.allows(x.flags, x.priority) {
			j.items = append(j.items, jointItem{x.id, d.c.size(x.id), x.level, false})
		}
	}
}

// learn looks for weights that show that a node has no plan of so many victims, and
// reports whether there are such. If not, it leaves out the items that no such plan
// can have.
func (d jointSearch) learn(p *prospect, most int64) bool {
	j := &d.pool.joint
	// The oldest lesson makes room.
	draft := &j.lessons[j.learned%mostLessons]
	draft.even(d.decision)
	// What those who have most give of each need tells how to change the weights.
	j.given.short = j.short
	for round := range int64(jointRounds) {
		d.trial.pay(int64(len(j.items) * len(d.types) * (1 + len(draft.heads))))
		// Of all those that may go no more than most have most of the mixture.
		spare, least := d.weigh(draft, [2]int64{most - p.here, most})
		if spare < 0 {
			draft.list(d.decision, &j.band)
			j.learned++
			return true
		}
		// A plan has at least what is lacking, and those who have most exceed that by
		// what is to spare. Whoever is in a plan takes the place of one of them, and
		// loses no more than that. Every mixture leaves out some, and the next one is
		// the sharper for it.
		kept := j.items[:0]
		for i := range j.items {
			if on := j.items[i].on; on && j.shares[i] >= least[1]-spare || !on && j.shares[i] >= least[0]-spare {
				kept = append(kept, j.items[i])
			}
		}
		// A few more than there may be are sooner tried than weighed.
		if j.items = kept; len(kept) <= int(most)+fewMore {
			return false
		}
		draft.turn(d.decision, &j.given, round)
	}
	return false
}

// weigh sums up what the items give of a mixture that have most of it: so many at most
// elsewhere, and in all. It returns by how much that exceeds what is lacking, and for
// items elsewhere and on the node the share of the one that another would stand in for.
func (d jointSearch) weigh(mix *jointMix, limits [2]int64) (spare int64, least [2]int64) {
	j := &d.pool.joint
	j.given.reset(d.decision, mix)
	spare = -mix.aim(d.decision, j.short)
	j.shares = j.shares[:0]
	for side := range j.picks {
		j.picks[side] = j.picks[side][:0]
	}
	for i := range j.items {
		x := &j.items[i]
		share, side := mix.ofHeads(d.decision, x.size, x.level), 0
		if x.on {
			share, side = share+mix.node.of(x.size), 1
		}
		j.shares = append(j.shares, share)
		j.picks[side] = insertPick(j.picks[side], int(limits[side]), jointPick{share, int32(i)})
	}
	// Both lists fall, so that one merge finds those that have most together.
	var taken [2]int
	for left := limits[1]; left > 0; left-- {
		side := d.next(taken)
		if side < 0 {
			break
		}
		x := j.picks[side][taken[side]]
		taken[side]++
		spare += x.share
		j.given.add(d.decision, &j.items[x.item])
		least[0], least[1] = x.share, x.share
	}
	if int64(taken[0]+taken[1]) < limits[1] {
		least[0], least[1] = 0, 0 // there is room for others
	}
	// One more elsewhere takes the place of another there, if no more are allowed.
	switch {
	case limits[0] <= 0:
		least[0] = math.MaxInt64
	case int64(taken[0]) == limits[0]:
		least[0] = j.picks[0][taken[0]-1].share
	}
	return spare, least
}

// next, while the largest shares of both sides are merged, returns the side that has
// the largest of those not taken, or -1.
func (d jointSearch) next(taken [2]int) int {
	picks, side := &d.pool.joint.picks, -1
	for k := range picks {
		if taken[k] < len(picks[k]) && (side < 0 || picks[k][taken[k]].share > picks[side][taken[side]].share) {
			side = k
		}
	}
	return side
}

// insertPick inserts a pick into a list that falls and keeps the most largest.
func insertPick(list []jointPick, most int, x jointPick) []jointPick {
	if most <= 0 || len(list) == most && list[most-1].share >= x.share {
		return list
	}
	if len(list) == most {
		list = list[:most-1]
	}
	i := len(list)
	list = append(list, x)
	for ; i > 0 && list[i-1].share < x.share; i-- {
		list[i] = list[i-1]
	}
	list[i] = x
	return list
}

// attempt searches for a plan of the items, which it offers: as in any search on a node,
// all laws hold, and what is found is inclusion-minimal.
//
// It reports whether they have none besides
// what it leaves as the best, whatever laws over sums and budgets say.
func (d jointSearch) attempt(p *prospect) bool {
	s, u := d.siteOf(p.node), &d.local
	u.reset()
	// Whoever may be held back by more than its own rules makes a second search needed.
	thinned, bound := d.thinItems(), false
	for i := range d.pool.joint.items {
		u.add(d.decision, &s, d.pool.joint.items[i].id)
		bound = bound || len(u.units[len(u.units)-1].Uses) > 0
	}
	bound = bound || u.bound
	d.state(&s, d.wanted(&s))
	d.solve(&d.found, u, d.limit())
	d.offer(p.node, &d.found, u)
	if !d.found.Proven || thinned || !bound {
		return d.found.Proven && !thinned
	}
	// A task was left out because others do as well: but for laws over sums, and for
	// budgets. So nothing is shown unless the items have no plan without those either.
	u.unbind()
	d.state(&s, d.wanted(&s))
	d.solve(&d.found, u, d.limit())
	return d.found.Proven && !d.found.Found
}

// mostItems is how many items a search on a node has at most. With more than that a
// search by classes would take its time to be built, and hardly ever come to an end.
const mostItems = 2 * thinTo

// thinItems keeps the best of the items elsewhere by themselves, if there are many, and
// reports whether it has left any out.
func (d jointSearch) thinItems() bool {
	j := &d.pool.joint
	if len(j.items) <= mostItems {
		return false
	}
	ids, items := d.scratch.taken[:0], j.items[:0]
	for _, x := range j.items {
		if x.on {
			items = append(items, x)
		} else {
			ids = append(ids, x.id)
		}
	}
	// Those on the node all stay: they are few, and may meet both needs.
	for _, id := range d.pool.thin(d.decision, ids) {
		items = append(items, jointItem{id: id})
	}
	d.scratch.taken, j.items = ids, items
	return true
}
