// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"
)

// A Workload is a world with a number of asks that are pending in it.
type Workload struct {
	World   World
	Options Options
	Asks    []Ask
}

// Workloads returns random workloads in worlds of a shape. Unlike those of
// [Cases] many queues are under their guarantees, by more than one ask, and
// most asks are of leaves below those. Asks have the features of the shape, too.
func Workloads(s Shape) *rapid.Generator[*Workload] {
	return rapid.Custom(func(t *rapid.T) *Workload {
		g := generator{T: t, shape: s, hungry: true}
		c := g.draw()
		w := &Workload{World: c.World, Options: Options{
			Now: Epoch, Choices: c.Options.Choices, Minimums: c.Options.Minimums, OwnLeaf: c.Options.OwnLeaf,
		}}
		if len(c.World.Grants) == 0 || c.World.Grants[0].Ask.Key != c.Ask.Key {
			w.Asks = append(w.Asks, c.Ask)
		}
		starving := c.World.starving()
		for i := range 2 + g.below("asks", 12) {
			leaf := of(&g, "leaf", g.leaves...)
			if len(starving) > 0 && !g.chance("any leaf", 4) {
				leaf = of(&g, "starving leaf", starving...)
			}
			a := Ask{
				Key: fmt.Sprintf("y%d", i), Application: fmt.Sprintf("app-y%d", i),
				Queue: leaf, Size: g.drawSize("ask", 4), Priority: 3 - g.priority(),
				PendingSince: Epoch.Add(-3 * time.Hour),
			}
			if g.chance("requires node", 1) {
				a.RequiredNode = of(&g, "node", g.w.Nodes...).Name
			}
			g.drawAskFeatures(&a)
			w.Asks = append(w.Asks, a)
		}
		g.drawScarce(&w.Options)
		return w
	})
}

// drawAskFeatures draws what an ask of a workload has beside amounts, and what
// the task will have that it becomes.
func (g *generator) drawAskFeatures(a *Ask) {
	t := a.Started("", Epoch)
	g.drawTaskFeatures(&t)
	asAsk(a, &t)
	if g.has(WithPorts) {
		a.Ports = g.drawPorts(3)
	}
	if g.has(WithLabels) {
		a.Selector = g.drawSelector()
	}
	if g.has(WithGangs) && g.chance("in a gang", 3) {
		a.Job = of(g, "gang", "g", "h")
	}
}

// starving returns the leaves that are below a queue under its guarantee.
func (w *World) starving() (leaves []string) {
	usage := w.Usage(true)
	under := make(map[string]bool)
	for _, q := range w.Queues() {
		for t, g := range q.Guaranteed {
			if usage[q.Path][t] < g {
				under[q.Path] = true
			}
		}
	}
	for _, q := range w.Queues() {
		if q.IsLeaf() && slices.ContainsFunc(Up(q.Path), func(a string) bool { return under[a] }) {
			leaves = append(leaves, q.Path)
		}
	}
	return leaves
}
