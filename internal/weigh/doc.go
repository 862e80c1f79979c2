// SPDX-License-Identifier: Apache-2.0

// Package weigh tells whether so few rows can cover a need, and finds some that do. It is
// for questions that are asked of many nodes and of thousands of rows which all of them
// share: room on a node and headroom that is made anywhere.
//
// A row has an amount in each of some dimensions, and a need is an amount in each of them.
// Rows cover a need if what they have together is as much in every dimension. A dimension
// may be a type that a node lacks, a type of a queue that lacks headroom, or a count: if a
// row on the node has 1 there, and the need is 3, then three rows are on the node.
//
// # The bound
//
// Every dimension gets a price, a whole number. A row is worth the sum, over the
// dimensions, of price times amount, and no more of an amount counts than is needed. Rows
// that cover a need are worth at least what the need is worth. So if the m rows of most
// worth are worth less than that, no m rows cover it.
//
// This holds for any prices (it is a surrogate constraint, and the prices are its
// multipliers), so they need no proof. Good prices only make the bound tell more:
//
//   - They start even: each dimension counts the same for the whole of its need.
//   - They are turned, in subgradient steps: if the m rows of most worth leave a dimension
//     open, its price rises, and if they have plenty of it, it falls.
//   - They are carried: those that told of one need are tried on the next one first, the
//     most recent success before the others. Nodes are alike, so that these mostly tell.
//
// If the m best rows are worth more than the need, by some slack, a set of m rows that
// covers it may have another row instead of the m-th best, but lose no more than the slack
// by that. Rows that are worth less than the m-th best minus the slack are in no such set,
// and are left out from there on (reduced-cost fixing). Each turn leaves out more of them.
//
// # An example
//
// A node lacks 4 cpu and 8 memory. Its tasks are
//
//	a: 3 cpu 1 memory
//	b: 1 cpu 5 memory
//	c: 1 cpu 4 memory
//
// Can two of them do? At even prices, 2 for a cpu and 1 for memory, they are worth 7, 7 and
// 6, and the need is worth 16: the best two are worth 14, so they are too few. Three are
// worth 20, so three may do, and do.
//
// If a had 4 cpu and 3 memory, the tasks were worth 11, 7 and 6. The best two, a and b, are
// worth 18, and have all that is lacking: 5 cpu and 8 memory. The slack is 2, the second
// best is worth 7, and c, worth 6, might still be part of another pair.
//
// # Numbers
//
// Amounts and needs have at most [Bits] bits; see [Scale]. So sums of 64 dimensions and of
// thousands of rows stay within 64 bits at any price that is used. Nothing is allocated
// once memory is warm. All work is counted in [Bound.Work], in elementary steps: a look at
// one dimension of a row.
package weigh
