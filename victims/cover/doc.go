// SPDX-License-Identifier: Apache-2.0

// Package cover finds the cheapest set of units that meets some needs and stays within
// some bounds: a covering problem under packing bounds. Use it for candidates that you
// have picked yourself. It knows no queue, node or task.
//
// A [Problem] states needs, bounds, units and an [Order] of sets; a [Worker] answers
// with a [Selection]. A [Need] is an amount that the chosen units must reach together,
// a [Bound] one that they must not pass, and a [Unit] one thing to choose: a task, or
// a gang that goes as a whole.
//
// [Worker.Greedy] is fast. [Worker.Least] is branch and bound from there, within a number
// of steps: the problem is NP-hard.
package cover
