// SPDX-License-Identifier: Apache-2.0

package world

// Features are what random worlds may have beside amounts, queues, priorities
// and instants. Tests turn them on rule by rule, or all at once.
type Features uint

// The features. Gangs are part of every world of a job; for those of an ask
// they are drawn only if they are among its features.
const (
	WithGangs       Features = 1 << iota // jobs that go as a whole, over nodes and queues
	WithBudgets                          // soft and hard ones, which tasks share
	WithCosts                            // of the host's own, also huge ones
	WithCheckpoints                      // before tasks were scheduled, since then, and to come
	WithRanks                            // of nodes
	WithLabels                           // on nodes, and what the ask or the members select
	WithPorts                            // that tasks, grants and the ask hold
	WithGrants                           // several on a node, the ask's own often among them
	WithOwnLeaf                          // met, any or branch
	WithDomains                          // for jobs

	// Everything is all of them.
	Everything = 1<<iota - 1
	// WithNearby is beside them: victims on the node of the ask only, or of its application.
	WithNearby = Everything + 1
)

// With returns the shape for worlds that have these features too.
func (s Shape) With(f Features) Shape {
	s.Features |= f
	return s
}

// has reports whether worlds may have a feature.
func (g *generator) has(f Features) bool { return g.shape.Features&f != 0 }
