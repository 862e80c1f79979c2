// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"

	"github.com/go-preempt/preempt/internal/judge/ratio"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

const (
	typeCPU = iota
	typeMemory
	typePods
	typeStorage
)

// sparePods is how many more pods a node could have.
const sparePods = 10

var (
	types = []string{"cpu", "memory", "pods", "ephemeral-storage"}
	unit  = resources.Vector{typeCPU: 1000, typeMemory: 4 << 30, typePods: 0, typeStorage: 10 << 30}
)

// size returns the size of task i of a node.
func (w W) size(i int) resources.Vector {
	v := ratio.OfVector(unit, int64(1+i%3), 2)
	if v[typePods] = 1; w.NoPods {
		v[typePods] = 0
	}
	return v
}

// tenths returns so many tenths of a unit.
func tenths(n int64) resources.Vector { return ratio.OfVector(unit, n, 10) }

// perNode returns what the tasks of a node use together.
func (w W) perNode() (sum resources.Vector) {
	for i := range w.Tasks {
		sum = resources.Add(sum, sum, w.size(i))
	}
	return sum
}

// capacity returns the capacity of a node.
func (w W) capacity() resources.Vector {
	v := resources.Add(nil, w.perNode(), tenths(2))
	v[typePods] += cmp.Or(w.SparePods, sparePods)
	return v
}

// used returns what the tasks of the first leaves use together.
func (w W) used(leaves int) resources.Vector {
	sum := make(resources.Vector, len(unit))
	for n := range w.Nodes {
		for i := range w.Tasks {
			if w.leaf(n, i) < leaves {
				sum = resources.Add(sum, sum, w.size(i))
			}
		}
	}
	return sum
}

// share returns what each leaf is guaranteed.
func (w W) share() resources.Vector {
	total := resources.Scale(nil, w.perNode(), int64(w.Nodes))
	leaves := int64(w.leaves(0))
	if !w.Protected {
		return ratio.OfVector(total, 1, 2*leaves)
	}
	// What is dealt out is not exactly even, but it is so but for one task.
	share := ratio.OfVector(total, 1, leaves-1)
	share = resources.Add(share, share, unit)
	return resources.Add(share, share, resources.Vector{2, 2, 2, 2})
}

// queues returns the tree with its bounds.
func (w W) queues() queue.Config {
	root := level("root", w.Tree, w.share())
	root.Guaranteed = resources.Limit{}
	if w.MaxSlack > 0 {
		q := &root
		for range w.MaxDepth {
			q = &q.Children[0]
		}
		most := resources.Add(nil, w.used(w.leaves(w.MaxDepth)), tenths(w.MaxSlack))
		q.Max = resources.Limit{Value: most, Defined: 1 << typeCPU}
	}
	return root
}

// level returns a queue with the levels below it; each leaf is guaranteed share.
func level(name string, below []int, share resources.Vector) queue.Config {
	q := queue.Config{Name: name, Guaranteed: all(share)}
	if len(below) == 0 {
		return q
	}
	q.Guaranteed = all(nil)
	for i := range below[0] {
		child := level(childName(i), below[1:], share)
		q.Guaranteed = all(resources.Add(nil, q.Guaranteed.Value, child.Guaranteed.Value))
		q.Children = append(q.Children, child)
	}
	return q
}

// all returns a bound on all types.
func all(v resources.Vector) resources.Limit {
	return resources.Limit{Value: v, Defined: 1<<len(unit) - 1}
}
