// SPDX-License-Identifier: Apache-2.0

// Kueue has Kueue under examination: its cache, its flavor assigner and its
// preemption over a cohort.
//
//	go run . [-worlds N] [FILE...]
//	go run . -show PEER:FAULT
//
// It prints a table of Markdown, and writes it into each FILE in place of what is
// there between two lines, <!-- kueue --> and <!-- /kueue -->.
// With -show it prints instead a document that shows a cell, with the answer as
// what is proposed. PEER is ours, any or lower, and FAULT a word or the text of a
// row, such as any:guarantee.
//
// It is a module of its own, for what Kueue requires does not go together with
// what the other peers do. Kueue knows no nodes, and takes for granted that
// guarantees are within the capacity. So everybody is asked about pooled documents:
// a single node, the capacity of which is the quota of the root cohort, and
// guarantees that are cut to it.
//
// What stands for what: a leaf is a ClusterQueue, whose nominal quota is its
// guarantee and whose borrowing limit is what its max is more; a queue with
// children is a cohort, and what it guarantees beyond its children is its own
// quota. All that is not used is lent. A task is a workload that holds quota.
//
// Kueue is examined in two configurations. In one, ClusterQueues reclaim from
// workloads of any priority in their cohort, or of lower priority if the document
// has strict priorities. In the other they always reclaim from lower priority.
// In both they preempt none of their own, and borrow by nobody's preemption.
package main
