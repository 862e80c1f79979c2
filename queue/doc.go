// SPDX-License-Identifier: Apache-2.0

// Package queue is the tree of queues: what each is guaranteed, may use at most, and
// uses.
//
// [New] makes a [Tree] of a [Config]. [Tree.Add] and its like keep the usage; a cluster of
// package victims does that by itself. [Tree.Surplus], [Tree.Headroom] and [Tree.Governing]
// are what preemption asks, for those who compute with a tree of their own. [FairShares]
// turns demand and weights into guarantees. [Config.Add] makes queues at run time.
//
// # Numbering
//
// Queues are numbered in preorder, in the order of Children: tree order. The root is [Root],
// and
//
//	for q := range queue.ID(tree.Len()) { ... }
//
// visits all, parents first. A queue without children is a leaf. Only leaves hold tasks.
// Keep paths rather than numbers: another tree numbers anew.
//
// # Amounts
//
// Usage counts running and leaving tasks, and asks that were granted a place. Leaving is the
// part of it that goes by itself or was told to stop. Effective usage is usage without
// that; guarantees are compared with it. A type that a guarantee or a max does not name is
// not limited; zero is a limit.
//
// The queue that governs a leaf in a type is the nearest one, from the leaf upwards, that
// has a guarantee for it.
//
// # What a guarantee promises
//
// Planners keep this promise (DESIGN.md, The seven laws). Work of other queues never takes a
// queue below its guarantee, or below what it has if that is less: at every level, in every
// type that counts (all, or Options.Scarce). Only a queue under its guarantee takes from
// others (its last task may take it past the guarantee), and only one over its guarantee
// gives.
//
// Exceptions: If its leaf says so (preemption.own-leaf, or WithinQueue), an ask may take less
// important work of the same leaf or branch, without a guarantee. That may take its own
// queues further below their guarantees: one guaranteed 20 GPUs that uses 16 in one gang may
// lose it to a task of 1. A guarantee that is met stays met. An ask that can run on one node only may take from
// guarantees and across fences. A lowered max takes from its queue, down to guarantees of
// all types, whatever the priorities. A job by priority (ByPriority) needs no guarantee.
//
// # Errors
//
// Bad input is an error that names queue and value and wraps [ErrConfig]; several are
// joined, and nothing changes. An ID that the tree does not have panics.
//
// # Concurrency
//
// Several goroutines may read a Tree, but not while it is changed. What methods return in
// shared memory shows later changes: do not change it.
package queue
