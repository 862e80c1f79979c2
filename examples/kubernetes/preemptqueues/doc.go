// SPDX-License-Identifier: Apache-2.0

// Package preemptqueues has queues as objects of the API: one PreemptQueue each, so that
// RBAC says who may change which, and its status tells a tenant its place.
//
// An administrator's objects are in one namespace, and may do anything. All others are
// delegated: they are below a queue that takes queues of their namespace, and divide what
// it has. They may guarantee only what it guarantees, and none of its policies.
//
// [Assembly.Put] makes one tree of all objects. It never fails:
//
//   - An object that is wrong is as it was when it was last in force, by its status. One
//     that never was is no queue. All others are not touched.
//   - A queue gets of a guarantee what its parent has left. First comes what is in force,
//     then what is new, the oldest object first. So nobody's guarantee shrinks because
//     of what others below the same parent ask for.
//   - A max is at most that of the parent.
//
// What is in force is in the status, and nowhere else: all replicas of a scheduler make
// the same of it, also after a restart.
package preemptqueues
