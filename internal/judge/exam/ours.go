// SPDX-License-Identifier: Apache-2.0

package exam

import (
	"strconv"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// Ours is this library as a peer: its planner over its cluster.
type Ours struct{ Meter Meter }

// A Meter runs what a scheduler does to decide, and may measure it. The zero
// Meter only runs it.
type Meter struct{ Around func(decide func()) }

// Run runs a decision.
func (m *Meter) Run(decide func()) {
	if m.Around == nil {
		decide()
		return
	}
	m.Around(decide)
}

// Rules returns what this library says of itself: it promises everything.
func (Ours) Rules() Rules {
	promises := make(map[Fault]string)
	for _, f := range Faults {
		promises[f] = "DESIGN.md, victims: the inter-queue plan"
	}
	return Rules{
		Name: "ours", Version: "github.com/go-preempt/preempt",
		Knows: []What{
			QueueGuaranteed, QueueMax, QueueUsage, QueueLeaving, NodeCapacity, NodeFree, NodeOpen,
			TaskNode, TaskSize, TaskPriority, TaskQueue, TaskApplication, TaskOptedOut, TaskOriginator, TaskRequired, TaskLeaving, TaskBudgets, BudgetLeft,
		},
		Told: allFeatures, Promises: promises,
	}
}

// Load builds the cluster of a document.
func (o Ours) Load(doc *scenario.Document) (World, error) {
	live, err := doc.Live()
	if err != nil {
		return nil, err
	}
	return &oursWorld{live: live, doc: doc, meter: o.Meter}, nil
}

type oursWorld struct {
	live  *scenario.Live
	doc   *scenario.Document
	meter Meter
	d     victims.Decision
}

// Decide decides an ask.
func (w *oursWorld) Decide(ask *scenario.Ask) (Answer, error) {
	planner, a, err := w.live.Aim(ask)
	if err != nil {
		return Answer{}, err
	}
	w.meter.Run(func() { err = planner.Decide(&w.d, a, w.live.Now()) })
	if err != nil || w.d.Outcome == victims.Refused {
		return Answer{}, err
	}
	answer := Answer{Node: planner.Cluster.NodeName(w.d.Plan.Places[0].Node)}
	for _, v := range w.d.Plan.Victims {
		answer.Victims = append(answer.Victims, v.Key)
	}
	return answer, nil
}

// Facts reads the cluster.
func (w *oursWorld) Facts() Facts {
	f, c := make(Facts), w.live.Cluster()
	schema, tree := c.Schema(), c.Tree()
	for q := range queue.ID(tree.Len()) {
		path := tree.Path(q)
		f.Bounds(QueueGuaranteed, path, Bounds(schema, tree.Guaranteed(q)))
		f.Bounds(QueueMax, path, Bounds(schema, tree.Max(q)))
		f.Amounts(QueueUsage, path, ByType(schema, tree.Usage(q)))
		f.Amounts(QueueLeaving, path, ByType(schema, tree.Leaving(q)))
	}
	for i := range w.doc.Nodes {
		id, _ := c.LookupNode(w.doc.Nodes[i].Name)
		n := c.Node(id)
		f.Amounts(NodeCapacity, n.Name, ByType(schema, n.Capacity))
		f.Amounts(NodeFree, n.Name, ByType(schema, c.Free(nil, id)))
		f.Flag(NodeOpen, n.Name, !n.Unschedulable)
		for t := range c.TasksOn(id) {
			w.task(f, t)
		}
	}
	for i := range w.doc.Budgets {
		b, _ := c.Budget(w.doc.Budgets[i].Name)
		f[Fact{What: BudgetLeft, Of: w.doc.Budgets[i].Name}] = strconv.FormatInt(b.Left, 10)
	}
	return f
}

// task notes what the cluster says of a task.
func (w *oursWorld) task(f Facts, id victims.TaskID) {
	c := w.live.Cluster()
	t := c.TaskView(id)
	if _, granted := c.LookupGrant(t.Key); granted {
		return
	}
	f.Amounts(TaskSize, t.Key, ByType(c.Schema(), t.Size))
	f[Fact{What: TaskNode, Of: t.Key}] = c.NodeName(t.Node)
	f[Fact{What: TaskQueue, Of: t.Key}] = c.Tree().Path(t.Queue)
	f[Fact{What: TaskApplication, Of: t.Key}] = t.Application
	f[Fact{What: TaskPriority, Of: t.Key}] = strconv.Itoa(int(t.Priority))
	f.Flag(TaskOptedOut, t.Key, t.OptedOut)
	f.Flag(TaskOriginator, t.Key, t.Originator)
	f.Flag(TaskRequired, t.Key, t.RequiredNode)
	f.Flag(TaskLeaving, t.Key, t.State != victims.Running)
	for _, b := range t.Budgets {
		f[Fact{TaskBudgets, t.Key, b}] = "true"
	}
}
