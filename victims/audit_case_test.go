// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"slices"
	"testing"
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

var auditNow = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// auditCase is a cluster and a plan for it, written down. Types are gpu and disk.
type auditCase struct {
	queues  queue.Config
	nodes   []victims.Node
	tasks   []auditTask
	grants  []auditGrant
	ask     victims.Ask
	asking  string // the path of its queue
	node    string
	victims []string // keys; one that is unknown gets row 0
	budgets map[string]victims.Budget
	auditor victims.Auditor

	lend, lendX, starve *queue.Config // within queues
	minimum             int           // of job j
}

type auditTask struct {
	queue, node string
	victims.Task
}

type auditGrant struct {
	queue, node string
	victims.Ask
}

// lawfulCase is a lawful plan, which the tables below break. Node n1 is full:
// v1 and v2 of root.lend.x and w of root.lend.y. The ask is of root.starve.s,
// and root.starve is guaranteed 6 of which it uses nothing. It takes w.
func lawfulCase() *auditCase {
	gpu := func(n int64) resources.Limit {
		return resources.Limit{Value: resources.Vector{n}, Defined: 1}
	}
	size := func(n int64) resources.Vector { return resources.Vector{n, 0} }
	c := &auditCase{
		queues: queue.Config{Name: "root", Children: []queue.Config{
			{Name: "lend", Children: []queue.Config{{Name: "x", Guaranteed: gpu(2)}, {Name: "y"}}},
			{Name: "starve", Guaranteed: gpu(6), Children: []queue.Config{{Name: "s"}, {Name: "t"}}},
		}},
		nodes: []victims.Node{
			{Name: "n1", Capacity: resources.Vector{8, 8}},
			{Name: "n2", Capacity: resources.Vector{8, 8}},
		},
		tasks: []auditTask{
			{"root.lend.x", "n1", victims.Task{Key: "v1", Application: "p", Size: size(3)}},
			{"root.lend.x", "n1", victims.Task{Key: "v2", Application: "p", Size: size(2)}},
			{"root.lend.y", "n1", victims.Task{Key: "w", Application: "p", Size: size(3)}},
			{"root.lend.y", "n2", victims.Task{Key: "u", Application: "p", Size: size(8)}},
		},
		ask: victims.Ask{
			Key: "ask", Application: "q", Size: resources.Vector{3},
			PendingSince: auditNow.Add(-time.Hour),
		},
		asking:  "root.starve.s",
		node:    "n1",
		victims: []string{"w"},
	}
	c.lend, c.starve = &c.queues.Children[0], &c.queues.Children[1]
	c.lendX = &c.lend.Children[0]
	return c
}

func (c *auditCase) task(key string) *auditTask {
	return &c.tasks[slices.IndexFunc(c.tasks, func(t auditTask) bool { return t.Key == key })]
}

// add adds a task of size gpu, and node space for it.
func (c *auditCase) add(key, leaf, node string, gpu int64) *auditTask {
	c.tasks = append(c.tasks, auditTask{leaf, node, victims.Task{Key: key, Application: "p", Size: resources.Vector{gpu, 0}}})
	for i := range c.nodes {
		if c.nodes[i].Name == node {
			c.nodes[i].Capacity[0] += gpu
		}
	}
	return &c.tasks[len(c.tasks)-1]
}

// build makes the cluster and the plan.
func (c *auditCase) build(t testing.TB) (*victims.Auditor, *victims.Plan) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	schema, err := resources.NewSchema("gpu", "disk")
	must(err)
	tree, err := queue.NewLenient(schema, c.queues)
	must(err)
	lookup := func(path string) queue.ID {
		q, ok := tree.Lookup(path)
		if !ok {
			t.Fatalf("no queue %s", path)
		}
		return q
	}
	cluster := victims.NewCluster(tree)
	for i := range c.nodes {
		_, err := cluster.AddNode(&c.nodes[i])
		must(err)
	}
	for name, b := range c.budgets {
		must(cluster.SetBudget(name, b))
	}
	must(cluster.SetMinMembers("j", c.minimum))
	for _, task := range c.tasks {
		task.Queue = lookup(task.queue)
		task.Node, _ = cluster.LookupNode(task.node)
		_, err := cluster.AddTask(&task.Task)
		must(err)
	}
	for _, grant := range c.grants {
		grant.Queue = lookup(grant.queue)
		node, _ := cluster.LookupNode(grant.node)
		_, err := cluster.GrantPlace(&grant.Ask, node, time.Time{})
		must(err)
	}
	p := &victims.Plan{Ask: c.ask}
	p.Ask.Queue = lookup(c.asking)
	node, _ := cluster.LookupNode(c.node)
	p.Places = []victims.Place{{Node: node}}
	for _, key := range c.victims {
		id, _ := cluster.Lookup(key)
		p.Victims = append(p.Victims, victims.Victim{Task: id, Key: key})
	}
	a := c.auditor
	a.Cluster = cluster
	return &a, p
}

// decided returns a plan as a decision.
func decided(p *victims.Plan) *victims.Decision {
	return &victims.Decision{Outcome: victims.Preempts, Plan: *p}
}
