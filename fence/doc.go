// SPDX-License-Identifier: Apache-2.0

// Package fence says which queues an ask may take from, and whose priority is higher there.
// Planners do so by themselves; use it for a scheduler of your own.
//
// # Fences
//
// The fence root of a leaf is the nearest queue upwards, the leaf included, whose preemption policy is fence; else the
// root of the tree. A fence stops an ask from looking out, not in. See [Reach].
//
// # Effective priority
//
// Two leaves compare priorities below their lowest common ancestor. A task starts with its own priority. Each queue
// from its leaf up to there adds its priority offset or, with a priority fence, replaces the value by the offset. The
// common ancestor itself, and what is above it, does not count. See [Rank].
package fence
