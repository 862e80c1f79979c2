// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Hard describes a workload without what makes W easy: sizes may all differ,
// no type makes sets of equal count tie, and what an ask needs may be short in
// many ways. Nodes are full but for a tenth of a task. Leaf 0 asks; it is
// guaranteed all that there is, and uses nothing.
type Hard struct {
	Nodes, Tasks int // nodes, and tasks on each
	Types        int // resource types; 0 is 4
	Shapes       int // how many shapes of tasks there are; 0: sizes are random, 1 to 2000 of each type
	Levels       int // how many queues of the ask's path lack headroom
	OptOuts      int // percent of tasks that opted out, and of originators
	Priorities   int // how many priorities there are; 0 is 1
	Gangs        int // members of a job; 0: none
	Budgets      int // tasks of a soft budget, which has one left; 0: none
	Ports        int // how many ports there are, each held by one task of a node; the ask needs one; 0: none
	Labels       int // how many zones nodes are in; the ask runs in one of them; 0: everywhere
	OwnCosts     bool
	OwnLeaf      bool // leaf 0 holds half of the tasks and is not entitled to more, but may take of its own
	Seed         uint64
}

// String names the workload as benchmarks do.
func (h Hard) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "nodes=%d/tasks=%d/types=%d/shapes=%d", h.Nodes, h.Tasks, h.types(), h.Shapes)
	for _, part := range []struct {
		name string
		n    int
	}{{"levels", h.Levels}, {"opted", h.OptOuts}, {"priorities", h.Priorities}, {"gangs", h.Gangs}, {"budgets", h.Budgets}, {"ports", h.Ports}, {"zones", h.Labels}} {
		if part.n > 0 {
			fmt.Fprintf(&b, "/%s=%d", part.name, part.n)
		}
	}
	if h.OwnCosts {
		b.WriteString("/costs")
	}
	if h.OwnLeaf {
		b.WriteString("/own")
	}
	return b.String()
}

func (h Hard) types() int {
	if h.Types == 0 {
		return 4
	}
	return h.Types
}

// meanSize is the mean amount of a type that a task has.
const meanSize = 1000

// shapes draws the sizes that tasks have.
func (h Hard) shapes(random *rand.Rand) (all []resources.Vector) {
	for range h.Shapes {
		all = append(all, h.draw(random))
	}
	return all
}

func (h Hard) draw(random *rand.Rand) resources.Vector {
	v := make(resources.Vector, h.types())
	for t := range v {
		v[t] = 1 + random.Int64N(2*meanSize-1)
	}
	return v
}

// hardTree is how many children the queues of each level have.
var hardTree = []int{4, 5, 5}

// queues returns the queues: leaf 0, which asks, is the first in tree order.
func (h Hard) queues(sum resources.Vector) queue.Config {
	all := resources.Limit{Value: sum, Defined: resources.Mask(1)<<len(sum) - 1}
	var add func(depth int, first bool) []queue.Config
	add = func(depth int, first bool) (children []queue.Config) {
		for i := range hardTree[depth] {
			c := queue.Config{Name: childName(i)}
			c.Properties = map[string]string{"preemption.delay": "0s"}
			if depth+1 < len(hardTree) {
				c.Children = add(depth+1, first && i == 0)
			} else if first && i == 0 && !h.OwnLeaf {
				c.Guaranteed = all
			}
			children = append(children, c)
		}
		return children
	}
	return queue.Config{Name: "root", Children: add(0, true)}
}

// Build makes the cluster. The max of each queue of the path that is to lack
// headroom is what it uses.
func (h Hard) Build() *victims.Cluster {
	random := rand.New(rand.NewPCG(h.Seed, 7))
	names := make([]string, h.types())
	for t := range names {
		names[t] = fmt.Sprintf("t%02d", t)
	}
	schema, err := resources.NewSchema(names...)
	must(err)
	shapes := h.shapes(random)
	sizes := make([]resources.Vector, h.Nodes*h.Tasks)
	sum := make(resources.Vector, h.types())
	for i := range sizes {
		if h.Shapes > 0 {
			sizes[i] = shapes[random.IntN(h.Shapes)]
		} else {
			sizes[i] = h.draw(random)
		}
		sum = resources.Add(sum, sum, sizes[i])
	}
	tree, err := queue.NewLenient(schema, h.queues(resources.Scale(nil, sum, 2)))
	must(err)
	c := victims.NewCluster(tree)
	h.fill(c, sizes, random)
	h.limit(c)
	return c
}

// fill adds nodes and tasks. Tasks go to all leaves but the first in turn.
func (h Hard) fill(c *victims.Cluster, sizes []resources.Vector, random *rand.Rand) {
	var leaves []queue.ID
	var apps []string
	for q := range c.Tree().Leaves(queue.Root) {
		apps = append(apps, fmt.Sprint("app", len(leaves)))
		leaves = append(leaves, q)
	}
	for n := range h.Nodes {
		capacity := make(resources.Vector, h.types())
		for _, size := range sizes[n*h.Tasks : (n+1)*h.Tasks] {
			capacity = resources.Add(capacity, capacity, size)
		}
		for t := range capacity {
			capacity[t] += meanSize / 10
		}
		_, err := c.AddNode(&victims.Node{Name: fmt.Sprint("n", n), Capacity: capacity})
		must(err)
	}
	for i, size := range sizes {
		at := Now.Add(-time.Duration(1 + random.Int64N(int64(time.Hour))))
		leaf := 1 + i%(len(leaves)-1)
		if h.OwnLeaf && i%2 == 0 {
			leaf = 0
		}
		t := victims.Task{
			Key: fmt.Sprintf("n%d-%d", i/h.Tasks, i%h.Tasks), Application: apps[leaf],
			Queue: leaves[leaf], Node: nodeAt(i / h.Tasks), Size: size, Created: at, Scheduled: at,
			Priority: random.Int32N(int32(max(h.Priorities, 1))),
			OptedOut: random.IntN(100) < h.OptOuts, Originator: random.IntN(100) < h.OptOuts,
		}
		if h.Gangs > 0 {
			t.Job = fmt.Sprint("job", i%(max(len(sizes)/h.Gangs, 1)))
			must(c.SetMinMembers(t.Job, h.Gangs))
		}
		if h.Budgets > 0 {
			t.Budgets = []string{fmt.Sprint("budget", i%(max(len(sizes)/h.Budgets, 1)))}
			must(c.SetBudget(t.Budgets[0], victims.Budget{Left: 1}))
		}
		if h.OwnCosts {
			t.Cost = random.Int64N(1000)
		}
		_, err := c.AddTask(&t)
		must(err)
	}
}

// limit makes queues of the path short of headroom, from the root down.
func (h Hard) limit(c *victims.Cluster) {
	q := queue.Root
	for range h.Levels {
		used := append(resources.Vector(nil), c.Tree().Usage(q)...)
		must(c.SetMax(q, resources.Limit{Value: used, Defined: resources.Mask(1)<<len(used) - 1}))
		q++ // the first child of a queue is the next in tree order
	}
}

// Ask returns the ask of leaf 0 for k tasks of mean size.
func (h Hard) Ask(c *victims.Cluster, k int64) victims.Ask {
	size := make(resources.Vector, h.types())
	for t := range size {
		size[t] = k * meanSize
	}
	return victims.Ask{
		Key: "ask", Application: "asking", Queue: Leaf0(c.Tree()), Size: size,
		Priority: 100, PendingSince: Now.Add(-time.Hour),
	}
}

// Subject returns the decision about an ask for k tasks of mean size.
func (h Hard) Subject(c *victims.Cluster, k int64) *Subject {
	s := &Subject{Planner: jobs.Planner{Cluster: c}, Ask: h.Ask(c, k)}
	h.set(&s.Planner)
	return s
}

// set sets the options of a planner for asks of the workload.
func (h Hard) set(p *jobs.Planner) {
	if h.Labels > 0 {
		p.Filter = func(q *victims.Question) bool { return int(q.Node-1)%h.Labels == 0 }
	}
	if h.OwnLeaf {
		p.WithinQueue = queue.Met
	}
	if h.Ports > 0 {
		c := p.Cluster
		p.Blockers = func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
			return h.addHolder(dst, c, q.Node)
		}
	}
}

// addHolder adds the task that holds the port on a node. Each node has it at another one, so
// that who goes is not always the first; there are nodes on which nobody holds it.
func (h Hard) addHolder(dst []victims.TaskID, c *victims.Cluster, n victims.NodeID) []victims.TaskID {
	at := int(n-1) % h.Ports
	for id := range c.TasksOn(n) {
		if at == 0 {
			return append(dst, id)
		}
		at--
	}
	return dst
}
