// SPDX-License-Identifier: Apache-2.0

// Package quota enforces a lowered max: which tasks of a queue should stop so that its
// usage comes within it, never below any guarantee.
//
// # Use
//
// A [Timing] is told of changes of max and delay, and says which queues are due. An
// [Enforcer] decides for one queue at a time, and changes nothing:
//
//	enforcer := quota.Enforcer{Cluster: cluster, Enforced: timing.Running}
//	var o quota.Outcome
//	for q, ok := timing.Begin(now); ok; q, ok = timing.Begin(now) {
//		if err := enforcer.Enforce(&o, quota.Quota{Queue: q, Max: tree.Max(q)}, now); err != nil {
//			return err // something is wrong with the max
//		}
//		if err := cluster.Apply(o.Change()); err != nil {
//			return err // the cluster has changed since
//		}
//		// Stop o.Victims; o.Describe(cluster) is for the administrator.
//	}
//
// Tell the cluster as each victim has gone, and end the run with [Timing.End]. What
// was short is due again after the delay. A [Quota] with another max makes a dry run
// of setting it.
//
// # Who goes
//
// What has to go is [Preemptable] of effective usage. Grants count as usage and cannot
// be taken. Candidates are running tasks that share a type with the target and are not
// bound to their node. Fences, disabled queues, offsets, tolerations and own costs
// play no part.
//
// A leaf gives tasks in an [Order]. Each must leave every guarantee whole; each victim
// that stays is needed. A parent divides the target among its children in proportion
// to surplus, in whole units by largest remainder, ties in tree order; what one cannot
// give, others are asked for. If the walk ends short, a search looks for the cheapest
// set that frees the target, or the most of it.
//
// A job with a minimum (Enforcer.Minimum) loses members down to it one by one, and
// then goes as a whole or not at all. A task that would take more than a hard budget
// has left is passed over; [Outcome].Overrun tells of soft ones. The reasons are in
// DESIGN.md, Quota.
//
// # The outcome
//
// See [Result]. Shortfall says how much stays over, and Stops what keeps it. A [Miss]
// changes only what the outcome is called. [Exact] forbids to free more than is asked
// for. The same calls give the same outcome, whatever the order in which tasks were
// added. An [Auditor] judges outcomes.
package quota
