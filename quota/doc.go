// Package quota enforces a lowered quota: which tasks of a queue should stop so
// that its usage comes within its max.
//
// A queue whose max is lowered may use more than that for days, until its tasks
// end by themselves. So after a delay some of them are preempted, never below
// any guarantee. Package quota says when, who, and what cannot be had.
//
// # Use
//
// A [Timing] is the value that tells when: it is told of each change of max and
// delay, and asked which queues are due. An [Enforcer] then decides for one
// queue at a time, and never changes anything:
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
// The caller's duties are:
//
//  1. to tell the Timing of settings and the cluster of tasks;
//  2. to apply a change, so that its victims count as leaving for whoever asks
//     next, and to stop them;
//  3. to tell the cluster as each has gone, with Cluster.RemoveTask;
//  4. to end the run, with [Timing.End]. What was short is due again after the
//     delay.
//
// A [Quota] with another max than the queue's own makes a dry run of setting it.
//
// # The target
//
// What has to go is [Preemptable]: per type that max bounds, what effective
// usage e = u - p has beyond it. What is leaving counts as gone. Asks that were
// granted a place count as usage; they cannot be taken, and the outcome names
// them.
//
// Candidates are running tasks that share a type with the target and can run
// elsewhere. Fences, disabled queues, priority offsets and tolerations play no
// part: nobody asks, so there is nobody to compare with. Own costs of tasks
// play no part either.
//
// # A leaf
//
// Tasks are taken in order until the target is met: plain before originators,
// lower priority first, opted-in before opted-out, younger, smaller, key; see
// [Order], which has others too. Law 2 holds at the leaf and at every queue above
// it, in every type: a task that would bring one of them below its guarantee is
// skipped. What is not needed in the end is given back, the most valuable first: each
// victim that stays is needed for at least one type. If the walk ends short, a search by
// package victims/cover finds the cheapest set that meets the target, if there is
// one: it is complete up to [CompleteCandidates] tasks, and beyond that ends
// with its budget of steps. Outcome.Proven says whether one did.
//
// # Gangs and budgets
//
// A job for which Enforcer.Minimum knows a minimum loses members one by one, in
// the order, as long as more run than it needs. What is left then stands in the
// order at the place of its last member, and goes as a whole or not at all. It can
// go only if all that run are in one leaf, and none is bound to its node. Law 2
// is asked of all of them together. The outcome names the jobs that go.
//
// A hard budget of the cluster is a wall: a task that would take more of it than is
// left is passed over. A soft budget changes nothing; Outcome.Overrun tells by
// how much it is overrun.
//
// # A parent
//
// The target is divided among the children in proportion to what they can
// release, which is their surplus, and of an inner queue no more than its
// children can: in whole units, by largest remainder, ties in tree order. So it
// goes down to the leaves. What a leaf could not give is offered to its
// siblings in another round, and what they could not to those of its parent. No
// leaf gives anything back on its own: one last trim goes over all that was
// taken and keeps the plan minimal. Children that are being
// enforced already take no part.
//
// # What falls short
//
// If less than the target is freed in the end, of a leaf or a parent, parts
// and order may be to blame. Then all candidates are searched together for a
// set that meets the target, and if there is none, for more of one type
// after another and no less of the others: to the end up to
// [CompleteCandidates] tasks, up to a few hundred within the budget of steps,
// and not among more. It is the cheapest such set, as of a leaf. So with few
// candidates the target is met if any legal set meets it.
//
// # The outcome
//
// Usage is within max once the victims have gone ([Met]), or stays over by what
// may be missed ([MetWithinMiss]), or by more, with victims ([Partial]) or
// without ([Impossible]). Parts are shares of the target, whatever guarantees
// above the queue let go of it. Shortfall says how much stays, and Stops say what
// keeps it. A [Miss] spares no victim that can be had. [Exact] forbids to free
// more than is asked for; then a type may stay over although a larger task could
// end that.
//
// Everything is exact: amounts are integers, shares are compared in 128 bits,
// and the same calls give the same outcome, in whatever order tasks were added.
// An [Auditor], which shares no code with the enforcer, judges outcomes.
package quota
