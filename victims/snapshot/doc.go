// Package snapshot writes what a planner sees as one file, and reads such files.
//
// [Take] writes a live cluster, asks, jobs and quotas to enforce, and the options of
// who decides them as a scenario document: JSON with names for everything, and
// ages instead of instants. To decide the document gives the same answers as to decide live. So
// a surprise in production becomes a bug report of one file, and the file becomes
// a test. It is not for restarts: use [victims.Cluster.Save]. The program examples/plan decides documents, too, and with -snapshot makes
// one of any decision in a longer one.
//
// [Parse] reads a document, strictly, and [Document.Run] carries it out. It may
// come from Take or be written by hand.
//
// # What a document says
//
// It has the queues with their bounds and properties, the nodes in their order,
// the tasks by key, the grants in their order, the budgets, what queues may use for
// jobs and what waits for that, and the asks, jobs and quotas as dry
// runs: each is decided on the cluster as it is. Minimum, Filter, Blockers and
// Exempt of the planners are asked, and what they answer is written: as minimums
// of jobs, as labels and ports with names of this package's own, and as
// priority classes with tolerations. A task or an ask without an application gets
// one of its own.
//
// What it cannot say is listed in the note of the document and in
// [Snapshot.Unsaid]; see [Unsaid]. Names for people and tags are left out, for
// no answer depends on them. For the same reason a task that will be scheduled, or
// saved, in the future is written as of now.
//
// The format is that of examples/plan.
package snapshot
