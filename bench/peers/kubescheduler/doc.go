// SPDX-License-Identifier: Apache-2.0

// Package kubescheduler has the kube-scheduler under examination: its framework
// with the plugins that decide about amounts, selectors and ports, over a
// snapshot that is filled from a document, and the dry run of its default
// preemption.
//
// What stands for what: a node is a node, and a task a running pod. A budget is
// a PodDisruptionBudget. An ask's selector is its node selector, and a node that
// it requires is a node affinity, as a DaemonSet has it. Tasks that are leaving
// are pods with a deletion timestamp. There are no queues: bounds, fences and
// whose a task is, opting out and originators cannot be told.
package kubescheduler
