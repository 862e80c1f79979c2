package victims

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// widen makes the best plan one for a node whose cheapest set the predicate has
// refused, but not all of its candidates. They are trimmed, the costliest first, until
// no victim can be given back so that needs and predicate still hold. Then an
// opted-out victim is exchanged for any other candidate that does instead (law 1).
func (d hearing) widen(n NodeID, taken []int32) {
	u := &d.local
	d.sortUnits(u, taken)
	d.trial.proven, d.trial.levels = false, false // sets between the cheapest and this one are not tried
	for changed := true; changed; {
		taken = d.trim(n, taken)
		taken, changed = d.exchange(n, taken)
	}
	d.best.found = false
	d.found.Found, d.found.Units, d.found.Total = true, append(d.found.Units[:0], taken...), d.totalOf(u, taken)
	d.offer(n, &d.found, u)
}

// trim gives back units, the costliest first, for as long as the others do.
func (d hearing) trim(n NodeID, taken []int32) []int32 {
	for trimmed := true; trimmed; {
		trimmed = false
		for i := len(taken) - 1; i >= 0; i-- {
			back := taken[i]
			taken = slices.Delete(taken, i, i+1)
			if d.suffices(n, taken) {
				trimmed = true
			} else {
				taken = slices.Insert(taken, i, back)
			}
		}
	}
	return taken
}

// exchange puts another candidate in the place of an opted-out victim, if that
// leaves fewer opted out and does as well. It reports whether it has.
func (d hearing) exchange(n NodeID, taken []int32) ([]int32, bool) {
	u := &d.local
	for at := len(taken) - 1; at >= 0 && d.p.Levels.keepsLaw1(); at-- {
		out := taken[at]
		if u.units[out].Levels[LevelOptedOut] == 0 {
			continue
		}
		for i := range u.units {
			in := int32(i)
			if u.units[in].Levels[LevelOptedOut] >= u.units[out].Levels[LevelOptedOut] || slices.Contains(taken, in) {
				continue
			}
			taken[at] = in
			if d.keepsBounds(u, taken) && d.suffices(n, taken) {
				d.sortUnits(u, taken)
				return taken, true
			}
		}
		taken[at] = out
	}
	return taken, false
}

// isBest reports whether units are the victims of the best plan.
func (d hearing) isBest(units []int32) bool {
	all := d.tasksOf(units)
	if len(all) != len(d.best.victims) {
		return false
	}
	for _, id := range all {
		if !slices.Contains(d.best.victims, id) {
			return false
		}
	}
	return true
}

// tasksOf lists the tasks of units of d.local.
func (d hearing) tasksOf(units []int32) []TaskID {
	ids := d.scratch.taken[:0]
	for _, i := range units {
		ids = d.local.tasks(ids, d.decision, i)
	}
	d.scratch.taken = ids
	return ids
}

// sortUnits orders units, the cheapest first.
func (d hearing) sortUnits(u *unitSet, units []int32) {
	slices.SortFunc(units, func(i, j int32) int {
		a, b := &u.units[i], &u.units[j]
		return cmp.Or(d.problem.order.CompareLevels(&a.Levels, &b.Levels), cmp.Compare(a.Work, b.Work), strings.Compare(a.Key, b.Key))
	})
}

// keepsBounds reports whether units together keep every bound.
func (d hearing) keepsBounds(u *unitSet, units []int32) bool {
	left := &d.scratch.left
	left.reset(d.eligible.Rooms.Bounds)
	for _, i := range units {
		if !left.take(&u.units[i]) {
			return false
		}
	}
	return true
}

// suffices reports whether the units meet every need and the predicate accepts
// them. It is asked only if they do.
func (d hearing) suffices(n NodeID, units []int32) bool {
	for row, need := range d.problem.Needs {
		if !d.headroom.meets(&d.local, units, int32(row), need.Short) {
			return false
		}
	}
	return d.accepts(n, d.tasksOf(units), coming)
}

// totalOf returns what a set of units costs.
func (d hearing) totalOf(u *unitSet, units []int32) (t cover.Total) {
	sum := d.scratch.sum
	clear(sum)
	order := &d.problem.Order
	used := rows.Zeros(d.scratch.amounts, len(d.problem.budgets.left))
	for _, i := range units {
		unit := &u.units[i]
		t.Levels = order.Join(&t.Levels, t.Units, &unit.Levels)
		t.Work = t.Work.Add(cover.WorkOfNanos(unit.Work))
		t.Units++
		sum = resources.Add(sum, sum, unit.Size)
		for _, use := range unit.Uses {
			if used[use.Budget] += use.Count; used[use.Budget] > max(d.problem.budgets.left[use.Budget].Left, 0) {
				t.Levels[LevelOverrun] += min(use.Count, used[use.Budget]-max(d.problem.budgets.left[use.Budget].Left, 0))
			}
		}
	}
	d.scratch.amounts, d.scratch.sum = used, sum
	t.Excess = cover.Excess(sum, d.problem.Wanted, d.problem.Capacity)
	return t
}
