// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// ruled are the rules that users ask for, as they come to a full cluster.
var ruled = []struct {
	name    string
	prepare func(b testing.TB, p *jobs.Planner)
}{
	{"filter", func(_ testing.TB, p *jobs.Planner) {
		p.Filter = func(q *victims.Question) bool { return q.Node%3 == 1 }
	}},
	{"soft budgets", func(b testing.TB, p *jobs.Planner) { underBudgets(b, p.Cluster, victims.Budget{Left: 1}) }},
	{"hard budgets", func(b testing.TB, p *jobs.Planner) { underBudgets(b, p.Cluster, victims.Budget{Left: 1, Hard: true}) }},
	{"own costs", func(b testing.TB, p *jobs.Planner) {
		cost := int64(0)
		for id := range p.Cluster.Tasks() {
			cost = (cost*31 + 7) % 1000
			require.NoError(b, p.Cluster.SetCost(p.Cluster.Key(id), cost))
		}
	}},
	{"own leaf", func(b testing.TB, p *jobs.Planner) {
		p.WithinQueue = queue.Met
		train, _ := p.Cluster.Tree().Lookup("root.train")
		eachTask(b, p.Cluster, 2, func(_ int, t *victims.Task) { t.Queue = train })
		used := slices.Clone(p.Cluster.Tree().Usage(train))
		require.NoError(b, p.Cluster.SetGuaranteed(train, resources.Limit{Value: used, Defined: 3}))
	}},
	{"gangs", func(_ testing.TB, p *jobs.Planner) { world.SetEveryMinimum(p.Cluster, func(string) int { return 3 }) }},
}

// underBudgets puts every task into one of many budgets, four tasks into each.
func underBudgets(b testing.TB, c *victims.Cluster, budget victims.Budget) {
	const tasks = 4
	eachTask(b, c, 1, func(i int, t *victims.Task) {
		t.Budgets = []string{fmt.Sprint("b", i%max(1, c.TaskLen()/tasks))}
		require.NoError(b, c.SetBudget(t.Budgets[0], budget))
	})
}

// eachTask changes every so manieth task.
func eachTask(b testing.TB, c *victims.Cluster, every int, change func(int, *victims.Task)) {
	var all []victims.Task
	for id := range c.Tasks() {
		all = append(all, c.Task(id))
	}
	for i := range all {
		if i%every == 0 {
			change(i, &all[i])
			_, err := c.SetTask(&all[i])
			require.NoError(b, err)
		}
	}
}

// ruledJob is a job of equal members for a cluster with a rule.
func ruledJob(p *jobs.Planner, members int) *victims.Ask {
	return gang(p.Cluster, members, func(int) resources.Vector { return resources.Vector{4000, 8 << 30} })
}

// BenchmarkDecide_Rules places 64 equal members under each of the rules, and
// under all of them.
func BenchmarkDecide_Rules(b *testing.B) {
	run := func(name string, prepare func(*jobs.Planner)) {
		b.Run("nodes=1000/tasks=10/members=64/rule="+name, func(b *testing.B) {
			p := &jobs.Planner{Options: victims.Options{ByPriority: true}, Cluster: fullCluster(b, 1000, 10)}
			prepare(p)
			job := ruledJob(p, 64)
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
	for _, r := range ruled {
		run(r.name, func(p *jobs.Planner) { r.prepare(b, p) })
	}
	run("all", func(p *jobs.Planner) {
		for _, r := range ruled {
			r.prepare(b, p)
		}
	})
}

// A warm planner allocates nothing under any of the rules either, whether there is
// a plan or not.
func TestNoAllocs_Rules(t *testing.T) {
	if testing.Short() {
		t.Skip("TestNoAllocs has the plain rules")
	}
	for _, r := range ruled {
		t.Run(r.name, func(t *testing.T) {
			p := &jobs.Planner{Options: victims.Options{ByPriority: true}, Cluster: fullCluster(t, 40, 6)}
			r.prepare(t, p)
			for _, test := range []struct {
				members int
				want    victims.Outcome
			}{{8, victims.Preempts}, {1000, victims.Refused}} {
				job := ruledJob(p, test.members)
				var d victims.Decision
				decide := func() {
					if err := p.Decide(&d, job, benchNow); err != nil {
						t.Fatal(err)
					}
				}
				decide()
				require.Equal(t, test.want, d.Outcome, "%d members", test.members)
				require.Zero(t, testing.AllocsPerRun(10, decide), "%d members", test.members)
			}
		})
	}
}
