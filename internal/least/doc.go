// SPDX-License-Identifier: Apache-2.0

// Package least finds the node on which room costs least, and the units there that go for it.
// It knows no cluster, no queue and no ask: a [Host] states what a node needs and which units
// may give it, an order says which set is cheaper, and a meter says how long to look.
//
// # The model
//
// A [Row] is a number of units that are alike: tasks, or a gang as a whole. A [Problem] is what
// a node needs, in dimensions: amounts of a type that the node lacks, amounts that a queue is
// short of, a number of blockers that must go. For each row r it asks for a number x(r) of
// units, from 0 to the row's count, such that
//
//	Σ x(r) · gives(r, d) ≥ need(d)    for each dimension d
//	Σ x(r) · takes(r, l) ≤ room(l)    for each limit l
//
// and the cost is least. A limit is what laws leave: what a queue has beyond its guarantee, what
// a budget still allows, how many members a gang can spare. A gang as a whole takes all that its
// members may take one by one, so no set has both.
//
// The cost is levels, then work, then excess, or a caller's own sequence of those; see package
// cost. They are compared lexicographically. A level is a sum over the units, or their maximum.
// One level counts victims, so a set costs more than each of its parts. The overrun of soft
// budgets is a level that rows do not have: only a set has it. Sets that cost the same are told
// apart by nodes, and on one node by keys.
//
// So there is one integer program a node. Each is small, for rows are few. There may be
// thousands of nodes: most of the work is not to solve them.
//
// # How a node is ruled out
//
// A solution costs some thousand times as much as a look at a number. Most nodes cannot have the
// best plan, and mostly that can be seen. So each node gets lower bounds, the cheap ones first.
// Each bound relaxes the problem: units may be cut, and limits keep nobody on a node. So a bound
// only rules out, and what it leaves may still be too dear.
//
//  1. Sums. [Host.Skip] looks at a few numbers of a node: the inner loop.
//  2. The ladder (ladder.go). Level by level, in the order in which they decide, the rows say how
//     much of it each set has at least. If that is more than the incumbent has, the node is out.
//     If it is less, the node needs a closer look. If it is the same, only the rows that allow no
//     more count from there on, and the next level decides. The bound of a maximum is the lowest
//     threshold up to which rows are enough. The bound of a sum is that of prices.
//  3. Prices (prices.go). Each dimension has a price, a whole number. A unit is worth what it
//     gives at those prices, and a set that gives what is needed is worth at least what is
//     needed: a surrogate constraint. With that one in place of all others, the units that have
//     the least value for their worth, with the last one cut, are the least of the level: the
//     fractional knapsack. All prices are right, and some tell more. They start even, and are
//     changed by subgradient steps. A unit with which a set would have more than the incumbent is
//     left out, by its reduced cost.
//  4. A set of rough rows. Prices cut units, and branch and bound does not. A short search among
//     rough rows, which cost no more and give no less than units do, shows that there is no set
//     that is cheaper than the incumbent, or gives up.
//  5. Branch and bound (branch.go). The exact rows of a node are decided one after another, after
//     greedy (greedy.go) has found a first set. A branch is left if its rows and the bound of
//     those that are not decided are no better than the incumbent. A search that takes long seeks
//     better prices, and looks for the least levels by themselves first.
//
// If the budget ends before all nodes are ruled out, the plan is improved (improve.go): most of its
// units are kept, and branch and bound decides the rest anew.
//
// Nodes are looked at twice (nodes.go). A scan takes every 64th node, then the others, and mostly
// that is all. If it takes long, a best-first frontier goes on: the nodes by their bounds, the
// least first, until no bound is less than the incumbent. It only looks for lesser levels, which
// takes far less than to settle all of the cost. A node that takes long waits until the others
// are done, and then gets a larger share of the budget.
//
// # Three nodes
//
// Three nodes need 4 CPUs and 4 GB each. The incumbent, on another node, has 2 victims of
// priority 0. Levels are the highest priority, then the number of victims.
//
//	node  units            all together      the ladder
//	a     2 of (3, 0) p0   6 CPUs, 0 GB      no memory: out
//	b     2 of (4, 4) p5   8 CPUs, 8 GB      priority 5 is more than 0: out
//	c     4 of (3, 1) p0   16 CPUs, 16 GB    priority 0 is the same, so all rows count on
//	      4 of (1, 3) p0
//
// On c, at even prices, 1 for a CPU and 1 for a GB, 8 are needed and each unit is worth 4. So 2
// units are worth enough. That is what the incumbent has: by levels c is no better.
//
// Let the incumbent have 3 victims. Then c has 1 fewer at its bound, and is solved. Branch and
// bound takes 2 units of the first row at first, which leaves 2 GB open. Another unit would make
// 3 victims, no fewer than the incumbent has, so this branch is left. With 1 unit of the first
// row, 1 CPU and 3 GB are open, which 1 unit of the second gives. That set has 2 victims, which
// is the bound: nothing can be cheaper.
//
// Let the units of c be 8 of (3, 1) alone. At even prices 2 units are still worth enough, so c
// would be solved. But 2 units give 6 CPUs and 2 GB: too little memory, which becomes dearer, and
// more CPUs than needed, which become cheaper. At 1 for a CPU and 3 for a GB, 16 are needed and
// each unit is worth 6. It takes 3, and c is out. These prices are tried first on the next node.
//
// # Where things are
//
// Bounds of a node are in ladder.go, their prices in prices.go, the knapsack in knapsack.go. One
// problem is solved by solver.go: greedy.go, branch.go, improve.go, and bounds in bound.go and counts.go.
// The search over nodes is nodes.go, what is asked problem.go and search.go, the budget meter.go.
//
// # Sources
//
// Branch and bound is by Land and Doig, "An automatic method of solving discrete programming
// problems" (1960). The fractional knapsack is by Dantzig, "Discrete-variable extremum problems"
// (1957). Surrogate constraints are by Glover, "A multiphase-dual algorithm for the zero-one
// integer programming problem" (1965) and "Surrogate constraints" (1968). Subgradient steps are
// by Held and Karp, "The traveling-salesman problem and minimum spanning trees", part II (1971).
// To fix variables by reduced costs is in Balas and Martin, "Pivot and complement" (1980). The
// price of a victim in the levels behind the one that counts is a Lagrange multiplier; see
// Geoffrion, "Lagrangean relaxation for integer programming" (1974). The frontier is best-first
// search; see Lawler and Wood, "Branch-and-bound methods: a survey" (1966). To keep most units is a large
// neighbourhood search; see Shaw, "Using constraint programming and local search methods to solve
// vehicle routing problems" (1998).
package least
