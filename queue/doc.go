// SPDX-License-Identifier: Apache-2.0

// Package queue is the tree of queues: what each is guaranteed, may use at most, and uses.
//
// [New] makes a [Tree] of a [Config]; [Config.Add] makes queues at run time. A cluster of package victims keeps
// the usage. [Tree.Surplus], [Tree.Headroom] and [Tree.Governing] are what preemption asks. [FairShares] turns
// demand and weights into guarantees.
//
// # Numbering
//
// Queues are numbered in preorder, in the order of Children: tree order. The root is [Root], and
//
//	for q := range queue.ID(tree.Len()) { ... }
//
// visits all, parents first. Only leaves, queues without children, hold tasks. Keep paths: another tree numbers
// anew.
//
// # Amounts
//
// Usage counts running and leaving tasks, and asks that were granted a place. Leaving is the part that goes by
// itself or was told to stop. Effective usage is usage without it; guarantees are compared with that. A type
// that a guarantee or a max does not name is not limited; zero is a limit.
//
// The queue that governs a leaf in a type is the nearest one, from the leaf upwards, that has a guarantee for
// it.
//
// # What a guarantee promises
//
// Planners keep this promise (DESIGN.md, The seven laws). Work of other queues never takes a queue below its
// guarantee, or below what it has if that is less: at every level, in every type that counts (all, or
// Options.Scarce). Only a queue under its guarantee takes from others (its last task may take it past the
// guarantee), and only one over its guarantee gives.
//
// Exceptions: If its leaf says so (preemption.own-leaf, or WithinQueue), an ask may take less important work of
// the same leaf or branch, without a guarantee. That may take its own queues further below their guarantees:
// one guaranteed 20 GPUs that uses 16 in one gang may lose it to a task of 1. A guarantee that is met stays
// met. An ask that can run on one node only may take from guarantees and across fences. A lowered max takes
// from its queue, down to guarantees of all types, whatever the priorities. A job by priority (ByPriority)
// needs no guarantee.
//
// # Errors and concurrency
//
// Bad input is an error that names queue and value and wraps [ErrConfig]; several are joined, and nothing
// changes. An [ID] that the tree does not have panics.
//
// Several goroutines may read a Tree, but not while it is changed. Do not change what methods return in shared
// memory; it shows later changes.
package queue
