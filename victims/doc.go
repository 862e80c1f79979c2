// SPDX-License-Identifier: Apache-2.0

// Package victims decides which running tasks should stop so that an ask, a task without
// a node, may run. Queues under their guarantees take from queues over theirs.
//
// # Use
//
// Tell a [Cluster] about nodes and tasks, and what changes. A [Planner] answers one [Ask]
// at a time with a [Decision]: the ask fits, it waits for what is leaving already, there
// is a [Plan], or there is a [Refusal] that says why not and what would help. Nothing
// happens until you apply the plan:
//
//	planner := victims.Planner{Cluster: cluster}
//	var d victims.Decision
//	if err := planner.Decide(&d, &ask, now); err != nil {
//		return err // something is wrong with the ask itself
//	}
//	if d.Outcome != victims.Refused {
//		err = cluster.Apply(&d) // grants the ask its place, marks the victims
//	}
//
// Then stop the victims, call [Cluster.RemoveTask] as each goes, and [Cluster.Start] the
// ask.
//
// [Decision.Describe] writes a decision for people. [Planner.Explain] says what every
// queue, node and task was to it. An [Auditor] checks decisions, also those of other
// planners. A [WhatIf] serves a scheduler that searches nodes by itself.
//
// # Options
//
// Planners and auditors of asks, gangs and quotas share [Options]; zero values are defaults. A
// filter says where those of a class may run, and blockers are tasks that are in the way
// whatever the amounts:
//
//	planner.Filter = func(q *victims.Question) bool {
//		return zoneOf[q.Node] == zones[q.Member.Class]
//	}
//	planner.Blockers = func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
//		return append(dst, holders[port{q.Node, portOf[q.Member.Key]}]...)
//	}
//
// A running job with a minimum is a gang ([Cluster.SetMinMembers]). Budgets are part of the cluster
// ([Cluster.SetBudget]).
//
// # Laws and cost
//
// Every plan keeps the seven laws (package preempt lists them; DESIGN.md, The seven
// laws). No victim can be given back. Of all nodes and sets of victims the plan has the
// least [Cost]; Plan.Proof says how much of that is certain.
//
// # Where things are
//
// A decision (plan.go) looks for room, then for victims. plan_problem.go, plan_rows.go and
// plan_headroom.go state each node as a problem of internal/least, which has the bounds, the
// frontier of nodes and the search; plan_search.go shares out the budget that planner.go sets.
// Every set passes decision.offer, which holds it to all limits, law 2 among them, and
// decision.proof says what was shown. gang.go has gangs and disruption budgets, court_laws.go
// the laws as auditors know them.
//
// # Complexity and memory
//
// A change of the cluster costs O(depth·types) and a hash lookup. A decision is linear in
// nodes if the ask fits. Else it is linear in queues and nodes, in tasks at worst; a
// search within a budget of steps follows.
//
// Planners, auditors and what-ifs serve one goroutine at a time, must not be copied
// after their first use, and never change the cluster. They reuse their memory and
// that of the results that you pass: a warm one allocates only what a growing result
// needs.
package victims
