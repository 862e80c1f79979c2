// SPDX-License-Identifier: Apache-2.0

package world

import "pgregory.net/rapid"

// DenseCases are cases with every feature in which hardly anything is plain: the
// ask selects nodes and needs a port, most tasks are in budgets and gangs and have
// costs, and the own leaf may give. In [Cases] each of that is rare, so that few
// plans depend on several rules.
func DenseCases(s Shape) *rapid.Generator[*Case] {
	return rapid.Custom(func(t *rapid.T) *Case {
		g := generator{T: t, shape: s.With(Everything)}
		c := g.draw()
		if len(c.Ask.Selector) == 0 && g.chance("selects", 10) {
			c.Ask.Selector = map[string]string{"zone": of(&g, "zone", zones...)}
			for i := range c.World.Nodes {
				if n := &c.World.Nodes[i]; g.chance("in the zone", 11) {
					n.Labels = map[string]string{"zone": c.Ask.Selector["zone"]}
				}
			}
		}
		if len(c.Ask.Ports) == 0 {
			c.Ask.Ports = g.drawPorts(12)
		}
		if c.Options.OwnLeaf == "" {
			c.Options.OwnLeaf = of(&g, "own leaf", "", Met, Met, Branch)
		}
		if c.World.Budgets == nil {
			c.World.Budgets = make(map[string]Budget)
		}
		if _, ok := c.World.Budgets["web"]; !ok {
			c.World.Budgets["web"] = Budget{Left: int64(of(&g, "left", 1, 0, 2)), Hard: g.chance("hard", 6)}
		}
		g.thicken(c)
		g.drawScarce(&c.Options)
		return c
	})
}

// thicken gives most tasks a budget, a cost, a port, and some a job.
func (g *generator) thicken(c *Case) {
	if c.Options.Minimums == nil {
		c.Options.Minimums = make(map[string]int)
	}
	for i := range c.World.Tasks {
		t := &c.World.Tasks[i]
		if len(t.Budgets) == 0 && g.chance("budget", 9) {
			t.Budgets = []string{"web"}
		}
		if t.Cost == 0 && g.chance("cost", 9) {
			t.Cost = int64(1 + g.below("cost", 3))
		}
		if len(t.Ports) == 0 {
			t.Ports = g.drawPorts(4)
		}
		if t.Job == "" && g.chance("job", 6) {
			t.Job = of(g, "gang", "g", "h")
		}
		if t.Job != "" && c.Options.Minimums[t.Job] == 0 {
			c.Options.Minimums[t.Job] = g.below("minimum", 3)
		}
	}
}
