// Kueue has Kueue under examination: its cache, its flavor assigner and its
// preemption over a cohort.
//
//	go run . [-worlds N] [FILE...]
//
// It prints a table of Markdown, and writes it into each FILE in place of what is
// there between two lines, <!-- kueue --> and <!-- /kueue -->.
//
// It is a module of its own, for what Kueue requires does not go together with
// what the other peers do. Kueue knows no nodes. So it is asked about documents
// with a single node, the capacity of which is the quota of the root cohort.
//
// What stands for what: a leaf is a ClusterQueue, whose nominal quota is its
// guarantee and whose borrowing limit is what its max is more; a queue with
// children is a cohort, and what it guarantees beyond its children is its own
// quota. A task is a workload that holds quota. ClusterQueues reclaim from
// workloads of lower priority in their cohort, and from none of their own.
package main
