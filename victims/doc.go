// Package victims decides which running tasks should stop so that an ask may
// run. It makes the plan between queues: who is under its guarantee takes from
// who is over.
//
// # Use
//
// The caller tells a [Cluster] about nodes and tasks, and keeps telling it
// what changes. A [Planner] then answers one [Ask] at a time with a
// [Decision]. The ask fits, or it waits for what is leaving already, or there is
// a [Plan], or there is a [Refusal] that says why not, and what would help.
// Nothing happens until the caller applies the plan:
//
//	planner := victims.Planner{Cluster: cluster}
//	var d victims.Decision
//	if err := planner.Decide(&d, &ask, now); err != nil {
//		return err // something is wrong with the ask itself
//	}
//	if d.Outcome != victims.Refused {
//		err = cluster.Apply(d.Plan.Change()) // grants the ask its place, marks the victims
//	}
//
// Then the caller stops the victims, tells the cluster as each has gone
// ([Cluster.RemoveTask]), and starts the ask ([Cluster.Start]).
//
// [Decision.Describe] writes a decision for people to read. [Planner.Explain]
// says what every queue, node and task was to a decision, and after a refusal
// which single rule would have to give. An [Auditor] checks plans, also those of
// other planners, and shares no code with the [Planner].
//
// # Options
//
// The fields of a [Planner] are its options. The zero value of each is the
// default.
//
// Set Filter if not every node can ever run an ask: node selectors, taints,
// affinity. Set Blockers if tasks are in the way whatever the amounts, such as
// the holder of a host port. A blocker is a victim of every plan for its node.
// Set Predicate if there is a test that depends on who goes:
//
//	planner.Filter = func(class int, n victims.NodeID) bool {
//		return zoneOf[n] == zones[class]
//	}
//	planner.Blockers = func(dst []victims.TaskID, ask *victims.Ask, n victims.NodeID) []victims.TaskID {
//		return append(dst, holders[port{n, portOf[ask.Key]}]...)
//	}
//
// Set Minimum if jobs are of no use below some number of members. A job that
// has it is a gang: members above the minimum go one by one, and with one more
// the whole job goes, wherever it runs:
//
//	planner.Minimum = func(job string) int { return minimums[job] }
//
// Budgets say how many tasks of a service may still be stopped. They are part
// of the cluster, because plans use them up. A hard budget is never overrun. A
// soft one makes a plan costlier:
//
//	err := cluster.SetBudget("web", victims.Budget{Left: 1, Hard: true})
//	task.Budgets = []string{"web"}
//
// Set Task.Cost if stopping a task costs something that the library cannot know,
// such as a fee or a slow start. The own costs of all victims add up, and count
// after ranks, priorities and stopped jobs.
//
// Set OwnLeaf if an ask may also take less important tasks of its own leaf.
// [OwnMet] is the safe choice; see there. A plan that does so says it in
// Plan.OwnLeaf, and exists only if there is no other.
//
// Set Stop to end decisions early, and Observe to count them.
//
// A scheduler that searches nodes by itself asks a [WhatIf] whether quota allows
// the victims that it has in mind.
//
// # The seven laws
//
// Amounts are effective usage: what is marked to leave counts as gone. A
// granted ask counts as usage of its queue and node until it starts or is
// dropped. Tasks that are leaving, and tasks that can run on their node only,
// are never candidates.
//
//  1. Opting out is a strong suggestion, not a guarantee. A plan has opted-out
//     victims only if no plan does without, and then the fewest. It is the first
//     level of the [Cost]; see [Eligible.Levels] in eligible.go. If the budget ends
//     before that is shown, Plan.Proof is [NoProof].
//  2. No queue ends below its guarantee, or below what it had if that was
//     less, in any type and at every level. See [Rooms] in guarantee.go.
//  3. Never the same application. See [Eligible.Veto] in eligible.go.
//  4. Only a queue under its guarantee triggers. Each type of the ask
//     that is governed must be under its guarantee there, and at least one must be
//     governed. See [queue.Tree.Trigger], which eligible.go asks.
//  5. Only a queue over its guarantee gives. For a victim that reduces an open
//     need this follows from law 2, and has no code of its own.
//  6. Lower or equal effective priority only. See [Eligible.Veto] in
//     eligible.go.
//  7. Never outside the fence. See vetoOf in eligible.go.
//
// Storm freedom: victims come from outside the subtree of E, the lowest queue
// that governs a type of the ask; see vetoOf in eligible.go. Take the sum of
// min(usage, guaranteed) over all queues and guaranteed types. By this rule every
// applied plan makes it larger, for law 2 lets no term shrink. So a fixed
// workload can only have so many plans, however often victims come back.
//
// An ask that requires a node, such as that of a daemon set, is the exception.
// It can run nowhere else. So laws 2, 4, 5 and 7, disabled queues and storm
// freedom do not bind it, and law 6 compares raw priorities.
//
// # The search
//
// What is left after the rules is a covering problem under packing bounds, which
// package [cover] solves by branch and bound within a step budget. Of all nodes
// and sets the plan is the one of least [Cost]; Plan.Proof says how much of that
// is certain. In every case no victim can be given back, and the plan is lawful
// as a whole.
//
// # Cost and memory
//
// A change of the cluster costs depth times types and a hash lookup. A
// decision is linear in nodes if the ask fits. Else it is linear in queues and
// nodes, and in tasks at worst. The search comes on top. A warm planner allocates
// nothing beyond what the decision itself holds.
//
// [cover]: https://pkg.go.dev/github.com/go-preempt/preempt/victims/cover
package victims
