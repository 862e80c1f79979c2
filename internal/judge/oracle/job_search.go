// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"iter"
	"slices"

	"github.com/go-preempt/preempt/internal/judge/world"
)

// best returns the cost of the cheapest lawful plan, looking at every domain,
// every set of candidates and every way to place the members.
func (h *jobJudge) best() (best JobCost, ok bool) {
	for _, d := range h.domains() {
		if cost, found := d.bestHere(); found && (!ok || cost.Compare(h.o.Levels, &best) < 0) {
			best, ok = cost, true
		}
	}
	return best, ok
}

// bestHere is best for the domain of the judge.
func (h *jobJudge) bestHere() (best JobCost, ok bool) {
	candidates := h.candidates()
	if !h.hopeful(candidates) {
		return best, false
	}
	for _, set := range h.sets(candidates) {
		if ok && len(h.o.Levels) == 0 && set.compareFirst(&best) > 0 {
			break // so are all that follow
		}
		if h.unlawful(set.victims) != "" {
			continue
		}
		for nodes := range h.seatings(h.later.without(set.victims)) {
			h.placeAt(&set.cost, set.victims, nodes)
			if !ok || set.cost.Compare(h.o.Levels, &best) < 0 {
				best, ok = set.cost, true
			}
		}
	}
	return best, ok
}

// candidates returns the tasks that no law about a single victim forbids.
func (h *jobJudge) candidates() (list []*world.Task) {
	for i := range h.w.Tasks {
		if v := &h.w.Tasks[i]; h.forbids(v) == "" {
			list = append(list, v)
		}
	}
	return list
}

// hopeful reports whether there would be room with every candidate gone. Each
// set of them leaves less.
func (h *jobJudge) hopeful(candidates []*world.Task) bool {
	_, ok := h.fitsHere(h.later.without(candidates))
	return ok
}

// set is a set of victims, and what it costs before the members have places.
type set struct {
	victims []*world.Task
	cost    JobCost
}

// subsets yields every set of some tasks.
func subsets(tasks []*world.Task) iter.Seq[[]*world.Task] {
	return func(yield func([]*world.Task) bool) {
		for chosen := range 1 << len(tasks) {
			var some []*world.Task
			for i, v := range tasks {
				if chosen>>i&1 != 0 {
					some = append(some, v)
				}
			}
			if !yield(some) {
				return
			}
		}
	}
}

// sets returns every set of candidates, the cheapest by parts (a) to (f2) first.
func (h *jobJudge) sets(candidates []*world.Task) (sets []set) {
	for victims := range subsets(candidates) {
		sets = append(sets, set{victims, h.cost(victims)})
	}
	slices.SortStableFunc(sets, func(a, b set) int { return a.compareFirst(&b.cost) })
	return sets
}

// any reports whether there is a lawful plan, of any cost.
func (h *jobJudge) any() bool {
	for _, d := range h.domains() {
		candidates := d.candidates()
		if !d.hopeful(candidates) {
			continue
		}
		for victims := range subsets(candidates) {
			if d.unlawful(victims) != "" {
				continue
			}
			for range d.seatings(d.later.without(victims)) {
				return true
			}
		}
	}
	return false
}

// compareFirst orders sets by what does not depend on the places, but for work, which comes after.
func (s *set) compareFirst(d *JobCost) int {
	return s.cost.compareBy(byDefault[:slices.Index(byDefault, "work")], &d.Losses)
}

// seatings yields every way to place the members of the minimum in some state
// of the nodes, as a place in node order for each member, in lexical order. The
// slice is reused.
func (h *jobJudge) seatings(s stock) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		free := cloneAll(s.free)
		h.seat(free, make([]int, 0, len(h.members)), yield)
	}
}

// seat places the next member at each node that has room for it beside those
// before it, and the others after it. It reports whether to go on.
func (h *jobJudge) seat(free map[string]world.Amounts, nodes []int, yield func([]int) bool) bool {
	if len(nodes) == len(h.members) {
		return yield(nodes)
	}
	m := h.members[len(nodes)]
	for n := range h.w.Nodes {
		node := &h.w.Nodes[n]
		if !h.takes(node, m) || !roomFor(free[node.Name], m.Size) || h.refuses(node, m, nodes) {
			continue
		}
		for t, v := range m.Size {
			free[node.Name][t] -= v
		}
		goOn := h.seat(free, append(nodes, n), yield)
		for t, v := range m.Size {
			free[node.Name][t] += v
		}
		if !goOn {
			return false
		}
	}
	return true
}

// takes reports whether the node may be given to the member at all: reserved
// are nodes for a member, or for all of the job.
func (h *jobJudge) takes(n *world.Node, m *world.Member) bool {
	return h.inDomain(n) && h.mayUse(n, m)
}

// mayUse is takes, whatever domain the job requires.
func (h *jobJudge) mayUse(n *world.Node, m *world.Member) bool {
	return n.Has(m.Selector) && !n.Unschedulable && (n.ReservedFor == "" || n.ReservedFor == m.Key || n.ReservedFor == h.c.Job.Name)
}

// refuses reports whether the caller's predicate refuses the node for the
// member, given the places of those before it.
func (h *jobJudge) refuses(n *world.Node, m *world.Member, nodes []int) bool {
	if !h.c.Apart && len(h.c.Refused) == 0 {
		return false
	}
	return h.c.Refuses(m.Key, n.Name, append(slices.Clone(h.earlier), h.names(nodes)...))
}

// roomFor reports whether the free space has the size, in types that it wants.
func roomFor(free, size world.Amounts) bool {
	for t, v := range size {
		if v > 0 && v > free[t] {
			return false
		}
	}
	return true
}
