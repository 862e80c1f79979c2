// SPDX-License-Identifier: Apache-2.0

// Package search finds the node on which room costs least. It knows no cluster, no queue
// and no ask: a [Host] states what a node lacks and which rows of units may give it, an
// order says which plan is cheaper, and a budget says how long to look. It answers with the
// best plan that the host was offered, and with what it has shown of all others.
//
// # How a node is ruled out
//
// A search among the units of a node (package least) costs some thousand times as much as
// a look at a number. Most nodes of a cluster cannot have the best plan, and mostly that
// can be seen. So each node gets lower bounds, the cheap ones first, and is searched only
// if none of them tells. Every bound takes for granted whatever makes plans cheaper: that
// laws over sums keep nobody, that units may be cut. So a bound only ever rules out.
//
//  1. Sums. [Host.Skip] looks at a few numbers of a node: the inner loop.
//  2. The ladder. Level by level, in the order in which levels decide, the node's rows say
//     how much of it any plan has at least. If that is more than the incumbent has, the
//     node is out. If it is less, the node needs a closer look. If it is the same, only
//     those rows count from there on which allow no more, and the next level decides. For
//     a level that is a maximum the bound is the lowest threshold of which the rows are
//     enough, type by type. For a level that is summed up it is the price bound.
//  3. The price bound. Each type has a price, a whole number, and what is lacking has a
//     worth. A row's unit is worth its amounts at those prices, and no more counts than is
//     lacking. Whoever gives what is lacking is worth as much as that. So the units that
//     have the least value for their worth, until they are worth enough and with the last
//     one cut, say how much of the level it takes: a surrogate constraint, and the
//     fractional knapsack. With a value of 1 for each unit these are the m units that are
//     worth most. A unit that would bring more than the incumbent has is left out, by its
//     reduced cost. Any prices are right. They start even, are changed by subgradient
//     steps, and those that told of a node are tried first on the next.
//  4. Sets. A depth-first search among few rows finds the cheapest set, or that there is
//     none. Whole numbers tell what prices cannot. A set that is found is tried as a plan.
//
// Nodes are looked at twice. A scan takes every 64th node, and then the others, and mostly
// that is all. If it takes long, a best-first frontier goes on: the nodes by their bounds,
// the least first, until no bound is less than the incumbent. It only looks for lesser
// levels: that takes far less to settle than the whole cost. A node that takes long waits
// until the others are done, and gets a larger share of the budget then.
//
// # Three nodes
//
// An ask lacks 4 CPUs and 4 GB on each of three nodes. The incumbent has 2 victims of
// priority 0. Levels are the highest priority, then the number of victims.
//
//	node  units            sums                 ladder
//	a     2 of (3, 0) p0   6 CPUs, 0 GB         all together give no memory: out
//	b     2 of (4, 4) p5   8 CPUs, 8 GB         priority 5 is more than 0: out
//	c     4 of (3, 1) p0,  16 CPUs, 16 GB       priority 0 is the same: all rows allow it
//	      4 of (1, 3) p0
//
// On c each type by itself takes 2 units: 3 + 3 ≥ 4. At even prices, 1 for a CPU and 1
// for a GB, 8 are lacking and every unit is worth 4. So two units are worth enough, and 2
// victims is what the incumbent has: by levels c is no better. Had the incumbent 3 victims,
// c would be looked at, and one of each kind is the plan.
//
// Let the units of c be 8 of (3, 1) alone, and let the incumbent have 3 victims. At even
// prices two are still worth enough, and c would be looked at. But they give 6 CPUs and
// 2 GB, so memory becomes dearer. At 1 for a CPU and 3 for a GB, 16 are lacking and each
// unit is worth 6: it takes three, which is no better than the incumbent, and c is out.
// These prices are tried first on the next node.
package search
