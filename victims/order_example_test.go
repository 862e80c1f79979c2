package victims_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// orderTasks are tasks of one leaf, in no order.
func orderTasks() []*victims.Task {
	ran := func(d time.Duration) time.Time { return exampleNow.Add(-d) }
	return []*victims.Task{
		{Key: "old", Size: resources.Vector{1}, Scheduled: ran(9 * time.Hour)},
		{Key: "kept", Size: resources.Vector{1}, Scheduled: ran(time.Hour), OptedOut: true},
		{Key: "high", Size: resources.Vector{3}, Scheduled: ran(time.Hour), Priority: 10},
		{Key: "driver", Size: resources.Vector{1}, Scheduled: ran(time.Hour), Originator: true},
		{Key: "young", Size: resources.Vector{2}, Scheduled: ran(time.Minute)},
		{Key: "nominated", Size: resources.Vector{2}},
	}
}

func keys(tasks []*victims.Task) (all []string) {
	for _, t := range tasks {
		all = append(all, t.Key)
	}
	return all
}

// An order of one's own: lower priorities first, and of those the larger tasks,
// so that fewer have to stop.
func ExampleThen() {
	bySize := victims.BySize(resources.Vector{12})
	larger := func(a, b *victims.Task) int { return bySize(b, a) }
	tasks := orderTasks()
	slices.SortFunc(tasks, victims.Then(victims.ByPriority, larger, victims.ByKey))
	fmt.Println(keys(tasks))
	// Output:
	// [nominated young driver kept old high]
}

// The order in which the planner is more and more reluctant to stop the tasks
// of a leaf.
func ExampleReluctance() {
	tasks := orderTasks()
	slices.SortFunc(tasks, victims.Reluctance)
	fmt.Println(keys(tasks))
	// Output:
	// [nominated young old high driver kept]
}
