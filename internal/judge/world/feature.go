// SPDX-License-Identifier: Apache-2.0

package world

import (
	"slices"

	"github.com/go-preempt/preempt/victims"
)

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
	WithNearby                           // for asks: victims on the node of the ask only, or of its application
	WithCap                              // on the victims of a plan
	WithMinRuntime                       // of queues, whose tasks may not go at once
	WithPreemptions                      // for asks: tasks that were preempted before, and levels of which that is one
	WithRefusals                         // for quotas: an instant, and tasks that would not stop until another

	// Everything is all of them, and EverythingOfJobs what worlds of a job know.
	Everything       = 1<<iota - 1
	EverythingOfJobs = Everything &^ (WithGangs | WithPorts | WithGrants | WithNearby | WithPreemptions | WithRefusals)
)

// drawLater draws what was added to worlds after all else, each feature behind those before it: so a
// new one leaves worlds without it as they are.
func (g *generator) drawLater() {
	o := &g.c.Options
	if g.has(WithNearby) {
		o.VictimsOnNode, o.TakeOwnApplication = g.chance("same node", g.often(WithNearby)), g.chance("own application", g.often(WithNearby))
	}
	if g.has(WithCap) && g.chance("cap", g.often(WithCap)) {
		o.MaxVictims = of(g, "at most", 1, 1, 1, 2)
	}
	if g.has(WithMinRuntime) && g.chance("min runtimes", g.often(WithMinRuntime)) {
		g.drawMinRuntimes(&g.w.Root)
	}
	if g.has(WithPreemptions) && g.chance("preemptions count", g.often(WithPreemptions)) {
		g.drawPreemptions()
	}
}

// drawMinRuntimes draws how long tasks must have run, of a queue and those below it.
func (g *generator) drawMinRuntimes(q *Queue) {
	if g.chance("min runtime", 6) {
		if q.Properties == nil {
			q.Properties = make(map[string]string)
		}
		q.Properties["preemption.min-runtime"] = of(g, "min runtime", "1m", "30s", "2m", "0s", "3m", "soon")
	}
	for i := range q.Children {
		g.drawMinRuntimes(&q.Children[i])
	}
}

// drawPreemptions draws how often tasks were preempted before, and where among the levels that counts.
func (g *generator) drawPreemptions() {
	for i := range g.w.Tasks {
		g.w.Tasks[i].Preemptions = of(g, "preempted", 0, 0, 1, 2, 5)
	}
	g.c.Options.Levels = slices.Insert(victims.DefaultLevels(), of(g, "as level", 3, 1, 5, 7), "preemptions")
}

// often is in how many of 16 worlds a feature is drawn: in nearly all if it is by itself, and beside
// others in few, lest it alone decides there.
func (g *generator) often(f Features) int {
	if g.shape.Features == f {
		return 15
	}
	return 1
}

// With returns the shape for worlds that have these features too.
func (s Shape) With(f Features) Shape {
	s.Features |= f
	return s
}

// has reports whether worlds may have a feature.
func (g *generator) has(f Features) bool { return g.shape.Features&f != 0 }
