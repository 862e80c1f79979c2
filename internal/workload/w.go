package workload

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Now is the instant at which workloads are decided.
var Now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// The trees of the benchmarks, by the number of children on each level.
var (
	Tree2x10    = []int{10}
	Tree4x100   = []int{5, 4, 5}
	Tree4x1000  = []int{10, 10, 10}
	types       = []string{"cpu", "memory", "pods", "ephemeral-storage"}
	unit        = resources.Vector{1000, 4 << 30, 0, 10 << 30}
	sparePods   = int64(10)
	sizesInHalf = []int64{1, 2, 3} // of a unit
)

// W describes a workload.
type W struct {
	Nodes, Tasks int // nodes, and tasks on each
	Tree         []int
	// Mixed gives tasks one of 10 priorities, lets 10 % of them opt out and
	// makes 5 % originators; the ask has the highest priority.
	Mixed bool
	// MaxSlack, where it is positive, gives the root a max that leaves room for
	// so many units, in tenths: 2 makes headroom as short as the nodes.
	MaxSlack int64
	// Protected guarantees every leaf all it uses, so that no plan exists.
	Protected bool
}

// Build makes the cluster.
func (w W) Build() *victims.Cluster {
	schema, err := resources.NewSchema(types...)
	must(err)
	var total resources.Vector
	for i := range w.Tasks {
		total = resources.Add(total, total, w.size(i))
	}
	total = resources.Scale(total, total, int64(w.Nodes))

	config := w.queues(total)
	tree, err := queue.New(schema, config, queue.Lenient)
	must(err)
	c := victims.NewCluster(tree)
	w.fill(c)
	return c
}

// Ask returns the ask of leaf 0 for k units.
func (w W) Ask(c *victims.Cluster, k int64) victims.Ask {
	size := resources.Scale(nil, unit, k)
	size[2] = 1
	ask := victims.Ask{
		Key: "ask", Application: "asking", Queue: Leaf0(c.Tree()), Size: size,
		PendingSince: Now.Add(-time.Hour),
	}
	if w.Mixed {
		ask.Priority = 9
	}
	return ask
}

// Leaf0 returns the first leaf of a tree.
func Leaf0(t *queue.Tree) queue.ID {
	for q := range t.Leaves(queue.Root) {
		return q
	}
	panic("workload: a tree without leaves")
}

// size returns the size of task i of a node.
func (w W) size(i int) resources.Vector {
	v := resources.ScaleRatio(nil, unit, sizesInHalf[i%len(sizesInHalf)], 2)
	v[2] = 1
	return v
}

// queues returns the tree with its guarantees, for tasks of a total size.
func (w W) queues(total resources.Vector) queue.Config {
	leaves := int64(1)
	for _, n := range w.Tree {
		leaves *= int64(n)
	}
	share := resources.ScaleRatio(nil, total, 1, 2*leaves)
	if w.Protected {
		share = resources.ScaleRatio(nil, total, 1, leaves-1)
		for t := range share {
			share[t] += unit[t] + 2 // what is dealt out is not exactly even
		}
	}
	root := level("root", w.Tree, share)
	root.Guaranteed = resources.Limit{}
	if w.MaxSlack > 0 {
		most := resources.Add(nil, total, resources.ScaleRatio(nil, unit, w.MaxSlack, 10))
		root.Max = resources.Limit{Value: most, Defined: 1 << 0}
	}
	return root
}

// level returns a queue with the levels below it; each leaf is guaranteed share.
func level(name string, below []int, share resources.Vector) queue.Config {
	q := queue.Config{Name: name}
	if len(below) == 0 {
		q.Guaranteed = resources.Limit{Value: share, Defined: 1<<len(share) - 1}
		return q
	}
	var sum resources.Vector
	for i := range below[0] {
		child := level(fmt.Sprintf("q%d", i), below[1:], share)
		sum = resources.Add(sum, sum, child.Guaranteed.Value)
		q.Children = append(q.Children, child)
	}
	q.Guaranteed = resources.Limit{Value: sum, Defined: 1<<len(sum) - 1}
	return q
}

// fill adds nodes and tasks.
func (w W) fill(c *victims.Cluster) {
	var leaves []queue.ID
	for q := range c.Tree().Leaves(queue.Root) {
		leaves = append(leaves, q)
	}
	leaves = leaves[1:]
	var capacity resources.Vector
	for i := range w.Tasks {
		capacity = resources.Add(capacity, capacity, w.size(i))
	}
	capacity = resources.Add(capacity, capacity, resources.ScaleRatio(nil, unit, 2, 10))
	capacity[2] += sparePods

	random := rand.New(rand.NewPCG(1, 2))
	for n := range w.Nodes {
		id, err := c.AddNode(&victims.Node{Name: fmt.Sprintf("n%d", n), Capacity: capacity})
		must(err)
		for i := range w.Tasks {
			created := Now.Add(-time.Duration(random.Int64N(int64(time.Hour))))
			leaf := (n*w.Tasks + i) % len(leaves)
			t := victims.Task{
				Key: fmt.Sprintf("n%d-%d", n, i), Application: fmt.Sprintf("app%d", leaf),
				Queue: leaves[leaf], Node: id, Size: w.size(i), Created: created, Scheduled: created,
			}
			if w.Mixed {
				t.Priority = random.Int32N(10)
				t.OptedOut = random.IntN(10) == 0
				t.Originator = random.IntN(20) == 0
			}
			_, err := c.AddTask(&t)
			must(err)
		}
	}
}

func must(err error) {
	if err != nil {
		panic("workload: " + err.Error())
	}
}
