// Package queue is the tree of queues: what each of them is guaranteed, what
// it may use at most, what it uses, and what of that is about to leave.
//
// [New] makes a [Tree] of a [Config]. [Tree.Add] and its like keep the usage.
// [Tree.Surplus], [Tree.Headroom] and [Tree.Trigger] answer what planners ask.
// [FairShares] turns demand and weights into guarantees. [Config.Add] and [Move]
// are for queues that come and go at run time.
//
// # Numbering
//
// Queues are numbered in preorder, in the caller's order of children. The
// [Root] is 0, a parent comes before its children, and the subtree of q is the
// interval [q, End(q)). "Inside" is therefore two comparisons, never a path
// prefix, and everything that a tree stores is a flat block indexed by [ID].
//
// Only leaves hold tasks. A queue without children is a leaf.
//
// # Amounts
//
// For every queue and resource type the tree keeps, at every level:
//
//	u   usage: running and leaving tasks, and asks that were granted a place
//	p   the part of u already marked to leave
//	g   guaranteed, a [resources.Limit]
//	m   max, a [resources.Limit]
//
// u is the present usage, e = u - p the coming or effective usage. Guarantees
// are compared with e. A type that g or m does not define has no bound. No bound
// is distinct from both zero and infinity.
//
// The governing queue of a type for a leaf is the nearest queue from the leaf
// upwards that defines a guarantee for it.
//
// No amount is negative. The usage of the root is the sum of everything, and its
// range is checked when an amount is added. So no sum inside a tree can overflow,
// and what was added can be subtracted again exactly.
//
// # Errors
//
// Bad input is an error that names the queue and the value, and leaves the tree
// as it was. An [ID] that the tree does not have is a caller's bug: methods
// panic. Those that read or change amounts, bounds or properties say which number
// it was. The zero [Tree] has no queue at all. An ID that two trees have
// names a queue in each: nothing can tell them apart.
//
// # Concurrency
//
// A Tree may be read by several goroutines at once, but not while it is
// changed. Vectors and limits that methods return are views into the tree:
// they must not be modified, and they show later changes.
package queue
