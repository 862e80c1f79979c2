// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"slices"
)

// Demand returns what each leaf of a tree wants, by ID: what runs there, what holds a grant or is
// pending, and all requests.
func (doc *Document) Demand(tree *queue.Tree) []resources.Vector {
	demand := make([]resources.Vector, tree.Len())
	add := func(path string, size resources.Vector, times int) {
		leaf, _ := tree.Lookup(path)
		for range max(times, 1) {
			demand[leaf] = resources.Add(demand[leaf], demand[leaf], size)
		}
	}
	for t := range doc.eachTask() {
		add(t.Queue, t.Resources, 1)
	}
	for i := range doc.Grants {
		add(doc.Grants[i].Queue, doc.Grants[i].Resources, 1)
	}
	for _, p := range doc.Pending {
		add(p.Queue, p.Resources, 1)
	}
	for i := range doc.Requests {
		r := &doc.Requests[i]
		if r.Ask != nil {
			add(r.Ask.Queue, r.Ask.Resources, r.Repeat)
		}
		if r.Job != nil {
			for m := range r.Job.Members {
				add(r.Job.Queue, r.Job.Members[m].Resources, 1)
			}
		}
	}
	return demand
}

// Scarce returns the types of which there is too little for all that the document has, on nodes
// that take tasks; see [queue.Scarce].
func (doc *Document) Scarce(tree *queue.Tree) (resources.Mask, error) {
	return queue.Scarce(tree, doc.Demand(tree), (&runner{doc: doc}).schedulable())
}

// Lacking returns the types that some ask or member, which has no place, lacks on every node that
// takes tasks and that it may run on: a pool may be full while another has room. Who leaves has
// left.
func (doc *Document) Lacking() (types resources.Mask) {
	free := make(map[string]resources.Vector)
	for i := range doc.Nodes {
		free[doc.Nodes[i].Name] = slices.Clone(doc.Nodes[i].Capacity)
	}
	use := func(node string, size resources.Vector) {
		free[node] = resources.Sub(free[node], free[node], size)
	}
	for t := range doc.eachTask() {
		if t.State == StateRunning {
			use(t.Node, t.Resources)
		}
	}
	for i := range doc.Grants {
		use(doc.Grants[i].Node, doc.Grants[i].Resources)
	}
	lacks := func(required string, selector Selector, size resources.Vector) {
		lacking, anywhere := resources.Positive(size), false
		for i := range doc.Nodes {
			n := &doc.Nodes[i]
			if required != "" && n.Name != required || required == "" && n.Unschedulable || !selector.Selects(n) {
				continue
			}
			anywhere = true
			for t := range lacking.All() {
				if free[n.Name].At(t) >= size[t] {
					lacking &^= 1 << t
				}
			}
		}
		if anywhere {
			types |= lacking
		}
	}
	for i := range doc.Requests {
		if a := doc.Requests[i].Ask; a != nil {
			lacks(a.RequiredNode, a.NodeSelector, a.Resources)
		}
		if j := doc.Requests[i].Job; j != nil {
			for m := range j.Members {
				if j.Members[m].Node == "" {
					lacks("", j.Members[m].NodeSelector, j.Members[m].Resources)
				}
			}
		}
	}
	return types
}
