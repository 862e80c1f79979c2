// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/judge/storm"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// mostStates bounds what is explored: each task runs on a node or waits.
const mostStates = 20_000

// explored is a document as a universe that can be explored.
type explored struct {
	doc      *scenario.Document
	tree     *queue.Tree // with its fair shares as guarantees, if the document wants them
	keys     []string
	place    []int // by task: the index of its node, or -1 if it waits
	apps     map[string]bool
	unit     []int64 // by type: the largest amount that all amounts are multiples of
	universe storm.Universe
}

// read makes the universe. Its error says what there is in the document that a
// universe cannot say.
func (x *explored) read() error {
	doc := x.doc
	if doc.Budgets != nil || doc.Quotas != nil || doc.JobMinimums != nil || doc.Grants != nil || doc.Pending != nil ||
		doc.Options != (scenario.Options{FairShares: doc.Options.FairShares}) {
		return errors.New("only documents without budgets, quotas, minimums of jobs, grants, pending work and options but fairShares are explored")
	}
	x.apps = make(map[string]bool)
	if doc.Options.FairShares {
		if err := x.share(); err != nil {
			return err
		}
	}
	x.measure()
	if err := x.queues(); err != nil {
		return err
	}
	for i := range doc.Nodes {
		n := &doc.Nodes[i]
		if n.Unschedulable || n.ReservedFor != "" {
			return fmt.Errorf("node %s does not take every task", plain.Name(n.Name))
		}
		x.universe.Nodes = append(x.universe.Nodes, x.amounts(n.Capacity))
	}
	for i := range doc.Tasks {
		t := &doc.Tasks[i]
		if t.RequiredNode != "" || t.State != scenario.StateRunning || t.Ports != nil || t.Job != "" {
			return fmt.Errorf("task %s is not a plain one", plain.Name(t.Key))
		}
		if err := x.task(t.Key, t.Application, t.Queue, t.Resources, t.Priority); err != nil {
			return err
		}
		x.place[i] = slices.IndexFunc(doc.Nodes, func(n scenario.Node) bool { return n.Name == t.Node })
	}
	for i := range doc.Requests {
		q := &doc.Requests[i]
		a := q.Ask
		if a == nil || q.Repeat > 0 || a.RequiredNode != "" || a.NodeSelector != nil || a.Ports != nil || !a.AllowPreemptOther {
			return fmt.Errorf("request %d is not a plain ask", i)
		}
		if err := x.task(a.Key, a.Application, a.Queue, a.Resources, a.Priority); err != nil {
			return err
		}
	}
	states := 1
	for range x.keys {
		if states *= len(doc.Nodes) + 1; states > mostStates {
			return fmt.Errorf("there are more than %d states: take fewer tasks or nodes", mostStates)
		}
	}
	return nil
}

// ownLeaves has what queues say of the own leaf, as universes have it.
var ownLeaves = map[queue.WithinQueue]storm.OwnLeaf{queue.Never: 1 + storm.Never, queue.Met: 1 + storm.Met, queue.Branch: 1 + storm.Branch}

// queues reads the tree.
func (x *explored) queues() error {
	for q := range queue.ID(x.tree.Len()) {
		if x.tree.Policies(q).Preemption != queue.Default && q != queue.Root {
			return fmt.Errorf("queue %s has a preemption policy", plain.Name(x.tree.Path(q)))
		}
		parent, _ := x.tree.Parent(q)
		x.universe.Queues = append(x.universe.Queues, storm.Queue{
			Parent: max(int(parent), 0), Guaranteed: x.bounds(x.tree.Guaranteed(q)), Max: x.bounds(x.tree.Max(q)),
			Own:   ownLeaves[x.tree.Policies(q).WithinQueue],
			Fence: x.tree.Policies(q).PriorityFence == "fence", Offset: int(*x.tree.Policies(q).PriorityOffset),
		})
	}
	return nil
}

// share makes the fair shares of all tasks and asks the guarantees. They do not
// change: the workload is fixed.
func (x *explored) share() error {
	demand := make([]resources.Vector, x.tree.Len())
	add := func(leaf string, size resources.Vector) {
		q, _ := x.tree.Lookup(leaf)
		demand[q] = resources.Add(demand[q], demand[q], size)
	}
	for i := range x.doc.Tasks {
		add(x.doc.Tasks[i].Queue, x.doc.Tasks[i].Resources)
	}
	for i := range x.doc.Requests {
		if a := x.doc.Requests[i].Ask; a != nil {
			add(a.Queue, a.Resources)
		}
	}
	capacity := resources.Limit{Value: make(resources.Vector, x.doc.Schema.Len())}
	for i := range x.doc.Schema.Len() {
		capacity.Defined |= 1 << i
	}
	for i := range x.doc.Nodes {
		capacity.Value = resources.Add(capacity.Value, capacity.Value, x.doc.Nodes[i].Capacity)
	}
	var shares queue.FairShares
	if err := shares.Divide(x.tree, demand, capacity); err != nil {
		return err
	}
	x.tree = x.tree.Clone()
	return shares.SetGuarantees(x.tree)
}

// task adds a task, or an ask. Two of one application never stop each other,
// which a universe cannot say.
func (x *explored) task(key, app, leaf string, size resources.Vector, priority int32) error {
	if x.apps[app] {
		return fmt.Errorf("two tasks are of application %s", plain.Name(app))
	}
	x.apps[app] = true
	id, _ := x.tree.Lookup(leaf)
	x.keys, x.place = append(x.keys, plain.Name(key)), append(x.place, -1)
	x.universe.Tasks = append(x.universe.Tasks, storm.Task{Leaf: int(id), Size: x.amounts(size), Priority: int(priority)})
	return nil
}

// measure finds the units, for a universe has small numbers.
func (x *explored) measure() {
	x.unit = make([]int64, x.doc.Schema.Len())
	note := func(v resources.Vector) {
		for i, amount := range v {
			for x.unit[i], amount = amount, x.unit[i]; amount != 0; { // Euclid's
				x.unit[i], amount = amount, x.unit[i]%amount
			}
		}
	}
	for q := range queue.ID(x.tree.Len()) {
		note(x.tree.Guaranteed(q).Value)
		note(x.tree.Max(q).Value)
	}
	for i := range x.doc.Nodes {
		note(x.doc.Nodes[i].Capacity)
	}
	for i := range x.doc.Tasks {
		note(x.doc.Tasks[i].Resources)
	}
	for i := range x.doc.Requests {
		if a := x.doc.Requests[i].Ask; a != nil {
			note(a.Resources)
		}
	}
}

// amounts returns amounts in units.
func (x *explored) amounts(v resources.Vector) (all []int) {
	for i, amount := range v {
		all = append(all, int(amount/max(x.unit[i], 1)))
	}
	return all
}

// bounds returns a limit in units; -1 is no bound.
func (x *explored) bounds(l resources.Limit) (all []int) {
	for i := range x.unit {
		if amount, ok := l.Bound(i); ok {
			all = append(all, int(amount/max(x.unit[i], 1)))
		} else {
			all = append(all, -1)
		}
	}
	return all
}
