// Package fence says which queues an ask may take from, and at which
// effective priority it meets the tasks there.
//
// # Fences
//
// The fence root of a leaf is the nearest queue on its path, the leaf itself
// included, whose preemption policy is fence; else the root of the tree.
// Victims live strictly below it: a fence stops an ask from looking out, and
// never one from looking in. A fence on the asking leaf itself leaves no victim at all.
//
// The [Reach] of a leaf is every leaf below its fence root except the leaf itself
// and disabled ones. The tasks of a disabled queue are protected. Its asks may
// preempt all the same.
//
// # Effective priority
//
// Two leaves compare priorities below their lowest common ancestor c. A task
// is lifted from its leaf up to the child of c. It starts with its own priority.
// Each queue on the way adds its priority.offset or, if its priority.policy is
// fence, replaces the value by the offset. So an offset or a fence on c or above
// changes nothing, and a fenced branch gives all its tasks or none. Law 6 lets an
// ask take tasks of lower or equal effective priority only: see [Compare] for one
// task, and [View] for many.
package fence
