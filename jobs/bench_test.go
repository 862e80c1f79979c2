// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/ratio"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

var benchNow = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// fullCluster has nodes that are full with tasks of one to three cores each, of
// several priorities and ages, in two queues. On four nodes in a row the tasks
// of an index are a job: j0-0, and so on.
func fullCluster(b testing.TB, nodes, tasks int) *victims.Cluster {
	schema, err := resources.NewSchema("cpu", "memory")
	require.NoError(b, err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "a"}, {Name: "b"}, {Name: "train"},
	}})
	require.NoError(b, err)
	c := victims.NewCluster(tree)
	a, _ := tree.Lookup("root.a")
	next := uint32(1)
	draw := func(n uint32) uint32 { // the generator of Numerical Recipes
		next = next*1664525 + 1013904223
		return next >> 8 % n
	}
	for n := range nodes {
		var used resources.Vector
		var sizes []resources.Vector
		for range tasks {
			size := resources.Vector{int64(1+draw(3)) * 1000, int64(1+draw(4)) << 30}
			sizes = append(sizes, size)
			used = resources.Add(used, used, size)
		}
		id, err := c.AddNode(&victims.Node{Name: fmt.Sprintf("node-%04d", n), Capacity: used})
		require.NoError(b, err)
		for i, size := range sizes {
			_, err := c.AddTask(&victims.Task{
				Key: fmt.Sprintf("t-%d-%d", n, i), Application: fmt.Sprintf("app-%d", draw(100)),
				Queue: a + queue.ID(draw(2)), Node: id, Size: size, Priority: int32(draw(10)),
				Scheduled: benchNow.Add(-time.Duration(draw(1000)) * time.Minute),
				Job:       fmt.Sprintf("j%d-%d", n/4, i),
			})
			require.NoError(b, err)
		}
	}
	return c
}

func gang(c *victims.Cluster, members int, size func(i int) resources.Vector) *victims.Ask {
	leaf, _ := c.Tree().Lookup("root.train")
	job := &victims.Ask{Key: "train", Application: "train", Queue: leaf, Priority: 100}
	for i := range members {
		job.Members = append(job.Members, victims.Member{Key: fmt.Sprintf("train-%d", i), Size: size(i)})
	}
	return job
}

// BenchmarkDecide places jobs in full clusters. Members are equal, or of 8
// sizes.
func BenchmarkDecide(b *testing.B) {
	for _, nodes := range []int{100, 1000} {
		for _, members := range []int{8, 64} {
			for _, sizes := range []int{1, 8} {
				b.Run(fmt.Sprintf("nodes=%d/tasks=10/members=%d/sizes=%d", nodes, members, sizes), func(b *testing.B) {
					c := fullCluster(b, nodes, 10)
					job := gang(c, members, func(i int) resources.Vector {
						return resources.Vector{4000 + 500*int64(i%sizes), 8 << 30}
					})
					p := jobs.Planner{Options: victims.Options{ByPriority: true}, Cluster: c}
					var d victims.Decision
					b.ReportAllocs()
					for b.Loop() {
						if err := p.Decide(&d, job, benchNow); err != nil || d.Outcome != victims.Preempts {
							b.Fatal(d.Outcome, err)
						}
					}
					b.ReportMetric(float64(len(d.Plan.Victims)), "victims")
					b.ReportMetric(float64(d.Plan.Proof), "proof")
				})
			}
		}
	}
}

// BenchmarkDecideCoupled places 64 equal members where more than nodes decides:
// guarantees that protect most of what runs, a max that is short, jobs that go
// as a whole, and all that and no way.
func BenchmarkDecideCoupled(b *testing.B) {
	size := resources.Vector{4000, 8 << 30}
	for _, test := range []struct {
		name    string
		prepare func(b *testing.B, p *jobs.Planner)
		outcome victims.Outcome
	}{
		{"guarantees", func(b *testing.B, p *jobs.Planner) { guarantee(b, p.Cluster, 97) }, victims.Preempts},
		{"max", func(b *testing.B, p *jobs.Planner) {
			total := p.Cluster.Tree().Usage(queue.Root)[0]
			require.NoError(b, p.Cluster.SetMax(queue.Root, resources.Limit{Value: resources.Vector{total, 0}, Defined: 1}))
		}, victims.Preempts},
		{"gangs", func(b *testing.B, p *jobs.Planner) { world.SetEveryMinimum(p.Cluster, func(string) int { return 4 }) }, victims.Preempts},
		{"surplus", func(b *testing.B, p *jobs.Planner) { world.SetEveryMinimum(p.Cluster, func(string) int { return 3 }) }, victims.Preempts},
		{"no-way", func(b *testing.B, p *jobs.Planner) {
			guarantee(b, p.Cluster, 100)
			world.SetEveryMinimum(p.Cluster, func(string) int { return 4 })
		}, victims.Refused},
	} {
		b.Run(fmt.Sprintf("nodes=1000/tasks=10/members=64/by=%s", test.name), func(b *testing.B) {
			c := fullCluster(b, 1000, 10)
			p := &jobs.Planner{Options: victims.Options{ByPriority: true}, Cluster: c}
			test.prepare(b, p)
			job := gang(c, 64, func(int) resources.Vector { return size })
			var d victims.Decision
			b.ReportAllocs()
			for b.Loop() {
				if err := p.Decide(&d, job, benchNow); err != nil || d.Outcome != test.outcome {
					b.Fatal(d.Outcome, err)
				}
			}
			b.ReportMetric(float64(len(d.Plan.Victims)), "victims")
			b.ReportMetric(float64(d.Plan.Proof), "proof")
		})
	}
}

// BenchmarkRefuse refuses jobs in full clusters of which the guarantees leave
// too little, which no bound shows: members are equal, or of 8 sizes.
func BenchmarkRefuse(b *testing.B) {
	for _, nodes := range []int{4, 100, 1000} {
		for _, sizes := range []int{1, 8} {
			members := min(nodes+4, 64)
			b.Run(fmt.Sprintf("nodes=%d/tasks=10/members=%d/sizes=%d", nodes, members, sizes), func(b *testing.B) {
				c := fullCluster(b, nodes, 10)
				job := gang(c, members, func(i int) resources.Vector {
					return resources.Vector{4000 + 500*int64(i%sizes), 8 << 30}
				})
				// Together the queues give half of what is asked for.
				var asked int64
				for i := range job.Members {
					asked += job.Members[i].Size[0]
				}
				used := c.Tree().Usage(queue.Root)[0]
				guarantee(b, c, 100-max(50*asked/used, 1))
				p := jobs.Planner{Options: victims.Options{ByPriority: true}, Cluster: c}
				var d victims.Decision
				b.ReportAllocs()
				for b.Loop() {
					if err := p.Decide(&d, job, benchNow); err != nil || d.Outcome != victims.Refused {
						b.Fatal(d.Outcome, err)
					}
				}
				if err := d.Count(); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(d.Plan.Steps), "steps")
				b.ReportMetric(float64(d.Refusal.Placeable), "placeable")
			})
		}
	}
}

// guarantee gives both queues some per cent of what they use.
func guarantee(b *testing.B, c *victims.Cluster, percent int64) {
	for _, path := range []string{"root.a", "root.b"} {
		q, _ := c.Tree().Lookup(path)
		g := ratio.OfVector(c.Tree().Usage(q), percent, 100)
		require.NoError(b, c.SetGuaranteed(q, resources.Limit{Value: g, Defined: 3}))
	}
}
