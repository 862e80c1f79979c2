// Package preempt is a library of preemption algorithms for authors of
// schedulers. It answers one question: which running tasks should stop so that
// this work may run, without breaking anyone's guarantee?
//
// This package is the manual; the code is in the packages below it. Of these
// each imports only those before it:
//
//	resources   quantities, vectors, limits
//	queue       the tree: guaranteed, max, usage
//	fence       which queues an ask may reach, and at which effective priority
//	victims     tasks and nodes, the plan for an ask
//
// # What it is
//
// A library of pure algorithms: no server, no goroutine, no logger, no clock,
// no global. The caller owns the cluster, tells the library about it, gets a
// plan and decides what to do. A plan is plain data with its reasons. The same
// calls give the same plan, bit for bit.
//
// # What the caller does
//
//  1. Describe the resource types once ([resources.NewSchema]) and the queues
//     ([queue.New]), and make a cluster of them ([victims.NewCluster]).
//  2. Tell the cluster what happens: nodes and tasks that come, change and go.
//     Each change is cheap; no decision rebuilds anything.
//  3. Ask [victims.Planner.Decide] about an ask that waits, with the time.
//  4. Apply the plan, stop its victims, remove them as they go, start the ask.
//     Between plan and start the ask holds its place as a grant, so that
//     nobody else plans on it.
//  5. Where a victim does not stop, or the ask is gone, say so: take the mark
//     ([victims.Cluster.SetState]) or the grant ([victims.Cluster.Drop]) back.
//
// # The seven laws
//
// Every plan keeps them, whatever the tree: opting out is a strong suggestion;
// no queue ends below its guarantee; never the same application; only a queue
// under its guarantee triggers; only a queue over its guarantee gives; lower or
// equal effective priority only; never outside the fence. Package victims says
// each exactly and where it is enforced. The one exception is an ask that can
// run on one node only: there guarantees and fences do not protect.
//
// # Numbers
//
// Amounts are int64 in base units: thousandths for cpu and vcore, ones for
// everything else. They are range-checked where they enter, so that nothing
// overflows or saturates inside, and what was added is subtracted exactly. No
// float decides anything.
//
// # Goroutines
//
// Nothing here starts one. A cluster and a planner serve one goroutine at a
// time; [victims.Cluster.Clone] makes an independent copy for another.
package preempt
