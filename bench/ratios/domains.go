// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/bits"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// racks places a job in one of the racks, of which each has 18 nodes. Running gangs
// need at least some of their members, if a minimum says so.
func (r *report) racks(minimum int) Row {
	racks := (r.big + 17) / 18
	c := workload.Racks(r.big, racks)
	train, _ := c.Tree().Lookup("root.train")
	job := victims.Ask{Key: "job", Queue: train, Priority: 100, DomainDepth: 1}
	for i := range 16 {
		job.Members = append(job.Members, victims.Member{Key: fmt.Sprint("job-", i), Size: resources.Vector{4}})
	}
	p := jobs.Planner{Options: victims.Options{ByPriority: true}, Cluster: c}
	gangs := ""
	if minimum > 0 {
		for id := range c.Tasks() {
			must(c.SetMinMembers(c.Job(id), minimum))
		}
		gangs = ", whole gangs as victims"
	}
	var d victims.Decision
	nanos := r.clock.least(func() { must(p.Decide(&d, &job, workload.Now)) })
	return Row{
		Name:   fmt.Sprintf("a job of %d members placed in one of %d racks of %d nodes%s", len(job.Members), racks, r.big, gangs),
		Figure: nanos / 1e6, Unit: "ms",
		Remark: fmt.Sprintf("%v, %s, proof: %v", d.Outcome, counted(len(d.Plan.Victims)), d.Plan.Proof),
	}
}

// shares divides four types among the leaves of a root, each of another weight and
// demand. There is too little of three types.
func (r *report) shares() Row {
	const leaves = 999
	schema, err := resources.NewSchema("cpu", "memory", "disk", "gpu")
	must(err)
	next := uint64(1)
	below := func(n uint64) int64 { // the generator of MMIX
		next = next*6364136223846793005 + 1442695040888963407
		return int64(next >> 1 % n)
	}
	root := queue.Config{Name: "root"}
	demand := []resources.Vector{nil}
	var sum resources.Vector
	for i := range leaves {
		root.Children = append(root.Children, queue.Config{
			Name: fmt.Sprint("q", i), Properties: map[string]string{"fair.weight": fmt.Sprint(1 + below(1000))},
			Guaranteed: resources.Limit{Value: resources.Vector{below(1 << 30), below(1 << 40)}, Defined: 0b11},
		})
		demand = append(demand, resources.Vector{below(1 << 30), below(1 << 42), below(1 << 20), below(16)})
		sum = resources.Add(sum, sum, demand[i+1])
	}
	capacity := resources.Limit{Value: resources.Vector{sum[0] / 4, sum[1] / 2, sum[2] / 2, sum[3]}, Defined: 0b1111}
	tree, err := queue.NewLenient(schema, root)
	must(err)
	var f queue.FairShares
	nanos := r.clock.least(func() { must(f.Divide(tree, demand, capacity)) })
	scarce, err := queue.Scarce(tree, demand, capacity)
	must(err)
	return Row{
		Name:   fmt.Sprintf("fair shares of %d types for %d queues", schema.Len(), tree.Len()),
		Figure: nanos / 1e6, Unit: "ms", Remark: fmt.Sprintf("%d types are scarce", bits.OnesCount64(uint64(scarce))),
	}
}
