package victims

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// If the caller may refuse a plan, the next best one is wanted, and no node is
// to be searched twice. So all nodes wait in a heap, each with a bound on what a
// plan for it costs, and once it was searched with its plan.
//
// Levels alone often do not tell nodes apart. So a node whose bounds show that it
// cannot have a better plan than the best that was found is put off, until the
// predicate has refused that one.

// A hearing looks for the best plan that the caller's predicate accepts.
type hearing struct{ *decision }

// A frontier is the nodes that may still have the best plan, the best first.
type frontier struct {
	d     *decision
	rows  []prospect
	plans []incumbent // of the nodes that were searched, by prospect.plan
	best  int32       // the best of them, or -1
	later []prospect  // nodes that cannot beat it

	refused bool // a plan was refused
}

// A prospect is a node with a bound, or with the best plan for it.
type prospect struct {
	levels cover.Levels // of the plan, or a bound on them
	node   NodeID
	plan   int32 // or -1: the node was not searched yet
	spare  int64 // by how much its tasks exceed what the bound takes; see fewestOfAll
}

// leastLevels bound every plan: ranks and priorities may be negative, all else not.
var leastLevels = cover.Levels{
	LevelRank: math.MinInt64, LevelPriority: math.MinInt64,
	LevelSumRanks: math.MinInt64, LevelSumPriorities: math.MinInt64,
}

func (f *frontier) Len() int      { return len(f.rows) }
func (f *frontier) Swap(i, j int) { f.rows[i], f.rows[j] = f.rows[j], f.rows[i] }
func (f *frontier) Push(x any)    { f.rows = append(f.rows, *x.(*prospect)) }
func (f *frontier) Pop() any {
	f.rows = f.rows[:len(f.rows)-1]
	return nil // the caller has read it
}

// Less orders prospects so that a plan comes first only if no bound could
// still beat it.
func (f *frontier) Less(i, j int) bool {
	a, b := &f.rows[i], &f.rows[j]
	switch {
	case a.plan >= 0 && b.plan >= 0:
		return f.d.compare(&f.plans[a.plan].cost, &f.plans[b.plan].cost) < 0
	case f.d.p.Compare == nil:
		if c := f.d.problem.order.CompareLevels(&a.levels, &b.levels); c != 0 {
			return c < 0
		}
	}
	if a.plan < 0 && b.plan < 0 {
		if a.spare != b.spare {
			return a.spare > b.spare // it is more likely to have a plan as good as the bound
		}
		return f.d.c.comesBefore(a.node, b.node)
	}
	return a.plan < 0
}

// searchInTurn searches nodes in the order of their bounds and asks the
// predicate about plans in the order of their cost, until it accepts one.
func (d hearing) searchInTurn() bool {
	f := &d.front
	f.d, f.rows, f.plans = d.decision, f.rows[:0], f.plans[:0]
	f.best, f.later, f.refused = -1, f.later[:0], false
	for _, n := range d.nodes {
		if p, ok := d.prospectOf(n); ok {
			f.rows = append(f.rows, p)
		}
	}
	heap.Init(f)
	for len(f.rows) > 0 {
		p := f.rows[0]
		heap.Pop(f)
		switch {
		case p.plan >= 0:
			if d.approves(&f.plans[p.plan]) || d.widen(p.node) {
				return true
			}
			f.refuse()
		case d.trial.stopped:
			// It is not searched any more. Plans that were found are asked about.
		case d.passes(p.node):
			d.best.found = false
			d.searchNode(p.node)
			if d.best.found {
				d.scratch.found = prospect{levels: d.best.total.Levels, node: p.node, plan: f.keep(&d.best)}
				heap.Push(f, &d.scratch.found)
				d.putOff(d.scratch.found.plan)
			}
			if d.pool.hopeless {
				return false
			}
		}
	}
	d.best.found = false
	return false
}

// putOff puts nodes off that cannot beat the plan that was just found and is in
// d.best, if it is the best so far. That ends with the first refusal: a predicate
// that refuses many plans would have all nodes looked at for each.
func (d hearing) putOff(plan int32) {
	f := &d.front
	if f.refused || f.best >= 0 && d.compare(&f.plans[f.best].cost, &f.plans[plan].cost) <= 0 {
		return
	}
	f.best = plan
	if !d.pruning() || d.problem.order.Sequence != nil {
		return
	}
	rows := f.rows
	f.rows = f.rows[:0]
	for _, p := range rows {
		if p.plan < 0 && d.bounds.cannotBeat(p.node) {
			f.later = append(f.later, p)
		} else {
			f.rows = append(f.rows, p)
		}
	}
	heap.Init(f)
}

// refuse goes on without the best plan: the nodes that were put off wait again.
func (f *frontier) refuse() {
	f.refused = true
	if len(f.later) > 0 {
		f.rows = append(f.rows, f.later...)
		f.later = f.later[:0]
		heap.Init(f)
	}
}

// prospectOf returns a usable node with a bound, and false if it has no plan.
func (d hearing) prospectOf(n NodeID) (prospect, bool) {
	p := prospect{node: n, plan: -1, levels: leastLevels}
	if !d.usable(n) {
		return p, false
	}
	if !d.pruning() || d.nodeNeed(d.scratch.short, n) == 0 {
		return p, true
	}
	if d.problem.order.Sequence != nil {
		ok := d.inSequence.bound(&p.levels, n)
		return p, ok
	}
	b := nodeBound{node: n}
	if !d.bounds.boundNode(&b, d.scratch.short) {
		return p, false
	}
	p.levels = b.levels
	return p, true
}

// keep copies a plan and returns its row.
func (f *frontier) keep(best *incumbent) int32 {
	n := len(f.plans)
	f.plans = rows.Next(f.plans)
	plan := &f.plans[n]
	victims := append(plan.victims[:0], best.victims...)
	plan.found, plan.node, plan.cost, plan.total, plan.victims = true, best.node, best.cost, best.total, victims
	return int32(n)
}

// approves makes a plan the best and asks the predicate about it.
func (d hearing) approves(plan *incumbent) bool {
	b := &d.best
	b.found, b.node, b.cost, b.total = true, plan.node, plan.cost, plan.total
	b.victims = append(b.victims[:0], plan.victims...)
	return d.accepts(b.node, b.victims, coming)
}

// widen tries a node whose cheapest set the predicate has refused with all its
// candidates: as many as laws and budgets allow, the cheapest first. If the
// predicate accepts those they are trimmed, the costliest first, until no
// victim can be given back so that needs and predicate still hold. Then an
// opted-out victim is exchanged for any other candidate that does instead
// (law 1).
func (d hearing) widen(n NodeID) bool {
	s := d.siteOf(n)
	u := &d.local
	u.gather(d.decision, &s)
	if d.needs.open() && d.headroom.searchHeadroom() {
		for i, id := range d.pool.ids[:d.pool.singles] {
			if d.c.tasks[id].node != n {
				u.append(id, -1, d.pool.units[i])
			}
		}
		u.meetAll(d.pool.met)
	}
	u.addGangs(d.decision, &s)
	d.state(&s, d.wanted(&s))
	taken := d.takeAll(u)
	if d.isBest(u, taken) || !d.suffices(n, u, taken) {
		// A predicate that refuses all candidates refuses any of them; if laws
		// let not all go, others than these may do.
		d.trial.proven = d.trial.proven && len(taken) == len(u.units)
		d.trial.levels = d.trial.levels && d.trial.proven
		return false
	}
	d.trial.proven, d.trial.levels = false, false // sets between the cheapest and this one are not tried
	for changed := true; changed; {
		taken = d.trim(n, u, taken)
		taken, changed = d.exchange(n, u, taken)
	}
	d.best.found = false
	d.found.Found, d.found.Units, d.found.Total = true, append(d.found.Units[:0], taken...), d.totalOf(u, taken)
	d.offer(n, &d.found, u)
	return true
}

// trim gives back units, the costliest first, for as long as the others do.
func (d hearing) trim(n NodeID, u *unitSet, taken []int32) []int32 {
	for trimmed := true; trimmed; {
		trimmed = false
		for i := len(taken) - 1; i >= 0; i-- {
			back := taken[i]
			taken = slices.Delete(taken, i, i+1)
			if d.suffices(n, u, taken) {
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
func (d hearing) exchange(n NodeID, u *unitSet, taken []int32) ([]int32, bool) {
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
			if d.keepsBounds(u, taken) && d.suffices(n, u, taken) {
				d.sortUnits(u, taken)
				return taken, true
			}
		}
		taken[at] = out
	}
	return taken, false
}

// isBest reports whether units are the victims of the best plan.
func (d hearing) isBest(u *unitSet, units []int32) bool {
	all := d.tasksOf(u, units)
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

// tasksOf lists the tasks of units.
func (d hearing) tasksOf(u *unitSet, units []int32) []TaskID {
	ids := d.scratch.taken[:0]
	for _, i := range units {
		ids = u.tasks(ids, d.decision, i)
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

// takeAll returns units, the cheapest first, each if it still fits the bounds
// beside those before it.
func (d hearing) takeAll(u *unitSet) []int32 {
	order := d.scratch.order[:0]
	for i := range u.units {
		order = append(order, int32(i))
	}
	d.sortUnits(u, order)
	d.scratch.order = order
	left := &d.scratch.left
	left.reset(d.eligible.Rooms.Bounds)
	return slices.DeleteFunc(order, func(i int32) bool { return !left.take(&u.units[i]) })
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

// A boundState is what is left of bounds while units are taken one by one. There
// are as many bounds as queues with a guarantee, and the units of a node touch
// few of them. So a bound is copied when it is touched first.
type boundState struct {
	source []cover.Bound
	left   []cover.Bound // by row; a row counts if its stamp is the current one
	stamps []uint32
	stamp  uint32
}

// reset begins with all of the bounds, and no unit.
func (s *boundState) reset(bounds []cover.Bound) {
	s.source = bounds
	for len(s.left) < len(bounds) {
		s.left, s.stamps = append(s.left, cover.Bound{}), append(s.stamps, 0)
	}
	if s.stamp++; s.stamp == 0 { // it has gone round
		clear(s.stamps)
		s.stamp = 1
	}
}

// at returns what is left of a bound.
func (s *boundState) at(row int32) *cover.Bound {
	b := &s.left[row]
	if s.stamps[row] != s.stamp {
		s.stamps[row] = s.stamp
		b.Room = resources.AddOnlyExisting(b.Room, s.source[row].Room, nil)
		b.Extra = append(b.Extra[:0], s.source[row].Extra...)
	}
	return b
}

// take takes a unit if every bound is kept then, and reports whether it has.
func (s *boundState) take(u *cover.Unit) bool {
	s.change(u, resources.SubOnlyExisting, resources.Sub)
	if s.keeps(u) {
		return true
	}
	// Nothing saturates here, so that this is exact.
	s.change(u, resources.AddOnlyExisting, resources.Add)
	return false
}

// change changes what is left of the bounds that a unit touches by its size.
func (s *boundState) change(
	u *cover.Unit,
	room func(dst, l resources.Limit, v resources.Vector) resources.Limit,
	extra func(dst, a, b resources.Vector) resources.Vector,
) {
	for part := range u.All {
		for _, row := range part.Bounds {
			b := s.at(row)
			b.Room = room(b.Room, b.Room, part.Size)
		}
		for _, row := range part.Erodes {
			b := s.at(row)
			b.Extra = extra(b.Extra, b.Extra, part.Size)
		}
	}
}

// keeps reports whether the bounds that a unit touches are kept.
func (s *boundState) keeps(u *cover.Unit) bool {
	for part := range u.All {
		for _, touched := range [...][]int32{part.Bounds, part.Erodes} {
			for _, row := range touched {
				b := s.at(row)
				for t := range b.Room.Defined.All() {
					if b.Room.Value[t]+max(b.Extra.At(t), 0) < 0 {
						return false
					}
				}
			}
		}
	}
	return true
}

// suffices reports whether the units meet every need and the predicate accepts
// them. It is asked only if they do.
func (d hearing) suffices(n NodeID, u *unitSet, units []int32) bool {
	for row, need := range d.problem.Needs {
		if !d.headroom.meets(u, units, int32(row), need.Short) {
			return false
		}
	}
	d.best.victims = append(d.best.victims[:0], d.tasksOf(u, units)...)
	return d.accepts(n, d.best.victims, coming)
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
