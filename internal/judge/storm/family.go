// SPDX-License-Identifier: Apache-2.0

package storm

import "iter"

// A Family is a set of universes: all that differ in guarantees, fences, the
// capacity of nodes, the tasks, and which of these are gangs, within limits.
type Family struct {
	Parents    []int  // the shape of the tree: of each queue its parent; the root comes first
	Nodes      int    // how many there are, all of the same capacity
	Capacities [2]int // from, to
	Tasks      int    // how many
	Sizes      int    // from 1 to
	Priorities int    // from 0 to one less
	Guarantees []int  // that a queue below the root may have; -1 is none
	Lowered    int    // what the max of each queue below the root may be lowered to; 0: it stays
	Fences     bool   // with every choice of leaves below a priority fence, too
	Offsets    bool   // with every choice of leaves that have an offset of 1, too
	OwnLeaves  bool   // with every choice of what leaves say of the own leaf
	Gangs      bool   // only with gangs that start together, of the last tasks of a leaf and a priority
	Racks      []int  // see [Universe]
	Rules      Rules
}

// All yields the universes of a family, of those that differ in the order of
// tasks only one. A universe is valid until the next.
func (f *Family) All() iter.Seq[*Universe] {
	return func(yield func(*Universe) bool) {
		u := &Universe{Rules: f.Rules, Racks: f.Racks, Queues: make([]Queue, len(f.Parents))}
		for q, parent := range f.Parents {
			u.Queues[q].Parent = parent
			if q > 0 && f.Lowered > 0 {
				u.Queues[q].Lowered = []int{f.Lowered}
			}
		}
		for range f.Nodes {
			u.Nodes = append(u.Nodes, make([]int, 1))
		}
		f.queues(u, 1, yield)
	}
}

// queues chooses for the queues from q on, and then the rest. It returns false
// if yield did.
func (f *Family) queues(u *Universe, q int, yield func(*Universe) bool) bool {
	if q == len(u.Queues) {
		return f.nodes(u, yield)
	}
	fences, offsets := []bool{false}, []int{0}
	if f.Fences && f.isLeaf(q) {
		fences = append(fences, true)
	}
	if f.Offsets && f.isLeaf(q) {
		offsets = append(offsets, 1)
	}
	own := []OwnLeaf{0}
	if f.OwnLeaves && f.isLeaf(q) {
		own = []OwnLeaf{1 + Never, 1 + Met, 1 + Branch}
	}
	of := &u.Queues[q]
	for _, g := range f.Guarantees {
		for _, of.Fence = range fences {
			for _, of.Offset = range offsets {
				for _, of.Own = range own {
					of.Guaranteed = []int{g}
					if !f.queues(u, q+1, yield) {
						return false
					}
				}
			}
		}
	}
	return true
}

func (f *Family) isLeaf(q int) bool {
	for _, parent := range f.Parents[1:] {
		if parent == q {
			return false
		}
	}
	return true
}

func (f *Family) nodes(u *Universe, yield func(*Universe) bool) bool {
	var leaves []int
	for q := 1; q < len(f.Parents); q++ {
		if f.isLeaf(q) {
			leaves = append(leaves, q)
		}
	}
	for capacity := f.Capacities[0]; capacity <= f.Capacities[1]; capacity++ {
		for _, n := range u.Nodes {
			n[0] = capacity
		}
		if !f.tasks(u, leaves, 0, yield) {
			return false
		}
	}
	return true
}

// tasks adds tasks whose kinds are numbered from a kind on.
func (f *Family) tasks(u *Universe, leaves []int, kind int, yield func(*Universe) bool) bool {
	if len(u.Tasks) == f.Tasks && f.Gangs {
		u.Minimum, u.Together = []int{0}, []bool{false}
		return f.gangs(u, 0, yield)
	}
	if len(u.Tasks) == f.Tasks {
		return yield(u)
	}
	for ; kind < len(leaves)*f.Sizes*f.Priorities; kind++ {
		u.Tasks = append(u.Tasks, Task{
			Leaf:     leaves[kind%len(leaves)],
			Size:     []int{1 + kind/len(leaves)%f.Sizes},
			Priority: kind / len(leaves) / f.Sizes,
		})
		more := f.tasks(u, leaves, kind, yield)
		u.Tasks = u.Tasks[:len(u.Tasks)-1]
		if !more {
			return false
		}
	}
	return true
}

// gangs chooses which of the tasks from one on are gangs, and how many members they need.
// It yields universes that have any.
func (f *Family) gangs(u *Universe, first int, yield func(*Universe) bool) bool {
	for first < len(u.Tasks) && u.Tasks[first].Job > 0 {
		first++
	}
	if first == len(u.Tasks) {
		return len(u.Minimum) == 1 || yield(u)
	}
	if !f.gangs(u, first+1, yield) {
		return false
	}
	var mates []int
	for i := first; i < len(u.Tasks); i++ {
		if t := &u.Tasks[i]; t.Leaf == u.Tasks[first].Leaf && t.Priority == u.Tasks[first].Priority {
			mates = append(mates, i)
		}
	}
	job := len(u.Minimum)
	of := func(job int) {
		for _, i := range mates {
			u.Tasks[i].Job = job
		}
	}
	for least := 2; least <= len(mates); least++ {
		of(job)
		u.Minimum, u.Together = append(u.Minimum, least), append(u.Together, true)
		more := f.gangs(u, first+1, yield)
		u.Minimum, u.Together = u.Minimum[:job], u.Together[:job]
		if of(0); !more {
			return false
		}
	}
	return true
}
