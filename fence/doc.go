// SPDX-License-Identifier: Apache-2.0

// Package fence says which queues an ask may take from, and at which effective
// priority it meets the tasks there.
//
// # Fences
//
// The fence root of a leaf is the nearest queue upwards, the leaf included, whose
// preemption policy is fence; else the root of the tree. Victims live strictly below it:
// a fence stops an ask from looking out, not in. See [Reach].
//
// # Effective priority
//
// Two leaves compare priorities below their lowest common ancestor c. A task starts
// with its own priority. Each queue from its leaf up to the child of c adds its
// priority.offset or, if its priority.policy is fence, replaces the value by the
// offset. By law 6 an ask takes tasks of lower or equal effective priority only: see
// [Compare] for one task, and [View] for many.
package fence
