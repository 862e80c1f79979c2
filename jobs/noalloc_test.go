// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A warm planner allocates nothing, whatever comes out.
func TestNoAllocs(t *testing.T) {
	const queues = "queue q g=1 quota=9:90\nqueue low g=1\n"
	one := func(int) resources.Vector { return resources.Vector{4000, 8 << 30} }
	two := func(i int) resources.Vector { return resources.Vector{4000 + 1000*int64(i%2), 8 << 30} }
	many := func(i int) resources.Vector { return resources.Vector{2000 + 300*int64(i), 8 << 30} }
	wide := fullCluster(t, 60, 10)
	for _, test := range []struct {
		name    string
		outcome victims.Outcome
		cluster *victims.Cluster
		job     *victims.Ask
		town    string
	}{
		{name: "fits", outcome: victims.Fits, town: queues + "node n1 4\njob q 1,2"},
		{name: "waits", outcome: victims.Waits, town: queues + "node n1 4\ntask v low n1 4 state=releasing\njob q 1,2"},
		{name: "plan", outcome: victims.Preempts, town: queues + "node n1 8\nnode n2 1\ntask v low n1 8 job=g\nkeep g 1\ntask w low n2 1 fixed\njob q 1,2"},
		{name: "quota", outcome: victims.Preempts, town: "queue q quota=9:2\nnode n1 8\ntask v q n1 2\njob q 2 fixed"},
		{name: "refused", outcome: victims.Refused, town: queues + "node n1 8\ntask v low n1 8\ntask w low n1 0 p=11\njob q 1,8,3"},
		{name: "spread out", outcome: victims.Preempts, cluster: wide, job: gang(wide, 16, one)},
		{name: "host by host", outcome: victims.Preempts, cluster: wide, job: gang(wide, 16, many)},
		{name: "member by member", outcome: victims.Preempts, cluster: wide, job: gang(wide, 16, two)},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := &jobs.Planner{Options: victims.Options{ByPriority: true}, Cluster: test.cluster}
			job, now := test.job, benchNow
			if test.town != "" {
				w := build(t, test.town)
				p, job, now = w.planner(), &w.job, noon
			}
			var d victims.Decision
			require.NoError(t, p.Decide(&d, job, now))
			require.Equal(t, test.outcome, d.Outcome)
			got := testing.AllocsPerRun(20, func() {
				if err := p.Decide(&d, job, now); err != nil {
					t.Fatal(err)
				}
			})
			require.Zero(t, got)
		})
	}
}

// Nor does a search that looks at the nodes of members in turn only.
func TestNoAllocs_Quick(t *testing.T) {
	x := newHardJob(workload.Hard{Nodes: 100, Tasks: 10, Types: 2, Shapes: 12, Seed: 1}, 2, 4)
	x.planner.SetQuick(true)
	var d victims.Decision
	decide := func() { require.NoError(t, x.planner.Decide(&d, &x.job, workload.Now)) }
	decide()
	require.Equal(t, victims.Preempts, d.Outcome)
	require.Zero(t, testing.AllocsPerRun(20, decide))
}
