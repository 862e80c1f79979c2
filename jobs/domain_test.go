// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// All members share a domain, those placed before included. Stories from the
// field: a small task left in a rack that had to be empty; a rack that is freed
// while the job waits is not left for another.
func TestDecide_Domains(t *testing.T) {
	const racks = "queue q\nqueue low\nnode n1 4 in=b1/r1\nnode n2 4 in=b1/r2\nnode n3 4 in=b1/r2\nnode n4 4 in=b1\n"
	for _, test := range []struct{ name, town, want string }{
		{"no domain", racks + "task v low n2 4\ntask w low n3 4\njob q 4,4", "fits j0=n1 j1=n4"},
		{"one rack", racks + "task v low n2 4\njob q 4,4 domain=2", "plan j0=n2 j1=n3 -v"},
		{"one block", racks + "task v low n2 4\njob q 4,4 domain=1", "fits j0=n1 j1=n3"},
		{"in no rack", racks + "task v low n1 4\ntask w low n2 1 p=9\ntask x low n3 1 p=9\njob q 4 domain=2", "plan j0=n1 -v"},
		{"a small task left over", racks + "task v low n2 1\njob q 4,4 domain=2", "plan j0=n2 j1=n3 -v"},
		{"the cheaper rack", "queue q\nqueue low\nnode n1 4 in=r1\nnode n2 4 in=r1\nnode n3 4 in=r2\nnode n4 4 in=r2\n" +
			"task v low n1 4\ntask w low n2 4 p=2\ntask x low n3 4 p=1\ntask y low n4 4 p=1\njob q 4,4 domain=1", "plan j0=n3 j1=n4 -x -y"},
		{"the first of equal racks", "queue q\nqueue low\nnode n0 0 off in=r2\nnode n1 4 in=r1\nnode n2 4 in=r2\ntask v low n1 4\ntask w low n2 4\njob q 4 domain=1",
			"plan j0=n2 -w"},
		{"too large for each", racks + "task v low n2 4\njob q 4,4,4 domain=2", "refused no-victims"},
		{"no such depth", racks + "job q 4 domain=3", "refused domain"},
		{"the placed one binds", racks + "task j0 q n2 1 job=j app=j\ntask v low n3 4\njob q 1,4 domain=2", "plan j1=n3 -v"},
		{"its grant binds", racks + "grant j0 q n2 1 job=j\ntask v low n3 4\njob q 1,4 domain=2", "plan j1=n3 -v"},
		{"placed apart", racks + "task j0 q n1 1 job=j app=j\ntask j1 q n2 1 job=j app=j\njob q 1,1,1 domain=2", "refused domain"},
		{"placed in none", racks + "task j0 q n4 1 job=j app=j\njob q 1,1 domain=2", "refused domain"},
		{"further members stay", racks + "task v low n2 2\ntask w low n1 1\njob q 4,2,2 min=1 domain=2", "fits j0=n3 +j1=n2"},
		{"further members of a placed minimum", racks + "task j0 q n2 1 job=j app=j\njob q 1,1,4 min=1 domain=2", "fits +j1=n2 +j2=n3"},
		{"a gang across racks", racks + "task v low n1 4 job=g\ntask w low n2 4 job=g\ntask x low n3 4 p=9\nkeep g 2\njob q 4 domain=2", "plan j0=n1 -v! -w!"},
		{"headroom elsewhere", "queue q max=4\nqueue low\nnode n1 4 in=r1\nnode n2 4 in=r2\ntask v q n2 4\njob q 4 domain=1", "plan j0=n1 -v"},
		{"a reserved rack", "queue q\nqueue low\nnode n1 4 in=r1 for=x\nnode n2 4 in=r2\ntask w low n2 4\njob q 4 domain=1", "plan j0=n2 -w"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := build(t, test.town)
			require.Equal(t, test.want, w.brief(w.decide()))
		})
	}
}

// A plan names its domain, and is silent if none is required or nobody gets a place.
func TestPlan_Domain(t *testing.T) {
	const town = "queue q\nqueue low\nnode n1 4 in=b1/r1\nnode n2 4 in=b1/r2\nnode n3 4 in=b1/r2\ntask v low n2 4\n"
	for _, test := range []struct {
		town, begin string
		want        []string
	}{
		{town + "job q 4,4 domain=2", "job j (root.q, priority 10) runs in b1, r2 once these have stopped: 2 members placed\n", []string{"b1", "r2"}},
		{town + "job q 4,4 domain=1", "job j (root.q, priority 10) fits in b1: 2 members placed\n", []string{"b1"}},
		{town + "job q 4 min=1 domain=2", "job j (root.q, priority 10) fits in b1, r1: 1 member placed\n", []string{"b1", "r1"}},
		{town + "job q 4,4", "job j (root.q, priority 10) fits: 2 members placed\n", nil},
		{town + "task j0 q n2 1 job=j app=j\njob q 1 domain=2", "job j (root.q, priority 10) fits: 0 members placed\n", nil},
	} {
		w := build(t, test.town)
		d := w.decide()
		require.Equal(t, test.want, d.Plan.Domain, test.town)
		line, _, _ := strings.Cut(d.String(), "\n")
		require.Equal(t, test.begin, line+"\n")
		said, _ := reportOf(t, d, w.cluster)
		require.Equal(t, test.want, said.Plan.Domain)
	}
}

// A refusal names the domain that came closest.
func TestRefusal_Domain(t *testing.T) {
	w := build(t, "queue q\nqueue low\nnode n1 4 in=b1/r1\nnode n2 4 in=b1/r2\nnode n3 4 in=b1/r2\ntask v low n2 4\njob q 4,4,4 domain=2")
	d := w.decide()
	require.Equal(t, []string{"b1", "r2"}, d.Refusal.Domain)
	require.Equal(t, 2, lent.To(&d.Refusal).DomainRoom)
	require.Equal(t, resources.Vector{4000, 0}, d.Refusal.Lacks)
	require.Equal(t, 2, d.Refusal.Placeable)
	require.Contains(t, d.String(), "\n  domain b1, r2 came closest: with everybody gone who could it has room for 2 of 3 members, and lacks cpu=4\n")
	said, _ := reportOf(t, d, w.cluster)
	require.Equal(t, map[string]string{"cpu": "4"}, said.Refusal.DomainLacks)
}

// While victims are leaving for it, the grants of a job keep it in its domain.
func TestDecide_DomainIsKept(t *testing.T) {
	w := build(t, "queue q\nqueue low\nnode n1 4 in=r1\nnode n2 4 in=r2\nnode n3 4 in=r2\ntask v low n2 4\ntask w low n3 4\ntask x low n1 4 p=30\njob q 4,4 min=1 domain=1")
	d := w.decide()
	require.Equal(t, "plan j0=n2 -v", w.brief(d))
	require.NoError(t, w.cluster.Apply(d))
	require.NoError(t, w.cluster.RemoveTask("x")) // another rack is free now
	require.Equal(t, "refused in-flight", w.brief(w.decide()))
	require.NoError(t, w.cluster.RemoveTask("v"))
	require.Equal(t, "fits", w.brief(w.decide()))
	require.NoError(t, w.cluster.RemoveTask("w"))
	require.Equal(t, "fits +j1=n3", w.brief(w.decide()))
}

// Racks that need the same highest rank and priority are told apart by how many
// must go there: only the cheapest is searched, and the levels are proven, also if
// gangs would make a search of the others long.
func TestDecide_DomainsPassedOver(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds 5,000 nodes")
	}
	for _, minimum := range []int{0, 2} {
		c := workload.Racks(5000, 280)
		leaf, _ := c.Tree().Lookup("root.train")
		job := &victims.Ask{Key: "train", Queue: leaf, Priority: 100, DomainDepth: 1}
		for i := range 16 {
			job.Members = append(job.Members, victims.Member{Key: fmt.Sprintf("train-%d", i), Size: resources.Vector{4}})
		}
		world.SetEveryMinimum(c, func(string) int { return minimum })
		p := jobs.Planner{Options: victims.Options{ByPriority: true}, Cluster: c}
		var d victims.Decision
		require.NoError(t, p.Decide(&d, job, workload.Now))
		require.Equal(t, victims.Preempts, d.Outcome)
		require.Equal(t, victims.ProofLevels, d.Plan.Proof, "minimum %d", minimum)
		// Each task is gathered, and the bounds of its rack look at it some ten times,
		// and twice if it is in a gang. A search of every rack would take 100 steps for each.
		tasks := int64(c.TaskLen())
		require.Less(t, d.Plan.Steps-jobs.GatherWork*tasks, 20*tasks, "minimum %d", minimum)
	}
}

// BenchmarkDomains places 16 members of 4 devices in one of 280 racks of a full
// cluster of 5,000 nodes with 8 devices each.
func BenchmarkDomains(b *testing.B) {
	for _, jobsOf := range []int{0, 2} {
		b.Run(fmt.Sprintf("nodes=5000/domains=280/members=16/gangs=%d", jobsOf), func(b *testing.B) {
			c := workload.Racks(5000, 280)
			leaf, _ := c.Tree().Lookup("root.train")
			job := &victims.Ask{Key: "train", Queue: leaf, Priority: 100, DomainDepth: 1}
			for i := range 16 {
				job.Members = append(job.Members, victims.Member{Key: fmt.Sprintf("train-%d", i), Size: resources.Vector{4}})
			}
			p := jobs.Planner{Options: victims.Options{ByPriority: true}, Cluster: c}
			world.SetEveryMinimum(c, func(string) int { return jobsOf })
			var d victims.Decision
			b.ReportAllocs()
			for b.Loop() {
				if err := p.Decide(&d, job, workload.Now); err != nil || d.Outcome != victims.Preempts {
					b.Fatal(d.Outcome, err)
				}
			}
			b.ReportMetric(float64(len(d.Plan.Victims)), "victims")
			b.ReportMetric(float64(d.Plan.Proof), "proof")
			b.ReportMetric(float64(d.Plan.Steps), "steps")
		})
	}
}

// The filter is asked about nodes, and not about their places in a domain: the
// first node of the first rack is out, that of the second is not.
func TestDecide_DomainAndFilter(t *testing.T) {
	cluster := racks()
	run(cluster, "n3", "root.web", victims.Task{Key: "web", Size: resources.Vector{1}})
	job := trainJob(cluster, 8)
	job.DomainDepth = 1
	asked := make(map[string]int)
	planner := jobs.Planner{Cluster: cluster, Options: victims.Options{ByPriority: true, Filter: func(q *victims.Question) bool {
		asked[cluster.NodeName(q.Node)]++
		return cluster.NodeName(q.Node) != "n1"
	}}}
	var d victims.Decision
	require.NoError(t, planner.Decide(&d, job, noon))
	require.Equal(t, victims.Preempts, d.Outcome)
	require.Equal(t, "n2", d.Plan.Places[0].NodeName)
	require.Equal(t, "n3", d.Plan.Places[1].NodeName)
	require.Equal(t, map[string]int{"n1": 1, "n2": 1, "n3": 1}, asked)
}
