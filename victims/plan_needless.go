// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/cost"
	"github.com/go-preempt/preempt/internal/least"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/resources"
)

// Every search gives back the units that it does not need. That is not all: of a gang that
// goes as a whole a few members may do, if so many may go one by one, and these are other
// units. And a search that ends early may have joined sets of several searches. So a plan is
// held to "nobody can be given back" once more in the end, however it was found.
//
// The fewer go, the less is freed, and no law over sums comes in the way. So what cannot be
// given back from a set cannot be given back from a part of it, and each unit is looked at
// once.

// A giving is the victims of a plan, some of which are given back. The problem is the one that
// was stated last: d.problem knows who its units are. Memory is reused.
type giving struct {
	d       *decision
	problem least.Problem
	s       site
	ids     []TaskID  // the victims
	given   []bool    // by victim: it is given back
	sums    []int64   // what those give that are not given back
	units   []unitRef // the cheapest first
	gives   []int64   // scratch
	used    []int64   // likewise
	among   []int32   // by gang: how many members are victims
	part    []int     // victims: members of a gang that may go one by one
	tries   int       // how many more parts of it are tried
}

const exchangeShare = 2

// A unitRef is a unit of an exact problem.
type unitRef struct{ row, unit int32 }

// mostParts is how many parts of a gang are tried. Of gangs of up to a dozen members these
// are all.
const mostParts = 1 << 12

// giveBack gives back the victims of the best plan, which is for the node of a site, that
// are not needed, and exchanges those that opted out for others that do instead. What was
// shown of a plan that changes is not shown of the new one.
func (d *decision) giveBack(s *site) {
	g := &d.giving
	g.s = *s
	changed := false
	for g.state(); g.trim() || g.exchange(); g.state() {
		d.best.victims, changed = append(d.best.victims[:0], g.rest()...), true
	}
	if changed {
		g.makeBest()
	}
}

// widen makes all candidates of the node the best plan, of which nothing is shown. Sets between the
// cheapest, which the predicate has refused, and what is not given back of this one are not tried.
func (g *giving) widen(all []TaskID) {
	g.d.best.victims = append(g.d.best.victims[:0], all...)
	g.state()
	g.makeBest()
}

// trim gives back units that are not needed, the costliest first, and reports whether there
// are any.
func (g *giving) trim() (changed bool) {
	d := g.d
	for k := len(g.units) - 1; k >= 0; k-- {
		u := &d.problem.units[g.units[k].row]
		if len(u.gangs) > 0 {
			changed = g.shrink(&d.gangs.rows[u.gangs[g.units[k].unit]]) || changed
		} else {
			changed = g.drop(slices.Index(g.ids, u.ids[0])) || changed
		}
	}
	return changed
}

// begin begins a problem for the node of a site.
func (g *giving) begin(s *site) {
	p := &g.problem
	g.s, p.Node = *s, int32(s.node)
	g.d.stateNeeds(p, s)
	g.d.problem.begin(p)
}

// state states the victims of the best plan, each as a row of one unit.
func (g *giving) state() {
	d, p := g.d, &g.problem
	g.hold(d.best.victims)
	d.gangs.meetAll(g.ids)
	g.among = rows.Zeros(g.among, len(d.gangs.rows))
	for _, id := range g.ids {
		if gang := d.gangs.of(id); gang >= 0 {
			g.among[gang]++
		}
	}
	g.begin(&g.s)
	for _, id := range g.ids {
		if gang := d.gangs.of(id); gang < 0 || int(g.among[gang]) < len(d.gangs.rows[gang].members) {
			d.addRow(p, &g.s, id, d.keyOf(&g.s, id, false))
		} else if id == d.gangs.rows[gang].members[0] {
			d.addGang(p, &g.s, gang)
		}
	}
	d.settleRows(p)
	g.listUnits()
	g.sortUnits()
}

// listUnits lists all units, in the order of rows.
func (g *giving) listUnits() {
	g.units = g.units[:0]
	for i := range g.problem.Rows {
		for k := range g.problem.Rows[i].Count {
			g.units = append(g.units, unitRef{int32(i), int32(k)})
		}
	}
}

// sortUnits sorts units, the cheapest first.
func (g *giving) sortUnits() {
	slices.SortFunc(g.units, func(i, j unitRef) int {
		a, b := &g.problem.Rows[i.row], &g.problem.Rows[j.row]
		return cmp.Or(g.d.order.CompareLevels(&a.Levels, &b.Levels), g.work(i).Compare(g.work(j)), strings.Compare(g.key(i), g.key(j)))
	})
}

func (g *giving) work(u unitRef) resources.Wide {
	return g.d.search.Work(&g.problem.Rows[u.row], int64(u.unit))
}

func (g *giving) key(u unitRef) string { return g.d.c.tasks[g.d.unitTasks(u.row, u.unit)[0]].key }

// hold makes tasks the victims, of which none is given back.
func (g *giving) hold(ids []TaskID) {
	g.ids, g.given = append(g.ids[:0], ids...), rows.Zeros(g.given, len(ids))
	n := len(g.d.problem.dims)
	g.sums, g.gives = rows.Zeros(g.sums, n), rows.Zeros(g.gives, n)
	for i := range g.ids {
		g.count(i, 1)
	}
}

// rest lists the victims that are not given back, in d.scratch.taken.
func (g *giving) rest() []TaskID {
	rest := g.d.scratch.taken[:0]
	for i, id := range g.ids {
		if !g.given[i] {
			rest = append(rest, id)
		}
	}
	g.d.scratch.taken = rest
	return rest
}

// count counts what a victim gives so many times more.
func (g *giving) count(i int, times int64) {
	clear(g.gives)
	g.d.giveOf(g.gives, &g.s, g.ids[i])
	for k, v := range g.gives {
		g.sums[k] += times * v
	}
}

// give gives a victim back on trial, and retake takes it again.
func (g *giving) give(i int)   { g.given[i] = true; g.count(i, -1) }
func (g *giving) retake(i int) { g.given[i] = false; g.count(i, 1) }

// meets makes tasks the victims, and reports whether they give all that is needed.
func (g *giving) meets(ids []TaskID) bool {
	g.hold(ids)
	return g.enough()
}

// enough reports whether all that is needed is given.
func (g *giving) enough() bool { return resources.Fits(g.problem.Need, g.sums) }

// accepts asks the caller's predicate about those that are not given back.
func (g *giving) accepts() bool {
	return g.d.p.Predicate == nil || g.d.accepts(g.s.node, g.rest(), coming)
}

// drop gives a victim back if the others do, and reports whether it has.
func (g *giving) drop(i int) bool {
	if slices.Contains(g.s.blockers, g.ids[i]) {
		return false
	}
	if g.give(i); g.enough() && g.accepts() {
		return true
	}
	g.retake(i)
	return false
}

// shrink leaves of a gang that goes as a whole as many members as may go one by one, or
// fewer, if those do, and reports whether it has.
func (g *giving) shrink(x *gang) bool {
	d, most := g.d, int(x.surplus)
	g.part = g.part[:0]
	for _, id := range x.members {
		i := slices.Index(g.ids, id)
		switch {
		case slices.Contains(g.s.blockers, id):
			most-- // it goes in any case
		case d.candidate(id, &g.s):
			g.part = append(g.part, i)
		default:
			g.give(i)
		}
	}
	g.tries = mostParts
	if most >= 0 && g.enough() && g.dropSome(g.part, max(0, len(g.part)-most)) {
		for _, i := range g.part {
			if !g.given[i] {
				g.drop(i)
			}
		}
		return true
	}
	for _, id := range x.members {
		if i := slices.Index(g.ids, id); g.given[i] {
			g.retake(i)
		}
	}
	return false
}

// dropSome gives n of a list of victims back if the others do, and reports whether it has.
func (g *giving) dropSome(list []int, n int) bool {
	if n == 0 {
		return g.accepts()
	}
	for k := 0; k <= len(list)-n && g.tries > 0; k++ {
		g.tries--
		g.d.trial.pay(int64(len(g.sums)))
		if g.give(list[k]); g.enough() && g.dropSome(list[k+1:], n-1) {
			return true
		}
		g.retake(list[k])
	}
	return false
}

// exchange puts another task in the place of a victim that opted out, if one that did not
// does instead (law 1), and reports whether it has. Most plans have nobody who opted out, or
// are shown to need those. It gets a share of the budget of its own, one part in
// exchangeShare.
func (g *giving) exchange() bool {
	d := g.d
	if d.best.Total.Levels[rulebook.LevelOptedOut] == 0 || d.proof() != NoProof || !levels(d.p.Levels).keepsLaw1() {
		return false
	}
	left := d.trial.meter.Left
	d.trial.meter.Left = d.trial.budget / exchangeShare
	defer func() { d.trial.meter.Left = left }()
	for i, id := range g.ids {
		row := d.gangs.of(id)
		if g.given[i] || !d.c.tasks[id].flags.has(flagOptedOut) || slices.Contains(g.s.blockers, id) ||
			row >= 0 && int(g.among[row]) == len(d.gangs.rows[row].members) {
			continue
		}
		if g.give(i); g.instead() {
			return true
		}
		g.retake(i)
	}
	return false
}

// instead adds to the victims the cheapest task that did not opt out and does beside those that
// are not given back. It reports false if there is none.
func (g *giving) instead() bool {
	d := g.d
	best := TaskID(0)
	found := false
	look := func(all []TaskID) {
		for _, id := range all {
			if d.trial.pay(poolWork); d.trial.meter.Over() {
				return
			}
			if r := &d.c.tasks[id]; r.state == Running && !r.flags.has(flagOptedOut) && (!found || g.compare(best, id) > 0) && g.does(id) {
				best, found = id, true
			}
		}
	}
	look(d.c.nodes[g.s.node].tasks)
	if d.needs.open() && !d.nearby() {
		for w := range d.tree.Leaves(d.needs.queues[d.needs.widest]) {
			look(d.c.leaves[w])
		}
	}
	if found {
		g.ids, g.given = append(g.ids, best), append(g.given, false)
	}
	return found
}

// does reports whether a task may go beside the victims that are not given back, and all do then.
func (g *giving) does(id TaskID) bool {
	d, n := g.d, len(g.ids)
	g.ids, g.given = append(g.ids, id), append(g.given, false)
	g.count(n, 1)
	does := g.enough() && d.candidate(id, &g.s) && !slices.Contains(g.ids[:n], id) && d.keepsLimits(g.rest()) && g.accepts()
	g.count(n, -1)
	g.ids, g.given = g.ids[:n], g.given[:n]
	return does
}

// compare orders tasks by levels, work and key.
func (g *giving) compare(a, b TaskID) int {
	d := g.d
	x, y := d.eligible.levels(a), d.eligible.levels(b)
	return cmp.Or(d.order.CompareLevels(&x, &y), d.eligible.work(a).Compare(d.eligible.work(b)),
		strings.Compare(d.c.tasks[a].key, d.c.tasks[b].key))
}

// makeBest makes the victims the best plan, of which nothing is shown. They are stated, and none is
// given back.
func (g *giving) makeBest() {
	d := g.d
	d.notShown()
	d.best.Found = false
	d.offer(&g.problem, &least.Answer{Found: true, Total: g.total()}, g.ids)
}

// total returns what all units cost together.
func (g *giving) total() (t cost.Total) {
	d, left := g.d, g.d.budgets.left
	freed := rows.Zeros(d.scratch.sum, d.c.types)
	g.used = rows.Zeros(g.used, len(left))
	for _, u := range g.units {
		r := &g.problem.Rows[u.row]
		t.Levels = d.order.Join(&t.Levels, t.Units, &r.Levels)
		t.Work = t.Work.Add(g.work(u))
		t.Units++
		resources.Add(freed, freed, r.Size)
		for _, use := range r.Uses {
			over := max(g.used[use.Budget]-max(left[use.Budget], 0), 0)
			g.used[use.Budget] += use.Count
			t.Levels[rulebook.LevelOverrun] += max(g.used[use.Budget]-max(left[use.Budget], 0), 0) - over
		}
	}
	d.scratch.sum = freed
	t.Excess = cost.Excess(freed, g.problem.Wanted, d.c.total)
	return t
}
