// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// A Floor is the least that a decision without an index has to do: one pass
// over all tasks that looks the queue of each up, compares its size with what
// the queue may lose, and sums up per node. Its rows are as lean as rows can
// be, in one block, and have four types, as W has. Nobody who looks at each
// task once is faster.
type Floor struct {
	tasks []floorTask
	rooms [][4]int64 // by queue
	sums  [][4]int64 // by node
}

// floorTask is a task as the leanest scan would have it.
type floorTask struct {
	queue, node int32
	size        [4]int64
}

// NewFloor takes the tasks of a cluster of up to four types.
func NewFloor(c *victims.Cluster) *Floor {
	f := &Floor{rooms: make([][4]int64, c.Tree().Len())}
	for q := range queue.ID(c.Tree().Len()) {
		copy(f.rooms[q][:], c.Tree().Surplus(nil, q))
	}
	for n := range c.Nodes() {
		f.sums = append(f.sums, make([][4]int64, max(0, int(n)+1-len(f.sums)))...)
	}
	for id := range c.Tasks() {
		t := c.TaskView(id)
		row := floorTask{queue: int32(t.Queue), node: int32(t.Node)}
		copy(row.size[:], t.Size)
		f.tasks = append(f.tasks, row)
	}
	return f
}

// Pass looks at each task once. The cost is linear in the number of tasks.
func (f *Floor) Pass() {
	clear(f.sums)
	for i := range f.tasks {
		t := &f.tasks[i]
		room := &f.rooms[t.queue]
		if t.size[0] > room[0] || t.size[1] > room[1] || t.size[2] > room[2] || t.size[3] > room[3] {
			continue
		}
		sum := &f.sums[t.node]
		sum[0] += t.size[0]
		sum[1] += t.size[1]
		sum[2] += t.size[2]
		sum[3] += t.size[3]
	}
}

// Sum returns what the tasks on a node that may be lost sum up to, as the last
// pass found it.
func (f *Floor) Sum(n victims.NodeID) [4]int64 { return f.sums[n] }
