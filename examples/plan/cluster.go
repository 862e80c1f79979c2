// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/scenario"
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
	t := newTable(p.w, "  ", "queue", "guaranteed", "max", "used", "leaving")
	for q := range tree.All() {
		leaving := ""
		if v := tree.Preempting(q); !resources.IsZero(v) {
			leaving = p.amounts(v)
		}
		t.row(strings.Repeat("  ", tree.Depth(q))+plain.Name(tree.Name(q)),
			p.limit(tree.Guaranteed(q)), p.limit(tree.Max(q)), p.amounts(tree.Usage(q)), leaving)
	}
	t.end()
}

// nodes writes the nodes with what is free on each.
func (p page) nodes(c *victims.Cluster) {
	t := newTable(p.w, "  ", "node", "capacity", "free", "remarks")
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
		t.row(plain.Name(n.Name), p.amounts(n.Capacity), p.amounts(c.Free(nil, id)), strings.Join(remarks, ", "))
	}
	t.end()
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
	t := newTable(p.w, "  ", "budget", "kind", "may still stop")
	for name, b := range c.Budgets() {
		kind := "soft"
		if b.Hard {
			kind = "hard"
		}
		t.row(plain.Name(name), kind, fmt.Sprint(b.Left))
	}
	t.end()
}

// A table aligns its columns; it is written as a whole.
type table struct {
	t      *tabwriter.Writer
	indent string
}

// newTable begins a table with its headings.
func newTable(w io.Writer, indent string, headings ...string) table {
	t := table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0), indent}
	t.row(headings...)
	return t
}

// row adds a row. Trailing cells that are empty are left out, so that no line
// ends in blanks.
func (t table) row(cells ...string) {
	for len(cells) > 0 && cells[len(cells)-1] == "" {
		cells = cells[:len(cells)-1]
	}
	fmt.Fprintln(t.t, t.indent+strings.Join(cells, "\t"))
}

// end writes the table out. It goes to a buffer, which does not fail.
func (t table) end() { t.t.Flush() }
