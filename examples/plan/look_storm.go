package main

import (
	"errors"
	"fmt"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/scenario"
	"github.com/go-preempt/preempt/internal/storm"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A stormLook says whether the tasks and asks of a document can stop each other
// for ever, if whoever is stopped comes back at once.
type stormLook struct {
	WhyNot string `json:"whyNot,omitempty"` // the document cannot be explored

	States int        `json:"states"`          // that were looked at, with the rules as they are
	Storm  *storyLook `json:"storm,omitempty"` // with the rules as they are; there should be none
	// Inside is a storm if asks might take from inside the starving queue.
	Inside *storyLook `json:"inside,omitempty"`
}

// A storyLook is a storm: after the last step all is as it was in the beginning.
type storyLook struct {
	Tasks   []string        `json:"tasks"`
	Running []bool          `json:"running"` // by task, before the first step
	Steps   []stormStepLook `json:"steps"`
}

// A stormStepLook is a task that starts, and whom it takes the place of. They
// are indices of the tasks.
type stormStepLook struct {
	Starts int   `json:"starts"`
	Stops  []int `json:"stops"`
}

// mostStates bounds what is explored: each task runs on a node or waits.
const mostStates = 20_000

// stormIn explores a document.
func stormIn(q *question) reply {
	doc, err := scenario.Parse("", []byte(q.Document))
	if err != nil {
		return wrong(q, err)
	}
	run, err := doc.Run()
	if err != nil {
		return wrong(q, err)
	}
	x := explored{doc: doc, tree: run.Before.Tree()}
	l := &stormLook{}
	if err := x.read(); err != nil {
		l.WhyNot = err.Error()
		return reply{Storm: l}
	}
	cycle, states := x.universe.Storm()
	l.States, l.Storm = states, x.story(cycle)
	x.universe.Rules.Inside = true
	cycle, _ = x.universe.Storm()
	l.Inside = x.story(cycle)
	return reply{Storm: l}
}

// explored is a document as a universe that can be explored.
type explored struct {
	doc      *scenario.Document
	tree     *queue.Tree
	keys     []string
	apps     map[string]bool
	unit     []int64 // by type: the largest amount that all amounts are multiples of
	universe storm.Universe
}

// read makes the universe. Its error says what there is in the document that a
// universe cannot say.
func (x *explored) read() error {
	doc := x.doc
	if doc.Budgets != nil || doc.Quotas != nil || doc.JobMinimums != nil || doc.Grants != nil || doc.Options != (scenario.Options{}) {
		return errors.New("only documents without budgets, quotas, minimums of jobs, grants and options are explored")
	}
	x.apps = make(map[string]bool)
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

// queues reads the tree.
func (x *explored) queues() error {
	for q := range x.tree.All() {
		if x.tree.PreemptionPolicy(q) != queue.PreemptionDefault && q != queue.Root {
			return fmt.Errorf("queue %s has a preemption policy", plain.Name(x.tree.Path(q)))
		}
		parent, _ := x.tree.Parent(q)
		x.universe.Queues = append(x.universe.Queues, storm.Queue{
			Parent: max(int(parent), 0), Guaranteed: x.bounds(x.tree.Guaranteed(q)), Max: x.bounds(x.tree.Max(q)),
			Fence: x.tree.PriorityPolicy(q) == queue.PriorityFence, Offset: int(x.tree.PriorityOffset(q)),
		})
	}
	return nil
}

// task adds a task, or an ask. Two of one application never stop each other,
// which a universe cannot say.
func (x *explored) task(key, app, leaf string, size resources.Vector, priority int32) error {
	if x.apps[app] {
		return fmt.Errorf("two tasks are of application %s", plain.Name(app))
	}
	x.apps[app] = true
	id, _ := x.tree.Lookup(leaf)
	x.keys = append(x.keys, plain.Name(key))
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
	for q := range x.tree.All() {
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

// story returns a storm with the names of the document; nil if there is none.
func (x *explored) story(c *storm.Cycle) *storyLook {
	if c == nil {
		return nil
	}
	s := &storyLook{Tasks: x.keys}
	for _, node := range c.Running {
		s.Running = append(s.Running, node >= 0)
	}
	for _, step := range c.Steps {
		s.Steps = append(s.Steps, stormStepLook{Starts: step.Tasks[0], Stops: append([]int{}, step.Victims...)})
	}
	return s
}
