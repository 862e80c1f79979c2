// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/internal/rulebook"
)

// Every search gives back the units that it does not need. That is not all: of a gang that
// goes as a whole a few members may do, if so many may go one by one, and these are other
// units. And a search that ends early may have joined sets of several searches. So a plan is
// held to "nobody can be given back" once more in the end, however it was found.
//
// The fewer go, the less is freed, and no law over sums comes in the way. So what cannot be
// given back from a set cannot be given back from a part of it, and each unit is looked at
// once.

// A giving is the victims of a plan, some of which are given back. Memory is reused.
type giving struct {
	d     *decision
	s     site
	ids   []TaskID // the victims
	given []bool   // by victim: it is given back
	units []int32  // of d.local, the cheapest first
	sums  []int64  // by need and type: what those free that are not given back
	among []int32  // by gang: how many members are victims
	part  []int    // victims: members of a gang that may go one by one
	tries int      // how many more parts of it are tried
}

// mostParts is how many parts of a gang are tried. Of gangs of up to a dozen members these
// are all.
const mostParts = 1 << 12

// giveBack gives back the victims of the best plan, which is for the node of a site, that
// are not needed, and exchanges those that opted out for others that do instead. What was
// shown of a plan that changes is not shown of the new one.
func (d *decision) giveBack(s *site) {
	g := &d.giving
	g.d, g.s = d, *s
	changed := false
	for g.begin(); g.trim() || g.exchange(); g.begin() {
		d.best.victims, changed = g.left(d.best.victims[:0]), true
	}
	if !changed {
		return
	}
	d.best.Found = false
	d.found.Found, d.found.Units, d.found.Total = true, append(d.found.Units[:0], g.units...), d.hearing.totalOf(&d.local, g.units)
	d.offer(s.node, &d.found, &d.local)
	d.trial.proven, d.trial.levels, d.trial.lesser = false, false, false
}

// trim gives back units that are not needed, the costliest first, and reports whether there
// are any.
func (g *giving) trim() (changed bool) {
	d, u := g.d, &g.d.local
	for k := len(g.units) - 1; k >= 0; k-- {
		i := g.units[k]
		if row := u.gang[i]; row >= 0 {
			changed = g.shrink(&d.gangs.rows[row]) || changed
		} else if changed || d.p.Predicate == nil {
			// With a predicate single victims were tried before, and each is a question.
			changed = g.drop(slices.Index(g.ids, u.ids[i])) || changed
		}
	}
	return changed
}

// begin states the victims of the best plan as units.
func (g *giving) begin() {
	d, u := g.d, &g.d.local
	u.reset()
	g.ids, g.given = append(g.ids[:0], d.best.victims...), rows.Zeros(g.given, len(d.best.victims))
	d.gangs.meetAll(g.ids)
	g.among = rows.Zeros(g.among, len(d.gangs.rows))
	for _, id := range g.ids {
		if row := d.gangs.of(id); row >= 0 {
			g.among[row]++
		}
	}
	for _, id := range g.ids {
		if row := d.gangs.of(id); row < 0 || int(g.among[row]) < len(d.gangs.rows[row].members) {
			u.add(d, &g.s, id)
		} else if id == d.gangs.rows[row].members[0] {
			u.addWhole(d, &g.s, row)
		}
	}
	g.units = g.units[:0]
	for i := range u.units {
		g.units = append(g.units, int32(i))
	}
	d.state(&g.s, d.wanted(&g.s))
	d.hearing.sortUnits(u, g.units)
	g.sums = rows.Zeros(g.sums, len(d.problem.Needs)*d.c.types)
	for i := range g.ids {
		g.count(i, 1)
	}
}

// left appends to ids the victims that are not given back.
func (g *giving) left(ids []TaskID) []TaskID {
	for i, id := range g.ids {
		if !g.given[i] {
			ids = append(ids, id)
		}
	}
	return ids
}

// count counts what a victim frees for each need so many times more.
func (g *giving) count(i int, times int64) {
	d, id := g.d, g.ids[i]
	for _, need := range d.rowsOf(&g.s, id) {
		sum := rows.At(g.sums, int(need), d.c.types)
		for t, v := range d.c.size(id) {
			sum[t] += times * v
		}
	}
}

// give gives a victim back on trial, and take takes it again.
func (g *giving) give(i int) { g.given[i] = true; g.count(i, -1) }
func (g *giving) take(i int) { g.given[i] = false; g.count(i, 1) }

// enough reports whether those that are not given back meet all needs for amounts.
func (g *giving) enough() bool {
	d := g.d
	for i, need := range d.problem.Needs[:1+len(d.needs.short)] {
		sum := rows.At(g.sums, i, d.c.types)
		for t, v := range need {
			if sum[t] < v {
				return false
			}
		}
	}
	return true
}

// accepts asks the caller's predicate about those that are not given back.
func (g *giving) accepts() bool {
	d := g.d
	if d.p.Predicate == nil {
		return true
	}
	d.scratch.taken = g.left(d.scratch.taken[:0])
	return d.accepts(g.s.node, d.scratch.taken, coming)
}

// drop gives a victim back if the others do, and reports whether it has.
func (g *giving) drop(i int) bool {
	if slices.Contains(g.s.blockers, g.ids[i]) {
		return false
	}
	if g.give(i); g.enough() && g.accepts() {
		return true
	}
	g.take(i)
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
			g.take(i)
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
		g.take(list[k])
	}
	return false
}

// exchange puts another task in the place of a victim that opted out, if one that did not
// does instead (law 1), and reports whether it has. Most plans have nobody who opted out, or
// are shown to need those. It gets a share of the budget of its own, as [decision.spare]
// does.
func (g *giving) exchange() bool {
	d := g.d
	if d.best.Total.Levels[rulebook.LevelOptedOut] == 0 || d.trial.proof() != NoProof || d.p.Predicate != nil || d.p.Compare != nil || !levels(d.p.Levels).keepsLaw1() {
		return false
	}
	left := d.trial.meter.Left
	d.trial.meter.Left = d.trial.budget / spareShare
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
		g.take(i)
	}
	return false
}

// instead adds to the victims, as given back, the cheapest task that did not opt out and does
// beside those that are not given back. It reports false if there is none.
func (g *giving) instead() bool {
	d := g.d
	best := TaskID(0)
	found := false
	look := func(all []TaskID) {
		for _, id := range all {
			if d.trial.pay(poolWork); d.trial.meter.Over() {
				return
			}
			if d.c.tasks[id].state != Running || d.c.tasks[id].flags.has(flagOptedOut) || found && g.compare(best, id) <= 0 {
				continue
			}
			if g.covers(id) && d.candidate(id, &g.s) && !slices.Contains(g.ids, id) && g.keepsBounds(id) {
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

// compare orders tasks by levels, work and key.
func (g *giving) compare(a, b TaskID) int {
	d := g.d
	x, y := d.eligible.levels(a), d.eligible.levels(b)
	return cmp.Or(d.problem.order.CompareLevels(&x, &y), d.eligible.work(a).Compare(d.eligible.work(b)),
		strings.Compare(d.c.tasks[a].key, d.c.tasks[b].key))
}

// covers reports whether a task meets what is lacking without the victims that are given
// back.
func (g *giving) covers(id TaskID) bool {
	d, size := g.d, g.d.c.size(id)
	counts := d.rowsOf(&g.s, id)
	for i, need := range d.problem.Needs[:1+len(d.needs.short)] {
		sum, helps := rows.At(g.sums, i, d.c.types), slices.Contains(counts, int32(i))
		for t, v := range need {
			if lack := v - sum[t]; lack > 0 && (!helps || size[t] < lack) {
				return false
			}
		}
	}
	return true
}

// keepsBounds reports whether every bound is kept if a task goes beside the victims that are
// not given back.
func (g *giving) keepsBounds(id TaskID) bool {
	d, u := g.d, &g.d.local
	left := &d.scratch.left
	left.reset(d.eligible.Rooms.Bounds)
	u.add(d, &g.s, id)
	last := int32(len(u.units) - 1)
	keeps := left.take(&u.units[last])
	for _, i := range g.units {
		whole := u.gang[i] >= 0
		keeps = keeps && (!whole && g.given[slices.Index(g.ids, u.ids[i])] || left.take(&u.units[i]))
	}
	u.cut(int(last))
	return keeps
}
