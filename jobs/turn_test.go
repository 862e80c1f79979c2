// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// A hardJob is a job in a cluster that makes its members hard to place.
type hardJob struct {
	workload.Hard
	cluster *victims.Cluster
	planner jobs.Planner
	job     victims.Ask
	asks    jobs.Planner // with the same rules
}

// drawHardJob draws a job of members of one size in a cluster of some nodes.
func drawHardJob(t *rapid.T, nodes, tasks int) *hardJob {
	of := func(name string, list ...int) int { return rapid.SampledFrom(list).Draw(t, name) }
	return newHardJob(workload.Hard{
		Nodes: nodes, Tasks: tasks, Seed: rapid.Uint64().Draw(t, "seed"),
		Types: of("types", 1, 2, 4, 8), Shapes: of("shapes", 0, 0, 2, 12), Priorities: of("priorities", 1, 1, 3, 10),
		OptOuts: of("opted out", 0, 0, 30, 60), Gangs: of("gangs", 0, 0, 3, 4), Budgets: of("budgets", 0, 0, 6, 8),
		Levels: of("levels", 0, 0, 1, 2), OwnCosts: of("costs", 0, 0, 1) == 1, Labels: of("zones", 0, 0, 4),
		OwnLeaf: of("own leaf", 0, 0, 0, 1) == 1,
	}, of("k", 2, 4, 10), of("members", 1, 2, 3, 4, 8, 16))
}

// newHardJob makes the job of a workload: members that each are k mean tasks large.
func newHardJob(h workload.Hard, k, members int) *hardJob {
	x := &hardJob{Hard: h, cluster: h.Build()}
	s := h.Subject(x.cluster, int64(k))
	x.asks = s.Planner
	x.planner = jobs.Planner{Cluster: x.cluster, Options: s.Planner.Options}
	x.job = victims.Ask{
		Key: "job", Application: s.Ask.Application, Queue: s.Ask.Queue, Priority: s.Ask.Priority,
		PendingSince: s.Ask.PendingSince,
	}
	for i := range members {
		x.job.Members = append(x.job.Members, victims.Member{Key: fmt.Sprint("job-", i), Size: s.Ask.Size, Class: s.Ask.Class})
	}
	return x
}

// inTurn asks the members one after another, and reports what all of them cost in the
// levels that are compared, in how many steps, and whether all were served from other
// leaves. The cluster is then as it was.
func (x *hardJob) inTurn(t require.TestingT) (sum victims.Cost, steps int64, ok bool) {
	applied := 0
	defer func() {
		for range applied {
			require.NoError(t, x.cluster.Undo())
		}
	}()
	ok = true
	for i := range x.job.Members {
		m := &x.job.Members[i]
		ask := victims.Ask{
			Key: m.Key, Application: x.job.Application, Queue: x.job.Queue, Size: m.Size, Class: m.Class,
			Priority: x.job.Priority, PendingSince: x.job.PendingSince, Job: x.job.Key,
		}
		var d victims.Decision
		require.NoError(t, x.asks.Decide(&d, &ask, workload.Now))
		steps += d.Plan.Steps
		if d.Outcome == victims.Refused {
			return sum, steps, false
		}
		ok = ok && !d.Plan.WithinQueue
		addCost(&sum, &d.Plan.Cost)
		require.NoError(t, x.cluster.Apply(&d))
		applied++
	}
	return sum, steps, ok
}

// levelsOfCost returns a cost down to (f2).
func levelsOfCost(c *victims.Cost) victims.Cost {
	return victims.Cost{
		OptedOut: c.OptedOut, Overrun: c.Overrun, Originators: c.Originators, MaxRank: c.MaxRank, MaxPriority: c.MaxPriority,
		Jobs: c.Jobs, Own: c.Own, Victims: c.Victims, SumRanks: c.SumRanks, SumPriorities: c.SumPriorities,
	}
}

// decide decides the job.
func (x *hardJob) decide(t require.TestingT) (d victims.Decision) {
	require.NoError(t, x.planner.Decide(&d, &x.job, workload.Now))
	return d
}

// A job by guarantee is never dearer, down to (f2), than its members asked one after
// another, unless one of these takes from its own leaf. (DESIGN.md, Jobs: plans.) Without
// Steps of the caller's it takes at most four times what they take, or some 50 ms.
func TestJob_NotDearerThanInTurn(t *testing.T) {
	served := 0
	law.CheckMany(t, 200, func(t *rapid.T) { notDearer(t, rapid.IntRange(1, 40).Draw(t, "nodes"), &served) })
	require.NotZero(t, served)
	t.Logf("%d jobs served both ways", served)
}

// Likewise in clusters of up to 12,000 tasks.
func TestJob_NotDearerThanInTurn_Large(t *testing.T) {
	t.Parallel()
	served := 0
	rapid.Check(t, func(t *rapid.T) {
		notDearer(t, rapid.SampledFrom([]int{100, 280, 400}).Draw(t, "nodes"), &served)
	})
	t.Logf("%d jobs served both ways", served)
}

// Likewise if the search looks at the nodes of members in turn only, as in large clusters.
func TestJob_NotDearerThanInTurn_Quick(t *testing.T) {
	t.Parallel()
	served := 0
	rapid.Check(t, func(t *rapid.T) {
		x := drawHardJob(t, rapid.SampledFrom([]int{60, 100, 150}).Draw(t, "nodes"), rapid.SampledFrom([]int{2, 5, 10}).Draw(t, "tasks"))
		x.planner.SetQuick(true)
		x.notDearer(t, &served)
	})
	require.NotZero(t, served)
}

func notDearer(t *rapid.T, nodes int, served *int) {
	drawHardJob(t, nodes, rapid.SampledFrom([]int{3, 10, 30}).Draw(t, "tasks")).notDearer(t, served)
}

func (x *hardJob) notDearer(t rapid.TB, served *int) {
	turn, steps, ok := x.inTurn(t)
	d := x.decide(t)
	if most := max(4*steps, 3<<23); d.Plan.Steps > most {
		t.Fatalf("%v, %d members: %v in %d steps, %d in turn", x.Hard, len(x.job.Members), d.Outcome, d.Plan.Steps, steps)
	}
	if !ok || d.Outcome == victims.Refused {
		return
	}
	*served++
	if got := levelsOfCost(&d.Plan.Cost); got.Compare(&turn) > 0 {
		t.Fatalf("%v: %d members cost\n%+v, and in turn\n%+v", x.Hard, len(x.job.Members), got, turn)
	}
}
