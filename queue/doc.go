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
// Usage counts running and leaving tasks, and grants. Leaving is the part that ends. Effective usage, with which
// guarantees are compared, is usage without it.
//
// What a guarantee promises, and the exceptions, is in the manual (package preempt, The seven laws).
//
// # Errors and concurrency
//
// Bad input is an error that names queue and value and wraps [ErrConfig]; several are joined, and nothing
// changes. An [ID] that the tree does not have panics.
//
// Several goroutines may read a Tree, but not while it is changed. Do not change what methods return in shared
// memory; it shows later changes.
package queue
