// Package workload builds the clusters that benchmarks and examples run on.
//
// # W(nodes, tasks, tree, k)
//
// Four resource types: cpu, memory, pods and ephemeral-storage. One unit is 1
// core, 4 GiB of memory and 10 GiB of ephemeral storage. Every node runs the
// given number of tasks of 0.5, 1 and 1.5 units in turn, each one pod, and has
// 0.2 units and some pods to spare.
//
// Leaf 0 is empty and asks for k units and one pod. Tasks are dealt out to the
// other leaves in turn. Each leaf is guaranteed an even share of half the
// cluster, so that these use about twice their guarantee; parents are
// guaranteed the sum of their children. All priorities are equal; tasks were
// created and scheduled at random within the last hour. The seed is fixed.
//
// A tree is told by its levels below the root: {10} is a root with 10 leaves,
// which is 2x10, and {5, 4, 5} has 5, 20 and 100 queues, which is 4x100.
//
// With 30 tasks per node, k = 1, 4 and 10 take 1, 3 and 7 victims.
package workload
