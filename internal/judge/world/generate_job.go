// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"maps"
	"time"

	"pgregory.net/rapid"
)

// JobCases returns random cases of a job of up to four members in a world of a
// shape.
//
// Capacities, maxes and quotas are drawn around what is used and what the job
// asks for: nodes are almost full, a max or a quota of the path is often a
// little too low, and some queues have little beyond their guarantees. Some
// tasks are members of gangs, which may go in part, as a whole or not at all.
// Members are mostly of one size.
//
// All draws shrink to the plainest case.
func JobCases(s Shape) *rapid.Generator[*JobCase] {
	return rapid.Custom(func(t *rapid.T) *JobCase {
		g := jobGenerator{generator: generator{T: t, shape: s}}
		c := g.drawJobCase()
		g.drawScarce(&c.Options)
		return c
	})
}

// PickyJobCases returns cases as JobCases does, with a predicate that refuses
// some nodes.
func PickyJobCases(s Shape) *rapid.Generator[*JobCase] {
	return rapid.Custom(func(t *rapid.T) *JobCase {
		g := jobGenerator{generator: generator{T: t, shape: s}}
		c := g.drawJobCase()
		c.Apart = g.chance("apart", 7)
		c.Refused = make(map[string][]string)
		for _, n := range c.World.Nodes {
			for _, m := range c.Job.Members {
				if g.chance("refused", 4) {
					c.Refused[m.Key] = append(c.Refused[m.Key], n.Name)
				}
			}
		}
		g.drawScarce(&c.Options)
		return c
	})
}

// jobGenerator draws a case of a job around the ask that all its members are
// together.
type jobGenerator struct {
	generator
	jc  JobCase
	job *Job

	wide bool // several members that one node has hardly room for
}

func (g *jobGenerator) drawJobCase() *JobCase {
	g.w, g.job = &g.c.World, &g.jc.Job
	g.jc.ByPriority = g.chance("by priority", 3)
	g.wild = g.chance("wild priorities", 1)
	g.odd = g.chance("odd", 3)
	g.tight = g.chance("tight", 5)
	g.wide = g.chance("wide", 6)
	g.apart = g.wide || g.chance("many nodes", 6)
	g.most = of(&g.generator, "most", 6, 4, 2)
	g.drawTypes()
	g.drawQueues()
	g.drawNodes()
	g.drawAsk()
	g.drawJob()
	g.drawTasks()
	g.drawOwn()
	g.jc.Minimums = g.drawGangs(0, 5, 15)
	g.drawGrants()
	g.drawFeatures()
	g.drawJobFeatures()
	g.drawPlaced()
	g.drawJobBounds()
	g.drawQuotas()
	g.c.Ask.Size = g.job.Members[0].Size // the room is drawn around that
	g.drawCapacities()
	g.drawOptions()
	g.drawLater()
	g.jc.World = g.c.World
	g.jc.Options = g.c.Options
	g.jc.Options.Now, g.jc.Options.Minimums, g.jc.Options.Levels = Epoch, nil, nil
	if g.chance("huge", 1) {
		g.jc.scale(1 << 52)
	}
	return &g.jc
}

// drawJob draws the job, of which there is an ask already.
func (g *jobGenerator) drawJob() {
	a, j := &g.c.Ask, g.job
	a.RequiredNode = ""
	j.Name, j.Application, j.Queue = "x", a.Application, a.Queue
	if j.Priority = of[int32](&g.generator, "priority", 9, 9, 9, 3, 2, 1); g.wild {
		j.Priority = g.priority()
	} else if g.wide {
		j.Priority = 9
	}
	j.NonPreemptible = g.chance("non-preemptible", 6)
	j.MayNot = g.odd && g.chance("may not", 2)
	if !g.jc.ByPriority {
		j.PendingSince, j.LastAttempt = a.PendingSince, a.LastAttempt
		if !g.wild && g.chance("equal priority", 5) {
			j.Priority = a.Priority
		}
	}
	like := g.drawMember()
	equal := !g.chance("unequal", 6)
	count := of(&g.generator, "members", 1, 2, 2, 3, 3, 4)
	if g.wide {
		count = max(count, 2)
	}
	for i := range count {
		size := maps.Clone(like)
		if i > 0 && !equal {
			size = g.drawMember()
		}
		j.Members = append(j.Members, Member{Key: fmt.Sprintf("x%d", i), Size: size})
	}
	if g.chance("minimum", 5) {
		j.MinMembers = 1 + g.below("minimum", len(j.Members))
	}
	if i := g.below("reserved for", 6); i < len(j.Members) {
		for n := range g.w.Nodes {
			if g.w.Nodes[n].ReservedFor == "x" {
				g.w.Nodes[n].ReservedFor = j.Members[i].Key
			}
		}
	}
}

// drawMember draws the size of a member, which mostly wants the first type.
func (g *jobGenerator) drawMember() Amounts {
	size := g.drawSize("member", 3)
	if t := g.w.Types[0]; g.wide {
		size[t] = 2 + g.amount("member", 2)
	} else if size[t] == 0 && !g.chance("zero member", 2) {
		size[t] = 1 + g.amount("member", 2)
	}
	return size
}

// drawJobFeatures draws what a job wants of nodes beside room. A job has no
// ports.
func (g *jobGenerator) drawJobFeatures() {
	if g.has(WithDomains) {
		g.job.Domain = of(&g.generator, "domain", 1, 2, 0)
	}
	selector := g.c.Ask.Selector
	for i := range g.job.Members {
		m := &g.job.Members[i]
		if m.Selector = selector; g.has(WithLabels) && g.chance("its own selector", 3) {
			m.Selector = g.drawSelector()
		}
	}
	g.c.Ask.Selector, g.c.Ask.Ports = nil, nil
}

// drawOwn moves some tasks into the leaf of the job, and makes some of them not
// preemptible.
func (g *jobGenerator) drawOwn() {
	own := 1
	if g.job.NonPreemptible {
		own = 5
	}
	for i := range g.w.Tasks {
		t := &g.w.Tasks[i]
		if g.chance("own", own) {
			t.Queue = g.job.Queue
		}
		t.NonPreemptible = g.chance("not preemptible", 2)
	}
}

// drawPlaced places some members of the job already; a few of those hold a
// grant, and so do members of a gang now and then.
func (g *jobGenerator) drawPlaced() {
	for i := range g.w.Grants {
		a := &g.w.Grants[i].Ask
		a.NonPreemptible = g.chance("not preemptible", 3)
		if g.chance("in a gang", 2) {
			a.Job = "g"
		}
	}
	// An ask that was drawn for the job as a whole is none.
	if len(g.w.Grants) > 0 && g.w.Grants[0].Ask.Key == g.c.Ask.Key {
		g.w.Grants = g.w.Grants[1:]
	}
	for i := range g.job.Members {
		if !g.chance("placed", 1) {
			continue
		}
		ask := g.job.Ask(&g.job.Members[i])
		ask.Size = maps.Clone(ask.Size)
		node := of(&g.generator, "node", g.w.Nodes...).Name
		if g.chance("grant", 4) {
			g.w.Grants = append(g.w.Grants, Grant{Ask: ask, Node: node})
		} else {
			t := ask.Started(node, Epoch.Add(-time.Minute))
			if g.chance("leaving", 1) {
				t.State = Preempting
			}
			g.w.Tasks = append(g.w.Tasks, t)
		}
	}
}

// scale multiplies all amounts, so that their sums come near the end of int64.
func (c *JobCase) scale(k int64) {
	world := Case{World: c.World}
	world.scale(k)
	for _, m := range c.Job.Members {
		m.Size.times(k)
	}
	for _, q := range c.Quotas {
		q.Min.times(k)
		q.Max.times(k)
		q.Waiting.times(k)
	}
}

func (a Amounts) times(k int64) {
	for t := range a {
		a[t] *= k
	}
}
