// SPDX-License-Identifier: Apache-2.0

package world

import (
	"slices"
	"time"

	"pgregory.net/rapid"
)

// EnforceCases returns random cases of quotas to enforce in worlds of a shape:
// mostly of a queue with usage, with a max below that and above what the queue
// guarantees. Gangs are there as by the features of the shape, budgets too.
//
// All draws shrink to the plainest case.
func EnforceCases(s Shape) *rapid.Generator[*EnforceCase] {
	return rapid.Custom(func(t *rapid.T) *EnforceCase {
		g := generator{T: t, shape: s}
		world := g.draw()
		c := &EnforceCase{World: world.World, Minimums: world.Options.Minimums}
		for i := range c.World.Tasks {
			// Ages in seconds, so that some are the same; of some they are not known.
			c.World.Tasks[i].Created = Epoch.Add(-time.Duration(g.below("age", 6)) * time.Second)
			if g.chance("unknown age", 1) {
				c.World.Tasks[i].Created = time.Time{}
			}
		}
		g.drawEnforced(c)
		c.Exact = g.chance("exact", 4)
		c.Order = of(&g, "order", "", "", ClosestMatch, Pack, Fewest, FewestOfAll)
		c.Now = Epoch
		if g.has(WithRefusals) && g.chance("refusals", 12) {
			g.drawRefusals(c)
		}
		return c
	})
}

// drawRefusals draws an instant, and until when some tasks that run would not stop.
func (g *generator) drawRefusals(c *EnforceCase) {
	c.Now, c.Refused = Epoch.Add(time.Duration(g.below("seconds later", 3))*time.Second), make(map[string]time.Time)
	for i := range c.World.Tasks {
		if t := &c.World.Tasks[i]; !t.State.Leaving() && g.chance("refuses", 5) {
			c.Refused[t.Key] = Epoch.Add(time.Duration(g.below("until", 6)) * time.Second)
		}
	}
}

// drawEnforced draws a queue, more often a leaf, and a max.
func (g *generator) drawEnforced(c *EnforceCase) {
	usage := c.World.Usage(true)
	places := slices.DeleteFunc(c.World.Queues(), func(q Place) bool {
		return usage[q.Path][c.World.Types[0]] == 0 || !q.IsLeaf() && !g.chance("inner", 6)
	})
	if len(places) == 0 {
		places = c.World.Queues()
	}
	q := of(g, "enforced", places...)
	c.Queue, c.Max = q.Path, make(Amounts)
	most := q.Max
	for i, t := range c.World.Types {
		if i > 0 && !g.chance("bounded", 10) {
			continue
		}
		step := max(usage[q.Path][t]/8, 1)
		c.Max[t] = max(usage[q.Path][t]-step*g.amount("over", 8), q.Guaranteed[t])
	}
	for t := range most { // a max that is not named any more is lifted
		if _, named := c.Max[t]; !named {
			delete(most, t)
		}
	}
}
