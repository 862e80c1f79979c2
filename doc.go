// Package preempt is a library of preemption algorithms for authors of
// schedulers. It answers one question: which running tasks should stop so that
// this work may run, without breaking anyone's guarantee?
//
// This package is the manual, and its examples are whole flows. The code is in
// the packages below it, of which each imports only those before it:
//
//	resources   quantities, vectors, limits
//	queue       the tree: guaranteed, max, usage
//	fence       which queues an ask may reach, and at which effective priority
//	toleration  when a victim is exempt, and until when
//	victims     tasks and nodes, the plan for an ask, the audit
//	quota       enforcing a max that was lowered
//	jobs        all-or-nothing plans for whole jobs
//
// # The model
//
// A cluster is a tree of queues, nodes, and tasks. Only leaves of the tree hold
// tasks. A queue may be guaranteed an amount of some resource types, and may
// have a max for some. What is not defined is no bound, which is neither zero
// nor infinity ([resources.Limit]).
//
// A task is running, or leaving: it ends by itself, or was told to. What a queue
// uses without what is leaving is its effective usage, and that is what all rules
// are about, for what is leaving is supply already. An ask is a task without a
// node. An ask that was promised a place holds a grant: it counts as usage of
// its queue and its node until it starts, so that nobody plans on the same place
// twice.
//
// For each type that an ask wants, the nearest queue from its leaf upwards that
// guarantees it governs the ask. An ask may preempt while all the queues that
// govern it are under their guarantees, and takes from queues that are over
// theirs.
//
// # What the library is
//
// Pure algorithms: no server, no goroutine, no logger, no clock, no global. The
// caller owns the cluster, tells the library about it, gets a plan and decides
// what to do. A plan is plain data with its reasons.
//
// # What the caller does
//
//  1. Describe the resource types once ([resources.NewSchema]) and the queues
//     ([queue.New]), and make a cluster of them ([victims.NewCluster]).
//  2. Tell the cluster what happens: nodes and tasks that come, change and go.
//     Each change is cheap; no decision rebuilds anything.
//  3. Ask [victims.Planner.Decide] about an ask that waits, with the time.
//  4. Apply the plan, stop its victims, remove them as they go, start the ask.
//  5. Where a victim does not stop, or the ask is gone, say so: take the mark
//     ([victims.Cluster.SetState]) or the grant ([victims.Cluster.Drop]) back.
//
// The loop, without its errors:
//
//	for _, ask := range waiting {
//		planner.Decide(&d, &ask, now)
//		switch d.Outcome {
//		case victims.Fits: // there is room
//			cluster.Apply(&d.Plan) // grants the ask its place
//			cluster.Start(ask.Key, now)
//		case victims.Waits: // there will be, once those leaving have gone
//			cluster.Apply(&d.Plan)
//		case victims.Preempts:
//			cluster.Apply(&d.Plan) // marks the victims, grants the ask its place
//			for _, v := range d.Plan.Victims {
//				stop(v.Key) // and, once it has gone, cluster.RemoveTask(v.Key)
//			}
//		case victims.Refused:
//			later(&ask, d.Refusal.RetryAt) // and cluster.DescribeRefusal(&d) says why
//		}
//	}
//	// Once all its victims have gone: cluster.Start(ask.Key, now). Or decide it
//	// again: it is refused, InFlight, until it fits.
//
// The program examples/minischeduler is such a scheduler as a whole, with quotas
// and jobs.
//
// # Deciding
//
// A decision takes these steps; package victims has the details.
//
// First, does the ask fit as things are, or once those leaving have gone? Then
// no task has to go. Next come the preconditions, the cheapest first, each a
// reason of its own when it fails: the ask may preempt, has waited for the delay
// of its queue, no queue above it is over its max already, and law 4.
//
// Then the need: what a node lacks for the ask, to be met by victims on it, and
// what queues above lack under their max, to be met by victims below those, on
// any node. Candidates are the tasks that no rule protects. Among all nodes and
// all sets of candidates that meet the need and keep the laws, the plan is the one
// of least [victims.Cost]: fewest tasks that opted out, fewest originators, lowest
// rank and priority, fewest victims, least sum of ranks, least freed beyond need,
// least work lost, and then node order and keys, so that no two sets are equal. The
// rank of a victim is its effective priority minus the ask's. The search is
// exact within a budget of steps, and the plan says whether it ended by itself
// (Proven). In every case the plan is minimal: no victim can be given back.
//
// A refusal has its reason, counts of tasks per rule that kept them, the node
// that came closest and what it lacks, and the time at which it may help to
// ask again. [victims.Planner.Explain] says of every queue, node and task what
// it was to the decision, and which single rule would have to give.
//
// # The seven laws
//
// Every plan keeps them, whatever the tree. Each is enforced in one place.
//
//  1. Opting out is a strong suggestion, not a guarantee: victims that opted out
//     only where no plan does without, and then as few as possible. (It leads
//     the cost: the levels in victims/cost.go.)
//  2. No queue ends below its guarantee, or below what it had if that was less:
//     in every type that the victims use, at every level, with the ask counted.
//     (victims/rooms.go.)
//  3. Never the same application. (victims/candidate.go, veto.)
//  4. Only a queue under its guarantee triggers: every type of the ask that is
//     governed must be under there, and one must be governed. (victims/
//     precondition.go, triggers.)
//  5. Only a queue over its guarantee gives. It follows from law 2, and has no
//     code of its own.
//  6. Lower or equal effective priority only, compared below the nearest queue
//     that is above both. (victims/candidate.go, veto; package fence.)
//  7. Never outside the fence. (victims/leaf.go, vetoOf; package fence.)
//
// The one exception is an ask that can run on one node only, such as that of a
// daemon set: there guarantees and fences do not protect, for it can run nowhere
// else. Laws 1, 3 and 6 hold, the latter for raw priorities.
//
// Plans for jobs keep laws 1, 2, 3, 6 (strictly lower) and 7; what a job's queue
// may use takes the place of laws 4 and 5. Enforcing a lowered max keeps law 2.
//
// # No storms
//
// A preemption storm is a loop: a controller recreates the victims, these take
// their place back by preemption, and so on for ever. With law 4 as it is that
// cannot happen, given one more rule: let E be the lowest queue that governs a
// type of the ask; victims come from outside the subtree of E.
//
// The proof is short. Look at Φ, the sum over all queues and all types that they
// guarantee of the part of the guarantee that is in use, min(e, g).
//
//   - No plan makes a term of Φ smaller. That is law 2, word for word: after the
//     plan a queue has at least the smaller of its guarantee and what it had.
//   - Every plan makes the term of E and its type t larger. By law 4 E was under
//     its guarantee of t. The ask brings some of t into E, and no victim was
//     inside E to take it away again.
//   - What is not a plan for an ask (tasks that fit, that start, that leave after
//     they were marked, quotas enforced, jobs placed) makes no term smaller
//     either, for usage only grows by it, or law 2 holds for it.
//   - A term is between 0 and g. A plan raises that of its E to g, or by what the
//     ask wants of t. So at most ⌈g / smallest ask⌉ plans can have the same E and
//     t, and all together at most the sum of that over queues and types.
//
// So on a fixed workload only so many plans can happen, however often victims
// come back. Tasks that end or shrink, marks that are taken back and grants that
// are dropped change the workload; plans for required nodes may make Φ smaller,
// but nobody takes such a task, so that with R of them all is finite still. A
// property test plays random histories against the bound.
//
// # Determinism
//
// The same calls give the same plan, bit for bit, on every machine. No map is
// ranged over where its order could reach a result, every order is total, and its
// last key is the caller's: the order in which rows came to be does not count,
// that of adding nodes does, as part of the cost. Budgets are counted in steps
// and not in time.
//
// # Numbers
//
// Amounts are int64 in base units: thousandths for cpu and vcore, ones for
// everything else. They are range-checked where they enter, so that nothing
// overflows or saturates inside, and what was added is subtracted exactly. No
// float decides anything: shares are compared by products of 128 bits, and
// parts of a whole are rounded by largest remainders.
//
// # Memory and goroutines
//
// A cluster holds its rows in blocks, some 140 bytes per task of four types, and
// a planner its scratch. Results belong to the caller, who passes them to
// be filled again. A warm decision allocates nothing.
//
// Nothing here starts a goroutine. A cluster and what works on it serve one
// goroutine at a time; [victims.Cluster.Clone] makes an independent copy for
// another. Decisions and audits do not change a cluster.
//
// # Costs
//
// With d the depth of the tree, t resource types, N nodes, T tasks, Q queues:
//
//	add, remove, resize, mark a task    d·t, and a hash lookup
//	the next decision, per node changed sorting the tasks of that node
//	ask that fits                       N·t at most
//	plan for an ask                     (N + Q·d)·t, and the search on few nodes
//	refusal                             the same; T·t where tasks must be told apart
//	plan for a job                      T·t, and searches that grow with its members
//	quota enforced                      T·log T below the queue, and a search where that is tight
//	plan applied, undone                victims·d·t
//	audit of a plan                     N + Q·t + victims·d·t; T·d·t more per victim that opted out
//	explanation                         a search on every node
//	clone                               a copy of everything
//
// With options a plan costs T·t more at worst: Exempt is asked about each task,
// and with a Compare of the caller's or after a Predicate refused, more nodes are
// searched. The search of one node is exponential in the number of kinds of tasks
// on it at worst, and bounded by Planner.Steps; bench/README.md says what it comes
// to.
//
// # What is promised, and what is not
//
// Promised: the laws; minimal plans; least cost where a plan says that it is
// proven; determinism; no panic on any input but for caller's bugs that are
// documented as such; errors that name the thing and its value and leave all as
// it was.
//
// Not promised, before version 1: the API, and which of several equally good ways
// a plan that is not proven goes.
//
// # Words
//
// Others have other words for these things. Mind two of ours: package quota brings
// a queue within its max, and [jobs.Quota] is the min and max of what jobs may use,
// as Koordinator's ElasticQuota has it.
//
//	here            Kubernetes           YuniKorn             YARN
//	ask             pending pod          ask, allocation      container request
//	victim          victim               victim               container to preempt
//	queue           -                    queue                queue
//	guaranteed      -                    guaranteed           capacity
//	max             ResourceQuota        max                  maximum-capacity
//	originator      -                    originator           AM container
//	opted out       -                    allow-preemption     -
//	fence           -                    fence                -
//	grant           nominatedNodeName    reservation          reserved container
//	leaving         terminating          releasing, preempted being killed
//	toleration      PreemptionToleration -                    -
//	required node   DaemonSet affinity   required node        -
//
//	here            Koordinator          Kueue                Volcano        KAI
//	ask             pod                  workload             task           task
//	victim          pod to evict         target, candidate    victim         victim
//	queue           ElasticQuota         ClusterQueue         queue          queue
//	guaranteed      min                  nominalQuota         deserved       deserved quota
//	max             max                  + borrowingLimit     capability     limit
//	over guarantee  over min             borrowing            overused       over quota
//	job             gang, PodGroup       workload             PodGroup, job  PodGroup
//	minimum         minMember            podset minimum       minAvailable   minMember
//	fence           -                    cohort               -              reclaim, department
//
// # What is not here, on purpose
//
// Scheduling itself: the order of asks, scoring of nodes, affinity, taints and
// topology (a predicate lets the caller refuse a node). Checkpoints and grace
// periods: stopping a task is the caller's. Fairness that changes with usage:
// guarantees are what the caller sets. A grant of a whole node: it holds amounts.
// Nearness of queues in the cost. Clocks, networks, logs and metrics.
package preempt
