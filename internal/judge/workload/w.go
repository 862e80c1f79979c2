// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Now is the instant at which workloads are decided.
var Now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// The trees of the benchmarks, by the number of children on each level.
var (
	Tree2x10   = []int{10}
	Tree4x100  = []int{5, 4, 5}
	Tree4x1000 = []int{10, 10, 10}
)

// W describes a workload; see the package's doc for what it consists of.
type W struct {
	Nodes, Tasks int // nodes, and tasks on each
	Tree         []int
	// Mixed gives tasks one of 10 priorities, lets 10 % of them opt out and
	// makes 5 % originators; the ask has the highest priority.
	Mixed bool
	// MaxSlack, where it is positive, gives the first queue of depth MaxDepth,
	// which must be above leaf 0, a max of cpu that leaves so many tenths of a
	// unit. 0 is the root. Further down there must be enough tasks for the
	// queue to use what it is guaranteed.
	MaxSlack int64
	MaxDepth int
	// NoPods leaves pods out: tasks and the ask have none. With pods, of which each
	// task has one, all sets of equal number free as much of them. SparePods is how
	// many more of them a node has; 0 is 10.
	NoPods    bool
	SparePods int64
	// Protected guarantees every leaf all it uses, so that no plan exists. It
	// does not go together with MaxSlack.
	Protected bool
}

// Kinds returns a workload of each kind, as large as w: plain, mixed, short of
// headroom at the root and right above leaf 0, and protected.
func (w W) Kinds() []W {
	plain := W{Nodes: w.Nodes, Tasks: w.Tasks, Tree: w.Tree}
	mixed, root, above, protected := plain, plain, plain, plain
	mixed.Mixed = true
	root.MaxSlack = 2
	above.MaxSlack, above.MaxDepth = 2, len(w.Tree)-1
	protected.Protected = true
	return []W{plain, mixed, root, above, protected}
}

// String names the workload as benchmarks do.
func (w W) String() string {
	load := "plain"
	var kinds []string
	if w.Mixed {
		kinds = append(kinds, "mixed")
	}
	if w.MaxSlack > 0 {
		kinds = append(kinds, fmt.Sprint("max", w.MaxDepth))
	}
	if w.NoPods {
		kinds = append(kinds, "no-pods")
	}
	if w.SparePods > 0 {
		kinds = append(kinds, fmt.Sprint("pods", w.SparePods))
	}
	if w.Protected {
		kinds = append(kinds, "protected")
	}
	if len(kinds) > 0 {
		load = strings.Join(kinds, "+")
	}
	return fmt.Sprintf("load=%s/nodes=%d/tasks=%d/tree=%dx%d", load, w.Nodes, w.Tasks, 1+len(w.Tree), w.leaves(0))
}

// leaves returns the number of leaves below a queue of some depth.
func (w W) leaves(depth int) int {
	n := 1
	for _, children := range w.Tree[depth:] {
		n *= children
	}
	return n
}

// leaf returns the number of the leaf of task i of node n. Each round of the
// leaves begins one leaf further on: sizes come round every 3 tasks, and where
// 3 divides the number of leaves with tasks, each would have one size only.
func (w W) leaf(n, i int) int {
	task, others := n*w.Tasks+i, w.leaves(0)-1
	return 1 + (task+task/others)%others
}

// Ask returns the ask of leaf 0 for k units.
func (w W) Ask(c *victims.Cluster, k int64) victims.Ask {
	size := resources.Scale(nil, unit, k)
	if size[typePods] = 1; w.NoPods {
		size[typePods] = 0
	}
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

// Build makes the cluster.
func (w W) Build() *victims.Cluster { return w.Input().Build() }

func must(err error) {
	if err != nil {
		panic("workload: " + err.Error())
	}
}
