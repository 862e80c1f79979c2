// SPDX-License-Identifier: Apache-2.0

// Package quota enforces a lowered max: it says which tasks of a queue should stop, without taking any queue
// below its guarantee.
//
// # Use
//
// Lower a max by [victims.Cluster.SetMax]. A [Timing] says when a queue is due, Policies.QuotaDelay later. An
// [Enforcer] says who stops in a queue, at once if you call it alone:
//
//	timing := quota.Timing{Cluster: cluster}
//	enforcer := quota.Enforcer{Cluster: cluster, Options: victims.Options{Enforced: timing.Running}}
//	var d victims.Decision
//
//	timing.Observe(now) // at the start, and after SetMax and SetTree
//	for q := range timing.Due(now) {
//		err := enforcer.Enforce(&d, q, now)
//		if err == nil && d.Outcome == victims.Preempts {
//			err = cluster.Apply(&d) // then stop d.Plan.Victims
//		}
//		if err := errors.Join(err, timing.End(q, now)); err != nil {
//			return err
//		}
//		// d.String() is for the administrator.
//	}
//
// Tell the cluster as each victim goes. What was short is due again after the delay.
//
// # Who goes
//
// The target is what effective usage has over the max. Grants count as usage and cannot be taken. Candidates
// are running tasks that share a type with the target and can run on other nodes. Fences, disabled queues,
// offsets, tolerations and own costs play no part.
//
// A leaf gives tasks in an [Order]. No guarantee is broken, and each victim is needed. A parent divides the
// target among its children by surplus, as [Parts] does; others are asked for what one cannot give. If that ends short,
// a search looks for the cheapest set that frees the target, or the most of it.
//
// A job with a minimum loses members down to it one by one, and then goes as a whole or not at all. Hard
// budgets are never overrun. See DESIGN.md, Quota.
//
// [victims.Enforcement] says how much stays over, and why; a [Slack] whether that may; victims.Auditor judges it.
package quota
