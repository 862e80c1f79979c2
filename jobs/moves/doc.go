// SPDX-License-Identifier: Apache-2.0

// Package moves plans for asks and jobs as packages victims and jobs do, and lets tasks
// move that are in the way: they stop where they run and get a grant elsewhere, in one
// change. Use it if fragments block large work, and guarantees keep those who hold them.
//
// A move takes nothing from anybody: the queue of the mover uses afterwards what it used
// before. So guarantees (law 2) do not keep a task from moving, nor does it matter whether
// it opted out (law 1, beyond its cost), or runs inside the starving queue. Fences (law 7),
// priorities (law 6: lower or equal, in the own leaf too), applications (law 3), exemptions
// and budgets hold as for victims. A plan with moves is a plan in the cluster in which the
// movers have moved already: all else in it is judged there.
//
// A task moves only for room that the plan needs. Movers go to nodes that have room for them
// once what is leaving has gone, and that the filter lets them run on. Nobody moves to make
// room for a mover. Members of a gang move together, to nodes that share domains as narrow as
// their old ones did, or not at all.
//
// DESIGN.md, Moves, has the rules and why they end.
package moves
