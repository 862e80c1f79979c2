// SPDX-License-Identifier: Apache-2.0

// Package victims has what a scheduler decides about, a [Cluster] of nodes and tasks, and what a [Decision] says: which
// running tasks should stop so that an [Ask], a task without a node, may run. Queues under their guarantees take from
// queues over theirs. The planner, which decides, is in package [github.com/go-preempt/preempt/jobs].
//
// # Use
//
// Tell a [Cluster] about nodes and tasks. A jobs.Planner answers an [Ask] by a [Decision]: the ask fits, it waits for
// what is leaving, there is a [Plan], or a [Refusal] says why not and what would help. Nothing happens until you
// apply it:
//
//	planner := jobs.Planner{Cluster: cluster}
//	var d victims.Decision
//	if err := planner.Decide(&d, &ask, now); err != nil {
//		return err // something is wrong with the ask itself
//	}
//	if d.Outcome != victims.Refused {
//		err = cluster.Apply(&d) // grants the ask its place, marks the victims
//	}
//
// Then stop the victims, call [Cluster.RemoveTask] as each goes, and [Cluster.Start] the ask.
//
// [Decision.String] says why in words, an [Explanation] what every queue, node and task was to a decision. An
// [Auditor] judges decisions of any planner. A [WhatIf] serves a scheduler that searches nodes itself. For types of
// your own there are [Traits] and package cover.
//
// # Options
//
// Planners and auditors of asks, gangs and quotas share [Options]. A filter says where those of a class may
// run. Blockers are tasks that are in the way whatever the amounts:
//
//	planner.Filter = func(q *victims.Question) bool {
//		return zoneOf[q.Node] == zones[q.Member.Class]
//	}
//	planner.Blockers = func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
//		return append(dst, holders[port{q.Node, portOf[q.Member.Key]}]...)
//	}
//
// # Laws and cost
//
// Every plan keeps the seven laws of the manual. It needs each victim. It has the least [Cost] of all nodes and
// sets of victims; Plan.Proof says how much of that is certain, Refusal.Proven whether there is no plan at all.
//
// # Complexity and memory
//
// A change of the cluster costs O(depth·types) and a hash lookup. A decision is linear in nodes if the ask
// fits, else in queues and nodes, in tasks at worst. A search within a budget of steps follows.
//
// Planners, auditors and what-ifs serve one goroutine at a time, must not be copied after their first use, and
// never change the cluster. They reuse their memory and that of results: keep a [Decision.Clone].
package victims
