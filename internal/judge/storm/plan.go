// SPDX-License-Identifier: Apache-2.0

package storm

import (
	"cmp"
	"math/bits"
	"slices"
)

// A plan is one of the things that a task, a job, or a quota can do.
type plan struct {
	there   where // who arrives
	victims uint64
	movers  uint64
	cost    cost
	quota   int    // its queue and one, if it is what a quota does
	lowers  uint64 // the bit of it if its max is lowered now
	begins  uint64 // whose grant starts
}

// cost are the levels of the cost of a plan that do not depend on time, as far
// as small universes have them. Of movers it is the number alone.
type cost [8]int

// acts appends what the task can do in the present state: start, wherever
// it fits, or else take others' places.
func (w *world) acts(dst []plan, task int) []plan {
	switch job := w.Tasks[task].Job; {
	case w.granted>>task&1 == 1:
		return append(dst, plan{begins: 1 << task})
	case w.place[task] >= 0:
		return dst
	case job > 0 && job < len(w.Together) && w.Together[job]:
		return w.jobActs(dst, task)
	}
	a := w.ask(1 << task)
	dst, starts := a.starts(dst)
	return a.takes(dst, starts)
}

// jobActs is acts for a job whose members start together: as many as it needs,
// and then others in free room only. The first that waits acts for all.
func (w *world) jobActs(dst []plan, task int) []plan {
	job := w.Tasks[task].Job
	waiting := w.jobs[job] &^ w.running
	if bits.TrailingZeros64(waiting) != task {
		return dst
	}
	if bits.OnesCount64(w.jobs[job]&w.running) >= w.Minimum[job] {
		a := w.jobAsk(1 << task)
		dst, _ = a.starts(dst)
		return dst
	}
	members := w.required(job)
	if members == 0 {
		return dst // it never has enough of them
	}
	a := w.jobAsk(members)
	dst, starts := a.starts(dst)
	return a.takes(dst, starts)
}

// required returns the members that a job needs and that wait: the first ones. There are
// none if it has what it needs, and if it never can have.
func (w *world) required(job int) (members uint64) {
	waiting := w.jobs[job] &^ w.running
	missing := w.Minimum[job] - bits.OnesCount64(w.jobs[job]&w.running)
	if bits.OnesCount64(waiting) < missing {
		return 0
	}
	for ; missing > 0; missing-- {
		members |= waiting & -waiting
		waiting &= waiting - 1
	}
	return members
}

// places calls for every way to place those who arrive on nodes.
func (a *question) places(members uint64, do func()) {
	if members == 0 {
		if a.oneRack(a.job) {
			do()
		}
		return
	}
	first := members & -members
	for n := range a.Nodes {
		a.there[n] |= first
		a.places(members&^first, do)
		a.there[n] &^= first
	}
}

// starts appends the ways to start in free room, and reports whether there are
// any.
func (a *question) starts(dst []plan) ([]plan, bool) {
	first := len(dst)
	a.places(a.members, func() {
		if a.room(0) {
			dst = append(dst, plan{there: a.there})
		}
	})
	return dst, len(dst) > first
}

// takes appends the plans with victims, if there is no way to start.
func (a *question) takes(dst []plan, starts bool) []plan {
	if a.Rules.Fair && a.job == 0 {
		if !starts {
			a.places(a.members, func() { dst = a.fairPlans(dst) })
		}
		return dst
	}
	if starts {
		return dst
	}
	first := len(dst)
	stages := []bool{a.second}
	if !a.byPriority && a.own != Never {
		stages = []bool{false, true}
	}
	a.move(0, func() {
		before := len(dst)
		for _, a.second = range stages {
			if len(dst) == before {
				a.places(a.members, func() { dst = a.plans(dst) })
			}
		}
	})
	if a.Rules.Least && len(dst) > first {
		dst = cheapest(dst, first)
	}
	return dst
}

// plans appends every lawful plan for the nodes, beside the movers, of which no part would
// do: nobody stops if there is room when they have moved.
func (a *question) plans(dst []plan) []plan {
	if a.movers != 0 && a.room(0) {
		return append(dst, a.plan(0))
	}
	if a.refused() {
		return dst
	}
	var candidates, useful uint64
	for i := range a.Tasks {
		if a.place[i] < 0 || !a.may(i) {
			continue
		}
		if a.helps(i) {
			useful |= 1 << i
		}
		if useful>>i&1 == 1 || a.Tasks[i].Job > 0 {
			candidates |= 1 << i
		}
	}
	first := len(dst)
	// Subsets in ascending order: a part of a set comes before the set.
	for victims := (0 - candidates) & candidates; victims != 0; victims = (victims - candidates) & candidates {
		part := func(p plan) bool { return p.victims&^victims == 0 }
		if slices.ContainsFunc(dst[first:], part) || !a.room(victims) ||
			!a.gangs(victims, useful) || !a.guarantees(victims) {
			continue
		}
		dst = append(dst, a.plan(victims))
	}
	return dst
}

func (a *question) plan(victims uint64) plan {
	return plan{there: a.there, victims: victims, movers: a.movers, cost: a.cost(victims)}
}

// cost returns what a plan costs.
func (a *question) cost(victims uint64) cost {
	const least = -1 << 31
	c := cost{0: least, 1: least}
	for left := victims; left != 0; left &= left - 1 {
		i := bits.TrailingZeros64(left)
		c[0] = max(c[0], a.rank[i][a.ask])
		c[1] = max(c[1], a.Tasks[i].Priority)
		c[3]++
		c[4] += a.rank[i][a.ask]
		c[5] += a.Tasks[i].Priority
	}
	for job := 1; job < len(a.jobs); job++ {
		running := a.jobs[job] & a.running &^ a.granted
		if left := running &^ victims; left != running && bits.OnesCount64(left) < a.Minimum[job] {
			c[2]++
		}
	}
	c[6], c[7] = bits.OnesCount64(a.movers), a.excess(victims)
	return c
}

// excess is what is freed beyond need. Of several types the largest share of
// the cluster counts, told here in shares of the product of all capacities.
func (a *question) excess(victims uint64) (most int) {
	product := 1
	total := make([]int, a.types)
	for t := range a.types {
		for _, capacity := range a.Nodes {
			total[t] += amount(capacity, t, 0)
		}
		total[t] = max(total[t], 1)
		product *= total[t]
	}
	for t := range a.types {
		need := 0
		for n := range a.Nodes {
			need += max(0, a.sum(a.there[n], t)-a.frees(n, t, 0))
		}
		for _, q := range a.path {
			if size := a.arrives(t); size > 0 {
				need = max(need, a.used[q*a.types+t]+size-a.most(q, t))
			}
		}
		most = max(most, max(0, a.sum(victims, t)-max(0, need))*(product/total[t]))
	}
	return most
}

// cheapest keeps the plans of least cost, from the first on.
func cheapest(dst []plan, first int) []plan {
	compare := func(p, q plan) int {
		return cmp.Compare(slices.Compare(p.cost[:], q.cost[:]), 0)
	}
	least := slices.MinFunc(dst[first:], compare)
	kept := slices.DeleteFunc(dst[first:], func(p plan) bool { return compare(p, least) > 0 })
	return dst[:first+len(kept)]
}
