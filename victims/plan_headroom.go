// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/wide"
	"github.com/go-preempt/preempt/resources"
)

// If headroom is short as well as a node, one set has to make both. What makes
// headroom may be on any node, and is one problem that all nodes share.

// searchJoint looks for a set that makes room on a node and headroom at once.
// Such a set contains one that makes room on the node, so the cheapest of
// those is a bound, and the answer if it makes headroom as well.
//
// If victims are on the node only, they are all there, and so is a member of every job
// that goes as a whole: no other node adds any.
func (d *decision) searchJoint(s *site) {
	d.gatherLocal(s)
	if d.nearby() {
		d.local.addGangs(d, s)
		d.state(s, d.wanted(s))
		d.solve(&d.found, &d.local, d.limit())
		d.offer(s.node, &d.found, &d.local)
		return
	}
	if d.pruning() {
		n := len(d.local.units)
		d.local.addGangs(d, s)
		d.state(s, d.wanted(s))
		for i := range d.needs.short {
			d.problem.Needs[1+i] = nil
		}
		d.solve(&d.found, &d.local, d.limit())
		switch {
		case !d.found.Found && d.found.Proven:
			return
		case d.found.Found && d.makesHeadroom(&d.found, &d.local):
			d.offer(s.node, &d.found, &d.local)
			if d.found.Proven {
				return
			}
		}
		if !d.pool.searched && d.sufficesHere(s) {
			return
		}
		d.local.cut(n)
	}
	if d.trial.alone {
		d.trial.proven, d.trial.levels = false, false
		// The scan has nothing to show, and ends: see scanFirst, which puts back what is left.
		d.trial.meter.Left = min(d.trial.meter.Left, 0)
		return
	}
	if d.ended() || !d.searchHeadroom() || !d.affords(len(d.local.units)+len(d.pool.units)) {
		return
	}
	d.local.join(d, s)
	d.local.addGangs(d, s)
	d.state(s, d.wanted(s))
	d.solve(&d.found, &d.local, d.limit())
	d.offer(s.node, &d.found, &d.local)
}

// searchAlone looks for any plan of which all victims are on the node, if there is none
// yet. Searches with all others that make headroom take much longer.
func (d *decision) searchAlone() {
	if !d.needs.open() || d.p.Predicate != nil {
		return
	}
	proven, levels := d.trial.proven, d.trial.levels
	for _, n := range d.nodes {
		if d.best.Found || d.exhausted() {
			break
		}
		// Of most nodes sums tell.
		all := d.c.row(d.c.digest.all, n)
		if !d.usable(n) || d.nodeNeed(d.scratch.short, n) == 0 || !resources.Fits(d.scratch.short, all) || !resources.Fits(d.needs.most, all) || !d.passes(n) {
			continue
		}
		if !d.affords(len(d.c.nodes[n].tasks)) {
			break
		}
		s := d.siteOf(n)
		if s.out {
			continue
		}
		d.gatherLocal(&s)
		d.local.addGangs(d, &s)
		d.state(&s, d.wanted(&s))
		d.solve(&d.found, &d.local, nil)
		d.offer(n, &d.found, &d.local)
		d.best.Exact = false // others may be cheaper
	}
	d.trial.proven, d.trial.levels = proven, levels
}

// sufficesHere makes headroom with tasks of the node alone, if that can be. The
// needs are stated, but for headroom, and d.found is the best set for those that are.
//
// It reports whether no others need be looked at: with them no plan for the node
// has lesser levels; or there is some plan and the decision is brief, so that a
// look at all that may make headroom would take too long. Then nothing is shown.
func (d *decision) sufficesHere(s *site) bool {
	least, shown := d.found.Total.Levels, d.found.Found && d.found.Proven
	for i := range d.needs.short {
		d.problem.Needs[1+i] = d.needs.needOf(i)
	}
	proven, levels := d.trial.proven, d.trial.levels
	d.solve(&d.found, &d.local, d.limit())
	d.trial.proven, d.trial.levels = proven, levels
	d.offer(s.node, &d.found, &d.local)
	d.best.Exact = d.best.Exact && d.best.node() != s.node // others may be cheaper
	switch {
	case d.worker.OnlyLesser:
		return shown && d.best.Found && d.problem.order.CompareLevels(&least, &d.best.Total.Levels) >= 0
	case d.trial.brief && d.best.Found:
		d.trial.proven, d.trial.levels = false, false
		return true
	}
	return false
}

// cut takes the units from a place on out again.
func (u *unitSet) cut(n int) { u.units, u.ids, u.gang = u.units[:n], u.ids[:n], u.gang[:n] }

// searchHeadroom solves what all nodes share: the cheapest set that makes
// headroom. It reports false if there is none, and then no node has a plan.
func (d *decision) searchHeadroom() bool {
	p := &d.pool
	if p.searched {
		return !p.hopeless
	}
	p.searched = true
	if d.searchPool(); p.thinned && !p.shared.Found && d.affords(p.all) {
		p.whole = true // the others are needed, too
		d.searchPool()
	}
	p.hopeless = !p.shared.Found && p.shared.Proven
	return !p.hopeless
}

// searchPool gathers what makes headroom and searches it.
func (d *decision) searchPool() {
	p := &d.pool
	p.gather(d)
	s := d.elsewhere()
	p.singles = len(p.units)
	p.addGangs(d, &s)
	d.state(&s, d.wanted(&s))
	lesser := d.worker.OnlyLesser
	d.worker.OnlyLesser = false
	if p.shared = (least.Selection{Units: p.shared.Units[:0]}); d.affords(len(p.units)) {
		d.solve(&p.shared, &p.unitSet, nil)
	}
	d.worker.OnlyLesser = lesser
	if p.thinned {
		d.trial.proven, d.trial.levels = false, false
	}
}

// makesHeadroom reports whether a set meets every headroom need.
func (d *decision) makesHeadroom(s *least.Selection, u *unitSet) bool {
	for i, short := range d.needs.short {
		if !d.meets(u, s.Units, int32(1+i), short) {
			return false
		}
	}
	return true
}

// meets reports whether the units that count for a row of needs sum to short.
func (d *decision) meets(u *unitSet, units []int32, row int32, short resources.Vector) bool {
	sum := d.scratch.sum
	clear(sum)
	for _, i := range units {
		for part := range u.units[i].All {
			if slices.Contains(part.Needs, row) {
				sum = resources.Add(sum, sum, part.Size)
			}
		}
	}
	d.scratch.sum = sum
	return resources.Fits(short, sum)
}

// If tasks that make headroom are many and hardly two are alike, a search over
// all of them takes far longer than it is worth: the best of them by themselves
// are enough for a good plan, and bounds are over all in any case.

const (
	// manyGroups is from how many groups on a pool is thinned. Clusters whose
	// tasks come in some shapes, leaves and priorities have fewer.
	manyGroups = 1024
	// thinTo is how many tasks a thinned pool has. Plans take some ten; with a
	// quarter as many the loads of package workload were as good.
	thinTo = 128
)

// motley reports whether candidates are of more groups than a search should look
// at.
func (p *headroomPool) motley(d *decision, ids []TaskID) bool {
	if len(ids) <= manyGroups {
		return false
	}
	p.groups.reset()
	for _, id := range ids {
		if p.groups.add(groupHash(d, id)); p.groups.n > manyGroups {
			return true
		}
	}
	return false
}

// groupHash returns a number that tasks of a group share that are in the same budgets, and
// hardly any others. To a search those in other budgets are not alike.
func groupHash(d *decision, id TaskID) uint64 {
	r := &d.c.tasks[id]
	own := [...]int64{int64(r.leaf), int64(r.priority), int64(r.flags & costFlags), d.c.costOf(id)}
	h := hashOf(hashOf(hashSeed, own[:]), d.c.size(id))
	for _, b := range d.c.budgetsOf(id) {
		own[0] = int64(b)
		h = hashOf(h, own[:1])
	}
	return h
}

// A groupSet counts different numbers, somewhat beyond manyGroups at most.
type groupSet struct {
	slots [4 * manyGroups]uint64 // 0 is empty
	n     int
}

func (g *groupSet) reset() { *g = groupSet{} }

func (g *groupSet) add(h uint64) {
	h |= 1
	for i := h >> 1 % uint64(len(g.slots)); ; i = (i + 1) % uint64(len(g.slots)) {
		switch g.slots[i] {
		case h:
			return
		case 0:
			g.slots[i] = h
			g.n++
			return
		}
	}
}

// thin keeps the best candidates by themselves: of the least levels, then those
// that give most of what is lacking, then by work and key.
func (p *headroomPool) thin(d *decision, ids []TaskID) []TaskID {
	// Most of very many are told by levels and share alone. What those that are kept
	// have is not worked out again for each that comes after them.
	order, best := &d.problem.order, p.best[:0]
	for _, id := range ids {
		x := pooledTask{id: id, levels: d.eligible.levels(id), share: p.shareOf(d, id)}
		if len(best) == thinTo {
			worst := &best[thinTo-1]
			if c := order.CompareLevels(&x.levels, &worst.levels); c > 0 || c == 0 && x.share < worst.share {
				continue
			}
		}
		x.work = d.eligible.work(id)
		best = keepBest(best, x, func(a, b pooledTask) int {
			if c := order.CompareLevels(&a.levels, &b.levels); c != 0 {
				return c
			}
			return cmp.Or(cmp.Compare(b.share, a.share), a.work.Compare(b.work), strings.Compare(d.c.tasks[a.id].key, d.c.tasks[b.id].key))
		})
	}
	p.best, ids = best, ids[:0]
	for i := range best {
		ids = append(ids, best[i].id)
	}
	return ids
}

// thinGangs keeps the best of the gangs that were met by themselves: of the least levels
// before own costs, then those that give most of what is lacking for each member. They stay
// in their order.
func (p *headroomPool) thinGangs(d *decision) []int32 {
	// Own costs are left to the search: to stop a gang that costs more may take fewer.
	best := p.gangs[:0]
	for _, g := range p.met {
		if s := d.elsewhere(); !d.gangHelps(g, &s) {
			continue // it is no unit
		}
		x := pooledGang{gang: g, members: int64(len(d.gangs.rows[g].members))}
		for k, id := range d.gangs.rows[g].members {
			levels := d.eligible.levels(id)
			x.levels = d.problem.order.Join(&x.levels, k, &levels)
			x.share += p.shareOf(d, id)
		}
		best = keepBest(best, x, func(a, b pooledGang) int {
			if c := slices.Compare(a.levels[:rulebook.LevelJobs], b.levels[:rulebook.LevelJobs]); c != 0 {
				return c
			}
			// Shares for each member: which is larger?
			mine, other := wide.Mul(uint64(a.share), uint64(b.members)), wide.Mul(uint64(b.share), uint64(a.members))
			return cmp.Or(other.Cmp(mine), strings.Compare(d.gangs.keyOf(a.gang), d.gangs.keyOf(b.gang)))
		})
	}
	p.gangs = best
	met := p.met[:0]
	for i := range best {
		met = append(met, best[i].gang)
	}
	slices.Sort(met) // as they were met
	return met
}

// A pooledGang is a gang of a pool with what tells it from others.
type pooledGang struct {
	levels         cost.Levels
	share, members int64
	gang           int32
}

// A pooledTask is a task of a pool with what tells it from others.
type pooledTask struct {
	levels cost.Levels
	share  int64 // see shareOf
	work   resources.Wide
	id     TaskID
}

// shareOf returns what a task gives of the largest lacks of headroom, each as
// a part of it.
func (p *headroomPool) shareOf(d *decision, id TaskID) (share int64) {
	size := d.c.size(id)
	for t, short := range d.needs.most {
		if short > 0 {
			quo, _ := wide.MulDiv(uint64(min(size[t], short)), mixOne, uint64(short))
			share += int64(quo)
		}
	}
	return share
}

// pickLanes picks the best lanes of a huge node: of each kind that decides before
// own costs no more than thinTo, those that have most of what the node lacks for
// their own cost. They stay in their order.
//
// A decision picks once for as long as it stays with a node.
func (u *unitSet) pickLanes(d *decision, s *site) {
	if u.picked == s.node {
		return
	}
	u.picks, u.picked = u.picks[:0], s.node
	digest := &d.c.digest.nodes[s.node]
	d.problem.mix.aim(s.short)
	for from := 0; from < len(digest.lanes); {
		kind, end := &digest.lanes[from], from
		best := d.scratch.picked[:0]
		for ; end < len(digest.lanes); end++ {
			l := &digest.lanes[end]
			if l.flags != kind.flags || l.priority != kind.priority {
				break
			}
			x := pickedLane{share: d.problem.mix.of(digest.size(end, d.c.types)), lane: int32(end)}
			// Without own costs most have no more than the worst that was picked.
			if len(d.c.costs) > 0 {
				x.cost = d.c.costOf(digest.ids[l.first])
			} else if len(best) == thinTo && x.share <= best[thinTo-1].share {
				continue
			}
			best = keepBest(best, x, pickedLane.compare)
		}
		for i := range best {
			u.picks = append(u.picks, best[i].lane)
		}
		d.scratch.picked, from = best, end
	}
	d.trial.pay(int64(4 * len(digest.lanes)))
	slices.Sort(u.picks)
}

// A pickedLane is a lane with what its tasks have of what is lacking, and cost.
type pickedLane struct {
	share, cost int64
	lane        int32
}

// compare orders lanes by own cost for what they have, then by what they have.
func (a pickedLane) compare(b pickedLane) int {
	if a.cost != 0 || b.cost != 0 {
		if c := wide.Mul(uint64(a.cost), uint64(b.share)).Cmp(wide.Mul(uint64(b.cost), uint64(a.share))); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.lane, b.lane))
}

// keepBest takes x in if it is one of the best thinTo, no two of which are equal. The worst
// is the last.
func keepBest[T any](best []T, x T, compare func(a, b T) int) []T {
	at, _ := slices.BinarySearchFunc(best, x, compare)
	if at == thinTo {
		return best
	}
	return slices.Insert(best[:min(len(best), thinTo-1)], at, x)
}

// If an ask wants several types, a bound on their sum says more than one on each:
// a task that has much of one type often has little of another. In a sum the
// types have weights, so that what the ask wants of each counts the same.

// mixOne is the whole of what a node lacks of one type.
const mixOne = 1 << 20

// A mixture sums up amounts of all types that an ask wants, each with a weight. It
// is aimed at one node after another: only what is lacking there counts.
type mixture struct {
	rows []mixRow
}

// A mixRow is what a mixture knows of a type.
type mixRow struct {
	typ    int
	weight int64
	whole  int64 // what the ask wants, without the bits that play no part
	open   int64 // what is lacking on the node, and no more than what the ask wants
	round  int64 // what an amount is rounded up by
	shift  uint8 // how many bits of an amount play no part
}

// mixBits is how many bits an amount has at most, without those that play no part.
const mixBits = 30

// reset gives each type that an ask wants a weight.
func (m *mixture) reset(d *decision) {
	m.rows = m.rows[:0]
	for _, t := range d.types {
		m.rows = append(m.rows, mixRowOf(t, d.size[t]))
	}
}

// mixRowOf returns a row for a type of which an amount is wanted in all.
func mixRowOf(t int, amount int64) mixRow {
	shift := max(bits.Len64(uint64(amount))-mixBits, 0)
	whole := max(amount>>shift, 1)
	return mixRow{
		typ: t, weight: 1 << (mixBits + 4) / whole, whole: whole,
		round: 1<<shift - 1, shift: uint8(shift),
	}
}

// aim aims at a node, and returns what its lacks sum up to, rounded down. A node
// that has more tasks than it should lacks more than the ask wants: the rest of that
// does not count, so that sums stay in range.
func (m *mixture) aim(lacks resources.Vector) (sum int64) {
	for i := range m.rows {
		r := &m.rows[i]
		r.open = min(max(lacks[r.typ], 0), r.whole<<r.shift)
		sum += r.open >> r.shift * r.weight
	}
	return sum
}

// of returns what a size has of what is lacking on the node, rounded up. No more of
// a type counts than what is lacking.
func (m *mixture) of(size resources.Vector) (sum int64) {
	for i := range m.rows {
		r := &m.rows[i]
		sum += (min(size[r.typ], r.open) + r.round) >> (r.shift & 63) * r.weight
	}
	return sum
}
