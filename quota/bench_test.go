// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/ratio"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// broad returns a cluster of so many tasks below root.p, spread evenly over so
// many leaves of ten parents, and added ten at a time, as those of an
// application are. Sizes, ages and priorities differ. Each leaf is guaranteed
// half of what it uses.
func broad(t testing.TB, tasks, leaves int) *victims.Cluster {
	schema, err := resources.NewSchema("cpu", "memory", "gpu")
	require.NoError(t, err)
	p := queue.Config{Name: "p"}
	for i := range 10 {
		q := queue.Config{Name: fmt.Sprint("q", i)}
		for k := range leaves / 10 {
			q.Children = append(q.Children, queue.Config{Name: fmt.Sprint("w", k)})
		}
		p.Children = append(p.Children, q)
	}
	tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Children: []queue.Config{p}})
	require.NoError(t, err)
	c := victims.NewCluster(tree)
	node, err := c.AddNode(&victims.Node{Name: "n", Capacity: resources.Vector{1 << 40, 1 << 50, 1 << 20}})
	require.NoError(t, err)
	var all []queue.ID
	for w := range tree.Leaves(queue.Root) {
		all = append(all, w)
	}
	x := uint64(1)
	random := func(n uint64) int64 {
		x = x*6364136223846793005 + 1442695040888963407 // Knuth's MMIX
		return int64(x >> 33 % n)
	}
	for i := range tasks {
		_, err := c.AddTask(&victims.Task{
			Key: fmt.Sprintf("task-%06d", i), Queue: all[i/10%len(all)], Node: node,
			Size:     resources.Vector{500 + random(4000), (1 + random(16)) << 28, random(2)},
			Priority: int32(random(3)), Created: now.Add(-time.Duration(random(1e6)) * time.Second),
			Originator: random(20) == 0, OptedOut: random(20) == 0,
		})
		require.NoError(t, err)
	}
	for _, w := range all {
		half := ratio.OfVector(tree.Usage(w), 1, 2)
		require.NoError(t, c.SetGuaranteed(w, resources.Limit{Value: half, Defined: 7}))
	}
	return c
}

// shareOf returns a max of a share of what a queue uses of some types.
func shareOf(c *victims.Cluster, q queue.ID, num, den int64, types resources.Mask) resources.Limit {
	return resources.Limit{Value: ratio.OfVector(c.Tree().Usage(q), num, den), Defined: types}
}

// The cost of an enforcement by the number of tasks and leaves, and by what is to
// be freed: a tenth or a third of one type, a tenth of all types, or all there
// is, which guarantees stop halfway, so that each leaf is searched for a set
// that comes closer.
func BenchmarkEnforce(b *testing.B) {
	for _, size := range []struct{ tasks, leaves int }{
		{1_000, 10}, {10_000, 100}, {100_000, 10}, {100_000, 1000}, {200_000, 1000},
	} {
		b.Run(fmt.Sprintf("tasks=%d/leaves=%d", size.tasks, size.leaves), func(b *testing.B) {
			c := broad(b, size.tasks, size.leaves)
			for _, test := range []struct {
				name     string
				num, den int64
				types    resources.Mask
			}{{"tenth", 9, 10, 1}, {"third", 2, 3, 1}, {"types", 9, 10, 7}, {"all", 0, 1, 1}} {
				b.Run("free="+test.name, func(b *testing.B) {
					p, _ := c.Tree().Lookup("root.p")
					most := shareOf(c, p, test.num, test.den, test.types)
					e := quota.Enforcer{Cluster: c}
					var o victims.Decision
					require.NoError(b, c.SetMax(p, most))
					b.ReportAllocs()
					for b.Loop() {
						require.NoError(b, e.Enforce(&o, p, now))
					}
					b.ReportMetric(float64(len(o.Plan.Victims)), "victims")
					b.ReportMetric(float64(o.Plan.Steps), "steps")
				})
			}
		})
	}
}

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// What orders and limits cost beside the default: a tenth of one type is to be
// freed of 10,000 tasks in 100 leaves.
func BenchmarkEnforce_Options(b *testing.B) {
	c := broad(b, 10_000, 100)
	p, _ := c.Tree().Lookup("root.p")
	byTraits := quota.ByTraits(c.Capacity())
	for _, test := range []struct {
		name string
		e    quota.Enforcer
	}{
		{"default", quota.Enforcer{}},
		{"closest-match", quota.Enforcer{Order: quota.ClosestMatch}},
		{"pack", quota.Enforcer{Order: quota.Pack}},
		{"fewest", quota.Enforcer{Order: quota.Fewest}},
		{"fewest-of-all", quota.Enforcer{Order: quota.FewestOfAll}},
		{"exact", quota.Enforcer{Options: victims.Options{NeverOvershoot: true}}},
		{"own", quota.Enforcer{CompareTasks: byTraits}},
	} {
		b.Run("order="+test.name, func(b *testing.B) {
			test.e.Cluster = c
			most := shareOf(c, p, 9, 10, 1)
			var o victims.Decision
			require.NoError(b, c.SetMax(p, most))
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, test.e.Enforce(&o, p, now))
			}
			b.ReportMetric(float64(len(o.Plan.Victims)), "victims")
			b.ReportMetric(float64(o.Plan.Steps), "steps")
		})
	}
}

// makeGangs makes the first tasks of a broad cluster members of gangs of four, and of
// hard budgets of ten with three left.
func makeGangs(t testing.TB, c *victims.Cluster, tasks int) {
	for i := range tasks {
		gang, budget := fmt.Sprint("job-", i/4), fmt.Sprint("budget-", i/10)
		require.NoError(t, c.SetMinMembers(gang, 3))
		require.NoError(t, c.SetBudget(budget, victims.Budget{Left: 3, Hard: true}))
		id, _ := c.Lookup(fmt.Sprintf("task-%06d", i))
		task := c.Task(id)
		task.Job, task.Budgets = gang, []string{budget}
		require.NoError(t, c.RemoveTask(task.Key))
		_, err := c.AddTask(&task)
		require.NoError(t, err)
	}
}

// Gangs of four and budgets of ten: members go one by one or together.
func BenchmarkEnforce_Gangs(b *testing.B) {
	for _, tasks := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("tasks=%d", tasks), func(b *testing.B) {
			c := broad(b, tasks, tasks/100)
			makeGangs(b, c, tasks)
			p, _ := c.Tree().Lookup("root.p")
			e := quota.Enforcer{Cluster: c}
			most := shareOf(c, p, 9, 10, 1)
			var o victims.Decision
			require.NoError(b, c.SetMax(p, most))
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, e.Enforce(&o, p, now))
			}
			b.ReportMetric(float64(len(o.Plan.Victims)), "victims")
			b.ReportMetric(float64(o.Plan.Steps), "steps")
		})
	}
}

// The auditor reads an outcome of a third of all tasks.
func BenchmarkAudit(b *testing.B) {
	for _, tasks := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("tasks=%d", tasks), func(b *testing.B) {
			c := broad(b, tasks, tasks/100)
			p, _ := c.Tree().Lookup("root.p")
			e := quota.Enforcer{Cluster: c}
			var o victims.Decision
			require.NoError(b, c.SetMax(p, shareOf(c, p, 2, 3, 1)))
			require.NoError(b, e.Enforce(&o, p, now))
			a := victims.Auditor{Cluster: c}
			var found []victims.Violation
			b.ReportAllocs()
			for b.Loop() {
				found = a.Audit(found[:0], &o, o.Plan.At)
			}
			require.Empty(b, found)
			b.ReportMetric(float64(len(o.Plan.Victims)), "victims")
		})
	}
}
