// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// listing is a cluster as plain data.
type listing struct {
	Queues []listedQueue
	Nodes  []listedNode
	Tasks  []listedTask
}

type listedQueue struct {
	Path       string
	Guaranteed map[int]int64 // by type
	Max        map[int]int64
}

type listedNode struct {
	Name     string
	Capacity [4]int64
}

type listedTask struct {
	Key, Application, Queue, Node string
	Size                          [4]int64
	Age, Ran                      time.Duration
	Priority                      int32
	OptedOut, Originator          bool
}

// listingOf lists a cluster.
func listingOf(c *victims.Cluster) (l listing) {
	tree := c.Tree()
	for q := range queue.ID(tree.Len()) {
		l.Queues = append(l.Queues, listedQueue{tree.Path(q), listedLimit(tree.Guaranteed(q)), listedLimit(tree.Max(q))})
	}
	for n := range c.Nodes() {
		l.Nodes = append(l.Nodes, listedNode{c.Node(n).Name, [4]int64(c.Node(n).Capacity)})
	}
	for id := range c.Tasks() {
		t := c.TaskView(id)
		l.Tasks = append(l.Tasks, listedTask{
			t.Key, t.Application, tree.Path(t.Queue), c.Node(t.Node).Name, [4]int64(t.Size),
			Now.Sub(t.Created), Now.Sub(t.Scheduled), t.Priority, t.OptedOut, t.Originator,
		})
	}
	return l
}

func listedLimit(l resources.Limit) map[int]int64 {
	m := make(map[int]int64)
	for t := range l.Defined.All() {
		m[t], _ = l.Bound(t)
	}
	return m
}

// twin lists the cluster of a workload from what the documentation says of it,
// in the order in which it is said.
func twin(w W) (l listing) {
	const gib = 1 << 30
	sizes := [][4]int64{
		{500, 2 * gib, 1, 5 * gib},
		{1000, 4 * gib, 1, 10 * gib},
		{1500, 6 * gib, 1, 15 * gib},
	}
	unit := [4]int64{1000, 4 * gib, 0, 10 * gib}

	capacity := [4]int64{200, 4 * gib * 2 / 10, 10, 10 * gib * 2 / 10}
	for i := range w.Tasks {
		for t := range capacity {
			capacity[t] += sizes[i%3][t]
		}
	}

	paths := []string{"root"}
	var leaves []string
	var grow func(path string, below []int)
	grow = func(path string, below []int) {
		if len(below) == 0 {
			leaves = append(leaves, path)
			return
		}
		for i := range below[0] {
			child := fmt.Sprintf("%s.q%d", path, i)
			paths = append(paths, child)
			grow(child, below[1:])
		}
	}
	grow("root", w.Tree)

	random := rand.New(rand.NewPCG(1, 2))
	var total [4]int64
	for n := range w.Nodes {
		node := fmt.Sprintf("n%d", n)
		l.Nodes = append(l.Nodes, listedNode{node, capacity})
		for i := range w.Tasks {
			m, others := n*w.Tasks+i, len(leaves)-1
			leaf := 1 + (m+m/others)%others
			age := time.Duration(random.Int64N(3600000000000))
			task := listedTask{
				Key: fmt.Sprintf("%s-%d", node, i), Application: fmt.Sprintf("app%d", leaf-1),
				Queue: leaves[leaf], Node: node, Size: sizes[i%3], Age: age, Ran: age,
			}
			if w.Mixed {
				task.Priority = random.Int32N(10)
				task.OptedOut = random.Int64N(10) == 0
				task.Originator = random.Int64N(20) == 0
			}
			l.Tasks = append(l.Tasks, task)
			for t := range total {
				total[t] += task.Size[t]
			}
		}
	}

	for _, path := range paths {
		q := listedQueue{path, map[int]int64{}, map[int]int64{}}
		if path != "root" {
			for t := range total {
				share := total[t] / int64(2*len(leaves))
				if w.Protected {
					share = total[t]/int64(len(leaves)-1) + unit[t] + 2
				}
				for _, leaf := range leaves {
					if strings.HasPrefix(leaf+".", path+".") {
						q.Guaranteed[t] += share
					}
				}
			}
		}
		if w.MaxSlack > 0 && path == "root"+strings.Repeat(".q0", w.MaxDepth) {
			q.Max[0] = w.MaxSlack * 100
			for _, task := range l.Tasks {
				if strings.HasPrefix(task.Queue+".", path+".") {
					q.Max[0] += task.Size[0]
				}
			}
		}
		l.Queues = append(l.Queues, q)
	}
	return l
}

// drawW draws a small workload.
func drawW(t *rapid.T) W {
	w := W{
		Nodes: rapid.IntRange(1, 12).Draw(t, "nodes"),
		Tasks: rapid.IntRange(1, 12).Draw(t, "tasks"),
		Tree:  rapid.SampledFrom([][]int{{2}, {5}, Tree2x10, {2, 3}, {3, 2, 2}, Tree4x100}).Draw(t, "tree"),
		Mixed: rapid.Bool().Draw(t, "mixed"),
	}
	switch rapid.IntRange(0, 2).Draw(t, "bounds") {
	case 1:
		w.MaxSlack = rapid.Int64Range(1, 12).Draw(t, "slack")
		w.MaxDepth = rapid.IntRange(0, len(w.Tree)-1).Draw(t, "depth")
		// Leaf 0 uses nothing, so that few tasks may be less than the guarantee.
		for leaves := w.leaves(w.MaxDepth); w.MaxDepth > 0 && w.used(leaves)[0] < int64(leaves)*w.share()[0]; {
			w.MaxDepth--
			leaves = w.leaves(w.MaxDepth)
		}
	case 2:
		w.Protected = true
	}
	return w
}

// fuzz makes a fuzz target of a property.
func fuzz(f *testing.F, property func(*rapid.T)) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(property))
}

// TestTwin shows that the documentation is enough to build a workload from.
func TestTwin(t *testing.T) { rapid.Check(t, propertyTwin) }

func FuzzTwin(f *testing.F) { fuzz(f, propertyTwin) }

func propertyTwin(t *rapid.T) {
	w := drawW(t)
	if diff := cmp.Diff(twin(w), listingOf(w.Build())); diff != "" {
		t.Fatalf("%v (-documented +built):\n%s", w, diff)
	}
}
