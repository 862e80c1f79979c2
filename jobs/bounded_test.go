// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/ratio"
	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// drawAnyJob draws a job of any kind in a cluster of up to 3,000 tasks: by guarantee or by
// priority, of one size or of several, with a predicate, in a domain.
func drawAnyJob(t *rapid.T) *hardJob {
	x := drawHardJob(t, rapid.SampledFrom([]int{1, 20, 100}).Draw(t, "nodes"), rapid.SampledFrom([]int{3, 30}).Draw(t, "tasks"))
	x.planner.ByPriority = rapid.Bool().Draw(t, "by priority")
	if every := rapid.SampledFrom([]int{0, 0, 2, 9}).Draw(t, "predicate"); every > 0 {
		x.planner.Predicate = func(p *victims.Question) bool {
			return (int(p.Node)+slices.IndexFunc(p.Ask.Members, func(m victims.Member) bool { return m.Key == p.Member.Key }))%every != 0
		}
	}
	if rapid.Bool().Draw(t, "sizes") {
		for i := range x.job.Members {
			m := &x.job.Members[i]
			m.Size = ratio.OfVector(m.Size, int64(1+i%3), 3)
		}
	}
	return x
}

// A budget bounds the whole call: but for a pass over tasks, nodes and members, and twice
// itself as long as there is no plan.
func TestSteps_BoundTheCall(t *testing.T) {
	law.CheckMany(t, 300, func(t *rapid.T) {
		x := drawAnyJob(t)
		x.planner.Steps = rapid.SampledFrom([]int64{1, 1000, 1 << 17, 1 << 20}).Draw(t, "steps")
		d := x.decide(t)
		tasks, members := int64(x.cluster.TaskLen()), int64(len(x.job.Members))
		pass := 100*tasks + 20*int64(x.Nodes)*members
		if most := x.planner.Steps + max(x.planner.Steps, 1<<20) + 2*pass + members*lent.To(new(victims.Options)).DefaultSteps(x.cluster)/100; d.Plan.Steps > most {
			t.Fatalf("%v, %d members: %v in %d steps of %d", x.Hard, members, d.Outcome, d.Plan.Steps, x.planner.Steps)
		}
	})
}

// Stop is asked every few thousand steps, or after a few looks at all tasks, and ends a
// decision once it says yes. What is found then is lawful, and a refusal is not proven.
func TestStop_EndsAJob(t *testing.T) {
	law.CheckMany(t, 300, func(t *rapid.T) {
		x := drawAnyJob(t)
		asked, last := int64(0), rapid.SampledFrom([]int64{1, 2, 10, 100, 1000, 1 << 40}).Draw(t, "asked")
		x.planner.Stop = func() bool { asked++; return asked >= last }
		d := x.decide(t)
		steps, members := d.Plan.Steps, int64(len(x.job.Members))
		each := 4000 + 4*int64(x.cluster.TaskLen())
		if asked < last && steps > each*(asked+1)+int64(x.Nodes)*members {
			t.Fatalf("%v, %d members: %v: asked %d times in %d steps", x.Hard, members, d.Outcome, asked, steps)
		}
		tasks := int64(x.cluster.TaskLen())
		// A search on a node that has begun ends with a plan, and all tasks may be part of it.
		if steps > each*(last+1)+800*tasks+1024*tasks/int64(x.Nodes)+int64(x.Nodes)*members {
			t.Fatalf("%v, %d members: %v: %d steps, ended after %d questions", x.Hard, members, d.Outcome, steps, last)
		}
		if d.Outcome == victims.Refused {
			if asked >= last && d.Refusal.Reason == "no-victims" && d.Plan.Steps > 2*tasks {
				require.False(t, d.Refusal.Proven)
			}
			return
		}
		if asked >= last && d.Outcome == victims.Preempts {
			require.Equal(t, victims.NoProof, d.Plan.Proof)
		}
		a := victims.Auditor{Cluster: x.cluster, Options: x.planner.Options}
		require.Empty(t, a.Audit(nil, &d, workload.Now))
	})
}

// With the last question all was looked at: the plan is the same, and yet unproven.
func TestStop_AtTheEnd(t *testing.T) {
	text := "queue a\nqueue b g=100\njob b 9,9,5\n"
	for n := range 3 {
		text += fmt.Sprintf("node n%d 10\n", n)
		for i := range 10 {
			text += fmt.Sprintf("task t%d-%d a n%d 1\n", n, i, n)
		}
	}
	w := build(t, text)
	asked, last := 0, math.MaxInt
	p := jobs.Planner{Cluster: w.cluster, Options: victims.Options{Stop: func() bool { asked++; return asked >= last }}}
	var full, d victims.Decision
	require.NoError(t, p.Decide(&full, &w.job, noon))
	require.Equal(t, victims.ProofCost, full.Plan.Proof)
	asked, last = 0, asked
	require.NoError(t, p.Decide(&d, &w.job, noon))
	require.Equal(t, full.Plan.Steps, d.Plan.Steps)
	require.Equal(t, full.Plan.Victims, d.Plan.Victims)
	require.Equal(t, victims.NoProof, d.Plan.Proof)
}

// A refused job costs little more than its refused ask: if no node is large enough, and if
// guarantees keep everybody who runs there.
func TestRefusedJob_CostsLittleMoreThanItsAsk(t *testing.T) {
	const nodes = 400
	w := workload.W{Nodes: nodes, Tasks: 30, Tree: workload.Tree4x100, Protected: true}
	hard := workload.Hard{Nodes: nodes, Tasks: 30, Seed: 7}
	for _, test := range []struct {
		name    string
		cluster *victims.Cluster
		ask     victims.Ask
		times   int64
	}{
		{"too large", hard.Build(), victims.Ask{}, 100},
		{"guaranteed", w.Build(), victims.Ask{}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, ask := test.cluster, hard.Ask(test.cluster, 1)
			if test.times == 1 {
				ask = w.Ask(c, 4)
			}
			ask.Size = resources.Scale(nil, ask.Size, test.times)
			var alone victims.Decision
			asks := jobs.Planner{Cluster: c}
			require.NoError(t, asks.Decide(&alone, &ask, workload.Now))
			require.Equal(t, "no-victims", alone.Refusal.Reason)
			job := victims.Ask{Key: "job", Application: ask.Application, Queue: ask.Queue, Priority: ask.Priority, PendingSince: ask.PendingSince}
			for i := range 8 {
				job.Members = append(job.Members, victims.Member{Key: fmt.Sprint("job-", i), Size: ask.Size})
			}
			var d victims.Decision
			p := jobs.Planner{Cluster: c}
			require.NoError(t, p.Decide(&d, &job, workload.Now))
			require.Equal(t, "no-victims", d.Refusal.Reason)
			require.True(t, d.Refusal.Proven)
			require.LessOrEqual(t, d.Plan.Steps, 3*alone.Plan.Steps+8*nodes)
		})
	}
}

// Two tasks without an application share nothing: what the stage of the own leaf says of
// them is what a job is told, as its ask is.
func TestOwnLeaf_JobWithoutApplication(t *testing.T) {
	w := build(t, "queue q g=1\nqueue low g=0\nnode n1 4\ntask v q n1 4 p=5\njob q 2 p=1 app=")
	p := w.planner()
	p.ByPriority, p.WithinQueue = false, queue.Met
	var d victims.Decision
	require.NoError(t, p.Decide(&d, &w.job, noon))
	var e victims.Decision
	asks := jobs.Planner{Cluster: p.Cluster, Options: p.Options}
	ask := victims.Ask{Key: "a", Queue: w.job.Queue, Size: w.job.Members[0].Size, Priority: w.job.Priority}
	require.NoError(t, asks.Decide(&e, &ask, noon))
	require.Equal(t, e.Refusal.Reason, d.Refusal.Reason)
	require.Equal(t, lent.To(&e.Refusal).OwnLeaf, lent.To(&d.Refusal).OwnLeaf)
	require.True(t, lent.To(&d.Refusal).OwnLeaf)
}

// Where a gang that goes as a whole leaves room on many nodes, it is better than one for
// each of them. Each member by itself takes the gang that costs less. Tasks of no size make
// the case one that is not searched for the cheapest victims of given places.
func TestGangs_OneForAllNodes(t *testing.T) {
	small := ""
	for i := range 80 {
		small += fmt.Sprintf("task t%d low n1 0\n", i)
	}
	w := build(t, "queue q g=1\nqueue low g=0\nnode n1 8\nnode n2 8\nnode n3 4\n"+small+
		"task a1 low n1 4 job=a cost=5\ntask a2 low n2 4 job=a cost=5\ntask b1 low n1 4 job=b\ntask b3 low n3 2 job=b\n"+
		"task c2 low n2 4 job=c\ntask c3 low n3 2 job=c\nkeep a 2\nkeep b 2\nkeep c 2\njob q 4,4")
	for _, quick := range []bool{false, true} {
		p := w.planner()
		p.SetQuick(quick)
		var d victims.Decision
		require.NoError(t, p.Decide(&d, &w.job, noon))
		require.Equal(t, victims.Preempts, d.Outcome)
		require.Equal(t, 1, d.Plan.Cost.Jobs, "quick %v: %v", quick, d.Plan.Victims)
	}
}
