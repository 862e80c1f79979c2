// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/resources"
)

// Exact rows are who may go, with all that laws say of them: tasks of a lane that neither ranks,
// levels of headroom, guarantees, budgets nor gangs tell apart, those first that go first; and
// whole gangs, each as a row of one unit.

// gatherWork is what it takes to make a unit of a task, in elementary work.
const gatherWork = 60

// stateTasks adds rows of the tasks in some lanes of a node, and of the gangs that have members there.
func (d *decision) stateTasks(p *least.Problem, s *site, lanes []int32) {
	if d.c.gangs > 0 {
		d.gangs.meetAll(d.c.nodes[s.node].tasks)
	}
	digest := &d.c.digest.nodes[s.node]
	tasks := 0
	for _, i := range lanes {
		l := &digest.lanes[i]
		ids := digest.ids[l.first:l.end]
		d.stateLane(p, s, ids)
		tasks += len(ids)
	}
	if d.relaxesRequired() && d.c.tasks[d.without.task].node == s.node { // a digest knows no such task
		d.stateLane(p, s, []TaskID{d.without.task})
		tasks++
	}
	d.trial.pay(gatherWork / 4 * int64(tasks))
	d.settleRows(p)
	for _, g := range d.problem.met {
		d.addGang(p, s, g)
	}
	d.shareLimits(p)
}

// relaxesRequired reports whether one task need not stay on the node that it requires.
func (d *decision) relaxesRequired() bool { return d.without.Rule == rulebook.RelaxRequiredNode }

// stateLane adds rows of tasks that are alike.
func (d *decision) stateLane(p *least.Problem, s *site, ids []TaskID) {
	// If all of the node together keep law 2, it tells nobody apart.
	even := !d.relaxesRequired() && d.eligible.EvenRanks && !d.needs.open()
	all, first := d.c.row(d.c.digest.all, s.node), len(p.Rows)
	for _, id := range ids {
		if d.c.tasks[id].state != Running {
			continue
		}
		d.meet(d.gangs.of(id))
		if d.candidate(id, s) {
			free := even && resources.Fits(all, d.eligible.Leaves[d.c.tasks[id].leaf].Room)
			d.addTask(p, s, id, first, free)
		}
	}
}

// meet takes note of a gang. A list of thousands is not looked through for each member.
func (d *decision) meet(g int32) {
	x := &d.problem
	if g >= 0 && d.gangs.rows[g].met != x.turn {
		x.met, d.gangs.rows[g].met = append(x.met, g), x.turn
	}
}

// addTask adds a task to the rows from one on, or makes it a row. Free: law 2 cannot keep it.
func (d *decision) addTask(p *least.Problem, s *site, id TaskID, first int, free bool) {
	x, key := &d.problem, d.keyOf(s, id, free)
	for i := first; i < len(p.Rows); i++ {
		if u := &x.units[i]; u.key == key {
			u.add(id, d.c.newest(id))
			p.Rows[i].Count++
			return
		}
	}
	d.addRow(p, s, id, key)
}

// keyOf returns what tells a task apart from others of its lane.
func (d *decision) keyOf(s *site, id TaskID, free bool) rowKey {
	r := &d.c.tasks[id]
	leaf := &d.eligible.Leaves[r.leaf]
	key := rowKey{rank: leaf.Rank.Of(r.priority), level: leaf.Level, law: -1, budgets: d.c.budgetSet.at(int(id)), member: d.gangs.of(id), by: -1}
	if !free && len(leaf.Bounds) > 0 {
		key.law = leaf.Bounds[0] // who share it share all that follow
	}
	if slices.Contains(s.blockers, id) || d.p.Compare != nil {
		key.by = int32(id)
	}
	return key
}

// addRow makes a task a row.
func (d *decision) addRow(p *least.Problem, s *site, id TaskID, key rowKey) {
	x, m := &d.problem, &d.problem.exact
	x.units = rows.Next(x.units)
	u := &x.units[len(x.units)-1]
	u.clear(key)
	u.add(id, d.c.newest(id))
	p.Rows = append(p.Rows, least.Row{Count: 1, Levels: d.eligible.levels(id), Size: d.c.size(id), Gives: m.zeros(len(p.Need))})
	row := &p.Rows[len(p.Rows)-1]
	row.Weight = d.eligible.weights.Of(row.Size)
	d.giveOf(row.Gives, s, id)
	row.Takes, row.Uses = d.drawsOf(m, id, &key)
}

// drawsOf returns what a task takes of bounds and uses of soft budgets. If its key says nothing of
// law 2, neither do they.
func (d *decision) drawsOf(m *memory, id TaskID, key *rowKey) ([]least.Take, []least.Use) {
	from, uses := len(m.takes), len(m.uses)
	if key.law >= 0 {
		d.takesOf(m, id, from)
	}
	d.countsOf(m, id, from)
	if key.member >= 0 {
		if b := d.gangs.rows[key.member].bound; b >= 0 {
			d.problem.limits.take(d, m, from, b, one[:])
		}
	}
	d.usesOf(m, id, uses)
	return m.takes[from:len(m.takes):len(m.takes)], m.uses[uses:len(m.uses):len(m.uses)]
}

var one = [1]int64{1}

// giveOf adds what a task gives.
func (d *decision) giveOf(gives []int64, s *site, id TaskID) {
	r := &d.c.tasks[id]
	d.give(gives, d.c.size(id), r.node == s.node, d.eligible.Leaves[r.leaf].Level)
	if slices.Contains(s.blockers, id) {
		gives[len(gives)-1]++
	}
}

// takesOf adds what a task takes by law 2, drawsOn what it takes of hard budgets, and countsOf that and what
// it takes of the cap on victims.
func (d *decision) takesOf(m *memory, id TaskID, from int) {
	for _, b := range d.eligible.Leaves[d.c.tasks[id].leaf].Bounds {
		d.problem.limits.take(d, m, from, b, d.c.size(id))
	}
}

func (d *decision) drawsOn(m *memory, id TaskID, from int) {
	for _, b := range d.c.budgetsOf(id) {
		if bound := d.budgets.bounds[b]; bound >= 0 {
			d.problem.limits.take(d, m, from, bound, one[:])
		}
	}
}

func (d *decision) countsOf(m *memory, id TaskID, from int) {
	d.drawsOn(m, id, from)
	if d.caps[rulebook.CapVictims] > 0 {
		d.problem.limits.take(d, m, from, d.budgets.cap, one[:])
	}
}

// usesOf adds what a task uses of soft budgets, by rising budget.
func (d *decision) usesOf(m *memory, id TaskID, from int) {
	for _, row := range d.c.budgetsOf(id) {
		if d.c.budgets[row].hard {
			continue
		}
		b := d.budgets.place[row]
		at, found := slices.BinarySearchFunc(m.uses[from:], b, func(x least.Use, b int32) int { return cmp.Compare(x.Budget, b) })
		if !found {
			m.uses = slices.Insert(m.uses, from+at, least.Use{Budget: b})
		}
		m.uses[from+at].Count++
	}
}

// settleRows puts the units of rows in the order in which they go. In a lane those come first
// that lose the least work; those without work to lose go by key, and all do if work does not
// count.
func (d *decision) settleRows(p *least.Problem) {
	for i := range p.Rows {
		r, u := &p.Rows[i], &d.problem.units[i]
		if len(u.ids) > 1 && !(d.order.byWork && r.Weight > 0 && d.search.Since(u.times[0]) > 0) {
			slices.SortFunc(u.ids, func(a, b TaskID) int {
				if d.order.byWork && r.Weight > 0 {
					if c := cmp.Compare(d.c.lost(a, d.eligible.ns), d.c.lost(b, d.eligible.ns)); c != 0 {
						return c
					}
				}
				return strings.Compare(d.c.tasks[a].key, d.c.tasks[b].key)
			})
			for k, id := range u.ids {
				u.times[k] = d.c.newest(id)
			}
		}
		r.Times = u.times
	}
}

// addGang adds a gang that can go whole, as a row of one unit. Each member counts as it would
// alone.
func (d *decision) addGang(p *least.Problem, s *site, gang int32) {
	g := &d.gangs.rows[gang]
	if len(g.members) == 0 || !d.gangHelps(gang, s) {
		return
	}
	x, m := &d.problem, &d.problem.exact
	r := least.Row{Count: 1, Size: m.zeros(d.c.types), Gives: m.zeros(len(p.Need)), Gang: true}
	from, uses, work := len(m.takes), len(m.uses), resources.Wide{}
	for i, id := range g.members {
		d.trial.pay(gatherWork)
		levels := d.eligible.levels(id)
		r.Levels = d.order.Join(&r.Levels, i, &levels)
		work = work.Add(d.eligible.work(id))
		r.Size = resources.Add(r.Size, r.Size, d.c.size(id))
		d.giveOf(r.Gives, s, id)
		d.takesOf(m, id, from)
		d.countsOf(m, id, from)
		d.usesOf(m, id, uses)
	}
	r.Levels[rulebook.LevelJobs] = 1
	if g.bound >= 0 {
		spared := [1]int64{g.surplus}
		x.limits.take(d, m, from, g.bound, spared[:])
	}
	r.Takes, r.Uses = m.takes[from:len(m.takes):len(m.takes)], m.uses[uses:len(m.uses):len(m.uses)]
	at := -1
	if d.p.Compare == nil {
		at = alikeRow(p.Rows, &r)
	}
	if at < 0 {
		at = len(p.Rows)
		x.units = rows.Next(x.units)
		u := &x.units[at]
		u.clear(rowKey{member: -1})
		p.Rows = append(p.Rows, r)
	}
	d.insertGang(&p.Rows[at], &x.units[at], gang, work)
}

// insertGang adds a gang to those that are like it, in the order in which they go: by work, and then by
// key.
func (d *decision) insertGang(r *least.Row, u *unitRow, gang int32, work resources.Wide) {
	at := len(u.gangs)
	for ; at > 0; at-- {
		c := 0
		if d.order.byWork {
			c = work.Compare(u.works[at-1])
		}
		if c > 0 || c == 0 && d.gangs.keyOf(gang) > d.gangs.keyOf(u.gangs[at-1]) {
			break
		}
	}
	u.gangs, u.works = slices.Insert(u.gangs, at, gang), slices.Insert(u.works, at, work)
	r.Count, r.Works = int64(len(u.gangs)), u.works
}

// Keys appends the keys of a unit.
func (d *decision) Keys(dst []string, _ *least.Problem, row, unit int32) []string {
	for _, id := range d.unitTasks(row, unit) {
		dst = append(dst, d.c.tasks[id].key)
	}
	return dst
}

// tasksOf appends the tasks of an answer.
func (d *decision) tasksOf(dst []TaskID, a *least.Answer) []TaskID {
	for i, taken := range a.Taken {
		for k := range taken {
			dst = append(dst, d.unitTasks(int32(i), k)...)
		}
	}
	return dst
}

// unitTasks returns the tasks of a unit, which are not to be changed.
func (d *decision) unitTasks(row, unit int32) []TaskID {
	u := &d.problem.units[row]
	if len(u.gangs) == 0 {
		return u.ids[unit : unit+1]
	}
	return d.gangs.rows[u.gangs[unit]].members
}

// Before reports whether a node is preferred to another one if all else is equal.
func (d *decision) Before(n, m int32) bool { return d.c.comesBefore(NodeID(n), NodeID(m)) }

// Admits reports whether a node is to be searched: filter and predicate let the ask run there.
func (d *decision) Admits(n int32) bool { return d.predicate.admits(NodeID(n)) }

// helps reports whether a task reduces an open need: that of the node of a site, or headroom. A
// blocker helps by definition.
func (d *decision) helps(id TaskID, s *site) bool {
	r := &d.c.tasks[id]
	types := d.needs.masks[d.eligible.Leaves[r.leaf].Level]
	switch {
	case r.node == s.node:
		types |= s.mask
	case d.required() && !d.usable(r.node), d.p.VictimsOnNode && (s.node != noNode || !d.usable(r.node) || !d.passes(r.node)):
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

// candidate reports whether no rule keeps a task from being a victim by itself, for the node of
// a site. The caller is asked last.
func (d *decision) candidate(id TaskID, s *site) bool {
	return d.c.tasks[id].state != Granted && d.eligible.veto(id) == 0 && d.helps(id, s) &&
		d.gangs.alone(d.gangs.of(id)) && d.eligible.protected(id) == 0 && d.eligible.kept(id) == 0
}

// gangHelps reports whether a gang can go whole, and some member of it reduces an open need.
func (d *decision) gangHelps(gang int32, s *site) bool {
	g := &d.gangs.rows[gang]
	return g.rule == 0 && slices.ContainsFunc(g.members, func(id TaskID) bool { return d.helps(id, s) })
}

// If a node has more than mostLanes lanes, rough rows are no more than one, and of the exact ones
// only the fewLanes best of each priority and kind are stated: those that give most of what is
// wanted for their own cost. Then nothing is shown of the node.
const mostLanes, fewLanes = 1 << 10, 1 << 7

// pickLanes returns the lanes of a node, or the best ones if it has many.
func (d *decision) pickLanes(n NodeID, wanted resources.Vector) []int32 {
	digest, x := &d.c.digest.nodes[n], &d.problem
	x.picked = x.picked[:0]
	if len(digest.lanes) <= mostLanes || d.p.exhaustive {
		for i := range digest.lanes {
			x.picked = append(x.picked, int32(i))
		}
		return x.picked
	}
	d.search.Unproven()
	d.trial.pay(int64(4 * len(digest.lanes)))
	for from := 0; from < len(digest.lanes); {
		kind, end, best := &digest.lanes[from], from, x.best[:0]
		for ; end < len(digest.lanes) && digest.lanes[end].flags == kind.flags && digest.lanes[end].priority == kind.priority; end++ {
			share := d.shareOf(digest.size(end, d.c.types), wanted)
			if len(d.c.costs) > 0 {
				share = share << 10 / (1 + min(d.c.costOf(digest.ids[digest.lanes[end].first]), 1<<40))
			}
			if len(best) == fewLanes && share <= best[fewLanes-1].share {
				continue
			}
			at, _ := slices.BinarySearchFunc(best, share, func(a pickedLane, share int64) int { return cmp.Compare(share, a.share) })
			best = slices.Insert(best[:min(len(best), fewLanes-1)], min(at, fewLanes-1), pickedLane{share, int32(end)})
		}
		for _, b := range best {
			x.picked = append(x.picked, b.lane)
		}
		x.best, from = best, end
	}
	return x.picked
}

// A pickedLane is a lane with what its tasks have of what is lacking.
type pickedLane struct {
	share int64
	lane  int32
}

// budgetRows are the budgets of a decision as the search knows them.
type budgetRows struct {
	left   []int64 // in the order of names: a soft one as it stands
	place  []int32 // by row of Cluster.budgets: its place in that order
	bounds []int32 // by row: the bound that a hard one is, or -1
	cap    int32   // the bound that Options.MaxVictims is, on all tasks, if it holds
}

// reset reads the budgets of the cluster, in the order of their names.
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
	d.caps = d.p.most()
	if cap, capped := rulebook.CapOf(d.without.Rule); capped {
		d.caps[cap] = 0
	}
	if most := d.caps[rulebook.CapVictims]; most > 0 {
		b.cap = d.eligible.Rooms.Add(int64(most))
	}
}
