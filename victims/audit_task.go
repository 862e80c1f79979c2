package victims

import (
	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// This file says of one task what the laws about single victims compare.

// exempt asks the caller whether the task is exempt now. From the end of its
// exemption on it is not.
func (x *auditCase) exempt(id TaskID) bool {
	if x.a.Exempt == nil {
		return false
	}
	// The answer is asked for anew: an auditor that trusted the planner's would
	// share its mistakes.
	until, exempt := x.a.Exempt(Exemption{Cluster: x.c, Task: id, Ask: x.ask, Now: x.now})
	return exempt && (until.IsZero() || x.now.Before(until))
}

// priorities returns the priority of a task and the highest that law 6 allows
// it. It lifts both itself, queue by queue: package fence, which the planner
// asks, is under audit too. A task of the own leaf must be strictly lower.
func (x *auditCase) priorities(r *taskRow, own bool) (have, most int64) {
	have, most = int64(r.priority), int64(x.ask.Priority)
	// For a required node priorities are raw. DESIGN.md, Required nodes.
	if !x.required() {
		c := x.tree.CommonAncestor(r.leaf, x.ask.Queue)
		have = finding.Climb{Tree: x.tree, Leaf: r.leaf, Below: c}.Lift(have)
		most = finding.Climb{Tree: x.tree, Leaf: x.ask.Queue, Below: c}.Lift(most)
	}
	if x.a.StrictPriority || own {
		most--
	}
	return have, most
}

// helped returns the types in which a task reduces an open need, as it was
// before the plan: the node's if the task is on the node, and that of a queue
// that contains both the task and the ask.
func (x *auditCase) helped(id TaskID) (types resources.Mask) {
	r := &x.c.tasks[id]
	// A type helps if the task has some of it and the ask wants some.
	useful := x.wants & resources.Positive(x.c.size(id))
	for i := range useful.All() {
		if r.node == x.plan.Node && x.free[i] < x.size[i] {
			types = types.With(i)
		}
	}
	for q := range x.tree.Up(x.tree.CommonAncestor(x.ask.Queue, r.leaf)) {
		most := x.tree.Max(q)
		for i := range (most.Defined & useful).All() {
			if m, _ := most.Bound(i); m-x.usage(q, i) < x.size[i] {
				types = types.With(i)
			}
		}
	}
	return types
}

// poor reports whether law 5 forbids a task of a leaf, which helps in some
// types: in none of them does every queue, from its leaf to below the common
// ancestor, use more than it guarantees. It returns the first queue that does
// not, and the type.
func (x *auditCase) poor(leaf queue.ID, helped resources.Mask) (q queue.ID, i int, poor bool) {
	for j := range helped.All() {
		at, over := x.exceeds(leaf, j)
		if over {
			return 0, 0, false
		}
		// The first is reported. All types have to be looked at, for one that
		// is over is enough.
		if !poor {
			q, i, poor = at, j, true
		}
	}
	return q, i, poor
}

// exceeds reports whether every queue from leaf to below the common ancestor
// with the ask uses more of type i than it is guaranteed, before the plan.
// Without a guarantee all usage is more. If not, it returns the first that
// does not.
func (x *auditCase) exceeds(leaf queue.ID, i int) (queue.ID, bool) {
	c := x.tree.CommonAncestor(leaf, x.ask.Queue)
	for q := range x.tree.Up(leaf) {
		if q == c {
			break
		}
		if g, ok := x.tree.Guaranteed(q).Bound(i); ok && x.usage(q, i) <= g {
			return q, false
		}
	}
	return 0, true
}
