// SPDX-License-Identifier: Apache-2.0

// Package units finds the cheapest set of units that meets some needs and stays within
// some bounds. It states units as rows of package least, those that are alike as one, and
// answers with units. It knows no queue, node or task.
//
// A [Problem] states needs, bounds, units and an order of sets; a [Worker] answers with a
// [Selection]. A need is an amount that the chosen units must reach together, a [Bound] one
// that they must not pass, and a [Unit] one thing to choose: a task, or a gang that goes as a
// whole.
//
// [Worker.Least] is branch and bound from a greedy set on, within a number of steps: the
// problem is NP-hard.
package units
