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

// A hearing looks for the best plan that the caller's predicate accepts, and remembers
// what the predicate has said of nodes.
type hearing struct {
	d        *decision
	question Placing
	said     []verdict // by node
	early    bool      // nodes are asked about before they are searched
	order    []int32   // the nodes in the order in which that is done: of the least bounds first
	unsure   bool      // a node is out of which not all sets were refused
	aside    incumbent // see agrees

	together resources.Vector // what the tasks that are asked about free; see hearPlain
	least    resources.Vector // what every leaf has room for; see leastRoom
	ample    bool             // so have all of them for what the tasks free that are asked about
}

// A verdict is what the predicate has said of a node.
type verdict uint8

const (
	unheard verdict = iota
	heard           // it accepts all candidates
	agreed          // it accepts the best set, which was offered
	struck          // it refuses the node
)

func (h *hearing) reset() {
	h.said = rows.Zeros(h.said, len(h.d.c.nodes))
	h.early, h.unsure, h.order = false, false, h.order[:0]
}

// search leaves the best plan that the predicate accepts in d.best, and reports
// whether there is any.
func (h *hearing) search() bool {
	d := h.d
	h.reset()
	for d.searchNodes() {
		if h.approves() {
			h.qualify()
			return true
		}
		// The node is out, and what was shown of all nodes is to be shown of the
		// others anew.
		h.said[d.best.node()] = struck
		h.early, d.best.Found = true, false
		h.lineUp()
		d.trial.proven, d.trial.levels, d.trial.lesser = true, true, false
	}
	h.qualify()
	return false
}

// qualify takes back what the searches have shown, if a node is out of which not all
// sets were refused.
func (h *hearing) qualify() {
	d := h.d
	if h.unsure {
		d.trial.proven, d.trial.levels, d.trial.lesser = false, false, false
	}
}

// approves reports whether the predicate accepts the best plan, or another set for
// its node, which is the best plan then.
func (h *hearing) approves() bool {
	d := h.d
	n := d.best.node()
	switch h.said[n] {
	case agreed:
		return true
	case heard:
		all, _ := h.everybody(n)
		if !h.isBest(all) && !d.accepts(n, d.best.victims, coming) {
			h.widen(n, all)
		}
		return true
	}
	if d.accepts(n, d.best.victims, coming) {
		return true
	}
	all, complete := h.everybody(n)
	if !h.isBest(all) && h.suffices(n, all) {
		h.widen(n, all)
		return true
	}
	h.unsure = h.unsure || !complete
	return false
}

// lineUp lists the nodes in the order in which the predicate is asked about all of
// their candidates: those first that may have the cheapest plan.
func (h *hearing) lineUp() {
	h.least, h.order = h.d.eligible.LeastRoom(h.least), h.order[:0]
	if !h.d.pruning() {
		return // a search that knows no bounds takes them in node order
	}
	for _, n := range h.d.nodes {
		if h.said[n] != struck {
			h.order = append(h.order, int32(n))
		}
	}
	h.order = h.d.engine.Sort(h.order, h.order)
}

// admits reports whether a node is to be searched: the filter lets the ask run
// there, and the predicate has not ruled it out.
func (h *hearing) admits(n NodeID) bool {
	d := h.d
	if !d.passes(n) {
		return false
	}
	if d.p.Predicate == nil {
		return true
	}
	if h.early && h.said[n] == unheard {
		h.said[n] = h.hear(n)
	}
	return h.said[n] <= heard
}

// hearWork is what it takes to list a candidate for a question, in elementary work,
// and fewElsewhere how many candidates that make headroom on other nodes are
// among those of a node.
const hearWork, fewElsewhere = 8, 32

// hear asks the predicate about all candidates of a node. If laws let not all of
// them go, or they are too many, others than these may do, and it is asked about the
// best set, too.
func (h *hearing) hear(n NodeID) verdict {
	d := h.d
	accepted, ok := h.hearPlain(n)
	complete := !d.needs.open()
	if !ok {
		var all []int32
		all, complete = h.everybody(n)
		accepted = h.suffices(n, all)
	}
	switch {
	case accepted:
		return heard
	case complete:
		return struck
	case d.trial.meter.Left > 0 && h.agrees(n):
		return agreed
	}
	h.unsure = true
	return struck
}

// hearPlain is hear for a node if nothing special is about its tasks and no law keeps
// them from going together, with those that make headroom on other nodes. It
// reports whether the predicate accepts, and false if it was not asked.
func (h *hearing) hearPlain(n NodeID) (accepted, ok bool) {
	d := h.d
	gauge := &d.c.digest.gauges[n]
	if !d.pruning() || d.p.Blockers != nil || d.without.Rule != "" || d.hasSpecial(gauge) || !h.listElsewhere(n) {
		return false, false
	}
	s := d.siteOf(n)
	digest := &d.c.digest.nodes[n]
	h.together = resources.Add(h.together, h.together, d.c.row(d.c.digest.all, n))
	// One comparison for all tasks of the node, and one for each only if that is too rough.
	h.ample = resources.Fits(h.together, h.least)
	sum := d.scratch.sum
	clear(sum)
	for i := range digest.lanes {
		size := digest.size(i, d.c.types)
		taken := int64(len(d.scratch.taken))
		if !h.listLane(&s, i) {
			return false, false
		}
		for t, v := range size {
			sum[t] += v * (int64(len(d.scratch.taken)) - taken)
		}
	}
	d.trial.pay(hearWork * int64(len(d.scratch.taken)))
	// If all together give too little there is no plan, and nothing to ask about.
	return resources.Fits(s.short, sum) && d.accepts(n, d.scratch.taken, coming), true
}

// listElsewhere sets d.scratch.taken to the tasks that make headroom at the least cost,
// but for those on a node, and what they free to d.hearing.together. It reports false
// if there are so few that all of them count, or whole gangs.
func (h *hearing) listElsewhere(n NodeID) bool {
	d := h.d
	h.together = rows.Zeros(h.together, d.c.types)
	if !d.needs.open() {
		d.scratch.taken = d.scratch.taken[:0]
		return true
	}
	if d.required() || !d.searchHeadroom() || d.pool.singles <= fewElsewhere {
		return false
	}
	d.scratch.taken = d.scratch.taken[:0] // a pool is gathered there
	for _, i := range d.pool.shared.Units {
		id := d.pool.ids[i]
		if d.pool.gang[i] >= 0 || d.special(id) {
			return false
		}
		if d.c.tasks[id].node != n {
			d.scratch.taken = append(d.scratch.taken, id)
			h.together = resources.Add(h.together, h.together, d.c.size(id))
		}
	}
	return true
}

// listLane appends the tasks of a lane that help, and that no rule keeps, to
// d.scratch.taken. It reports false if law 2 may keep them from going with all the
// others.
func (h *hearing) listLane(s *site, lane int) bool {
	d := h.d
	e, digest := &d.eligible, &d.c.digest.nodes[s.node]
	l, has := &digest.lanes[lane], resources.Positive(digest.size(lane, d.c.types))
	for j := l.first; j < l.end; j++ {
		leaf, id := &e.Leaves[digest.leaves[j]], digest.ids[j]
		switch {
		// The order of rules is that of Rule.
		case e.hasApp && d.c.tasks[id].app == e.app, leaf.Veto != 0, leaf.Rank.Of(l.priority) > leaf.Ceiling:
			continue
		case has&(s.mask|d.needs.masks[leaf.Level]) == 0:
			continue // it helps neither the node nor headroom
		case !h.ample && !resources.Fits(h.together, leaf.Room):
			return false
		case !e.exempt(id):
			d.scratch.taken = append(d.scratch.taken, id)
		}
	}
	return true
}

// agrees searches a node and asks the predicate about its best set. If it accepts
// that, the set is offered.
func (h *hearing) agrees(n NodeID) bool {
	d := h.d
	// The best plan so far waits aside: as a limit it would hide a costlier set that
	// is the best of this node, and the answer is about the node.
	lesser := d.worker.OnlyLesser
	h.aside, d.best = d.best, h.aside
	d.best.Found, d.worker.OnlyLesser = false, false
	d.searchNode(n)
	d.worker.OnlyLesser = lesser
	switch better := !h.aside.Found || d.best.Found && d.compare(&d.best.cost, &h.aside.cost) < 0; {
	case !d.best.Found || better && !d.accepts(n, d.best.victims, coming):
		h.aside, d.best = d.best, h.aside
		return false
	case !better:
		h.aside, d.best = d.best, h.aside // nobody needs to know
	}
	return true
}

// everybody returns the candidates of a node, as units of d.local: the cheapest
// first, as many as laws and budgets allow. It reports whether those are all.
//
// Candidates that make headroom on other nodes belong to all nodes. If they are
// many, those count that make it at the least cost.
func (h *hearing) everybody(n NodeID) (all []int32, complete bool) {
	d := h.d
	s := d.siteOf(n)
	u, complete := &d.local, true
	u.gather(d, &s)
	if d.needs.open() && !d.p.SameNode && d.searchHeadroom() {
		complete = h.addElsewhere(n)
	}
	u.addGangs(d, &s)
	d.state(&s, d.wanted(&s))
	all = h.takeAll(u)
	return all, complete && len(all) == len(u.units)
}

// addElsewhere adds candidates that make headroom on other nodes than one, and
// reports whether those are all.
func (h *hearing) addElsewhere(n NodeID) (complete bool) {
	d := h.d
	u, pool := &d.local, &d.pool
	if pool.singles <= fewElsewhere {
		for i := range pool.singles {
			h.addOther(n, i)
		}
		u.meetAll(pool.met)
		return !pool.partial
	}
	for _, i := range pool.shared.Units {
		if g := pool.gang[i]; g >= 0 {
			u.meetOne(g)
		} else {
			h.addOther(n, int(i))
		}
	}
	return false
}

// addOther adds a unit of the pool if it is on another node.
func (h *hearing) addOther(n NodeID, i int) {
	d := h.d
	if id := d.pool.ids[i]; d.c.tasks[id].node != n {
		d.local.append(id, -1, d.pool.units[i])
	}
}

// takeAll returns all units if they keep every bound together. Else it returns
// those, the cheapest first, that still do beside the ones before them.
func (h *hearing) takeAll(u *unitSet) []int32 {
	d := h.d
	order := d.scratch.order[:0]
	for i := range u.units {
		order = append(order, int32(i))
	}
	d.scratch.order = order
	if h.keepsBounds(u, order) {
		return order
	}
	h.sortUnits(u, order)
	left := &d.scratch.left
	left.reset(d.eligible.Rooms.Bounds)
	return slices.DeleteFunc(order, func(i int32) bool { return !left.take(&u.units[i]) })
}

// widen makes the best plan one for a node whose cheapest set the predicate has
// refused, but not all of its candidates. They are trimmed, the costliest first, until
// no victim can be given back so that needs and predicate still hold. Then an
// opted-out victim is exchanged for any other candidate that does instead (law 1).
func (h *hearing) widen(n NodeID, taken []int32) {
	d := h.d
	u := &d.local
	h.sortUnits(u, taken)
	d.trial.proven, d.trial.levels = false, false // sets between the cheapest and this one are not tried
	for changed := true; changed; {
		taken = h.trim(n, taken)
		taken, changed = h.exchange(n, taken)
	}
	d.best.Found = false
	d.found.Found, d.found.Units, d.found.Total = true, append(d.found.Units[:0], taken...), h.totalOf(u, taken)
	d.offer(n, &d.found, u)
}

// trim gives back units, the costliest first, for as long as the others do.
func (h *hearing) trim(n NodeID, taken []int32) []int32 {
	for trimmed := true; trimmed; {
		trimmed = false
		for i := len(taken) - 1; i >= 0; i-- {
			back := taken[i]
			taken = slices.Delete(taken, i, i+1)
			if h.suffices(n, taken) {
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
func (h *hearing) exchange(n NodeID, taken []int32) ([]int32, bool) {
	d := h.d
	u := &d.local
	for at := len(taken) - 1; at >= 0 && levels(d.p.Levels).keepsLaw1(); at-- {
		out := taken[at]
		if u.units[out].Levels[rulebook.LevelOptedOut] == 0 {
			continue
		}
		for i := range u.units {
			in := int32(i)
			if u.units[in].Levels[rulebook.LevelOptedOut] >= u.units[out].Levels[rulebook.LevelOptedOut] || slices.Contains(taken, in) {
				continue
			}
			taken[at] = in
			if h.keepsBounds(u, taken) && h.suffices(n, taken) {
				h.sortUnits(u, taken)
				return taken, true
			}
		}
		taken[at] = out
	}
	return taken, false
}

// isBest reports whether units are the victims of the best plan.
func (h *hearing) isBest(units []int32) bool {
	d := h.d
	all := h.tasksOf(units)
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
func (h *hearing) tasksOf(units []int32) []TaskID {
	d := h.d
	ids := d.scratch.taken[:0]
	for _, i := range units {
		ids = d.local.tasks(ids, d, i)
	}
	d.scratch.taken = ids
	return ids
}

// sortUnits orders units, the cheapest first.
func (h *hearing) sortUnits(u *unitSet, units []int32) {
	d := h.d
	slices.SortFunc(units, func(i, j int32) int {
		a, b := &u.units[i], &u.units[j]
		return cmp.Or(d.problem.order.CompareLevels(&a.Levels, &b.Levels), a.Work.Compare(b.Work), strings.Compare(a.Key, b.Key))
	})
}

// keepsBounds reports whether units together keep every bound.
func (h *hearing) keepsBounds(u *unitSet, units []int32) bool {
	d := h.d
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
func (h *hearing) suffices(n NodeID, units []int32) bool {
	d := h.d
	for row, need := range d.problem.Needs {
		if !d.meets(&d.local, units, int32(row), need) {
			return false
		}
	}
	return d.accepts(n, h.tasksOf(units), coming)
}

// totalOf returns what a set of units costs.
func (h *hearing) totalOf(u *unitSet, units []int32) (t cost.Total) {
	d := h.d
	sum := d.scratch.sum
	clear(sum)
	order := &d.problem.Order
	used := rows.Zeros(d.scratch.amounts, len(d.problem.budgets.left))
	for _, i := range units {
		unit := &u.units[i]
		t.Levels = order.Join(&t.Levels, t.Units, &unit.Levels)
		t.Work = t.Work.Add(unit.Work)
		t.Units++
		sum = resources.Add(sum, sum, unit.Size)
		for _, use := range unit.Uses {
			if used[use.Budget] += use.Count; used[use.Budget] > max(d.problem.budgets.left[use.Budget], 0) {
				t.Levels[rulebook.LevelOverrun] += min(use.Count, used[use.Budget]-max(d.problem.budgets.left[use.Budget], 0))
			}
		}
	}
	d.scratch.amounts, d.scratch.sum = used, sum
	t.Excess = cost.Excess(sum, d.problem.Wanted, d.problem.Capacity)
	return t
}

// A boundState is what is left of bounds while units are taken one by one. There
// are as many bounds as queues with a guarantee, and the units of a node touch
// few of them. So a bound is copied when it is touched first.
type boundState struct {
	source []least.Bound
	left   []least.Bound // by row; a row counts if its stamp is the current one
	stamps []uint32
	stamp  uint32
}

// reset begins with all of the bounds, and no unit.
func (s *boundState) reset(bounds []least.Bound) {
	s.source = bounds
	for len(s.left) < len(bounds) {
		s.left, s.stamps = append(s.left, least.Bound{}), append(s.stamps, 0)
	}
	if s.stamp++; s.stamp == 0 { // it has gone round
		clear(s.stamps)
		s.stamp = 1
	}
}

// at returns what is left of a bound.
func (s *boundState) at(row int32) *least.Bound {
	b := &s.left[row]
	if s.stamps[row] != s.stamp {
		s.stamps[row] = s.stamp
		b.Room = resources.AddOnlyExisting(b.Room, s.source[row].Room, nil)
	}
	return b
}

// take takes a unit if every bound is kept then, and reports whether it has.
func (s *boundState) take(u *least.Unit) bool {
	s.change(u, resources.SubOnlyExisting)
	if s.keeps(u) {
		return true
	}
	// Nothing saturates here, so that this is exact.
	s.change(u, resources.AddOnlyExisting)
	return false
}

// change changes what is left of the bounds that a unit touches by its size.
func (s *boundState) change(u *least.Unit, room func(dst, l resources.Limit, v resources.Vector) resources.Limit) {
	for part := range u.All {
		for _, row := range part.Bounds {
			b := s.at(row)
			b.Room = room(b.Room, b.Room, part.Size)
		}
	}
}

// keeps reports whether the bounds that a unit touches are kept.
func (s *boundState) keeps(u *least.Unit) bool {
	for part := range u.All {
		for _, row := range part.Bounds {
			b := s.at(row)
			for t := range b.Room.Defined.All() {
				if b.Room.Value[t] < 0 {
					return false
				}
			}
		}
	}
	return true
}
