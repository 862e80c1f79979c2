// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	res "github.com/go-preempt/preempt/resources"
)

// pooled returns a document as something that Kueue can be told: all nodes are one,
// nobody requires a node, what is leaving is gone, the root's bounds are the
// capacity, and guarantees are cut to what is there. Everybody in a table is asked
// about the same documents.
func pooled(doc *scenario.Document) *scenario.Document {
	d := *doc
	whole := make(res.Vector, d.Schema.Len())
	for i := range d.Nodes {
		if n := &d.Nodes[i]; !n.Unschedulable {
			whole = res.Add(whole, whole, n.Capacity)
		}
	}
	used := make(res.Vector, d.Schema.Len())
	d.Tasks = nil
	for _, t := range doc.Tasks {
		if t.State == scenario.StateRunning {
			t.Node, t.RequiredNode = doc.Nodes[0].Name, ""
			used = res.Add(used, used, t.Resources)
			d.Tasks = append(d.Tasks, t)
		}
	}
	for t := range whole {
		if doc.Root.Max.Defined.Has(t) {
			whole[t] = min(whole[t], doc.Root.Max.Value[t])
		}
		whole[t] = max(whole[t], used[t])
	}
	d.Nodes = []scenario.Node{{At: doc.Nodes[0].At, Name: doc.Nodes[0].Name, Capacity: whole}}
	d.Requests = slices.Clone(doc.Requests)
	asking := ""
	for i := range d.Requests {
		if a := d.Requests[i].Ask; a != nil {
			c := *a
			c.RequiredNode, asking = "", c.Queue
			d.Requests[i].Ask = &c
		}
	}
	if len(doc.Root.Children) > 0 {
		d.Root.Guaranteed, d.Root.Max = res.Limit{}, res.Limit{}
	}
	d.Root = asker(asking).cut(&d.Root, d.Root.Name, slices.Clone(whole))
	return &d
}

// An asker is the path of the leaf that asks.
type asker string

// cut returns a queue with what is guaranteed below it cut to what it has itself.
// The siblings that do not ask come first: theirs is what an ask must not
// take.
func (a asker) cut(q *scenario.Queue, path string, has res.Vector) scenario.Queue {
	c := *q
	c.Children = slices.Clone(q.Children)
	for _, asks := range []bool{false, true} {
		for i := range c.Children {
			below := path + "." + c.Children[i].Name
			if asks != strings.HasPrefix(string(a)+".", below+".") {
				continue
			}
			child := c.Children[i]
			child.Guaranteed.Value = slices.Clone(child.Guaranteed.Value)
			part := slices.Clone(has) // a child without a guarantee hands all on
			for t := range part {
				if child.Guaranteed.Defined.Has(t) {
					part[t] = min(part[t], child.Guaranteed.Value[t])
					child.Guaranteed.Value[t] = part[t]
				}
				if child.Max.Defined.Has(t) {
					part[t] = min(part[t], child.Max.Value[t])
				}
			}
			child = a.cut(&child, below, part)
			c.Children[i] = child
			has = res.Sub(has, has, held(&child, len(has)))
		}
	}
	return c
}

// held returns what is guaranteed to a queue, or else below it.
func held(q *scenario.Queue, types int) res.Vector {
	sum := make(res.Vector, types)
	for i := range q.Children {
		sum = res.Add(sum, sum, held(&q.Children[i], types))
	}
	for t := range sum {
		if q.Guaranteed.Defined.Has(t) {
			sum[t] = q.Guaranteed.Value[t]
		}
	}
	return sum
}
