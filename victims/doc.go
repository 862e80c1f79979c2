// Package victims decides which running tasks should stop so that an ask may
// run: the inter-queue plan.
//
// # Use
//
// The caller tells a [Cluster] about nodes and tasks, and keeps telling it
// what changes. A [Planner] then answers one [Ask] at a time with a
// [Decision]: the ask fits, it waits for what is leaving already, there is a
// [Plan], or there is a [Refusal] that says why not and when to try again.
// Nothing happens until the caller applies the plan:
//
//	planner := victims.Planner{Cluster: cluster}
//	var d victims.Decision
//	if err := planner.Decide(&d, &ask, now); err != nil {
//		return err // something is wrong with the ask itself
//	}
//	if d.Outcome != victims.Refused {
//		err = cluster.Apply(&d.Plan) // grants the ask its place, marks the victims
//	}
//
// The caller then stops the victims, tells the cluster as each has gone
// ([Cluster.RemoveTask]), and starts the ask ([Cluster.Start]).
//
// [Cluster.Describe] writes a decision for people to read. [Planner.Explain]
// says, for one decision, what every queue, node and task was to it, and after
// a refusal which single rule would have to give.
//
// # The seven laws
//
// Amounts are effective usage: what is marked to leave counts as gone, and a
// granted ask counts as usage of its queue and node until it starts or is
// dropped. Tasks that are leaving, and tasks that can run on their node only,
// are never candidates.
//
//  1. Opting out is a strong suggestion, not a guarantee: opted-out victims
//     only where no plan does without, and then the fewest. It is the first
//     part of the [Cost]; see candidate.go.
//  2. No queue ends below its guarantee, or below what it had if that was
//     less, in any type and at every level. See [Rooms].
//  3. Never the same application. See candidate.go.
//  4. Only a queue under its guarantee triggers: each governed type of the ask
//     must be under there, and at least one must be governed. See
//     [queue.Tree.Trigger].
//  5. Only a queue over its guarantee gives. For a victim that reduces an open
//     need this follows from law 2.
//  6. Lower or equal effective priority only. See candidate.go.
//  7. Never outside the fence. See leaf.go.
//
// An ask that requires a node, such as that of a daemon set, is the exception:
// it can run nowhere else, so that laws 2, 4, 5 and 7, disabled queues and storm
// freedom do not bind it, and law 6 compares raw priorities.
//
// Storm freedom: victims come from outside the subtree of E, the lowest queue
// that governs a type of the ask (leaf.go). Then every applied plan
// makes the sum over queues and guaranteed types of min(usage, guaranteed)
// strictly larger, and law 2 lets no term shrink, so that on a fixed workload
// only so many plans can happen, however often victims come back.
//
// # The search
//
// What is left after the rules is a covering problem under packing bounds: a
// [Problem], which a [Worker] solves by branch and bound within a step budget.
// Asks, quotas and jobs pose it with different orders. Of all nodes and sets
// the plan is the one of least [Cost]; Proven says whether that is certain. In
// every case a plan is inclusion-minimal and legal as a whole.
//
// # Cost and memory
//
// A change of the cluster costs depth times types and a hash lookup. A
// decision is linear in nodes where the ask fits; else in queues and nodes, and
// in tasks at worst. The search comes on top. A warm planner allocates nothing
// beyond what the decision itself holds.
package victims
