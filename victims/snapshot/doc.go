// SPDX-License-Identifier: Apache-2.0

// Package snapshot writes what a planner sees as one file, and reads such files: a bug
// report, or a test. For restarts use [victims.Cluster.Save].
//
// [Take] writes a cluster, options, and asks, jobs and quotas to decide, as a scenario
// document of examples/plan: JSON with names for everything, and ages instead of
// instants. [Parse] reads it, or one written by hand, and [Document.Run] gives the same
// answers.
//
// Answers of Filter, Blockers and Exempt are written as labels, ports and priority classes. What a document cannot say is in its note, and Take returns it.
// Names for people and tags are left out; times in the future are written as now.
package snapshot
