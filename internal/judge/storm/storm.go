// SPDX-License-Identifier: Apache-2.0

// Package storm explores small universes whole, to find out whether plans can
// follow each other for ever.
//
// A universe has a few queues, nodes and tasks. Each task runs on a node or
// waits, and so do jobs, whose members start together. A task that waits starts if
// there is room for it, or takes the place of others by a lawful plan; those are
// recreated at once and wait in turn. Others may move to other nodes in the same step.
// The max of a queue may be lowered at any time, once, and from then on its quota is
// enforced whenever it is over it. A storm is a cycle of such states. To start makes more
// tasks run, to have others move for that as well, and to enforce makes less be over: a
// cycle has a plan with victims in it.
//
// [Universe.Storm] looks at every state, every order of starts, plans and
// enforcements, and every lawful plan, and returns a shortest cycle or none. That there is none is
// a proof for this universe. Its laws are written down here once more, as
// short as they can be; tests hold them to those of the library. A rule can be
// switched off, which shows what it is good for. [Universe.Rest] tells how a
// universe without a storm comes to rest.
//
// # Why met and branch have none
//
// (DESIGN.md, The own leaf.) Let y ≺ x mean that y is strictly lower than x, both lifted to
// below their common ancestor. To lift is monotone, so ≺ has no cycle. The set of met pairs
// (queue, type) only grows, so it is constant on a cycle of states. Of the plans on such a cycle
// to which law 4 entitles take one whose needy queue E lies deepest, for its ask b and a type t
// that is not met at E.
//
//   - b must fall again. Who takes it has its leaf below E, for law 2 lets nobody else take a
//     user of t there.
//   - The taker x is strictly higher: b ≺ x. If law 4 entitles x, its own E is this one or
//     further up, for this one lies deepest. So b is below x's E, and x may take it as one of
//     its own leaf or branch only. If law 4 does not, x has nobody but those, or is a job by
//     priority, and all of these must be strictly lower.
//   - x uses t: at a queue of its path that is not met, law 2 lets usage fall only in types that
//     x uses.
//
// So x must fall in turn, to a strictly higher one that uses t below E, and so on without end,
// but there are finitely many tasks. So the cycle has no plan to which law 4 entitles, and the
// other plans alone ascend as well. The proof asks nothing of which plan is cheapest, of whether
// the first stage has one, or of when those that are granted start. A plan of a leaf that says
// never or met is one that branch allows, so leaves may differ in what they say. Moves change no
// usage, and plans that only move place one more.
package storm

import (
	"fmt"
	"strings"
)

// A Queue is a queue of a universe. Amounts are per type.
type Queue struct {
	Parent     int   // its number, smaller than the queue's own; that of the root, 0, plays no part
	Guaranteed []int // below 0, or missing: no guarantee
	Max        []int // below 0, or missing: no bound
	Lowered    []int // what its max may be lowered to at any time; empty: it stays as it is
	Fence      bool  // priority.policy: fence
	Offset     int   // priority.offset
	Keeps      bool  // preemption.policy: fence, so that asks from below take nobody outside
	Disabled   bool  // of a leaf: its tasks are protected
	// Own is one more than what asks of the leaves below may take of their own; 0: what
	// the queue above says, and at the root that of the rules.
	Own OwnLeaf
}

// A Task is a task of a universe, which runs or waits.
type Task struct {
	Leaf     int
	Size     []int
	Priority int
	Job      int // the gang that it is a member of; 0 is none
}

// A Universe is a workload and the rules for it.
type Universe struct {
	Queues []Queue // the root is the first
	Nodes  [][]int // capacities
	Tasks  []Task
	// By job, of which 0 plays no part: how many members it needs, and whether
	// they start together, by plans of package jobs. The members of such a job
	// are of one leaf and one priority, those that run included.
	Minimum  []int
	Together []bool
	Racks    []int // by node; jobs whose members start together are in one rack; empty: anywhere
	Rules    Rules
}

// Rules are the options of the planner, and which rule of the design is
// switched off. The zero value is the design as it is.
type Rules struct {
	OwnLeaf OwnLeaf
	Moves   Moves
	// ByPriority lets jobs take by priority, whatever their queue is guaranteed. If it is
	// Mixed, those with odd numbers only.
	ByPriority, Mixed bool
	// Grants has those that take others' places hold a grant first, as nobody's victim,
	// and start later.
	Grants bool
	// Inside lets an ask take tasks inside the queue that starves.
	Inside bool
	// Stops lets an ask that has others move stop tasks whether or not law 4 entitles it.
	Stops bool
	// Least has an ask take a plan of least cost only, of all that are lawful.
	// Costs are compared as far as they do not depend on when a task started.
	Least bool
	// Ignored are the types, as bits, whose guarantees do not count for asks and jobs. For quotas
	// all do.
	Ignored uint
	// Strict spares tasks of equal effective priority.
	Strict bool
	// Fair has plain tasks preempt as Kueue's fair sharing does, in place of the laws. A
	// queue's guarantee is its quota.
	Fair bool
	// HighestFirst lets a task that waits act only if no task of higher raw
	// priority that waits can.
	HighestFirst bool
}

// OwnLeaf says whether less important tasks of the ask's own leaf, or of its branch, may
// go. See DESIGN.md, The own leaf.
type OwnLeaf int

const (
	Never OwnLeaf = iota
	Met
	Branch
	// Any is a rule of others: a queue may fall below its guarantee for its own work.
	Any
)

// Moves says who may have others move: nobody, those whom law 4 entitles, or all. Without law 4
// nobody stops for that but tasks of the own leaf, or branch. See DESIGN.md, Moves.
type Moves int

const (
	MovesNever Moves = iota
	MovesEntitled
	MovesAny
)

// A Step is what one task, or a job, or a quota does.
type Step struct {
	Tasks   []int
	Nodes   []int // of each of the tasks; none if its grant starts
	Victims []int
	Movers  []int // if there are none either, the tasks start in free room
	To      []int // by mover: a node
	Quota   bool  // no task does anything: the max of Queue is lowered, or enforced if there are victims
	Queue   int
}

// A Cycle is a storm: after the last step all is as it was before the first.
type Cycle struct {
	Running []int // before the first step: the node of each task, or -1
	Steps   []Step
}

// String tells the story, with tasks by their numbers.
func (c *Cycle) String() string {
	var b strings.Builder
	fmt.Fprint(&b, "running:")
	for task, node := range c.Running {
		if node >= 0 {
			fmt.Fprintf(&b, " %d", task)
		}
	}
	for _, s := range c.Steps {
		b.WriteString(";")
		for _, t := range s.Tasks {
			fmt.Fprintf(&b, " %d", t)
		}
		if s.Quota {
			fmt.Fprintf(&b, " the quota of queue %d", s.Queue)
		}
		switch {
		case len(s.Victims) > 0:
			b.WriteString(" takes")
		case s.Quota:
			b.WriteString(" is lowered")
		default:
			b.WriteString(" starts")
		}
		for _, v := range s.Victims {
			fmt.Fprintf(&b, " %d", v)
		}
		for i, m := range s.Movers {
			fmt.Fprintf(&b, ", %d moves to node %d", m, s.To[i])
		}
	}
	return b.String()
}
