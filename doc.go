// Package preempt is a library of preemption algorithms for authors of
// schedulers. It answers one question: which running tasks should stop so that
// this work may run, without breaking anyone's guarantee?
//
// This package is the manual, and its examples are whole flows. The rules, each
// with its reason, are in DESIGN.md. The code is in the packages below. Each of
// them imports only packages before it:
//
//	resources      quantities, vectors, limits
//	queue          the tree: guaranteed, max, usage; fair shares
//	fence          which queues an ask may reach, and at which effective priority
//	toleration     when a victim is exempt, and until when
//	victims/cover  the search: the cheapest units that cover needs
//	victims        tasks and nodes, the plan for an ask, the audit
//	quota          enforcing a max that was lowered
//	jobs           all-or-nothing plans for whole jobs
//
// Package jobs/koordinator reads the labels of Koordinator, for jobs.
// Package victims/snapshot writes what a planner sees as one file, which is
// decided alike elsewhere: a bug report, or a test.
//
// # The model
//
// A cluster is a tree of queues, nodes, and tasks. Only leaves of the tree hold
// tasks. A queue may be guaranteed an amount of some resource types, and may
// have a max for some. What is not defined is no bound, which is neither zero
// nor infinity ([resources.Limit]).
//
// A task is running or leaving. A leaving task ends by itself or was told to.
// What a queue uses without what is leaving is its effective usage. All rules
// are about effective usage, for what is leaving is supply already.
//
// An ask is a task without a node. An ask that was promised a place holds a
// grant. The grant counts as usage of its queue and its node until the ask
// starts, so that nobody plans on the same place twice.
//
// For each type that an ask wants, the nearest queue from its leaf upwards that
// guarantees the type governs the ask. An ask may preempt while all queues that
// govern it are under their guarantees. It takes from queues that are over
// theirs.
//
// # What the caller does
//
//  1. Describe the resource types once ([resources.NewSchema]) and the queues
//     ([queue.New]). Make a cluster of them ([victims.NewCluster]).
//  2. Tell the cluster what happens: nodes and tasks that come, change and go, in
//     any order. Each change is cheap, and no decision rebuilds anything. If events
//     may have been missed, say what runs on a node ([victims.Cluster.SyncNode]).
//  3. Ask [victims.Planner.Decide] about an ask that waits, with the time.
//  4. Apply the plan, stop its victims, remove them as they go, start the ask.
//  5. If a victim does not stop, or the ask is gone, say so: take the mark
//     ([victims.Cluster.SetState]) or the grant ([victims.Cluster.Drop]) back. Or
//     let [jobs.Rounds] watch victims, for asks as for jobs, with deadlines.
//  6. Decide a refused ask again when something of its [victims.Help] happens.
//
// The loop, without its errors:
//
//	for i := range waiting {
//		ask := &waiting[i]
//		planner.Decide(&d, ask, now)
//		switch d.Outcome {
//		case victims.Fits: // there is room
//			cluster.Apply(d.Plan.Change()) // grants the ask its place
//			cluster.Start(ask.Key, now)
//		case victims.Waits: // there will be, once those leaving have gone
//			cluster.Apply(d.Plan.Change())
//		case victims.Preempts:
//			cluster.Apply(d.Plan.Change()) // marks the victims, grants the ask its place
//			ask.LastAttempt = now
//			for _, v := range d.Plan.Victims {
//				stop(v.Key) // and, once it has gone, cluster.RemoveTask(v.Key)
//			}
//		case victims.Refused:
//			ask.LastAttempt = now // if an attempt interval is used
//			later(ask, d.Refusal.RetryAt) // or when d.Refusal.Help says; DescribeRefusal says why
//		}
//	}
//	// Once all its victims have gone: cluster.Start(ask.Key, now). Or decide it
//	// again: it is refused, InFlight, until it fits.
//
// The program examples/minischeduler is such a scheduler as a whole, with quotas
// and jobs. docs/beside-a-live-scheduler.md says how to begin beside a scheduler that
// runs already: shadow mode, restart, resync, drift.
//
// # What no compiler sees
//
// Some duties of the caller are in no type. The library cannot check them either.
//
// Apply first, stop afterwards. Apply fails if the plan is no longer lawful. A
// task that was told to stop before that has stopped for nothing.
//
// One goroutine changes a cluster, alone. Any number may read it and decide over it
// while nobody changes it, each with a planner of its own.
//
// A plan is for one cluster at one version, and for the original of the clone that
// it was decided on. If that has changed, decide again. Numbers of tasks, nodes and
// queues are of one cluster too, and those of queues change with its tree: keep keys
// and names.
//
// Put nothing where room is granted. Before a task is placed by other means than a
// plan, ask [victims.Cluster.Admits].
//
// Tell it everything that runs, and what leaves. A task that the cluster does
// not know uses room that plans give away. A task that terminates but is not
// marked makes the next decision stop another one.
//
// LastAttempt is yours. The library never writes to an ask. With an attempt
// interval set ([victims.Planner]), an ask carries when preemption was last tried
// for it. Set it after each decision that got as far as to preempt or to refuse,
// and keep it with the ask. Without an interval it plays no part.
//
// PendingSince is when the ask began to wait, and not when it was last looked at.
// The delay of its queue counts from there. Keep it over retries and restarts.
//
// Time is an argument. Pass one clock to all calls, and let it not run back. Pass
// the same instant to all decisions of one round: then each sees what the others
// saw.
//
// A key names one task or ask at a time. A task that a controller recreates has
// another key, or the same key after the old task was removed.
//
// A result belongs to the next call. Decide fills the decision that you pass, and
// reuses its memory. Copy what you keep.
//
// A callback must be a function of its arguments: same question, same answer,
// for as long as a decision takes. It must not change the cluster. Package
// victims/preempttest tests callbacks for their contracts.
//
// # How to model it
//
// Node selectors, affinity to nodes, taints, zones: the filter of the planner. It
// says of a node whether the ask may ever run there, and is asked once per node
// and decision (DESIGN.md, Filter). Do not make resource types of labels, and do
// not use the predicate for this: it is asked after a search.
//
// Host ports, anti-affinity between tasks, devices: blockers. They name the tasks
// on a node that must go, whatever the amounts (DESIGN.md, Blockers).
//
// What is left, such as device topology on a node: the predicate. What accepts a
// set of victims must accept every larger set (DESIGN.md, Predicate).
//
// Disruption budgets: a budget per service, named by its tasks
// ([victims.Cluster.SetBudget]). Set what is left whenever your controller says
// so; a plan that is applied takes its victims off. Soft budgets cost, hard ones
// forbid. A hard budget with nothing left protects its tasks. A hard budget that
// all tasks name caps the victims of a period: set what is left when a new one
// begins (DESIGN.md, Budgets). A plan overruns soft budgets as little as any
// does. A greedy reprieve, which gives victims back one by one as the scheduler
// of Kubernetes does, may not find that: in 10,000 random clusters of one to
// three nodes with up to seven pods and three budgets, 7,000 had a plan, the
// reprieve overran budgets in 1,500 of these, and in one of twelve of those by
// more than need be (TestBudgets_Least of package victims compares both with
// every set of victims).
//
// Checkpoints: tell the cluster when the work of a task was last saved
// ([victims.Cluster.SetCheckpoint]). Work lost counts from there. Do not move the
// time at which the task was scheduled instead, for tolerations count from that.
//
// Your own idea of what a task is worth: [victims.Cluster.SetCost]. It comes after
// priorities and before the number of victims (DESIGN.md, Cost).
//
// Gangs: give tasks the name of their job, and the planner a function that says
// how many members a job needs at least. Members above that go one by one; else
// the whole job goes (DESIGN.md, Whole gangs). To place a gang use package jobs.
//
// Least running times: an exemption function, or priority classes with package
// toleration. The decision then knows when to try again.
//
// Preemption inside one queue, as plain Kubernetes has it: the option of the own
// leaf (below). With one leaf, no guarantees and strict priority it is what
// Kubernetes does.
//
// Pools of nodes: a filter, if asks choose between them; a resource type each
// (gpu-a100, gpu-h100), if queues are guaranteed amounts of them; a cluster each,
// if they share nothing.
//
// Racks and blocks: give nodes their domains, widest first, and the job the depth
// of the one that all its members share (DESIGN.md, Domains). Leave victims and
// grants as they are while the rack is emptied: they keep the job there.
//
// Weights instead of guarantees, as YARN, KAI or Kueue have them:
// [queue.FairShares] divides what there is, and its shares become the guarantees of
// the leaves ([victims.Cluster.SetGuarantees]). Divide again when work comes or
// goes, by all that runs, waits or was stopped, and not when a plan is made: then
// nobody takes from each other in turn (DESIGN.md, Fair shares).
//
// # What to persist
//
// Write [victims.Cluster.Save], [jobs.Rounds.Save] and [quota.Timing.Save] into one
// file. After a restart read them in the same order from one [bufio.Reader], with
// [victims.Load] and the Load of the other two: decisions go on as if nothing had
// happened. Then sync each node with the world. Keep the asks that wait yourself.
//
// The library also has no state that it could not be told again. Without a saved file,
// keep or rebuild:
//
//   - queues, nodes and tasks: from the world, with the times at which tasks were
//     created, scheduled and saved;
//   - which tasks were told to stop: add them as preempting. If they are added as
//     running, others may be stopped in their stead;
//   - grants, in the order in which they were given ([victims.Cluster.Grant]).
//     Without them the freed room goes to whoever asks first. Asks that wait are
//     not enough, for they would preempt again;
//   - of asks: PendingSince, and LastAttempt if you use an interval;
//   - what is left of budgets: from the controller that counts it;
//   - rounds of jobs: with what is above, the job is in flight until its grants
//     start. Begin its round again, to watch its victims;
//   - quota clocks: tell the max and delay of each queue again. A clock starts in
//     full, so that a restart never makes an enforcement come early.
//
// The order of adding nodes is a part of the cost, so add them in the same order
// if plans are to be the same. The order of tasks does not count.
//
// # Which words are stable
//
// Words that programs may read do not change within a major version: the names
// that reasons, rules, laws, outcomes and proofs have ([victims.Reason],
// [victims.Rule] and their like, in text and in JSON); the names of fields in
// reports ([victims.Decision.Report] and its like), scenario documents and results; the property names of queues; labels and
// annotations. New words may come. So treat an unknown reason as a refusal, and an
// unknown rule as one that protects.
//
// Sentences are for people and may change at any time: everything that a Describe
// or Summary method, an error or a picture says. Errors are told apart by what they wrap.
//
// # Deciding
//
// A decision takes these steps (DESIGN.md, The decision).
//
// First, does the ask fit as things are, or once those leaving have gone? Then
// no task has to go. Next come the preconditions, the cheapest first. Each has a
// reason of its own: the ask may preempt, it has waited for the delay of its
// queue, no queue above it is over its max already, law 4 holds.
//
// Then the need. What a node lacks for the ask is met by victims on that node.
// What queues above lack under their max is met by victims below those, on any
// node. Candidates are the tasks that no rule protects.
//
// The plan is the set of least [victims.Cost] that meets the need and keeps the
// laws, over all nodes: fewest tasks that opted out, lowest rank and priority,
// fewest victims, least freed beyond need, least work lost, and more (DESIGN.md,
// Cost). The last keys are node order and the keys of tasks, so that no two sets
// are equal. The rank of a victim is its effective priority minus the ask's. The
// search is exact within a budget of steps, and the plan says whether it ended by
// itself. In every case the plan is minimal: no victim can be given back.
//
// A refusal has its reason, counts of tasks per rule that kept them, the node
// that came closest and what it lacks, the time at which it may help to
// ask again, and what else would have to happen ([victims.Help]). [victims.Planner.Explain] says of every queue, node and task what
// it was to the decision, and which single rule would have to give.
//
// # The seven laws
//
// Every plan for an ask keeps them, whatever the tree (DESIGN.md, The seven laws).
//
//  1. Opting out is a strong suggestion, not a guarantee: victims that opted out
//     only if no plan does without, and then as few as possible. If the budget
//     ends before that is shown, the plan says so (Plan.Proof is NoProof).
//  2. No queue ends below its guarantee, or below what it had if that was less:
//     in every type that the victims use, at every level, with the ask counted.
//  3. Never the same application.
//  4. Only a queue under its guarantee triggers: every type of the ask that is
//     governed must be under there, and one must be governed.
//  5. Only a queue over its guarantee gives. It follows from law 2.
//  6. Lower or equal effective priority only, compared below the nearest queue
//     that is above both.
//  7. Never outside the fence.
//
// The one exception is an ask that can run on one node only, such as a task of a
// daemon set. There guarantees and fences do not protect, for it can run nowhere
// else. Laws 1, 3 and 6 hold, the latter for raw priorities.
//
// A job is an ask with many members, and keeps all of these laws. Law 4 then says
// that its members, asked one after another with the largest last, would each
// trigger, type by type. Jobs by priority ([jobs.ByPriority]) keep laws 1, 2, 3, 6
// (strictly lower) and 7, and need no guarantee. Enforcing a lowered max keeps law 2.
//
// # No storms
//
// A preemption storm is a loop: a controller recreates the victims, these take
// their place back by preemption, and so on for ever. With law 4 as it is that
// cannot happen, given one more rule. Let E be the lowest queue that governs a
// type of the ask: victims come from outside the subtree of E.
//
// The proof is short. Look at Φ, the sum over all queues and all types that they
// guarantee of the part of the guarantee that is in use, min(e, g).
//
//   - No plan makes a term of Φ smaller. That is law 2, word for word: after the
//     plan a queue has at least the smaller of its guarantee and what it had.
//   - Every plan makes the term of E and its type t larger. By law 4 E was under
//     its guarantee of t, for a job too: all of its members want at least as much
//     as the largest. The ask, or the job, brings some of t into E, and no victim
//     was inside E to take it away again.
//   - What is no such plan makes no term smaller either: tasks that fit, that start,
//     that leave after they were marked, quotas enforced, jobs by priority. Usage
//     only grows by it, or law 2 holds for it.
//   - A term is between 0 and g. A plan raises that of its E to g, or by what the
//     ask, or the required members together, want of t. So with the least such
//     amount, at most ⌈g / least amount⌉ plans can have the same E and t, and all
//     together at most the sum of that over queues and types.
//
// So on a fixed workload only so many plans can happen, however often victims
// come back. Tasks that end or shrink, marks that are taken back and grants that
// are dropped change the workload. Plans for required nodes may make Φ smaller,
// but nobody takes such a task, so that with R of them all is finite still.
// Gangs, budgets, own costs, filter, blockers and predicate take plans away, or
// choose among them. They change nothing of this.
//
// # The own leaf
//
// By default no ask takes a task of its own leaf. An option lets it, if there is
// no plan otherwise: tasks of strictly lower priority make room
// ([victims.Planner], and the planner of package jobs). Its values promise
//
//   - never: all that the last section says, with its bound.
//   - met: a guarantee once met stays met. A queue that is under its guarantee
//     ends no lower, except in types that the ask uses. There is no storm, but no
//     bound on the number of plans either, for Φ may shrink on the way.
//   - any: what a queue gives up of its own is its own affair. Others keep what
//     they are guaranteed. Storms exist.
//
// Why met has no storm. Take a cycle of states. What is met stays met, so that on
// a cycle the same pairs of queue and type are met all the time. Suppose that the
// cycle has a plan by law 4. Of these take one whose E lies deepest, with its ask
// b and a type t that is not met at E. For the cycle to close, somebody must stop
// b again, or another user of t below E. Nobody outside E may, by law 2. Nobody
// inside does it by law 4, for no other such E lies deeper. So it is an ask that
// takes of its own leaf, of strictly higher priority, which then uses t below E
// itself. That one must be stopped in turn, by one that is higher still, and so
// on without end. But tasks are finitely many. So the cycle has no plan by law 4,
// and the other plans only ever go up in priority: there is no cycle. Quotas do
// not close it either. On a cycle no max changes. So what starts or is planned
// stays within it, what is over it only becomes less, and nothing that is enforced
// is on a cycle.
//
// Why any has. One node of 5, two leaves that are guaranteed 2 each, both with a
// priority fence. Leaf 1 has A (size 2, priority 0) and B (size 1, priority 1),
// leaf 2 has C (size 2, priority 0) and D (size 1, priority 1). A, B and C run.
//
//	D takes C of its own leaf, which then has 1 of 2
//	C is entitled now, and takes B, for behind a fence priorities say nothing
//	B takes A of its own leaf, which then has 1 of 2
//	A is entitled now, and takes D: A, B and C run again
//
// With met, D may not take C: that leaf had what it is guaranteed. Without fences
// and offsets the smallest storm has six tasks, eight if plans are those of least
// cost. None was found if asks come by priority, the highest first. So any is for
// plain trees, such as the one leaf of a plain Kubernetes cluster.
//
// # What is proven, and what is explored
//
// The two proofs above are on paper. Package internal/storm explores small
// universes whole: every state, every order of starts and plans, every lawful
// plan, and the max of every queue lowered at every moment and enforced by every
// lawful set. It finds the storms that are known if a rule is switched off, and the
// ones of any. In 10,000,000 states of a million universes with one resource type,
// half of the states with quotas, it found none with never and none with met. It
// found none either in 40,000 random universes with several types, gangs, jobs that
// start together, and quotas; half of these differ by little from known storms.
// Nor in 10,000,000 states each, with never and with met, of half a million universes
// with gangs by guarantee, most of them of equal priority, in two and three leaves, in
// racks, and in two leaves with fences and offsets. There every plan with never made the
// sum of the first proof larger.
// (How far a test run goes is told in internal/storm; 100,000 states are the
// default.) Property tests play random histories in large worlds, in which a
// controller recreates every victim at once, with gangs, budgets, own costs,
// filters, blockers and quotas that are lowered: they hold never to its bound, and
// with met no state ever came twice.
//
// Plans, refusals and audits are compared with package internal/oracle, which
// decides small worlds by definition and shares no code with them, rule by rule
// and with all rules at once.
//
// # Determinism
//
// The same calls give the same plan, bit for bit, on every machine. No map is
// ranged over if its order could reach a result. Every order is total, and its
// last key is the caller's. The order in which tasks were added does not count;
// that of nodes does, as part of the cost. Budgets are counted in steps and not
// in time.
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
// Nothing here starts a goroutine. Whoever changes a cluster must be alone with
// it. [victims.Cluster.Clone] makes an independent copy for another goroutine.
// A planner serves one goroutine at a time.
//
// # Costs
//
// With d the depth of the tree, t resource types, N nodes, T tasks, Q queues:
//
//	add, remove, resize, mark a task    d·t, and a hash lookup
//	the next decision, per node changed sorting the tasks of that node
//	ask that fits                       N·t at most
//	plan for an ask                     (N + Q·d)·t, and the search on few nodes
//	refusal                             the same; T·t if tasks must be told apart
//	plan for a job                      T·t, and searches that grow with its members
//	quota enforced                      T·log T below the queue, and a search if that is tight
//	plan applied, undone                victims·d·t
//	audit of a plan                     N + Q·t + victims·d·t; T·d·t more per victim that opted out
//	explanation                         a search on every node
//	clone                               a copy of everything
//
// With options a plan costs T·t more at worst: Exempt is asked about each task,
// and more nodes are searched with a Compare of the caller's. After a refusal of the
// predicate each node costs one question about all of its candidates. Levels in another
// order cost about as much as by default, and several times that if work or excess decides
// first. The search of one node is exponential in the number of kinds of tasks on it
// at worst, and bounded by a budget. bench/README.md says what it comes to.
//
// # What is promised, and what is not
//
// Promised: the laws; minimal plans; least cost if a plan says that it is
// proven; determinism; no panic on any input but for caller's bugs that are
// documented as such; errors that name the thing and its value and leave all as
// it was; stable words.
//
// Not promised, before version 1: the API, and which of several equally good ways
// a plan that is not proven goes.
//
// # Words
//
// Others have other words for these things; docs/coming-from.md has more. Mind two
// of ours: package quota brings a queue within its max, and [jobs.Allowance] is the min
// and max of what jobs may use, as Koordinator's ElasticQuota has it.
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
// Scheduling itself: the order of asks, scores of nodes, affinity and taints (the
// caller's functions bring these in). To stop a task, grace periods, and to make
// checkpoints are the caller's. A grant of a whole node: it holds amounts.
// Nearness of queues in the cost. Clocks, networks, logs and metrics.
package preempt
