// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/examples/plan/internal/say"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// cluster writes the queues and nodes as they are at some time.
func (p page) cluster(when string, now time.Time, c *victims.Cluster) {
	p.printf("%s, at %s\n", when, instant(now))
	p.queues(c)
	p.nodes(c)
	p.budgets(c)
}

// queues writes the tree with what each queue is promised and uses.
func (p page) queues(c *victims.Cluster) {
	tree := c.Tree()
	t := say.NewTable(p.w, "  ", "queue", "guaranteed", "max", "used", "leaving")
	for q := range queue.ID(tree.Len()) {
		leaving := ""
		if v := tree.Leaving(q); !resources.IsZero(v) {
			leaving = p.amounts(v)
		}
		t.Row(strings.Repeat("  ", trees.Depth(tree, q))+plain.Name(trees.Name(tree, q)),
			p.limit(tree.Guaranteed(q)), p.limit(tree.Max(q)), p.amounts(tree.Usage(q)), leaving)
	}
	t.End()
}

// nodes writes the nodes with what is free on each.
func (p page) nodes(c *victims.Cluster) {
	t := say.NewTable(p.w, "  ", "node", "capacity", "free", "remarks")
	for id := range c.Nodes() {
		n := c.Node(id)
		var remarks []string
		if n.Unschedulable {
			remarks = append(remarks, "unschedulable")
		}
		if n.ReservedFor != "" {
			remarks = append(remarks, "reserved for "+plain.Name(n.ReservedFor))
		}
		if n.Penalty != 0 {
			remarks = append(remarks, fmt.Sprintf("rank %d", n.Penalty))
		}
		if len(n.Domains) > 0 {
			remarks = append(remarks, "in "+plain.Names(n.Domains))
		}
		if l := p.labelsOf(n.Name); len(l) > 0 {
			remarks = append(remarks, labels(l))
		}
		t.Row(plain.Name(n.Name), p.amounts(n.Capacity), p.amounts(c.Free(nil, id)), strings.Join(remarks, ", "))
	}
	t.End()
}

// labelsOf returns the labels of a node; clusters do not know them.
func (p page) labelsOf(node string) map[string]string {
	i := slices.IndexFunc(p.run.Document.Nodes, func(n scenario.Node) bool { return n.Name == node })
	return p.run.Document.Nodes[i].Labels
}

// budgets writes the budgets with what is left of each.
func (p page) budgets(c *victims.Cluster) {
	if len(p.run.Document.Budgets) == 0 {
		return
	}
	t := say.NewTable(p.w, "  ", "budget", "kind", "may still stop")
	for name, b := range c.Budgets() {
		kind := "soft"
		if b.Hard {
			kind = "hard"
		}
		t.Row(plain.Name(name), kind, fmt.Sprint(b.Left))
	}
	t.End()
}
