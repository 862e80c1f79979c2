// SPDX-License-Identifier: Apache-2.0

// Package yunikorn has Apache YuniKorn's core under examination: its exported
// scheduler objects, filled from a document, and its own preemption.
//
// What stands for what: a queue is a queue, a task an allocation, a node a
// node. If the root of a document has bounds, it becomes a queue below
// YuniKorn's root, whose max is always the size of the cluster. Tasks that are
// releasing or preempting are allocations marked as preempted, as YuniKorn knows
// tasks that are about to leave. A node selector is a predicate of the resource
// manager.
package yunikorn
