// SPDX-License-Identifier: Apache-2.0

// Package oracle decides asks and jobs by definition: the slow truth that the
// planners of packages victims and jobs are held to.
//
// It reads a plain [world.World] and nothing else. Sums are taken afresh over
// lists and maps, "inside" is told by paths, every set of candidates that makes
// room on some node is looked at, every law is checked on the state that a set
// would leave behind, in the words of the law, and the cheapest set is found by
// comparing. For jobs that is every set of candidates with every way to place the
// members. It shares no code with the planners, and does not care for speed.
package oracle
