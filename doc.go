// SPDX-License-Identifier: Apache-2.0

// Package preempt is a library of preemption algorithms for authors of schedulers. It
// answers one question: which running tasks should stop so that this work may run,
// without breaking anyone's guarantee?
//
// This package is the manual; its examples are whole flows. DESIGN.md has the rules with
// their reasons. Its packages:
//
//	resources      quantities, vectors, limits
//	queue          the tree: guaranteed, max, usage; fair shares
//	fence          which queues an ask may reach, and at which effective priority
//	toleration     when a victim is exempt, and until when
//	victims/cover  node-group fitting: the cheapest units, and their group, over your own types
//	victims        tasks and nodes, asks, what a decision says, the audit
//	quota          enforcing a max that was lowered
//	jobs           the planner: for an ask, for several, all or nothing for jobs; what waits
//
// jobs/koordinator reads Koordinator's labels, victims/snapshot writes what a planner sees,
// and victims/preempttest tests your callbacks.
//
// # The model
//
// A cluster is a tree of queues, nodes, and tasks. Only leaves hold tasks. A queue may have a guarantee and a max
// for some resource types.
//
// A task is running or leaving: it ends by itself or was told to. Rules are about effective usage, which is without
// what is leaving.
//
// An ask is a task without a node. With a place promised it holds a grant, which counts as usage until it starts.
//
// In each type that an ask wants, the closest queue with a guarantee, from the ask's own up to
// the root, governs it. An ask may preempt while all queues that govern it are under their
// guarantees. It takes from queues that are over theirs.
//
// # What the caller does
//
//  1. Describe the resource types once ([resources.NewSchema]) and the queues
//     ([queue.New]). Make a cluster of them ([victims.NewCluster]).
//  2. Tell the cluster as nodes and tasks come, change and go, in any order. A node is down:
//     [victims.Cluster.RemoveNode], which says who lost a grant, and [victims.Cluster.RemoveTask]. If you may have
//     missed events, call [victims.Cluster.Sync], or [victims.Cluster.SyncNode] for a node.
//  3. Call [jobs.Planner.Decide] for an ask that waits, with the time; or
//     [jobs.Planner.DecideAll] for several, which share their victims then.
//  4. Apply the plan, stop its victims, remove them as they go, start the ask.
//  5. If victims do not stop in time, or the ask is gone, have them run on ([victims.Cluster.Cancel]), or give
//     up the grant only ([victims.Cluster.Drop]). One that will not stop: [victims.Cluster.Spare].
//  6. Decide a refused ask again when something happens that its [victims.Help] names.
//
// The loop, without its errors:
//
//	for i := range waiting {
//		ask := &waiting[i]
//		planner.Decide(&d, ask, now)
//		switch d.Outcome {
//		case victims.Fits: // there is room
//			cluster.Apply(&d) // grants the ask its place
//			cluster.Start(ask.Key, now)
//		case victims.Waits: // there will be, once those leaving have gone
//			cluster.Apply(&d)
//		case victims.Preempts:
//			cluster.Apply(&d) // marks the victims, grants the ask its place
//			ask.LastAttempt = now
//			for _, v := range d.Plan.Victims {
//				stop(v.Key) // and, once it has gone, cluster.RemoveTask(v.Key)
//			}
//		case victims.Refused:
//			ask.LastAttempt = now
//			later(ask, d.Refusal.RetryAt) // or when d.Refusal.Help says; after d.Count(), d.String() says why
//		}
//	}
//	// As victims go: cluster.StartReady(now, nil) starts whoever has room, jobs as a
//	// whole. Or decide an ask again: it is refused, InFlight, until it fits.
//
// A jobs.Pending holds what waits, and decides those for which that may help. The program examples/minischeduler
// does all of it. See docs/beside-a-live-scheduler.md, docs/production.md and docs/several-clusters.md.
//
// # What no compiler sees
//
// The library cannot check these duties:
//
//   - Apply first, stop afterwards. If Apply fails, nobody must stop.
//   - One goroutine changes a cluster, alone. While nobody does, any number may read it.
//   - A plan is for one version of a cluster. Keep keys and names, not numbers.
//   - Before you place a task without a plan, ask [victims.Cluster.Admits].
//   - Tell the cluster everything that runs and leaves. Plans give away the room of unknown tasks, and stop more
//     if a leaving one is not marked.
//   - If you use an interval, set LastAttempt of an ask after each plan or refusal.
//   - Keep PendingSince of an ask over retries and restarts.
//   - Use one clock that does not run back, and one instant for all decisions of a round.
//   - A key names one task or ask at a time.
//   - Each call overwrites the result that you pass. Keep a [victims.Decision.Clone].
//   - A callback must answer alike during a decision, and change nothing. It is about the Cluster of its
//     question, which may be a copy.
//
// # How to model it
//
// Node selectors, node affinity, taints, zones, nodes reserved for a user: the planner's filter, which sees the ask's
// class and the instant. Maintenance windows, expected ends: the filter refuses the node to asks that would not end in
// time once victims have stopped, and sets Question.Until to the end of the window.
//
// Limits of users, licences: Hold of [jobs.Pending].
//
// Host ports, anti-affinity, devices: Options.Blockers. Device topology: Options.Predicate.
//
// Disruption budgets: a budget per service, named by its tasks
// ([victims.Cluster.SetBudget]). A hard budget that all tasks name caps the victims of a
// period.
//
// Checkpoints: [victims.Cluster.SetCheckpoint]. What a task is worth to you:
// [victims.Cluster.SetCost].
//
// Gangs: package jobs. One that you have placed yourself: name the job in its tasks, and call
// [victims.Cluster.SetMinMembers].
//
// Elastic gangs: leave them in [jobs.Pending], which adds members as room comes.
//
// Least running times: [queue.Policies].MinRuntime, Exempt, or package toleration.
//
// Preemption inside one queue: [queue.WithinQueue]. What Kubernetes has:
// [victims.Kubernetes].
//
// Pools of nodes: a filter if asks choose between them, a resource type each if queues
// are guaranteed amounts of them, a cluster each if they share nothing.
//
// Racks and blocks: domains of nodes, and the depth of the one that a job's members
// share.
//
// Generous guarantees of cpu and memory that keep gpus from coming back:
// [victims.Options].Scarce, of the types that [queue.Scarce] finds.
//
// Weights instead of guarantees: [queue.FairShares].
//
// # What to persist
//
// Write [victims.Cluster.Save], [quota.Timing.Save] and what is yours, such as the asks that wait, into one file, after
// Apply and before anybody is told to stop. After a restart read them in the same order from one [bufio.Reader], call
// [victims.Cluster.Sync] with all that there is, requeue what was Removed unless it has ended or moves, and stop
// again whoever is [victims.Cluster.Marked]. Write queues as paths: another tree has other IDs.
//
// docs/beside-a-live-scheduler.md says how to begin without a file.
//
// # Which words are stable
//
// CHANGELOG.md lists them. New ones may come: treat an unknown reason as a refusal, and an unknown rule as one that
// protects. Errors are told apart by what they wrap. Sentences may change at any time.
//
// # The seven laws
//
// Every plan for an ask keeps them, whatever the tree (DESIGN.md, The seven laws).
//
//  1. A task may ask to be spared (OptedOut). It is stopped only if every lawful plan
//     needs such a task, and then as few of them as possible, unless Plan.Proof is
//     NoProof.
//  2. Work of other queues never takes a queue below its guarantee, or below what it has
//     if that is less: at every level, in every type that counts (all, or Options.Scarce).
//     Nor does its own, exceptions apart. The ask counts as usage.
//  3. Never the same application.
//  4. Only a queue under its guarantee triggers: in every type of the ask that is
//     governed, and one must be.
//  5. Only a queue over its guarantee gives.
//  6. Lower or equal effective priority only, compared below the nearest queue that
//     is above both.
//  7. Never outside the fence.
//
// Together: Only a queue under its guarantee takes from others (its last task may take it past the guarantee), and
// only one over its guarantee gives.
//
// Exceptions:
//
//   - If its leaf says so (preemption.own-leaf, or WithinQueue), an ask may take less important work of the same leaf
//     or branch, without a guarantee. That may take its own queues further below their guarantees: one guaranteed 20
//     GPUs that uses 16 in one gang may lose it to a task of 1. A guarantee that is met stays met. See
//     [queue.WithinQueue].
//   - An ask that can run on one node only may take from guarantees and across fences. It
//     keeps laws 1, 3 (unless Options.TakeOwnApplication is set) and 6, by raw priority.
//   - A lowered max takes from its queue, down to guarantees of all types, whatever the
//     priorities. It keeps law 2.
//   - A job by priority (ByPriority) needs no guarantee. It keeps laws 1, 2, 3, 6 (strictly
//     lower) and 7.
//
// Victims of others also come from outside the lowest queue that governs the ask. So a
// fixed workload comes to rest, even if victims always come back.
//
// # What is promised
//
// Promised: the laws; no needless victim; least cost if the plan is proven;
// the same answer to the same calls, bit for bit, on every machine; no panic but for
// documented bugs of the caller; errors that name the thing and its value and change
// nothing; no allocation in warm decisions; no goroutines.
//
// Not promised before version 1: the API, and which of equally good plans is chosen if
// none is proven.
//
// # Costs and words
//
// DESIGN.md, Errors and limits, has a table of costs, bench/README.md measurements. docs/words.md
// says what words mean, docs/coming-from.md what others call these things.
//
// # What is not here, on purpose
//
// The order of asks, scores of nodes, how tasks are stopped, grace periods, checkpointing, grants of whole nodes,
// nearness of queues, clocks, networks, logs and metrics.
package preempt
