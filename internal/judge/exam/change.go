// SPDX-License-Identifier: Apache-2.0

package exam

import (
	"iter"
	"maps"
	"slices"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/resources"
)

// Changes yields documents that differ from one in a single thing, each with
// the kind of facts that it changes. The tests of an adapter load the document
// and demand that what they read back agrees with none of these.
func Changes(doc *scenario.Document) iter.Seq2[What, *scenario.Document] {
	return func(yield func(What, *scenario.Document) bool) {
		for i := range doc.Tasks {
			for what, change := range taskChanges {
				d := *doc
				d.Tasks = slices.Clone(doc.Tasks)
				d.Tasks[i].Resources = slices.Clone(doc.Tasks[i].Resources)
				if change(&d.Tasks[i]); !yield(what, &d) {
					return
				}
			}
		}
		for i := range doc.Nodes {
			d := *doc
			d.Nodes = slices.Clone(doc.Nodes)
			d.Nodes[i].Unschedulable = !d.Nodes[i].Unschedulable
			if !yield(NodeOpen, &d) {
				return
			}
			d.Nodes = slices.Clone(doc.Nodes)
			d.Nodes[i].Capacity = resources.Scale(nil, doc.Nodes[i].Capacity, 2)
			if !yield(NodeCapacity, &d) {
				return
			}
		}
		for what, change := range queueChanges {
			d := *doc
			if d.Root = changed(&doc.Root, change); !yield(what, &d) {
				return
			}
		}
	}
}

// taskChanges are changes of tasks, by what they change.
var taskChanges = map[What]func(*scenario.Task){
	TaskSize:     func(t *scenario.Task) { t.Resources[0]++ },
	TaskPriority: func(t *scenario.Task) { t.Priority++ },
	TaskOptedOut: func(t *scenario.Task) {
		may := t.AllowPreemption != nil && !*t.AllowPreemption
		t.AllowPreemption = &may
	},
	TaskOriginator: func(t *scenario.Task) { t.Originator = !t.Originator },
	TaskRequired: func(t *scenario.Task) {
		if t.RequiredNode == "" {
			t.RequiredNode = t.Node
		} else {
			t.RequiredNode = ""
		}
	},
	TaskLeaving: func(t *scenario.Task) {
		if t.State == scenario.StateRunning {
			t.State = scenario.StatePreempting
		} else {
			t.State = scenario.StateRunning
		}
	},
	TaskApplication: func(t *scenario.Task) { t.Application += "-" },
}

// queueChanges are changes of bounds, by what they change.
var queueChanges = map[What]func(*scenario.Queue){
	QueueGuaranteed: func(q *scenario.Queue) { q.Guaranteed = more(q.Guaranteed) },
	QueueMax:        func(q *scenario.Queue) { q.Max = more(q.Max) },
}

// more returns a bound that is larger in all types on which it is defined, or,
// if there are none, a bound of one on the first.
func more(l resources.Limit) resources.Limit {
	if l.Defined == 0 {
		return resources.Limit{Value: resources.Vector{1}, Defined: 1}
	}
	l.Value = slices.Clone(l.Value)
	for i := range l.Value {
		l.Value[i]++
	}
	return l
}

// changed returns a queue with the last queue in tree order changed.
func changed(q *scenario.Queue, change func(*scenario.Queue)) scenario.Queue {
	c := *q
	c.Properties, c.Children = maps.Clone(q.Properties), slices.Clone(q.Children)
	if n := len(c.Children); n > 0 {
		c.Children[n-1] = changed(&c.Children[n-1], change)
		return c
	}
	change(&c)
	return c
}
