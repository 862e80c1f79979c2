// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"math"
	"time"
)

// drawFeatures draws what tasks, nodes and the ask have beside amounts. The
// queues are drawn already, bounds and capacities are not.
func (g *generator) drawFeatures() {
	if g.has(WithOwnLeaf) {
		g.drawOwnLeaf()
	}
	if g.has(WithBudgets) {
		g.drawBudgets()
	}
	if g.has(WithLabels) {
		g.c.Ask.Selector = g.drawSelector()
	}
	if g.has(WithPorts) && g.chance("ports", 10) {
		g.c.Ask.Ports = g.drawPorts(12)
	}
	for i := range g.w.Nodes {
		g.drawNodeFeatures(&g.w.Nodes[i])
	}
	for i := range g.w.Tasks {
		g.drawTaskFeatures(&g.w.Tasks[i])
	}
}

// drawOwnLeaf turns the option on, and moves some lower tasks into the leaf of
// the ask, or next to it.
func (g *generator) drawOwnLeaf() {
	g.c.Options.OwnLeaf = of(g, "own leaf", "", Met, Branch)
	if g.chance("said by queues", 6) {
		g.drawOwnLeaves(&g.w.Root)
	}
	own := g.w.OwnLeaf(g.c.Ask.Queue, g.c.Options.OwnLeaf)
	if own == "" {
		return
	}
	g.odd = g.odd || g.chance("odd", 6) // law 4 often forbids the rest
	for i := range g.w.Tasks {
		t := &g.w.Tasks[i]
		if !g.chance("own", 6) {
			continue
		}
		t.Queue = g.c.Ask.Queue
		if own == Branch && g.chance("next to it", 8) {
			t.Queue = of(g, "leaf", g.leaves...)
		}
		if t.Priority > math.MinInt32 && t.Priority >= g.c.Ask.Priority && g.chance("lower", 12) {
			t.Priority = g.c.Ask.Priority - min(1, g.c.Ask.Priority-math.MinInt32)
		}
	}
}

// drawOwnLeaves has some queues say it, or what counts as unset.
func (g *generator) drawOwnLeaves(q *Queue) {
	if g.chance("says it", 7) {
		if q.Properties == nil {
			q.Properties = make(map[string]string)
		}
		q.Properties["preemption.own-leaf"] = of(g, "property", Met, Branch, "never", "Branch", "any", "MET")
	}
	for i := range q.Children {
		g.drawOwnLeaves(&q.Children[i])
	}
}

func (g *generator) drawBudgets() {
	g.w.Budgets = make(map[string]Budget)
	for _, name := range []string{"web", "db"}[:1+g.below("budgets", 2)] {
		g.w.Budgets[name] = Budget{Left: int64(of(g, "left", 1, 0, 2, -1, 3)), Hard: g.chance("hard", 7)}
	}
}

// zones are the values of a label; nodes may be without it.
var zones = []string{"a", "b", ""}

// drawSelector draws labels that nodes must have, mostly none.
func (g *generator) drawSelector() map[string]string {
	if !g.chance("selector", 6) {
		return nil
	}
	return map[string]string{"zone": of(g, "zone", zones...)}
}

// drawPorts draws ports, each of them in n of 16 cases.
func (g *generator) drawPorts(n int) (ports []string) {
	for _, port := range []string{"80", "443"} {
		if g.chance("port", n) {
			ports = append(ports, port)
		}
	}
	return ports
}

func (g *generator) drawNodeFeatures(n *Node) {
	if g.has(WithRanks) {
		n.Rank = of[int64](g, "rank", 0, 0, 0, 1, 1, -1, -1, math.MaxInt64, math.MinInt64)
	}
	if g.has(WithLabels) {
		if i := g.below("zone", 1+len(zones)); i > 0 {
			n.Labels = map[string]string{"zone": zones[i-1]}
		}
	}
	if g.has(WithDomains) {
		list := []string{of(g, "block", "b1", "b2"), of(g, "rack", "r1", "r2", "r3")}
		n.Domains = list[:of(g, "depth", 2, 2, 2, 1, 1, 0)]
	}
}

func (g *generator) drawTaskFeatures(t *Task) {
	for _, name := range []string{"web", "db"} {
		if _, ok := g.w.Budgets[name]; ok && g.chance("in a budget", 6) {
			t.Budgets = append(t.Budgets, name)
		}
	}
	if g.has(WithCosts) && g.chance("cost", 8) {
		t.Cost = of[int64](g, "cost", 1, 1, 2, 5, math.MaxInt64, math.MaxInt64-1)
	}
	if g.has(WithCheckpoints) && g.chance("checkpoint", 8) {
		t.Checkpoint = Epoch.Add(time.Duration(g.below("since", 5)-3) * 30 * time.Second)
	}
	if g.has(WithPorts) {
		t.Ports = g.drawPorts(3)
	}
}

// drawGrantsInOrder gives the node of the ask to others too, before it and after
// it, and often to the ask.
func (g *generator) drawGrantsInOrder() {
	g.w.Grants = nil
	if !g.chance("many grants", 8) {
		return
	}
	there := of(g, "node", g.w.Nodes...).Name
	if g.c.Ask.RequiredNode != "" {
		there = g.c.Ask.RequiredNode
	}
	own := g.below("place of its own", 5) // 4: none
	for i := range 1 + g.below("grants", 4) {
		if i == own {
			g.w.Grants = append(g.w.Grants, Grant{g.c.Ask, there})
		}
		ask := Ask{
			Key: fmt.Sprintf("g%d", i), Application: of(g, "application", "app-1", "app-x"),
			Queue: of(g, "queue", g.leaves...), Size: g.drawSize("size", 3), PendingSince: Epoch.Add(-time.Hour),
		}
		if g.chance("in its queue", 4) {
			ask.Queue = g.c.Ask.Queue
		}
		if g.has(WithPorts) {
			ask.Ports = g.drawPorts(3)
		}
		node := there
		if g.chance("elsewhere", 4) {
			node = of(g, "node", g.w.Nodes...).Name
		}
		g.w.Grants = append(g.w.Grants, Grant{ask, node})
	}
}
