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
	picks // of the victims; sums are what those give that are not given back
	s     site
	ids   []TaskID  // the victims
	given []bool    // by victim: it is given back
	units []unitRef // the cheapest first
	gives []int64   // scratch
	among []int32   // by gang: how many members are victims
	part  []int     // victims: members of a gang that may go one by one
	tries int       // how many more parts of it are tried
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
	for g.state(); g.trim() || g.exchange(); g.state() {
		d.best.victims, changed = g.left(d.best.victims[:0]), true
	}
	if !changed {
		return
	}
	g.makeBest(g.units)
}

// trim gives back units that are not needed, the costliest first, and reports whether there
// are any.
func (g *giving) trim() (changed bool) {
	d := g.d
	for k := len(g.units) - 1; k >= 0; k-- {
		u := &d.problem.units[g.units[k].row]
		if len(u.gangs) > 0 {
			changed = g.shrink(&d.gangs.rows[u.gangs[g.units[k].unit]]) || changed
		} else if changed || d.p.Predicate == nil {
			// With a predicate single victims were tried before, and each is a question.
			changed = g.drop(slices.Index(g.ids, u.ids[0])) || changed
		}
	}
	return changed
}

// state states the victims of the best plan, each as a row of one unit.
func (g *giving) state() {
	d, p := g.d, &g.problem
	g.ids, g.given = append(g.ids[:0], d.best.victims...), rows.Zeros(g.given, len(d.best.victims))
	d.gangs.meetAll(g.ids)
	g.among = rows.Zeros(g.among, len(d.gangs.rows))
	for _, id := range g.ids {
		if gang := d.gangs.of(id); gang >= 0 {
			g.among[gang]++
		}
	}
	p.Node = int32(g.s.node)
	d.stateNeeds(p, &g.s)
	d.problem.begin(p)
	for _, id := range g.ids {
		if gang := d.gangs.of(id); gang < 0 || int(g.among[gang]) < len(d.gangs.rows[gang].members) {
			g.add(id)
		} else if id == d.gangs.rows[gang].members[0] {
			d.addGang(p, &g.s, gang)
		}
	}
	d.shareLimits(p)
	g.units = g.all(g.units[:0])
	g.sort(g.units)
	g.sums, g.gives = rows.Zeros(g.sums, len(p.Need)), rows.Zeros(g.gives, len(p.Need))
	for i := range g.ids {
		g.count(i, 1)
	}
}

// add adds a task as a row of its own.
func (g *giving) add(id TaskID) {
	d, p := g.d, &g.problem
	d.addRow(p, &g.s, id, d.keyOf(&g.s, id, false))
	d.settleRows(p, len(p.Rows)-1)
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
// are shown to need those. It gets a share of the budget of its own, as [decision.spare]
// does.
func (g *giving) exchange() bool {
	d := g.d
	if d.best.Total.Levels[rulebook.LevelOptedOut] == 0 || d.proof() != NoProof || d.p.Predicate != nil || d.p.Compare != nil || !levels(d.p.Levels).keepsLaw1() {
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
		g.retake(i)
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
	return cmp.Or(d.order.CompareLevels(&x, &y), d.eligible.work(a).Compare(d.eligible.work(b)),
		strings.Compare(d.c.tasks[a].key, d.c.tasks[b].key))
}

// covers reports whether a task gives what is lacking without the victims that are given
// back.
func (g *giving) covers(id TaskID) bool {
	clear(g.gives)
	g.d.giveOf(g.gives, &g.s, id)
	for k, need := range g.problem.Need {
		if g.sums[k]+g.gives[k] < need {
			return false
		}
	}
	return true
}

// keepsBounds reports whether every limit is kept if a task goes beside the victims that are
// not given back.
func (g *giving) keepsBounds(id TaskID) bool {
	d, p := g.d, &g.problem
	n := len(p.Rows)
	g.add(id)
	d.shareLimits(p)
	g.begin()
	keeps := g.take(unitRef{row: int32(n)})
	for _, u := range g.units {
		row := &d.problem.units[u.row]
		keeps = keeps && (len(row.gangs) == 0 && g.given[slices.Index(g.ids, row.ids[0])] || g.take(u))
	}
	p.Rows, d.problem.units = p.Rows[:n], d.problem.units[:n]
	return keeps
}
