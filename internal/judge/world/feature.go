// SPDX-License-Identifier: Apache-2.0

package world

import (
	"slices"

	"github.com/go-preempt/preempt/victims"
)

// Features are what random worlds may have beside amounts, queues, priorities
// and instants. Tests turn them on rule by rule, or all at once.
type Features uint

// The features, each a row of [Table]; Everything is all of them. Gangs are part of every world of a
// job; for those of an ask they are drawn only if they are among its features.
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

	Everything Features = 1<<iota - 1
)

// A Feature is a row of the table of features.
type Feature struct {
	Name string
	With Features
	// Jobs: worlds of a job have it if it is asked for. Quotas: the enforcer knows its rule.
	Jobs, Quotas bool
	Level        bool // a level that is off by default, which some cases name
	// Spoil takes it out of a case; nil: nothing does.
	Spoil func(c *Case)
	// Property is of queues, and ends by time. Random ones have these values; Spoil takes them all out.
	Property string
	Values   []string
	draw     func(g *generator) // after all else
	// Decides is in how many of a thousand cases with this feature alone the answer is another without
	// it, at least; 0: it is not measured. 50 are good, but of what few asks can meet.
	Decides int
}

// Table has all features. Tests of planners walk it, one by one and all together.
var Table = []Feature{
	{Name: "gangs", With: WithGangs, Quotas: true, Spoil: func(c *Case) { c.Options.Minimums = nil }},
	{Name: "budgets", With: WithBudgets, Jobs: true, Quotas: true, Spoil: func(c *Case) { c.World.Budgets = nil }},
	{Name: "costs", With: WithCosts, Jobs: true, Spoil: eachTask(func(t *Task) { t.Cost = 0 })},
	{Name: "checkpoints", With: WithCheckpoints, Jobs: true, Spoil: eachTask(func(t *Task) { t.Checkpoint = t.Scheduled })},
	{Name: "ranks", With: WithRanks, Jobs: true, Spoil: func(c *Case) { forEach(c.World.Nodes, func(n *Node) { n.Rank = 0 }) }},
	{Name: "labels", With: WithLabels, Jobs: true, Spoil: func(c *Case) { c.Ask.Selector = nil }},
	{Name: "ports", With: WithPorts, Spoil: func(c *Case) { c.Ask.Ports = nil }},
	{Name: "grants", With: WithGrants, Spoil: func(c *Case) { c.World.Grants = nil }},
	{Name: "own leaf", With: WithOwnLeaf, Jobs: true, Spoil: func(c *Case) { c.SetOwnLeaf("") }},
	{Name: "domains", With: WithDomains, Jobs: true},
	{Name: "nearby", With: WithNearby, Decides: 20, draw: (*generator).drawNearby, Spoil: func(c *Case) {
		c.Options.VictimsOnNode, c.Options.TakeOwnApplication = false, false
	}},
	{Name: "cap", With: WithCap, Jobs: true, Decides: 50, draw: (*generator).drawCap, Spoil: func(c *Case) { c.Options.MaxVictims = 0 }},
	timed(Feature{
		Name: "min runtime", With: WithMinRuntime, Jobs: true, Quotas: true, Decides: 50,
		Property: "preemption.min-runtime", Values: []string{"1m", "30s", "2m", "0s", "3m", "soon"},
	}),
	{Name: "preemptions", With: WithPreemptions, Level: true, Decides: 50, draw: (*generator).drawPreemptions, Spoil: func(c *Case) { c.Options.Levels = nil }},
	{Name: "refusals", With: WithRefusals, Quotas: true},
}

// timed completes the row of a property that ends by time.
func timed(f Feature) Feature {
	f.draw = func(g *generator) {
		if g.chance(f.Name, g.often(f.With)) {
			g.drawProperty(&f, &g.w.Root)
		}
	}
	f.Spoil = func(c *Case) { c.World.Root = c.World.Root.without(f.Property) }
	return f
}

// Of returns the features of which may is true.
func Of(may func(*Feature) bool) (all Features) {
	for i := range Table {
		if may(&Table[i]) {
			all |= Table[i].With
		}
	}
	return all
}

// EverythingOfJobs is what worlds of a job may have.
var EverythingOfJobs = Of(func(f *Feature) bool { return f.Jobs })

// Later reports whether time alone may let somebody go who may not yet.
func (c *Case) Later() bool {
	return c.Options.Exempt != nil || slices.ContainsFunc(c.World.Queues(), func(q Place) bool {
		return slices.ContainsFunc(Table, func(f Feature) bool { return f.Property != "" && q.Properties[f.Property] != "" })
	})
}

func eachTask(change func(*Task)) func(*Case) {
	return func(c *Case) { forEach(c.World.Tasks, change) }
}

func forEach[T any](list []T, change func(*T)) {
	for i := range list {
		change(&list[i])
	}
}

// drawLater draws what was added to worlds after all else, each feature behind those before it: so a
// new one leaves worlds without it as they are.
func (g *generator) drawLater() {
	for _, f := range Table {
		if f.draw != nil && g.has(f.With) {
			f.draw(g)
		}
	}
}

// drawNearby draws where victims must be, and whose they may be.
func (g *generator) drawNearby() {
	o, often := &g.c.Options, g.often(WithNearby)
	o.VictimsOnNode, o.TakeOwnApplication = g.chance("same node", often), g.chance("own application", often)
}

// drawCap draws how many victims a plan may have.
func (g *generator) drawCap() {
	if g.chance("cap", g.often(WithCap)) {
		g.c.Options.MaxVictims = of(g, "at most", 1, 1, 1, 2)
	}
}

// drawProperty draws what a queue and those below it say.
func (g *generator) drawProperty(f *Feature, q *Queue) {
	if g.chance(f.Name, 6) {
		if q.Properties == nil {
			q.Properties = make(map[string]string)
		}
		q.Properties[f.Property] = of(g, f.Name, f.Values...)
	}
	for i := range q.Children {
		g.drawProperty(f, &q.Children[i])
	}
}

// drawPreemptions draws how often tasks were preempted before, and where among the levels that counts.
func (g *generator) drawPreemptions() {
	if !g.chance("preemptions count", g.often(WithPreemptions)) {
		return
	}
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
