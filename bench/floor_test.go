package bench

import (
	"fmt"
	"testing"

	"github.com/go-preempt/preempt/internal/workload"
	"github.com/go-preempt/preempt/victims"
)

// A floorTask is a task as the leanest scan would have it.
type floorTask struct {
	queue, node int32
	size        [4]int64
}

// floor is one pass over all tasks that does nothing but what every decision
// without an index has to do: look the queue up, compare the size in four
// types with what the queue may lose, and sum up per node. No scheduler that
// looks at each task once can be faster.
type floor struct {
	tasks []floorTask
	rooms [][4]int64 // by queue
	sums  [][4]int64 // by node
}

func newFloor(c *victims.Cluster) *floor {
	f := &floor{rooms: make([][4]int64, c.Tree().Len()), sums: make([][4]int64, c.NodeLen())}
	for q := range c.Tree().All() {
		surplus := c.Tree().Surplus(nil, q)
		f.rooms[q] = [4]int64(surplus)
	}
	for id := range c.Tasks() {
		t := c.Task(id)
		f.tasks = append(f.tasks, floorTask{int32(t.Queue), int32(t.Node), [4]int64(t.Size)})
	}
	return f
}

func (f *floor) pass() {
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

func BenchmarkFloor(b *testing.B) {
	for _, nodes := range []int{1000, 5000} {
		w := workload.W{Nodes: nodes, Tasks: 30, Tree: workload.Tree4x100}
		b.Run(fmt.Sprintf("nodes=%d/tasks=%d", nodes, w.Tasks), func(b *testing.B) {
			f := newFloor(w.Build())
			b.ReportAllocs()
			for b.Loop() {
				f.pass()
			}
		})
	}
}
