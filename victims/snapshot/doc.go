// SPDX-License-Identifier: Apache-2.0

// Package snapshot writes what a planner sees as one file, and reads such files: a bug report, or a test. For
// restarts use [victims.Cluster.Save].
//
// [Take] writes a cluster, options, and asks, jobs and quotas to decide, as a scenario document of
// examples/plan: JSON with names, and ages instead of instants. [Read] gives the
// same answers.
//
// Answers of Filter, Blockers and Exempt become labels, ports and priority classes. Names for people and tags
// are left out; times in the future are written as now.
package snapshot
