// SPDX-License-Identifier: Apache-2.0

// Package quota enforces a lowered max: it says which tasks of a queue should stop,
// without taking any queue below its guarantee.
//
// # Use
//
// A [Timing] is told of changes of max and delay, and says which queues are due. An
// [Enforcer] decides for one queue at a time:
//
//	enforcer := quota.Enforcer{Cluster: cluster, Options: victims.Options{Enforced: timing.Running}}
//	var o quota.Outcome
//	for q, ok := timing.Begin(now); ok; q, ok = timing.Begin(now) {
//		if err := enforcer.Enforce(&o, quota.Quota{Queue: q, Max: tree.Max(q)}, now); err != nil {
//			return err // something is wrong with the max
//		}
//		if err := cluster.ApplyChange(o.Change()); err != nil {
//			return err // the cluster has changed since
//		}
//		// Stop o.Victims; o.Describe(cluster) is for the administrator.
//	}
//
// Tell the cluster as each victim goes, and end the run with [Timing.End]. What was short
// is due again after the delay.
//
// # Who goes
//
// The target is [Preemptable] of effective usage. Grants count as usage and cannot be
// taken. Candidates are running tasks that share a type with the target and can run on
// other nodes. Fences, disabled queues, offsets, tolerations and own costs play no part.
//
// A leaf gives tasks in an [Order]. No guarantee is broken, and no victim can be given
// back. A parent divides the target among its children in proportion to surplus, in whole
// units by largest remainder, ties in tree order; what one cannot give, others are asked
// for. If that ends short, a search looks for the cheapest set that frees the target, or
// the most of it.
//
// A job with a minimum ([victims.Cluster.SetMinMembers]) loses members down to it one by one, and then
// goes as a whole or not at all. Hard budgets are never overrun; [Outcome].Overrun tells
// of soft ones. See DESIGN.md, Quota.
//
// # The outcome
//
// Shortfall says how much stays over, and Stops what keeps it. A [Miss] changes only what
// the outcome is called. The same calls give the same outcome, whatever the order in
// which tasks were added.
package quota
