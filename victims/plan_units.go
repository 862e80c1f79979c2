// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
)

// A unitSet is the candidates of one problem, as units and as tasks, and the
// memory for what units are made of.
type unitSet struct {
	units []least.Unit
	ids   []TaskID // by unit: the task, or a member of the gang
	gang  []int32  // by unit: the gang that it is as a whole, or -1
	bound bool     // some unit has bounds
	met   []int32  // the gangs of which members were seen, each once
	seen  []uint32 // by gang: the turn in which it was met; they may be thousands
	turn  uint32
	// thinned says that the node has so many lanes that only some were gathered, and
	// picks are those of the node that was picked from last, or noNode.
	thinned bool
	picks   []int32
	picked  NodeID

	parts   []least.Part
	rows    []int32
	uses    []least.Use
	amounts []int64
	keys    []string
}

func (u *unitSet) reset() {
	u.thinned = false
	if u.turn++; u.turn == 0 { // it has gone round
		clear(u.seen)
		u.turn = 1
	}
	u.units, u.ids, u.gang, u.bound, u.met = u.units[:0], u.ids[:0], u.gang[:0], false, u.met[:0]
	u.parts, u.rows, u.uses, u.amounts, u.keys = u.parts[:0], u.rows[:0], u.uses[:0], u.amounts[:0], u.keys[:0]
}

// block returns a row of zeros.
func (u *unitSet) block(n int) resources.Vector {
	from := len(u.amounts)
	for range n {
		u.amounts = append(u.amounts, 0)
	}
	return u.amounts[from:len(u.amounts):len(u.amounts)]
}

// one returns a list of one row.
func (u *unitSet) one(row int32) []int32 {
	u.rows = append(u.rows, row)
	return u.rows[len(u.rows)-1 : len(u.rows) : len(u.rows)]
}

// addCount makes a part that takes a number of what a bound counts.
func (u *unitSet) addCount(n int64, bound int32) {
	size := u.block(1)
	size[0] = n
	u.parts = append(u.parts, least.Part{Size: size, Bounds: u.one(bound)})
}

// tasks appends the tasks of a unit to dst.
func (u *unitSet) tasks(dst []TaskID, d *decision, i int32) []TaskID {
	if g := u.gang[i]; g >= 0 {
		return append(dst, d.gangs.rows[g].members...)
	}
	return append(dst, u.ids[i])
}

// meet takes note of the gang of a task, and returns its row or -1.
func (u *unitSet) meet(d *decision, id TaskID) int32 {
	g := d.gangs.of(id)
	if g >= 0 {
		u.meetOne(g)
	}
	return g
}

// meetOne takes note of a gang.
func (u *unitSet) meetOne(g int32) {
	// A list of thousands is not looked through for each member.
	for int(g) >= len(u.seen) {
		u.seen = append(u.seen, 0)
	}
	if u.seen[g] != u.turn {
		u.met, u.seen[g] = append(u.met, g), u.turn
	}
}

// meetAll takes note of gangs that others have met.
func (u *unitSet) meetAll(met []int32) {
	for _, g := range met {
		u.meetOne(g)
	}
}

// add adds a task as a unit for the node of a site.
func (u *unitSet) add(d *decision, s *site, id TaskID) {
	r := &d.c.tasks[id]
	leaf := &d.eligible.Leaves[r.leaf]
	unit := least.Unit{
		Key: r.key, Size: d.c.size(id), Work: d.eligible.work(id), Levels: d.eligible.levels(id),
		Needs: d.rowsOf(s, id), Bounds: leaf.Bounds,
	}
	if d.special(id) || len(s.blockers) > 0 {
		from := len(u.parts)
		u.addParts(d, s, id)
		if g := d.gangs.of(id); g >= 0 {
			u.addCount(1, d.gangs.rows[g].bound)
		}
		if len(u.parts) > from+1 {
			unit.Parts = u.parts[from:len(u.parts):len(u.parts)]
		}
		d.scratch.one[0] = id
		unit.Uses = u.usesOf(d, d.scratch.one[:])
	}
	u.append(id, -1, unit)
}

func (u *unitSet) append(id TaskID, gang int32, unit least.Unit) {
	u.units, u.ids, u.gang = append(u.units, unit), append(u.ids, id), append(u.gang, gang)
	u.bound = u.bound || len(unit.Bounds)+len(unit.Parts) > 0
}

// addParts adds what a task gives to needs, alone or as a member of a gang: its
// amounts, one from each hard budget that it is in, and itself if it blocks.
func (u *unitSet) addParts(d *decision, s *site, id TaskID) {
	leaf := &d.eligible.Leaves[d.c.tasks[id].leaf]
	u.parts = append(u.parts, least.Part{
		Size: d.c.size(id), Needs: d.rowsOf(s, id), Bounds: leaf.Bounds,
	})
	for _, b := range d.c.budgetsOf(id) {
		if bound := d.problem.budgets.bound(b); bound >= 0 {
			u.addCount(1, bound)
		}
	}
	if k := slices.Index(s.blockers, id); k >= 0 {
		size := u.block(1)
		size[0] = 1
		u.parts = append(u.parts, least.Part{Size: size, Needs: u.one(int32(1 + len(d.needs.short) + k))})
	}
}

// usesOf returns what tasks use of soft budgets, by rising budget.
func (u *unitSet) usesOf(d *decision, ids []TaskID) []least.Use {
	from := len(u.uses)
	for _, id := range ids {
		for _, b := range d.c.budgetsOf(id) {
			if !d.c.budgets[b].hard {
				u.use(from, d.problem.budgets.place[b])
			}
		}
	}
	return u.uses[from:len(u.uses):len(u.uses)]
}

// use counts one for a budget, among the uses from a place on, which rise.
func (u *unitSet) use(from int, b int32) {
	at, found := slices.BinarySearchFunc(u.uses[from:], b, func(x least.Use, b int32) int { return cmp.Compare(x.Budget, b) })
	if !found {
		u.uses = slices.Insert(u.uses, from+at, least.Use{Budget: b})
	}
	u.uses[from+at].Count++
}

// rowsOf returns the rows of needs that a task counts for.
func (d *decision) rowsOf(s *site, id TaskID) []int32 {
	r := &d.c.tasks[id]
	on := 0
	if r.node == s.node {
		on = 1
	}
	return d.needs.rows[on][d.eligible.Leaves[r.leaf].Level]
}

// special reports whether more is to be said of a task than its row says: it
// is in a gang or in a budget.
func (d *decision) special(id TaskID) bool {
	return d.gangs.of(id) >= 0 || len(d.c.budgetsOf(id)) > 0
}

// hasSpecial reports whether some task of a node is special.
func (d *decision) hasSpecial(g *gauge) bool { return g.budgets || g.jobs && d.p.Minimum != nil }

// helps reports whether a task reduces an open need: that of the node of a
// site, or headroom. A blocker helps by definition.
func (d *decision) helps(id TaskID, s *site) bool {
	r := &d.c.tasks[id]
	types := d.needs.masks[d.eligible.Leaves[r.leaf].Level]
	switch {
	case r.node == s.node:
		types |= s.mask
	case d.required() && !d.usable(r.node), d.p.SameNode && (s.node != noNode || !d.usable(r.node) || !d.passes(r.node)):
		return false // its victims are on the node
	}
	size := d.c.size(id)
	for _, t := range d.types {
		if size[t] > 0 && types.Has(t) {
			return true
		}
	}
	return slices.Contains(s.blockers, id)
}

// candidate reports whether no rule keeps a task from being a victim by itself,
// for the node of a site. The caller is asked last.
func (d *decision) candidate(id TaskID, s *site) bool {
	return d.c.tasks[id].state != Granted && !d.spares(id) && d.eligible.veto(id) == 0 && d.helps(id, s) &&
		d.gangs.alone(d.gangs.of(id)) && d.eligible.protected(id) == 0 && !d.eligible.exempt(id)
}

// spares reports whether a task is let alone for now because it opted out; see
// [decision.spare].
func (d *decision) spares(id TaskID) bool {
	return d.trial.sparing && d.c.tasks[id].flags.has(flagOptedOut)
}

// gangHelps reports whether a gang can go whole, and some member of it reduces
// an open need.
func (d *decision) gangHelps(row int32, s *site) bool {
	g := &d.gangs.rows[row]
	if g.rule != 0 {
		return false
	}
	helps := false
	for _, id := range g.members {
		if d.spares(id) {
			return false
		}
		helps = helps || d.helps(id, s)
	}
	return helps
}

// gather collects the candidates on the node of a site, and the gangs that have
// members there.
func (u *unitSet) gather(d *decision, s *site) {
	u.reset()
	d.gangs.meetAll(d.c.nodes[s.node].tasks)
	for _, id := range d.c.nodes[s.node].tasks {
		d.trial.pay(gatherWork)
		if d.c.tasks[id].state != Running {
			continue
		}
		u.meet(d, id)
		if d.candidate(id, s) {
			u.add(d, s, id)
		}
	}
}

// addGangs adds the gangs that were met and can go whole.
func (u *unitSet) addGangs(d *decision, s *site) {
	for _, g := range u.met {
		if d.gangHelps(g, s) {
			u.addWhole(d, s, g)
		}
	}
}

// gatherLanes is gather by the digest of the node, without those candidates
// that no least-cost set can have: of tasks that are alike, and that neither
// ranks nor guarantees tell apart on this node, no more can be of use than meet
// its need, and those that lose the least work go first. It is for nodes whose
// tasks have nothing special about them, and no blockers.
func (u *unitSet) gatherLanes(d *decision, s *site) {
	u.reset()
	digest := &d.c.digest.nodes[s.node]
	all := d.c.row(d.c.digest.all, s.node)
	n := len(digest.lanes)
	if u.thinned = d.trial.brief && n > manyGroups && !d.needs.open() && !d.pool.whole; u.thinned {
		u.pickLanes(d, s)
		n = len(u.picks)
	}
	for at := range n {
		i := at
		if u.thinned {
			i = int(u.picks[at])
		}
		l := &digest.lanes[i]
		d.trial.pay(gatherWork * int64(l.end-l.first))
		size := digest.size(i, d.c.types)
		left, counted := int64(0), false // the most useful, counted if one is found
		for j := l.first; j < l.end; j++ {
			leaf := &d.eligible.Leaves[digest.leaves[j]]
			unbound := d.eligible.EvenRanks && !d.needs.open() && resources.Fits(all, leaf.Room)
			if leaf.Veto != 0 || unbound && counted && left == 0 || !resources.Fits(size, leaf.Room) {
				continue
			}
			id := digest.ids[j]
			if !d.candidate(id, s) {
				continue
			}
			if !counted {
				left, counted = mostUseful(s.short, size), true
			}
			u.add(d, s, id)
			if unit := &u.units[len(u.units)-1]; unbound {
				unit.Bounds = nil
				if unit.Work != (resources.Wide{}) && d.problem.order.byWork {
					left-- // those without work to lose are told apart by key, and not in order
				}
			}
		}
	}
}

// mostUseful returns how many units of a size meet a need in every type that
// they have any of.
func mostUseful(short, size resources.Vector) (most int64) {
	for t, lack := range short {
		if v := size.At(t); lack > 0 && v > 0 {
			most = max(most, (lack-1)/v+1)
		}
	}
	return most
}

// gatherWork is what it takes to make a unit of a task, in elementary work. It was
// measured once.
const gatherWork = 60

// poolWork is what it takes to look at a task of the pool, in elementary work.
const poolWork = 8

// gatherLocal gathers the candidates on the node of a site as units.
func (d *decision) gatherLocal(s *site) {
	gauge := &d.c.digest.gauges[s.node]
	if d.pruning() && !d.hasSpecial(gauge) && len(s.blockers) == 0 {
		d.local.gatherLanes(d, s)
		return
	}
	d.local.gather(d, s)
}

// A headroomPool is the candidates that make headroom, on whatever node: one
// problem that all nodes share.
type headroomPool struct {
	unitSet
	shared   least.Selection // the cheapest set that makes headroom
	singles  int             // how many of its units are single tasks, which come first
	whole    bool            // thinning it has found nothing
	thinned  bool            // it has only the best of the candidates
	all      int             // how many single tasks it could have
	partial  bool            // it has only some of them, thinned or cut
	best     []pooledTask    // see thin
	gangs    []pooledGang    // see thinGangs
	groups   groupSet
	joint    jointSearch
	searched bool
	hopeless bool // there is none, and so no node has a plan
}

// gather collects the candidates that make headroom, those of a group next to
// each other and the first to take first.
func (p *headroomPool) gather(d *decision) {
	p.reset()
	s := d.elsewhere()
	ids := d.scratch.taken[:0]
	for w := range d.tree.Leaves(d.needs.queues[d.needs.widest]) {
		d.gangs.meetAll(d.c.leaves[w])
		for _, id := range d.c.leaves[w] {
			if d.c.tasks[id].state != Running {
				continue
			}
			p.meet(d, id)
			if d.candidate(id, &s) {
				d.trial.pay(poolWork)
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(p.met)
	d.scratch.taken = ids
	p.all = len(ids)
	if p.thinned = !p.whole && p.motley(d, ids); p.thinned {
		ids = p.thin(d, ids)
	}
	// Each gang is a unit of many parts. With hundreds of them one search takes longer than
	// all else.
	if !p.whole && len(p.met) > thinTo {
		p.met, p.thinned = p.thinGangs(d), true
	}
	slices.SortFunc(ids, d.compareGroups)
	ids = p.cut(d, ids)
	p.partial = len(ids) < p.all || p.thinned
	for _, id := range ids {
		d.trial.pay(2 * gatherWork)
		p.add(d, &s, id)
	}
}

// cut keeps the first tasks of each group, which are sorted by group. They are alike but for
// work and key, and a least-cost set has no more of them than meet the need for headroom,
// and of those the first. What is on the node that a plan is for counts apart, so as many
// more are kept as a node has tasks.
func (p *headroomPool) cut(d *decision, ids []TaskID) []TaskID {
	if !d.pruning() || d.p.Predicate != nil && len(ids) <= fewElsewhere {
		return ids // an own order tells them apart, or somebody asks for all candidates
	}
	on := 0
	for n := range d.c.nodes {
		on = max(on, len(d.c.nodes[n].tasks))
	}
	kept, first, left := ids[:0], TaskID(0), int64(0)
	for i, id := range ids {
		if i == 0 || d.compareGroup(first, id) != 0 {
			first, left = id, int64(on)+min(d.mostForHeadroom(id), int64(d.c.TaskLen()))
		}
		switch {
		case d.special(id): // more is to be said of it than its group
		case left > 0:
			left--
		default:
			continue
		}
		kept = append(kept, id)
	}
	return kept
}

// compareGroups orders tasks by group: tasks of one leaf that are alike but
// for work and key, and among those by work and key.
func (d *decision) compareGroups(a, b TaskID) int {
	if c := d.compareGroup(a, b); c != 0 {
		return c
	}
	return d.compareAlike(a, b)
}

// compareAlike orders tasks of a group by work, if that counts, and key. They are of one
// size and so of one weight.
func (d *decision) compareAlike(a, b TaskID) int {
	if d.problem.order.byWork {
		if c := cmp.Compare(d.c.lost(a, d.eligible.ns), d.c.lost(b, d.eligible.ns)); c != 0 {
			return c
		}
	}
	return strings.Compare(d.c.tasks[a].key, d.c.tasks[b].key)
}

// mostForHeadroom returns how many tasks like this one, elsewhere, meet every headroom need
// that they reduce at all.
func (d *decision) mostForHeadroom(id TaskID) (most int64) {
	s := d.elsewhere()
	for _, row := range d.rowsOf(&s, id) {
		most = max(most, mostUseful(d.needs.short[row-1], d.c.size(id)))
	}
	return most
}

func (d *decision) compareGroup(a, b TaskID) int {
	x, y := &d.c.tasks[a], &d.c.tasks[b]
	return cmp.Or(
		cmp.Compare(x.leaf, y.leaf),
		cmp.Compare(x.priority, y.priority),
		cmp.Compare(x.flags&costFlags, y.flags&costFlags),
		cmp.Compare(d.c.costOf(a), d.c.costOf(b)),
		slices.Compare(d.c.size(a), d.c.size(b)),
	)
}

// join adds the headroom candidates that are not on the node of a site. Of each
// group no more are added than can be of use: the first of them, unless an own
// order or something special tells them apart.
func (u *unitSet) join(d *decision, s *site) {
	pool := &d.pool
	if pool.thinned {
		d.trial.proven, d.trial.levels = false, false
	}
	var left int64
	for i, id := range pool.ids[:pool.singles] {
		if i == 0 || d.compareGroup(pool.ids[i-1], id) != 0 {
			left = d.mostForHeadroom(id)
		}
		if d.c.tasks[id].node == s.node {
			continue
		}
		switch {
		case d.p.Compare != nil || d.special(id):
		case left > 0:
			left--
		default:
			continue
		}
		u.append(id, -1, pool.units[i])
	}
	u.meetAll(pool.met)
}

// budgetRows are the budgets of a decision as the search knows them.
type budgetRows struct {
	left   []int64 // in the order of names: a soft one as it stands
	place  []int32 // by row of Cluster.budgets: its place in that order
	bounds []int32 // by row: the bound that a hard one is, or -1
}

// reset reads the budgets of the cluster, in the order of their names: what a search finds
// must not depend on who was told of first.
func (b *budgetRows) reset(d *decision) {
	c := d.c
	b.left, b.bounds, b.place = b.left[:0], rows.Zeros(b.bounds, len(c.budgets)), rows.Zeros(b.place, len(c.budgets))
	for _, row := range c.budgetOrder {
		budget := &c.budgets[row]
		b.place[row], b.bounds[row] = int32(len(b.left)), -1
		left := int64(noLimit)
		switch {
		case !budget.hard:
			left = budget.left
		case !d.without.budget(budget.name):
			b.bounds[row] = d.eligible.Rooms.Add(max(budget.left, 0))
		}
		b.left = append(b.left, left)
	}
}

// bound returns the bound that a hard budget is: no more of its tasks may go
// than it has left. It returns -1 for a soft budget, and for a hard one that
// Explain relaxes.
func (b *budgetRows) bound(row int32) int32 { return b.bounds[row] }
