// SPDX-License-Identifier: Apache-2.0

// Package workload builds the clusters that benchmarks and examples run on, and
// what their speed is compared with.
//
// # W(nodes, tasks, tree, k)
//
// Everything is said here that one needs to build the same cluster elsewhere.
//
// There are four resource types, in this order: cpu, memory, pods and
// ephemeral-storage. One unit is 1 core, 4 GiB of memory and 10 GiB of
// ephemeral storage. Task i of a node, counted from 0, has a size of 0.5, 1 or
// 1.5 units as i leaves 0, 1 or 2 when divided by 3; besides it is one pod. A
// node has room for its tasks, and 0.2 units and 10 pods to spare.
//
// A tree is told by its levels below the root: {10} is a root with 10 leaves,
// called 2x10 for its 2 levels, and {5, 4, 5} has 5, 20 and 100 queues below the
// root, called 4x100. The leaves are numbered in tree order. Leaf 0 is empty.
// With m = n·tasks + i and L = leaves - 1, task i of node n is in leaf
// 1 + (m + m div L) mod L: tasks are dealt out to the other leaves in turn, each
// round beginning one leaf further on, so that a leaf gets tasks of all sizes.
//
// Each leaf is guaranteed, in every type, what all tasks use divided by twice
// the number of leaves, rounded down: those with tasks use about twice their
// guarantee. A queue above is guaranteed the sum of those below it, and the
// root nothing. No queue has a max.
//
// All priorities are 0, and nothing opted out. A task is called n3-7 for node
// n3 and i = 7; its application is app and the number of its leaf, less one.
// Tasks were created, and scheduled at once, within the hour before [Now]: the
// generator rand.NewPCG(1, 2) of math/rand/v2 gives for each task in turn, node
// by node, how many nanoseconds before, by Int64N(3600000000000).
//
// The ask is of leaf 0, for k units and one pod, pending for an hour, of
// priority 0. With 30 tasks on a node k = 1, 4 and 10 take 1, 3 and 7 victims.
//
// # W with more to it
//
// Mixed: the tasks have 10 priorities, 10 % opted out and 5 % are originators.
// After the time of a task the generator gives its priority by Int32N(10),
// then Int64N(10), which is 0 for one that opted out, and Int64N(20), which is
// 0 for an originator. The ask has priority 9.
//
// Headroom short too: the first queue of some depth, which leaf 0 is below, has
// a max of cpu that leaves a number of tenths of a unit beside what is used.
// Of the root 2 tenths are as short as the nodes; further down, victims for the
// node and victims for headroom need not be the same.
//
// No pods: tasks and the ask have none. Spare pods: a node has so many more of
// them than run there, and not 10.
//
// Protected: each leaf is guaranteed what all tasks use divided by the number
// of leaves with tasks, and one unit and 2 more of each type, which is more
// than any of them uses. No plan exists, and it takes a look at every node to
// say so.
//
// [Trace] is a cluster that is not made up. [NewTwin] makes one up that is like it,
// for those who do not have the files.
//
// # What speed is compared with
//
// A time says something about a machine, a ratio of two times about a program.
// [Floor] is the least that a decision without an index has to do, and [Maps]
// the same decision as schedulers commonly make it. [Churn] is a cluster at
// work, for times that include keeping it current.
package workload
