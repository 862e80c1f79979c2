// SPDX-License-Identifier: Apache-2.0

// Package queue is the tree of queues: what each is guaranteed, may use at most, and
// uses.
//
// [New] makes a [Tree] of a [Config]. [Tree.Add] and its like keep the usage.
// [Tree.Surplus], [Tree.Headroom] and [Tree.Trigger] answer what planners ask.
// [FairShares] turns demand and weights into guarantees. [Config.Add] makes queues at run
// time.
//
// # Numbering
//
// Queues are numbered in preorder, in the caller's order of children: tree order. The
// [Root] is 0, and the subtree of q is the interval [q, End(q)). A queue without children
// is a leaf. Only leaves hold tasks.
//
// # Amounts
//
// For every queue and resource type the tree keeps
//
//	u   usage: running and leaving tasks, and asks that were granted a place
//	p   the part of u that is marked to leave
//	g   guaranteed, a [resources.Limit]
//	m   max, a [resources.Limit]
//
// e = u - p is the effective usage; guarantees are compared with it. A type that g or m
// does not name is not limited; a limit of zero is one.
//
// The queue that governs a leaf in a type is the nearest one, from the leaf upwards, that
// has a guarantee for it.
//
// # What a guarantee promises
//
// Planners keep this promise (DESIGN.md, The seven laws). Work of other queues never takes a
// queue below its guarantee, or below what it has if that is less: at every level, in every
// type that counts (all, or Rules.Scarce). Only a queue under its guarantee takes from
// others (one task may carry it over), and only one over its guarantee gives.
//
// Exceptions: If its leaf says so (preemption.own-leaf, or OwnLeaf), an ask may take less
// important work of its leaf or branch without a guarantee, and its queues further below
// theirs: one guaranteed 20 GPUs that uses 16 in one gang may lose it to a task of 1. A
// guarantee that is met stays met. An ask that can run on one node only may take from
// guarantees and across fences. A lowered max takes from its queue, down to guarantees of
// all types, whatever the priorities. A job by priority (ByPriority) needs no guarantee.
//
// # Errors
//
// Bad input is an error, a *[Problem] that names queue and value; several are joined, and
// nothing changes. An ID that the tree does not have panics. The zero Tree has no queues.
//
// # Concurrency
//
// Several goroutines may read a Tree, but not while it is changed. Views that methods
// return show later changes: do not change them.
package queue
