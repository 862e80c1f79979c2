// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"maps"
	"time"
)

func (g *generator) drawNodes() {
	n := 1 + g.below("nodes", g.shape.Nodes)
	if n > 2 && !g.apart && g.chance("few nodes", 8) {
		n = 2
	}
	for i := range n {
		n := Node{Name: fmt.Sprintf("n%d", i+1)}
		n.Unschedulable = g.chance("unschedulable", 1)
		if g.chance("reserved", 1) {
			n.ReservedFor = of(g, "reserved for", "other", "x")
		}
		g.w.Nodes = append(g.w.Nodes, n)
	}
}

// drawCapacities draws capacities around what is used on the nodes.
func (g *generator) drawCapacities() {
	used := g.w.Free(false) // of no capacity: what is used, with a minus
	for i := range g.w.Nodes {
		n := &g.w.Nodes[i]
		n.Capacity = make(Amounts)
		room := g.chance("room", 1) || g.short && !g.apart && g.chance("room", 7)
		for _, t := range g.w.Types {
			ask := g.c.Ask.Size[t]
			free := g.amount("free", 2)
			switch {
			case room:
				free += ask
			case g.chance("over-committed", 1):
				free = -free
			case ask > 0 && g.apart && g.short:
				free = ask - 1 - g.amount("less", 1)
			case ask > 0: // less than it takes
				free = g.amount("free", int(ask)-1)
			}
			n.Capacity[t] = max(free-used[n.Name][t], 0)
		}
	}
}

func (g *generator) drawAsk() {
	a := &g.c.Ask
	a.Key = "x"
	a.Queue = of(g, "leaf", g.leaves...)
	a.Application = "app-x"
	a.Size = g.drawSize("ask", 6)
	if a.Size[g.w.Types[0]] == 0 && (!g.odd || !g.chance("zero ask", 4)) {
		a.Size[g.w.Types[0]] = 1 + g.amount("ask", 5)
	}
	if a.Priority = g.priority(); !g.wild {
		a.Priority = 3 - a.Priority
	}
	if g.chance("requires node", 2) {
		a.RequiredNode = of(g, "node", g.w.Nodes...).Name
	}
	a.PendingSince = Epoch.Add(-3 * time.Hour)
	if !g.odd {
		return
	}
	a.MayNot = g.chance("may not", 2)
	if g.chance("young", 5) {
		a.PendingSince = Epoch.Add(time.Duration(g.below("since", 5)-3) * 30 * time.Second)
	}
	if g.chance("tried", 6) {
		a.LastAttempt = Epoch.Add(time.Duration(g.below("attempt", 5)-3) * 30 * time.Second)
	}
}

func (g *generator) drawTasks() {
	n := g.below("tasks", g.shape.Tasks+1)
	if half := g.shape.Tasks / 2; n < half && !g.odd {
		n += half
	}
	applications := []string{"app-1", "app-2", "app-3", "app-x"}
	for i := range n {
		t := Task{
			// Neither order of adding nor length follows the order of keys.
			Key:      fmt.Sprintf("t%d", (i*7+3)%61),
			Queue:    g.leaf(),
			Node:     of(g, "node", g.w.Nodes...).Name,
			Size:     g.drawSize("size", g.most),
			Priority: g.priority(),
			Created:  Epoch.Add(-3 * time.Hour),
			State:    Running,
		}
		t.Application = applications[g.below("application", 3)]
		if g.chance("same application", 1) {
			t.Application = "app-x"
		}
		if age := g.below("age", 5); age > 0 {
			t.Scheduled = Epoch.Add(time.Duration(2-age) * time.Minute) // one is in the future
		}
		if g.chance("special", 4) {
			switch g.below("kind", 6) {
			case 0, 1:
				t.OptedOut = true
			case 2:
				t.Originator = true
			case 3:
				t.RequiredNode = true
			default:
				t.State = of(g, "state", Preempting, Releasing)
			}
		}
		if i > 0 && g.chance("twin", 6) {
			g.likeAnother(&t)
		}
		g.w.Tasks = append(g.w.Tasks, t)
	}
}

// likeAnother makes a task like one of those before it, so that ties go down to
// the work lost and the keys. It mostly stays on its node, and often in its queue.
func (g *generator) likeAnother(t *Task) {
	twin := of(g, "twin of", g.w.Tasks...)
	twin.Key, twin.Size = t.Key, maps.Clone(twin.Size)
	if !g.chance("same node", 4) {
		twin.Node = t.Node
	}
	if g.chance("other queue", 8) {
		twin.Queue = t.Queue
	}
	if g.chance("other age", 4) {
		twin.Scheduled = t.Scheduled
	}
	*t = twin
}

// leaf draws the leaf of a task: less often the asking one.
func (g *generator) leaf() string {
	leaf := of(g, "queue", g.leaves...)
	if leaf == g.c.Ask.Queue {
		leaf = of(g, "queue", g.leaves...)
	}
	return leaf
}

// drawGrants draws asks that were given a place, now and then the asking one.
func (g *generator) drawGrants() {
	if g.chance("granted already", 1) {
		node := of(g, "node", g.w.Nodes...).Name
		if g.c.Ask.RequiredNode != "" {
			node = g.c.Ask.RequiredNode
		}
		g.w.Grants = append(g.w.Grants, Grant{g.c.Ask, node})
	}
	if !g.chance("grants", 4) {
		return
	}
	for i := range 1 + g.below("grants", 2) {
		g.w.Grants = append(g.w.Grants, Grant{Node: of(g, "node", g.w.Nodes...).Name, Ask: Ask{
			Key: fmt.Sprintf("g%d", i), Application: of(g, "application", "app-1", "app-x"),
			Queue: of(g, "queue", g.leaves...), Size: g.drawSize("size", 3),
			PendingSince: Epoch.Add(-time.Hour),
		}})
	}
}

// drawSize draws amounts of up to n, some of them absent or zero.
func (g *generator) drawSize(label string, n int) Amounts {
	size := make(Amounts)
	for _, t := range g.w.Types {
		switch g.below(label+" kind", 10) {
		case 8:
		case 9:
			size[t] = 0
		default:
			size[t] = 1 + g.amount(label, n-1)
		}
	}
	return size
}

func (g *generator) priority() int32 {
	if g.wild {
		return of[int32](g, "priority", 0, -1<<31, 1<<31-1, -1)
	}
	return of[int32](g, "priority", 0, 0, 0, 1, 1, 2, 2, 3)
}
