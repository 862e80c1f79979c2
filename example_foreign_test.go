// SPDX-License-Identifier: Apache-2.0

package preempt_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/toleration"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/cover"
)

// A pod is a task of somebody else's scheduler.
type pod struct {
	uid, node string
	leaf      queue.ID
	size      resources.Vector
	priority  int32
	started   time.Time
	tolerates toleration.Policy
}

// The parts over types of one's own, without a cluster: amounts, a tree of queues, reach,
// effective priority, toleration and surplus say who may stop; package cover finds the node on
// which it costs least, and Traits order what stops.
func Example_foreign() {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	schema := must(resources.NewSchema("cpu", "gpu"))
	tree := must(queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "web", Guaranteed: must(schema.ParseLimit("gpu=8"))},
		{Name: "batch", Guaranteed: must(schema.ParseLimit("gpu=4"))},
		{Name: "lab", Policies: queue.Policies{PriorityOffset: new(int32(-10))}},
		{Name: "system", Policies: queue.Policies{Preemption: queue.Disabled}},
	}}))
	web, batch, lab, system := queue.ID(1), queue.ID(2), queue.ID(3), queue.ID(4)
	patient := must(toleration.Parse(toleration.PriorityClass{Name: "patient", Annotations: map[string]string{
		toleration.AnnotationMinimum: "1000", toleration.AnnotationSeconds: "600",
	}}))

	size := must(schema.Parse("cpu=2 gpu=2"))
	pods := []pod{
		{uid: "etl-1", node: "n1", leaf: batch, started: now.Add(-time.Hour)},
		{uid: "etl-2", node: "n1", leaf: batch, started: now.Add(-2 * time.Hour)},
		{uid: "etl-3", node: "n2", leaf: batch, started: now.Add(-3 * time.Hour)},
		{uid: "run-1", node: "n2", leaf: lab, priority: 9, started: now.Add(-time.Minute)},
		{uid: "run-2", node: "n2", leaf: lab, priority: 9, started: now.Add(-time.Minute), tolerates: patient.Policy},
		{uid: "dns", node: "n1", leaf: system, started: now.Add(-time.Hour)},
	}
	for i := range pods {
		pods[i].size = size
		check(tree.Add(pods[i].leaf, size))
	}
	ask := pod{leaf: web, size: must(schema.Parse("cpu=4 gpu=4")), priority: 0}

	// Who may stop on each node, and what no queue must lose.
	reach := slices.Collect(fence.Reach(tree, ask.leaf))
	nodes := []string{"n1", "n2"}
	groups := make([]cover.Problem, len(nodes))
	for n := range groups {
		groups[n] = cover.Problem{Need: ask.size, Maxima: 1} // nothing is free
		for _, leaf := range reach {
			groups[n].Bounds = append(groups[n].Bounds, resources.Limit{
				Value: tree.Surplus(nil, leaf), Defined: tree.Guaranteed(leaf).Defined,
			})
		}
	}
	for _, p := range pods {
		bound := slices.Index(reach, p.leaf)
		rank := fence.Rank(tree, fence.Priority{Leaf: p.leaf, Raw: p.priority}, fence.Priority{Leaf: ask.leaf, Raw: ask.priority})
		until, exempt := p.tolerates.Until(p.started, ask.priority)
		switch {
		case bound < 0:
			fmt.Println(p.uid, "is out of reach")
		case rank > 0:
			fmt.Println(p.uid, "is too important")
		case exempt && (until.IsZero() || until.After(now)):
			fmt.Println(p.uid, "is spared until", until.Format(time.TimeOnly))
		default:
			group := &groups[slices.Index(nodes, p.node)]
			group.Units = append(group.Units, cover.Unit{Key: p.uid, Size: p.size, Cost: []int64{rank, 1}, Bounds: []int{bound}})
		}
	}
	var solver cover.Solver
	var least cover.Selection
	n, ok := solver.Fit(&least, groups)
	fmt.Println(ok, nodes[n])

	// Who stops first, of those: the library's order.
	traits := func(uid string) victims.Traits {
		p := pods[slices.IndexFunc(pods, func(p pod) bool { return p.uid == uid })]
		return victims.Traits{Priority: p.priority, Created: p.started, Key: p.uid}
	}
	var stop []string
	for _, i := range least.Units {
		stop = append(stop, groups[n].Units[i].Key)
	}
	slices.SortFunc(stop, func(a, b string) int { return traits(a).Compare(traits(b)) })
	fmt.Println(stop)
	// Output:
	// run-2 is spared until 12:09:00
	// dns is out of reach
	// true n2
	// [etl-3 run-1]
}

// What a lowered max has to free, and what is left of it in the types that it names.
func Example_amounts() {
	schema := must(resources.NewSchema("cpu", "memory"))
	most := must(schema.ParseLimit("cpu=50"))
	usage := must(schema.Parse("cpu=80 memory=10Gi"))
	fmt.Println(schema.FormatLimit(resources.SubOnlyExisting(resources.Limit{}, most, usage)))
	fmt.Println(schema.Format(resources.Over(nil, usage, most)))
	// Output:
	// cpu=-30
	// cpu=30
}

func must[T any](v T, err error) T {
	check(err)
	return v
}
