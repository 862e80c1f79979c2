// Package cover finds the cheapest set of units that meets some needs and stays
// within some bounds. It knows no queue, node or task: a [Problem] states the
// needs, the bounds and the units, and a [Worker] answers with a [Selection].
//
// Use it if you have picked candidates by rules of your own and want the
// least-cost choice among them. Packages victims, quota and jobs pose all of
// their searches to it.
//
// # The problem
//
// A [Need] is an amount that the chosen units must reach together. A [Bound] is
// an amount that they must not pass together. A [Unit] is one thing to choose:
// a task, or a gang that goes as a whole. It says how large it is, for which
// needs it counts and which bounds it uses up. An [Order] says which of two
// sets is cheaper.
//
// This is a covering problem under packing bounds, which is NP-hard. It is
// small in practice: some ten candidates, of few kinds.
//
// # The method
//
//  1. Rows. Each type in which a need is short is a row. Each type of a bound
//     that could be passed is a row too; bounds that hold for all units
//     together are forgotten.
//  2. Classes. Units that differ in nothing but work and key are one class. A
//     set is told by the number of units that it takes of each class, because
//     within a class the order of taking is fixed: least work first, then key.
//  3. Greedy. [Worker.Greedy] takes classes from the cheapest up while they
//     reduce an open row, then gives back what is not needed, the costliest
//     first. That is the start, and often already the answer.
//  4. Branch and bound. [Worker.Least] decides class after class, the costliest
//     first, how many units to take. It leaves out a branch if the rows cannot
//     be met any more, or if a lower bound on every completion is dearer than
//     the best set so far.
//  5. Bounds. A row that is still open by an amount needs at least so many
//     units, the largest first. That number times the least of each level
//     bounds the levels, the excess and the work. Searches that last longer
//     also use bounds over several needs together.
//  6. Levels. If that takes long, a second branch and bound shows which levels
//     are the least (stages.go). It goes level by level, with those before as
//     limits, takes the units first that cost least for what they cover, and
//     decides one unit in a step.
//
// # An example of four units
//
// A node lacks 4 CPUs. Units a (3 CPUs, priority 0), b (2, 0), c (2, 0) and d
// (4, 5) run there; no bound binds. Classes, costliest first: d; then b and c
// together; then a. Greedy takes a (open: 1), then b (open: 0), and gives back
// nothing: without either one 4 are not met. The cost is two units of highest
// priority 0, with 1 CPU freed beyond need. Branch and bound first leaves d out,
// takes none, one or two of the class of b and c, and finds {b, c}: two units
// too, but nothing beyond need. Taking d gives highest priority 5, which is
// dearer than any number of units of priority 0, so that branch ends at once.
// The answer is {b, c}.
package cover
