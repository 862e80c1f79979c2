// SPDX-License-Identifier: Apache-2.0

// Package snapshot writes what a planner sees as one file, and reads such files: a bug
// report, or a test. For restarts use [victims.Cluster.Save].
//
// [Take] writes a cluster, asks, jobs, quotas and the options of who decides them as a
// scenario document: JSON with names for everything, and ages instead of instants.
// [Parse] reads it, or one written by hand, and [Document.Run] decides it with the
// same answers. The format is that of examples/plan.
//
// A document has queues, nodes, tasks, grants, budgets, allowances, and the asks, jobs
// and quotas as dry runs on the cluster as it is. Answers of Minimum, Filter, Blockers
// and Exempt are written as minimums, labels, ports and priority classes of this
// package's own. What it cannot say is in its note and in [Snapshot.Unsaid]. Names for
// people and tags are left out; times in the future are written as now.
package snapshot
