// Package fence says which queues an ask may take from, and at which
// effective priority it meets the tasks there.
//
// # Fences
//
// The fence root of a leaf is the nearest queue on its path, the leaf itself
// included, whose preemption policy is fence; else the root of the tree.
// Victims live strictly below it: a fence stops an ask from looking out, and
// never one from looking in. On the asking leaf it leaves no one.
//
// The [Reach] of a leaf is every leaf below its fence root except the leaf
// itself and those that are disabled, which protects their tasks and does not
// stop their asks.
//
// # Effective priority
//
// Two leaves compare priorities below their lowest common ancestor c. A task
// is lifted from its leaf up to the child of c: it starts with its own
// priority, and at each queue priority.offset is added or, where
// priority.policy is fence, the value is replaced by the offset. So an offset
// or a fence on c or above changes nothing, and a fenced branch gives all its
// tasks or none. Law 6 then lets an ask take tasks of lower or equal effective
// priority only; see [Lift] and [View].
package fence
