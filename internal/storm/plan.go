package storm

import (
	"cmp"
	"math/bits"
	"slices"
)

// A plan is one of the things that a task can do.
type plan struct {
	task, node int
	victims    uint64
	cost       cost
}

// cost are the levels of the cost of a plan that do not depend on time, as far
// as small universes have them.
type cost [7]int

// acts appends what the task can do in the present state: start, wherever
// it fits, or else take others' places.
func (w *world) acts(dst []plan, task int) []plan {
	if w.place[task] >= 0 {
		return dst
	}
	first := len(dst)
	a := w.ask(task, false)
	for node := range w.Nodes {
		if a.fits(node) {
			dst = append(dst, plan{task: task, node: node})
		}
	}
	for _, second := range []bool{false, true} {
		if len(dst) > first || second && w.Rules.OwnLeaf == Never {
			break
		}
		a.second = second
		if a.refused() {
			continue
		}
		for node := range w.Nodes {
			dst = a.plans(dst, node)
		}
	}
	if w.Rules.Least && len(dst) > first {
		dst = cheapest(dst, first)
	}
	return dst
}

// plans appends every lawful plan for a node of which no part would do.
func (a *question) plans(dst []plan, node int) []plan {
	var candidates, useful uint64
	for i := range a.Tasks {
		if a.place[i] < 0 || !a.may(i) {
			continue
		}
		if a.helps(i, node) {
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
		if slices.ContainsFunc(dst[first:], part) || !a.room(node, victims) ||
			!a.gangs(victims, useful) || !a.guarantees(victims) {
			continue
		}
		dst = append(dst, plan{a.ask, node, victims, a.cost(node, victims)})
	}
	return dst
}

// cost returns what a plan costs.
func (a *question) cost(node int, victims uint64) cost {
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
		running := a.jobs[job] & a.running
		if left := running &^ victims; left != running && bits.OnesCount64(left) < a.Minimum[job] {
			c[2]++
		}
	}
	c[6] = a.excess(node, victims)
	return c
}

// excess is what is freed beyond need. Of several types the largest share of
// the cluster counts, told here in shares of the product of all capacities.
func (a *question) excess(node int, victims uint64) (most int) {
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
		if size := a.size(a.ask, t); size > 0 {
			need = size - a.free[node*a.types+t]
			for _, q := range a.path {
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
