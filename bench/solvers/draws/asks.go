// SPDX-License-Identifier: Apache-2.0

// Package draws draws the clusters on which planners are measured and compared with solvers:
// hard workloads and asks, and jobs. A draw is a family and a number, and is the same in every
// version, so that answers of a solver can be kept.
package draws

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// An Ask is an ask, and the cluster and planner that are asked.
type Ask struct {
	Name    string
	Subject *workload.Subject
	Hard    workload.Hard
	K       int64 // it asks for so many tasks of mean size
}

// An askDraw is a load, an ask, and what is changed of the cluster after it was built.
type askDraw struct {
	workload.Hard
	k      int64
	every  int // one of so many nodes takes the ask; 0: all do
	change func(c *victims.Cluster, s *workload.Subject, r *rand.Rand) error
	lopped bool // tasks and the ask lack some types
}

// of is one of a list.
func of(r *rand.Rand, list ...int) int { return list[r.IntN(len(list))] }

// seed is the first number of the generator of a family.
func seed(family string) uint64 {
	h := uint64(1469598103934665603)
	for _, b := range []byte(family) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}

// askFamilies are one difficulty each, and some at once: laws that bind, hard budgets, asks
// of uneven mixes, sparse types.
var askFamilies = []struct {
	name string
	set  func(d *askDraw, r *rand.Rand)
}{
	{"random", func(*askDraw, *rand.Rand) {}},
	{"types8", func(d *askDraw, _ *rand.Rand) { d.Types = 8 }},
	{"types16", func(d *askDraw, _ *rand.Rand) { d.Types = 16 }},
	{"types32", func(d *askDraw, _ *rand.Rand) { d.Types = 32 }},
	{"shapes", func(d *askDraw, r *rand.Rand) { d.Shapes = 2 + r.IntN(99) }},
	{"headshapes", func(d *askDraw, r *rand.Rand) { d.Levels, d.Shapes = 1+r.IntN(3), 2+r.IntN(30) }},
	{"headrandom", func(d *askDraw, r *rand.Rand) { d.Levels = 1 + r.IntN(3) }},
	{"huge", func(d *askDraw, r *rand.Rand) {
		tasks := d.Nodes * d.Tasks
		d.Nodes = max(1, d.Nodes/of(r, 10, 100, d.Nodes))
		d.Tasks = tasks / d.Nodes
	}},
	{"opted", func(d *askDraw, r *rand.Rand) { d.OptOuts, d.Priorities = 10+r.IntN(81), 1+r.IntN(20) }},
	{"prio", func(d *askDraw, r *rand.Rand) { d.Priorities = 2 + r.IntN(19) }},
	{"gangs", func(d *askDraw, r *rand.Rand) { d.Gangs, d.Shapes = 2+r.IntN(8), of(r, 0, 10) }},
	{"budgets", func(d *askDraw, r *rand.Rand) { d.Budgets, d.Shapes = 2+r.IntN(10), of(r, 0, 10) }},
	{"costs", func(d *askDraw, r *rand.Rand) { d.OwnCosts, d.Shapes = true, of(r, 0, 10) }},
	{"filter", func(d *askDraw, r *rand.Rand) { d.every = of(r, 3, 10, 50) }},
	{"ports", func(d *askDraw, r *rand.Rand) { d.Ports = d.Tasks + r.IntN(6) }},
	{"own", func(d *askDraw, r *rand.Rand) { d.OwnLeaf = true; d.Priorities = of(r, 1, 5, 100) }},
	{"all", func(d *askDraw, r *rand.Rand) {
		d.Types, d.Shapes, d.Levels = of(r, 2, 4, 8), of(r, 0, 3, 10, 100), of(r, 0, 0, 1, 2, 3)
		d.OptOuts, d.Priorities = of(r, 0, 0, 50, 90), of(r, 1, 3, 20)
		d.Gangs, d.Budgets, d.OwnCosts = of(r, 0, 0, 4), of(r, 0, 0, 5), of(r, 0, 0, 1) == 1
		d.Ports, d.Labels = of(r, 0, 0, 35), of(r, 0, 0, 3)
	}},
	{"law2", func(d *askDraw, r *rand.Rand) { d.Priorities, d.Shapes, d.change = of(r, 1, 5), of(r, 0, 10), bind }},
	{"hardbudgets", func(d *askDraw, r *rand.Rand) { d.Budgets, d.Shapes, d.change = 2+r.IntN(40), of(r, 0, 10), harden }},
	{"sparse", func(d *askDraw, r *rand.Rand) {
		d.Types, d.lopped, d.OptOuts = of(r, 4, 8, 16, 32), true, of(r, 0, 30)
	}},
	{"gangs+", func(d *askDraw, r *rand.Rand) {
		d.Gangs, d.Shapes, d.Priorities = 3+r.IntN(8), of(r, 0, 5), of(r, 1, 4)
		d.OwnCosts, d.OptOuts = of(r, 0, 1) == 1, of(r, 0, 30)
		d.change = func(c *victims.Cluster, _ *workload.Subject, r *rand.Rand) error {
			needs := d.Gangs - r.IntN(d.Gangs)
			return needEach(c, needs)
		}
	}},
	{"everything", func(d *askDraw, r *rand.Rand) {
		d.Types, d.Shapes, d.Levels = of(r, 2, 4, 8), of(r, 0, 3, 10), of(r, 0, 1, 2)
		d.OptOuts, d.Priorities = of(r, 0, 10, 90), of(r, 1, 3, 20)
		d.Gangs, d.Budgets, d.OwnCosts = of(r, 0, 2, 4), of(r, 0, 5, 40), of(r, 0, 1) == 1
		d.lopped = of(r, 0, 1) == 1
		d.change = func(c *victims.Cluster, s *workload.Subject, r *rand.Rand) error {
			if of(r, 0, 1) == 1 {
				if err := bind(c, s, r); err != nil {
					return err
				}
			}
			if of(r, 0, 1) == 1 {
				return harden(c, s, r)
			}
			return nil
		}
	}},
}

// AskFamilies are the names of the families of asks.
func AskFamilies() (names []string) {
	for _, f := range askFamilies {
		names = append(names, f.name)
	}
	return names
}

// bind guarantees queues of victims so much that a few tasks each may go.
func bind(c *victims.Cluster, s *workload.Subject, r *rand.Rand) error {
	tree := c.Tree()
	for q := range queue.ID(tree.Len()) {
		if tree.Contains(q, s.Ask.Queue) || r.IntN(5) == 0 {
			continue
		}
		most := int64(2)
		if !tree.IsLeaf(q) {
			most = 5
		}
		used := tree.Usage(q)
		l := resources.Limit{Value: make(resources.Vector, len(used))}
		for t := range used {
			if r.IntN(2) == 0 {
				l.Defined |= 1 << t
				l.Value[t] = max(0, used[t]-r.Int64N(most*1000+500))
			}
		}
		if err := c.SetGuaranteed(q, l); err != nil {
			return err
		}
	}
	return nil
}

// harden makes budgets hard, and some of them empty.
func harden(c *victims.Cluster, _ *workload.Subject, r *rand.Rand) error {
	var names []string
	for name := range c.Budgets() {
		names = append(names, name)
	}
	for _, name := range names {
		if err := c.SetBudget(name, victims.Budget{Left: int64(r.IntN(3)), Hard: r.IntN(4) > 0}); err != nil {
			return err
		}
	}
	return nil
}

// lop takes some types off tasks and the ask, and makes the nodes full again.
func (d *askDraw) lop(c *victims.Cluster, s *workload.Subject, r *rand.Rand) error {
	for id := range c.Tasks() {
		row := c.TaskView(id)
		size := slices.Clone(row.Size)
		for t := range size {
			if r.IntN(3) > 0 {
				size[t] = size[t] / 50 * int64(r.IntN(2)) // little or nothing
			}
		}
		if err := c.Resize(row.Key, size); err != nil {
			return err
		}
	}
	for n := range c.Nodes() {
		node := c.Node(n)
		free := c.Free(nil, n)
		node.Capacity = slices.Clone(node.Capacity)
		for t := range free {
			node.Capacity[t] -= free[t] - 100
		}
		if err := c.UpdateNode(&node); err != nil {
			return err
		}
	}
	if d.Levels > 0 {
		q := queue.Root
		for range d.Levels {
			used := slices.Clone(c.Tree().Usage(q))
			if err := c.SetMax(q, resources.Limit{Value: used, Defined: resources.Mask(1)<<len(used) - 1}); err != nil {
				return err
			}
			q++
		}
	}
	for t := range s.Ask.Size {
		s.Ask.Size[t] = s.Ask.Size[t] / 3 * int64(r.IntN(3)) / 2
	}
	s.Ask.Size[0] = d.k * 300
	return nil
}

// OfAsks draws number i of a family, with so many nodes and so many tasks on each.
func OfAsks(family string, i, nodes, tasks int) (*Ask, error) {
	at := slices.Index(AskFamilies(), family)
	if at < 0 {
		return nil, fmt.Errorf("draws: no family %q", family)
	}
	r := rand.New(rand.NewPCG(seed(family), uint64(i)))
	d := &askDraw{Hard: workload.Hard{Nodes: nodes, Tasks: tasks, Seed: r.Uint64()}, k: int64(of(r, 2, 4, 10, 20))}
	askFamilies[at].set(d, r)
	c := d.Build()
	s := d.Subject(c, d.k)
	name := fmt.Sprintf("%s#%d %v/k=%d", family, i, d.Hard, d.k)
	if d.every > 0 {
		s.Planner.Filter = func(q *victims.Question) bool { return int(q.Node-1)%d.every == 0 }
		name += fmt.Sprint("/every=", d.every)
	}
	if d.lopped {
		if err := d.lop(c, s, r); err != nil {
			return nil, err
		}
	}
	if d.change != nil {
		if err := d.change(c, s, r); err != nil {
			return nil, err
		}
	}
	return &Ask{Name: name, Subject: s, Hard: d.Hard, K: d.k}, nil
}

// needEach says that each job of the tasks of a cluster needs so many members.
func needEach(c *victims.Cluster, members int) error {
	for id := range c.Tasks() {
		if job := c.Job(id); job != "" {
			if err := c.SetMinMembers(job, members); err != nil {
				return err
			}
		}
	}
	return nil
}
