// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// fullQuotas gives every queue of a full cluster a quota with room to spare.
func fullQuotas(b *testing.B, c *victims.Cluster) *jobs.Allowances {
	quotas := jobs.NewAllowances(c.Tree())
	most := resources.Limit{Value: resources.Scale(nil, c.Tree().Usage(queue.Root), 2), Defined: 3}
	for q := range queue.ID(c.Tree().Len()) {
		require.NoError(b, quotas.Set(q, jobs.Allowance{Max: most}))
	}
	return quotas
}

// BenchmarkLedger reads the accounts of a leaf's path, which is linear in the
// tasks below its uppermost quota, and asks the formulas.
func BenchmarkLedger(b *testing.B) {
	for _, nodes := range []int{100, 1000} {
		b.Run(fmt.Sprintf("nodes=%d/tasks=10", nodes), func(b *testing.B) {
			c := fullCluster(b, nodes, 10)
			l := jobs.Ledger{Cluster: c, Allowances: fullQuotas(b, c)}
			leaf, _ := c.Tree().Lookup("root.train")
			claim := jobs.Claim{Rem: resources.Vector{4000, 8 << 30}}
			var breaches []jobs.Breach
			b.ReportAllocs()
			for b.Loop() {
				l.Read(leaf)
				if breaches = l.MayPreempt(breaches[:0], claim); len(breaches) > 0 {
					b.Fatal(breaches)
				}
			}
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
			p := jobs.Planner{ByPriority: true, Cluster: c}
			job := gang(c, 64, func(int) resources.Vector { return resources.Vector{4000, 8 << 30} })
			var d jobs.Decision
			require.NoError(b, p.Decide(&d, job, benchNow))
			require.Equal(b, victims.Preempts, d.Outcome)
			a := jobs.Auditor{ByPriority: true, Cluster: c}
			var found []victims.Violation
			b.ReportAllocs()
			for b.Loop() {
				if found = a.Audit(found[:0], &d.Plan, benchNow); len(found) > 0 {
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
	p := jobs.Planner{ByPriority: true, Cluster: c}
	job := gang(c, 64, func(int) resources.Vector { return resources.Vector{4000, 8 << 30} })
	var d jobs.Decision
	require.NoError(b, p.Decide(&d, job, benchNow))
	change := d.Plan.Change()
	b.Run("members=64/end=cancel", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			change.Version = c.Version()
			if err := c.Apply(change); err != nil {
				b.Fatal(err)
			}
			if _, err := c.Cancel(job.Key); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(change.Victims)), "victims")
	})
	b.Run("members=64/end=start", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			c := c.Clone()
			change.Version = c.Version()
			b.StartTimer()
			if err := c.Apply(change); err != nil {
				b.Fatal(err)
			}
			for i := range change.Victims {
				if err := c.RemoveTask(change.Victims[i].Key); err != nil {
					b.Fatal(err)
				}
			}
			if err := c.Start(job.Key, benchNow); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(change.Victims)), "victims")
	})
}
