// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
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
	if text := p.counting(); text != "" {
		p.printf("  %s\n", text)
	}
}

// counting says in which types guarantees count, if not in all.
func (p page) counting() string {
	scarce := p.run.Document.Options.Scarce
	if scarce == 0 {
		return ""
	}
	var names []string
	for i := range scarce.All() {
		names = append(names, p.run.Document.Schema.Name(i))
	}
	return "guarantees count for " + plain.Names(names) + " only"
}

// nodes writes the nodes with what is free on each.
func (p page) nodes(c *victims.Cluster) {
	t := say.NewTable(p.w, "  ", "node", "capacity", "free", "remarks")
	selected := p.selected()
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
		if l := p.labelsOf(n.Name, selected); len(l) > 0 {
			remarks = append(remarks, labels(l))
		}
		t.Row(plain.Name(n.Name), p.amounts(n.Capacity), p.amounts(c.Free(nil, id)), strings.Join(remarks, ", "))
	}
	t.End()
}

// labelsOf returns the labels of a node of some names, or all of them if names are nil; clusters do
// not know them.
func (p page) labelsOf(node string, names map[string]bool) map[string]string {
	i := slices.IndexFunc(p.run.Document.Nodes, func(n scenario.Node) bool { return n.Name == node })
	all := maps.Clone(p.run.Document.Nodes[i].Labels)
	maps.DeleteFunc(all, func(name, _ string) bool { return names != nil && !names[name] })
	return all
}

// selected returns the names of the labels that requests select nodes by; nil, for all, if tasks
// may move, which select nodes, too.
func (p page) selected() map[string]bool {
	doc := p.run.Document
	if m := doc.Options.Moves; m != "" && m != "never" {
		return nil
	}
	names := make(map[string]bool)
	note := func(s scenario.Selector) {
		for name := range s {
			names[name] = true
		}
	}
	for i := range doc.Requests {
		switch q := &doc.Requests[i]; {
		case q.Ask != nil:
			note(q.Ask.NodeSelector)
		case q.Job != nil:
			for j := range q.Job.Members {
				note(q.Job.Members[j].NodeSelector)
			}
		}
	}
	return names
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
