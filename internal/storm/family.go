package storm

import "iter"

// A Family is a set of universes: all that differ in guarantees, fences, the
// capacity of nodes, and the tasks, within limits.
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
	Rules      Rules
}

// All yields the universes of a family, of those that differ in the order of
// tasks only one. A universe is valid until the next.
func (f *Family) All() iter.Seq[*Universe] {
	return func(yield func(*Universe) bool) {
		u := &Universe{Rules: f.Rules, Queues: make([]Queue, len(f.Parents))}
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
	fences := []bool{false}
	if f.Fences && f.isLeaf(q) {
		fences = append(fences, true)
	}
	for _, g := range f.Guarantees {
		for _, fence := range fences {
			u.Queues[q].Guaranteed, u.Queues[q].Fence = []int{g}, fence
			if !f.queues(u, q+1, yield) {
				return false
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
