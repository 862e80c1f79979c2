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

// Planners that have a predicate search as others do, and ask it about the best
// plan. Mostly it accepts, and the decision has cost one question.
//
// If it refuses, it is asked about all candidates of that node, as one victim more
// may do. Mostly it refuses those too, for something about the node keeps the ask
// out, whoever goes. So from then on it is asked about all candidates of a node
// before the node is searched, in the order of bounds: a question costs less than a
// search, and a node that is refused is out. What it accepts has a plan, by its best
// set or by one that is trimmed from all candidates.

// A predicate looks for the best plan that the caller's predicate accepts, and remembers
// what the predicate has said of nodes.
type predicate struct {
	said   []answer  // by node
	early  bool      // nodes are asked about before they are searched
	order  []int32   // the nodes in the order in which that is done: of the least bounds first
	unsure bool      // a node is out of which not all sets were refused
	aside  incumbent // see acceptsBestOf

	picks
	units []unitRef
}

// An answer is what the predicate has said of a node.
type answer uint8

const (
	notAskedYet answer = iota
	acceptsAll         // it accepts all candidates
	acceptsBest        // it accepts the best set, which was offered
	ruledOut           // it refuses the node
)

func (x *predicate) reset() {
	x.said = rows.Zeros(x.said, len(x.d.c.nodes))
	x.early, x.unsure, x.order = false, false, x.order[:0]
}

// search leaves the best plan that the predicate accepts in d.best, and reports
// whether there is any.
func (x *predicate) search() bool {
	d := x.d
	x.reset()
	for d.searchNodes() {
		if x.approves() {
			x.qualify()
			return true
		}
		// The node is out, and what was shown of all nodes is to be shown of the
		// others anew.
		x.said[d.best.node()] = ruledOut
		x.early, d.best.Found = true, false
		x.sortNodes()
		d.search.Shown, d.search.Levels, d.trial.lesser = true, true, false
	}
	x.qualify()
	return false
}

// qualify takes back what the searches have shown, if a node is out of which not all
// sets were refused.
func (x *predicate) qualify() {
	if x.unsure {
		x.d.notShown()
	}
}

// approves reports whether the predicate accepts the best plan, or another set for
// its node, which is the best plan then.
func (x *predicate) approves() bool {
	d := x.d
	n := d.best.node()
	switch x.said[n] {
	case acceptsBest:
		return true
	case acceptsAll:
		all, _ := x.candidates(n)
		if !x.isBest(all) && !d.accepts(n, d.best.victims, coming) {
			x.widen(n, all)
		}
		return true
	}
	if d.accepts(n, d.best.victims, coming) {
		return true
	}
	all, complete := x.candidates(n)
	if !x.isBest(all) && x.suffices(n, all) {
		x.widen(n, all)
		return true
	}
	x.unsure = x.unsure || !complete
	return false
}

// sortNodes lists the nodes in the order in which the predicate is asked about all of
// their candidates: those first that may have the cheapest plan.
func (x *predicate) sortNodes() {
	x.order = x.order[:0]
	if !x.d.pruning() {
		return // a search that knows no bounds takes them in node order
	}
	for _, n := range x.d.nodes {
		if x.said[n] != ruledOut {
			x.order = append(x.order, int32(n))
		}
	}
	x.order = x.d.search.Sort(x.order, x.order)
}

// admits reports whether a node is to be searched: the filter lets the ask run
// there, and the predicate has not ruled it out.
func (x *predicate) admits(n NodeID) bool {
	d := x.d
	if !d.passes(n) {
		return false
	}
	if d.p.Predicate == nil {
		return true
	}
	if x.early && x.said[n] == notAskedYet {
		x.said[n] = x.ask(n)
	}
	return x.said[n] <= acceptsAll
}

// fewElsewhere is how many candidates that make headroom on other nodes are among those of a
// node.
const fewElsewhere = 32

// ask asks the predicate about all candidates of a node. If laws let not all of
// them go, or they are too many, others than these may do, and it is asked about the
// best set, too.
func (x *predicate) ask(n NodeID) answer {
	all, complete := x.candidates(n)
	switch {
	case x.suffices(n, all):
		return acceptsAll
	case complete:
		return ruledOut
	case x.d.trial.meter.Left > 0 && x.acceptsBestOf(n):
		return acceptsBest
	}
	x.unsure = true
	return ruledOut
}

// acceptsBestOf searches a node and asks the predicate about its best set. If it accepts
// that, the set is offered.
func (x *predicate) acceptsBestOf(n NodeID) bool {
	d := x.d
	// The best plan so far waits aside: as a limit it would hide a costlier set that
	// is the best of this node, and the answer is about the node.
	lesser := d.search.Lesser
	x.aside, d.best = d.best, x.aside
	d.best.Found, d.search.Lesser = false, false
	d.search.Try(int32(n))
	d.search.Lesser = lesser
	switch better := !x.aside.Found || d.best.Found && d.compare(&d.best.cost, &x.aside.cost) < 0; {
	case !d.best.Found || better && !d.accepts(n, d.best.victims, coming):
		x.aside, d.best = d.best, x.aside
		return false
	case !better:
		x.aside, d.best = d.best, x.aside // nobody needs to know
	}
	return true
}

// candidates returns the candidates of a node: if laws and budgets do not let all of them go
// together, the cheapest as far as they do. It reports whether those are all.
//
// Candidates that make headroom on other nodes belong to all nodes. If they are
// many, those count that make it at the least cost.
func (x *predicate) candidates(n NodeID) (all []unitRef, complete bool) {
	d := x.d
	complete, all = true, x.units[:0]
	var only []TaskID
	if d.Elsewhere() && d.solvePool() {
		if complete = d.pool.tasks() <= fewElsewhere; !complete {
			only = d.pool.ids
		}
		complete = complete && !d.pool.thinned
	}
	s := d.siteOf(n)
	if x.problem.Node = int32(n); s.out || d.pool.hopeless {
		return nil, true
	}
	shown, levels := d.search.Shown, d.search.Levels
	d.stateNeeds(&x.problem, &s)
	d.problem.begin(&x.problem)
	d.stateTasks(&x.problem, &s, d.pickLanes(n, x.problem.Wanted))
	if d.Elsewhere() {
		d.addPool(&x.problem, n, only)
	}
	d.search.Shown, d.search.Levels = shown, levels
	all = x.all(all)
	x.units = all
	count := len(all)
	if !x.keepsLimits(all) { // mostly they do
		x.sort(all)
		x.begin()
		all = slices.DeleteFunc(all, func(u unitRef) bool { return !x.take(u) })
	}
	return all, complete && len(all) == count
}

// widen makes the best plan one for a node whose cheapest set the predicate has
// refused, but not all of its candidates. They are trimmed, the costliest first, until
// no victim can be given back so that needs and predicate still hold. Then an
// opted-out victim is exchanged for any other candidate that does instead (law 1).
// Sets between the cheapest and this one are not tried.
func (x *predicate) widen(n NodeID, taken []unitRef) {
	x.sort(taken)
	for changed := true; changed; {
		taken = x.trim(n, taken)
		taken, changed = x.exchange(n, taken)
	}
	lesser := x.d.trial.lesser
	x.makeBest(taken)
	x.d.trial.lesser = lesser
}

// trim gives back units, the costliest first, for as long as the others do.
func (x *predicate) trim(n NodeID, taken []unitRef) []unitRef {
	for trimmed := true; trimmed; {
		trimmed = false
		for i := len(taken) - 1; i >= 0; i-- {
			back := taken[i]
			taken = slices.Delete(taken, i, i+1)
			if x.suffices(n, taken) {
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
func (x *predicate) exchange(n NodeID, taken []unitRef) ([]unitRef, bool) {
	optedOut := func(u unitRef) int64 { return x.problem.Rows[u.row].Levels[rulebook.LevelOptedOut] }
	for at := len(taken) - 1; at >= 0 && levels(x.d.p.Levels).keepsLaw1(); at-- {
		out := taken[at]
		for i := range x.problem.Rows {
			for k := range x.problem.Rows[i].Count {
				in := unitRef{int32(i), int32(k)}
				if optedOut(in) >= optedOut(out) || slices.Contains(taken, in) {
					continue
				}
				taken[at] = in
				if x.keepsLimits(taken) && x.suffices(n, taken) {
					x.sort(taken)
					return taken, true
				}
			}
		}
		taken[at] = out
	}
	return taken, false
}

// isBest reports whether units are the victims of the best plan.
func (x *predicate) isBest(units []unitRef) bool {
	best, all := x.d.best.victims, x.tasks(units)
	return len(all) == len(best) && !slices.ContainsFunc(all, func(id TaskID) bool { return !slices.Contains(best, id) })
}

// suffices reports whether the units meet every need and the predicate accepts
// them. It is asked only if they do.
func (x *predicate) suffices(n NodeID, units []unitRef) bool {
	return x.meets(units) && x.d.accepts(n, x.tasks(units), coming)
}

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
