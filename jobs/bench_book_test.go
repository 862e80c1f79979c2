// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/jobs/koordinator"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// BenchmarkAdmit asks about a job that every queue refuses, for which it adds up what the
// non-preemptible use.
func BenchmarkAdmit(b *testing.B) {
	for _, nodes := range []int{100, 1000} {
		b.Run(fmt.Sprintf("nodes=%d/tasks=10", nodes), func(b *testing.B) {
			c := fullCluster(b, nodes, 10)
			quota := koordinator.ElasticQuota{Max: resources.Limit{Value: c.Tree().Usage(queue.Root), Defined: 3}}
			p := jobs.Planner{Cluster: c, Options: victims.Options{ByPriority: true, Admit: quota.Admit}}
			job := gang(c, 1, func(int) resources.Vector { return resources.Vector{4000, 8 << 30} })
			var d victims.Decision
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, p.Decide(&d, job, benchNow))
			}
			require.Equal(b, "quota-max", d.Refusal.Reason)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(10*nodes), "ns/task")
		})
	}
}

// BenchmarkAudit judges a plan for 64 equal members, and one whose victims are
// whole jobs.
func BenchmarkAudit(b *testing.B) {
	for _, test := range []struct {
		name    string
		minimum int
	}{{"alone", 0}, {"gangs", 4}} {
		b.Run("nodes=1000/tasks=10/members=64/by="+test.name, func(b *testing.B) {
			c := fullCluster(b, 1000, 10)
			world.SetEveryMinimum(c, func(string) int { return test.minimum })
			p := jobs.Planner{Options: victims.Options{ByPriority: true}, Cluster: c}
			job := gang(c, 64, func(int) resources.Vector { return resources.Vector{4000, 8 << 30} })
			var d victims.Decision
			require.NoError(b, p.Decide(&d, job, benchNow))
			require.Equal(b, victims.Preempts, d.Outcome)
			a := victims.Auditor{Options: victims.Options{ByPriority: true}, Cluster: c}
			var found []victims.Violation
			b.ReportAllocs()
			for b.Loop() {
				if found = a.Audit(found[:0], &d, benchNow); len(found) > 0 {
					b.Fatal(found)
				}
			}
			b.ReportMetric(float64(len(d.Plan.Victims)), "victims")
		})
	}
}

// BenchmarkGrants applies a plan for 64 members, and cancels it, or has its victims go and
// starts it.
func BenchmarkGrants(b *testing.B) {
	c := fullCluster(b, 100, 10)
	p := jobs.Planner{Options: victims.Options{ByPriority: true}, Cluster: c}
	job := gang(c, 64, func(int) resources.Vector { return resources.Vector{4000, 8 << 30} })
	var d victims.Decision
	require.NoError(b, p.Decide(&d, job, benchNow))
	b.Run("members=64/end=cancel", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			d.Plan.Version = c.Version()
			if err := c.Apply(&d); err != nil {
				b.Fatal(err)
			}
			if _, err := c.Cancel(job.Key); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(d.Plan.Victims)), "victims")
	})
	b.Run("members=64/end=start", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			c := c.Clone()
			d.Plan.Version = c.Version()
			b.StartTimer()
			if err := c.Apply(&d); err != nil {
				b.Fatal(err)
			}
			for i := range d.Plan.Victims {
				if err := c.RemoveTask(d.Plan.Victims[i].Key); err != nil {
					b.Fatal(err)
				}
			}
			if err := c.Start(job.Key, benchNow); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(d.Plan.Victims)), "victims")
	})
}
