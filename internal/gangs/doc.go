// SPDX-License-Identifier: Apache-2.0

// Package gangs finds places for all members of a gang, and who goes for that at least cost. It
// knows no cluster, no queue and no ask: a [Problem] states sites, members and who runs there.
//
// # The model
//
// Members of kinds k are placed on sites i: n(i, k) of them, so that each kind has all. From
// each site a set of units S(i) goes, and running gangs go as a whole, W. On each site and for
// each type of which its members want some
//
//	Σ n(i, k) · size(k)  ≤  free(i) + Σ over S(i) of size(u) + Σ over W of size(w, i)
//
// No unit goes beside the whole of its gang, a gang loses one by one no more than it can spare,
// and Σ use(r) over all who go is at most room(r) for each row r: what laws and budgets leave.
// A row that may be passed costs for each amount beyond its room.
//
// Prices are sums of parts that decide one after another, side by side in one number of 128 bits.
// Plans are compared by the parts before Head, then by the highest rank of who goes, then by the
// highest priority, then by what is left of the price. Maxima are no sums. So the solver looks for
// plans below a ceiling, under which they do not count: first with nobody whose price has bits
// from Head on; then below ever lower ranks, and then priorities, down to those below which there
// are too few places, by counts. Each try begins from nothing.
//
// # The parts
//
//   - Menus (menu.go): for each site the sets of units that no other set beats. This is the
//     multiple-choice knapsack problem with dominance (Sinha and Zoltners, 1979).
//   - The programme (programme.go): which set and which members each of some sites has, by
//     dynamic programming over the sites. What rows and gangs have left is in its labels. It is
//     exact if menus are whole and no label was dropped. The same from the last site on, without
//     rows and gangs, bounds from below what a label comes to, and ends most exchanges at once.
//   - Exchanges (exchange.go): some wholes go or stay, their sites and a few more are freed, and the
//     programme places the members there anew. Large neighbourhoods: Shaw, 1998; with ruin and
//     insertion (insert.go) for members that are not alike: Ropke and Pisinger, 2006.
//   - Feasibility (Solver.relax): if rows are in the way, plans are made by what they use of rows,
//     which are relaxed in the manner of Lagrange: each costs by the share of it that is used.
//   - Plans in turn (turn.go): member by member, each where it and the wholes that go for it cost
//     least. Exchanges begin from the best of these, or of that of the programme.
//   - Tolls (toll.go): prices of the rows that bind, by the dual of Lagrange (Fisher, 1981). They
//     say where a member goes, and which labels the programme keeps if they are too many.
//   - A price of room (guide.go): for any price, what sites save at it bounds all plans from below.
//     It rules out exchanges, and proves plans in which no whole goes: Lagrangian relaxation
//     of the constraint that all members have places, and with tolls of rows.
//
// # Steps
//
// A step is some 15 ns: an option that is tried at a label counts as two. All work is charged to
// the meter, and a search looks at it between exchanges. The longest piece of work between two
// looks is a programme over all sites. Whatever the budget is, the answer is the same every time.
package gangs
