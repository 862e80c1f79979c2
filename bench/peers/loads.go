// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/judge/exam"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/internal/trees"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// A size is how large a cluster is.
type size struct{ nodes, tasks int }

func (s size) String() string { return fmt.Sprintf("%d × %d", s.nodes, s.tasks) }

// A load is a cluster of any size, and an ask that everybody is timed on.
type load struct {
	name, what string
	build      func(s size) *exam.Paper
	// queues: it takes queues to understand.
	queues bool
	// some: only some nodes are candidates.
	some bool
}

// k is how many units, or tasks of mean size, are asked for.
const k = 4

// loads are what everybody is timed on. The ask's priority is above that of all
// tasks, for some preempt none of the same.
var loads = []load{
	{name: "plain", what: "tasks of three sizes, all nodes alike", build: func(s size) *exam.Paper { return s.w(workload.W{}) }},
	{name: "shapes", what: "tasks of eight sizes, four types, full nodes", build: func(s size) *exam.Paper { return s.hard(8) }},
	{name: "random", what: "no two tasks alike, four types, full nodes", build: func(s size) *exam.Paper { return s.hard(0) }},
	{name: "selector", what: "plain, and the ask may run on one node of a hundred", some: true, build: func(s size) *exam.Paper {
		p := s.w(workload.W{})
		for i := range p.Doc.Nodes {
			if i%100 == 7 {
				p.Doc.Nodes[i].Labels = map[string]string{"zone": "here"}
			}
		}
		p.Ask().NodeSelector = scenario.Selector{"zone": "here"}
		return p
	}},
	{name: "headroom", what: "plain, and the root's max is short as well", queues: true, build: func(s size) *exam.Paper {
		return s.w(workload.W{MaxSlack: 2})
	}},
	{name: "refusal", what: "plain, and all priorities are too high", build: func(s size) *exam.Paper {
		p := s.w(workload.W{})
		for i := range p.Doc.Tasks {
			p.Doc.Tasks[i].Priority = p.Ask().Priority + 1
		}
		return p
	}},
}

// w returns the paper of a workload.
func (s size) w(w workload.W) *exam.Paper {
	w.Nodes, w.Tasks, w.Tree = s.nodes, s.tasks, s.tree()
	c := w.Build()
	ask := w.Ask(c, k)
	return paperOf(c, &ask)
}

// tree returns the queues: ten leaves, or a hundred for clusters that are not
// small.
func (s size) tree() []int {
	if s.nodes*s.tasks <= 1000 {
		return workload.Tree2x10
	}
	return workload.Tree4x100
}

// hard returns the paper of a workload without what makes it easy.
func (s size) hard(shapes int) *exam.Paper {
	h := workload.Hard{Nodes: s.nodes, Tasks: s.tasks, Shapes: shapes}
	c := h.Build()
	ask := h.Ask(c, k)
	return paperOf(c, &ask)
}

// paperOf returns a cluster and an ask as a paper without text.
func paperOf(c *victims.Cluster, ask *victims.Ask) *exam.Paper {
	tree := c.Tree()
	doc := &scenario.Document{Schema: c.Schema(), Now: workload.Now, Root: queueOf(tree, queue.Root)}
	for id := range c.Nodes() {
		n := c.Node(id)
		doc.Nodes = append(doc.Nodes, scenario.Node{Name: n.Name, Capacity: n.Capacity})
	}
	paths := make(map[queue.ID]string)
	for q := range queue.ID(tree.Len()) {
		paths[q] = tree.Path(q)
	}
	for id := range c.Tasks() {
		t := c.Task(id)
		doc.Tasks = append(doc.Tasks, scenario.Task{
			Key: t.Key, Queue: paths[t.Queue], Application: t.Application, Node: c.NodeName(t.Node),
			Resources: slices.Clone(t.Size), Priority: t.Priority, State: scenario.StateRunning,
			Age: since(t.Created), ScheduledAge: since(t.Scheduled),
		})
	}
	doc.Requests = []scenario.Request{{Kind: scenario.KindAsk, Then: scenario.ThenNothing, Ask: &scenario.Ask{
		Key: ask.Key, Queue: paths[ask.Queue], Application: ask.Application, Resources: slices.Clone(ask.Size),
		Priority: 100, Age: since(ask.PendingSince), AllowPreemptOther: true,
	}}}
	return &exam.Paper{Doc: doc}
}

func since(t time.Time) time.Duration { return workload.Now.Sub(t) }

// queueOf returns a queue of a document with all that is below.
func queueOf(tree *queue.Tree, q queue.ID) scenario.Queue {
	s := scenario.Queue{Name: trees.Name(tree, q), Guaranteed: tree.Guaranteed(q), Max: tree.Max(q)}
	s.Guaranteed.Value, s.Max.Value = slices.Clone(s.Guaranteed.Value), slices.Clone(s.Max.Value)
	for child := range tree.Children(q) {
		s.Children = append(s.Children, queueOf(tree, child))
	}
	return s
}
