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

// Sets that no search has found are put together and taken apart here: what the caller's
// predicate wants, and what a plan does without.

// A unitRef is a unit of an exact problem.
type unitRef struct{ row, unit int32 }

// picks are sets of units of a problem, and the memory to judge them. The problem is the one that
// was stated last: d.problem knows who its units are.
type picks struct {
	d                *decision
	problem          least.Problem
	room, sums, used []int64
}

// all appends all units.
func (x *picks) all(dst []unitRef) []unitRef {
	for i := range x.problem.Rows {
		for k := range x.problem.Rows[i].Count {
			dst = append(dst, unitRef{int32(i), int32(k)})
		}
	}
	return dst
}

// sort orders units, the cheapest first.
func (x *picks) sort(units []unitRef) {
	slices.SortFunc(units, func(i, j unitRef) int {
		a, b := &x.problem.Rows[i.row], &x.problem.Rows[j.row]
		return cmp.Or(x.d.order.CompareLevels(&a.Levels, &b.Levels), x.work(i).Compare(x.work(j)), strings.Compare(x.key(i), x.key(j)))
	})
}

func (x *picks) work(u unitRef) resources.Wide {
	return x.d.search.Work(&x.problem.Rows[u.row], int64(u.unit))
}

func (x *picks) key(u unitRef) string {
	if row := &x.d.problem.units[u.row]; len(row.gangs) > 0 {
		return x.d.gangs.keyOf(row.gangs[u.unit])
	} else {
		return x.d.c.tasks[row.ids[u.unit]].key
	}
}

// begin begins with no unit taken.
func (x *picks) begin() { x.room = append(x.room[:0], x.problem.Room...) }

// take takes a unit if every limit is kept then, and reports whether it has.
func (x *picks) take(u unitRef) bool {
	keeps, takes := true, x.problem.Rows[u.row].Takes
	for _, t := range takes {
		x.room[t.Limit] -= t.Amount
		keeps = keeps && x.room[t.Limit] >= 0
	}
	if keeps {
		return true
	}
	for _, t := range takes {
		x.room[t.Limit] += t.Amount
	}
	return false
}

// keepsLimits reports whether units together keep every limit.
func (x *picks) keepsLimits(units []unitRef) bool {
	x.begin()
	return !slices.ContainsFunc(units, func(u unitRef) bool { return !x.take(u) })
}

// meets reports whether units together give all that is needed.
func (x *picks) meets(units []unitRef) bool {
	x.sums = rows.Zeros(x.sums, len(x.problem.Need))
	for _, u := range units {
		for k, v := range x.problem.Rows[u.row].Gives {
			x.sums[k] += v
		}
	}
	return x.enough()
}

// enough reports whether the sums are what is needed.
func (x *picks) enough() bool {
	for k, need := range x.problem.Need {
		if x.sums[k] < need {
			return false
		}
	}
	return true
}

// tasks lists the tasks of units, in d.scratch.taken.
func (x *picks) tasks(units []unitRef) []TaskID {
	ids := x.d.scratch.taken[:0]
	for _, u := range units {
		ids = x.d.unitTasks(ids, u.row, u.unit)
	}
	x.d.scratch.taken = ids
	return ids
}

// total returns what units cost together.
func (x *picks) total(units []unitRef) (t cost.Total) {
	d, left := x.d, x.d.budgets.left
	freed := rows.Zeros(d.scratch.sum, d.c.types)
	x.used = rows.Zeros(x.used, len(left))
	for _, u := range units {
		r := &x.problem.Rows[u.row]
		t.Levels = d.order.Join(&t.Levels, t.Units, &r.Levels)
		t.Work = t.Work.Add(x.work(u))
		t.Units++
		resources.Add(freed, freed, r.Size)
		for _, use := range r.Uses {
			over := max(x.used[use.Budget]-max(left[use.Budget], 0), 0)
			x.used[use.Budget] += use.Count
			t.Levels[rulebook.LevelOverrun] += max(x.used[use.Budget]-max(left[use.Budget], 0), 0) - over
		}
	}
	d.scratch.sum = freed
	t.Excess = cost.Excess(freed, x.problem.Wanted, d.c.total)
	return t
}

// makeBest makes units the best plan, of which nothing is shown.
func (x *picks) makeBest(units []unitRef) {
	d := x.d
	d.notShown()
	d.best.Found = false
	d.offer(&x.problem, &least.Answer{Found: true, Total: x.total(units)}, x.tasks(units))
}
