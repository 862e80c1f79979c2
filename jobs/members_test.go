// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A job that is none is an error that names job, member and value, and no
// decision. So is an instant that no cluster holds.
func TestDecide_Errors(t *testing.T) {
	const text = "queue q\nqueue low\nnode n1 4\ntask v low n1 4\ntask o q n1 0 job=other\njob q 1,2"
	for _, test := range []struct {
		name  string
		spoil func(*victims.Ask)
		kind  error
		said  string
	}{
		{"no name", func(j *victims.Ask) { j.Key = "" }, invalid.Empty, `jobs: job ""`},
		{"no queue", func(j *victims.Ask) { j.Queue = 99 }, victims.ErrUnknown, `jobs: job "j": queue 99`},
		{"negative queue", func(j *victims.Ask) { j.Queue = -1 }, victims.ErrUnknown, `queue -1`},
		{"no leaf", func(j *victims.Ask) { j.Queue = queue.Root }, invalid.Queue, `queue root`},
		{"minimum below zero", func(j *victims.Ask) { j.MinMembers = -1 }, invalid.Range, `minimum -1 of 2 members`},
		{"minimum above all", func(j *victims.Ask) { j.MinMembers = 3 }, invalid.Range, `minimum 3 of 2 members`},
		{"required node", func(j *victims.Ask) { j.RequiredNode = "n1" }, victims.ErrState, `requires node "n1"`},
		{"member without a key", func(j *victims.Ask) { j.Members[1].Key = "" }, invalid.Empty, `member 1`},
		{"members of one key", func(j *victims.Ask) { j.Members[1].Key = "j0" }, victims.ErrDuplicate, `member "j0"`},
		{"key of a task of another queue", func(j *victims.Ask) { j.Members[1].Key = "v" }, victims.ErrDuplicate, `queue root.low and job ""`},
		{"key of a task of another job", func(j *victims.Ask) { j.Members[1].Key = "o" }, victims.ErrDuplicate, `queue root.q and job "other"`},
		{"negative amount", func(j *victims.Ask) { j.Members[0].Size[0] = -1 }, invalid.Amount, `member "j0": cpu -0.001`},
		{"type that is none", func(j *victims.Ask) { j.Members[0].Size = resources.Vector{1, 1, 1} }, invalid.Amount, `type 2 of 2`},
		{"amount beyond all", func(j *victims.Ask) { j.Members[0].Size[0] = math.MaxInt64 }, invalid.Range, `member "j0"`},
		{"amounts together beyond all", func(j *victims.Ask) {
			j.Members[0].Size[1], j.Members[1].Size = math.MaxInt64, resources.Vector{0, 1}
		}, invalid.Range, `member "j1"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := build(t, text)
			for i := range w.job.Members {
				w.job.Members[i].Size = append(w.job.Members[i].Size, 0)
			}
			test.spoil(&w.job)
			d := victims.Decision{Outcome: victims.Waits}
			err := w.planner().Decide(&d, &w.job, noon)
			require.ErrorIs(t, err, test.kind)
			require.ErrorContains(t, err, test.said)
			require.Equal(t, victims.Waits, d.Outcome, "changed with an error")
		})
	}
	w := build(t, text)
	var d victims.Decision
	require.ErrorIs(t, w.planner().Decide(&d, &w.job, time.Time{}), invalid.Range)
	require.ErrorIs(t, (&victims.WhatIf{Cluster: w.cluster}).Open(&w.job, noon), victims.ErrState)
}

// The plan shares nothing with the job that was asked about.
func TestDecide_CopiesTheJob(t *testing.T) {
	w := build(t, "queue q\nqueue low\nnode n1 4\ntask v low n1 4\njob q 1,2")
	d := w.decide()
	w.job.Members[0].Key, w.job.Members[1].Size[0] = "changed", 9
	require.Equal(t, "j0", d.Plan.Ask.Members[0].Key)
	require.Equal(t, resources.Vector{2000}, d.Plan.Ask.Members[1].Size)
}

// What a member leaves out it has from the ask, and an explicit zero is none of that.
func TestDecide_MembersHaveWhatTheAskSays(t *testing.T) {
	w := build(t, "queue q\nqueue low\nnode n1 8\nnode n2 4\ntask v low n2 4\njob q 1,2,0")
	require.NoError(t, w.cluster.SetBudget("b", victims.Budget{}))
	j := &w.job
	j.Size, j.Class, j.Budgets = resources.Vector{4000}, 1, []string{"b"}
	j.Cost, j.OptedOut, j.Originator, j.Name, j.Tag = 7, true, true, "work", 3
	j.Members[0].Size, j.Members[1].Class, j.Members[1].Budgets = nil, 2, []string{}
	asked := map[int]bool{}
	p := w.planner()
	p.Filter = func(q *victims.Question) bool {
		asked[q.Member.Class] = true
		return q.Member.Class == 2 || w.cluster.NodeName(q.Node) == "n1"
	}
	var d victims.Decision
	require.NoError(t, p.Decide(&d, j, noon))
	require.Equal(t, victims.Fits, d.Outcome)
	require.Equal(t, map[int]bool{1: true, 2: true}, asked)
	require.NoError(t, w.cluster.Apply(&d))
	got := make([]victims.Task, 3)
	for i, m := range j.Members {
		id, ok := w.cluster.LookupGrant(m.Key)
		require.True(t, ok)
		got[i] = w.cluster.Task(id)
		require.Zero(t, got[i].Cost)
		require.Zero(t, got[i].Tag)
		require.Empty(t, got[i].Name)
		require.False(t, got[i].OptedOut || got[i].Originator)
		require.Equal(t, "j", got[i].Job)
	}
	require.Equal(t, resources.Vector{4000, 0}, got[0].Size)
	require.Equal(t, resources.Vector{2000, 0}, got[1].Size)
	require.Equal(t, resources.Vector{0, 0}, got[2].Size)
	require.Equal(t, []string{"b"}, got[0].Budgets)
	require.Empty(t, got[1].Budgets)
}

// Apply does what the plan says, members of the job and all.
func TestApply_Plan(t *testing.T) {
	w := build(t, "queue q\nqueue low\nnode n1 4\nnode n2 4\ntask v low n1 4\njob q 4,4 fixed")
	w.job.Members[0].Originator, w.job.Members[1].OptedOut = true, true
	d := w.decide()
	require.Equal(t, "plan j0=n1 j1=n2 -v", w.brief(d))
	require.NoError(t, w.cluster.Apply(d))
	v, _ := w.cluster.Lookup("v")
	require.Equal(t, victims.Marked, w.cluster.Task(v).State)
	j0, ok := w.cluster.LookupGrant("j0")
	require.True(t, ok)
	j1, ok := w.cluster.LookupGrant("j1")
	require.True(t, ok)
	grant := w.cluster.Task(j0)
	require.Equal(t, "j", grant.Job)
	require.True(t, grant.NonPreemptible && grant.Originator && !grant.OptedOut)
	require.True(t, w.cluster.Task(j1).OptedOut)
	// The same plan once more is stale, and the job is on its way until its
	// victim has gone.
	require.ErrorIs(t, w.cluster.Apply(d), victims.ErrStale)
	require.Equal(t, "refused in-flight", w.brief(w.decide()))
	gone := w.cluster.Clone()
	require.NoError(t, gone.RemoveTask("v"))
	p := jobs.Planner{Options: victims.Options{ByPriority: true}, Cluster: gone}
	require.NoError(t, p.Decide(d, &w.job, noon))
	require.Equal(t, "fits", w.brief(d))
	require.NoError(t, w.cluster.Undo())
	require.Equal(t, "plan j0=n1 j1=n2 -v", w.brief(w.decide()))
}

// A refusal leaves nothing that could be applied.
func TestApply_Refusal(t *testing.T) {
	w := build(t, "queue q\nnode n1 4\njob q 5")
	d := w.decide()
	require.ErrorIs(t, w.cluster.Apply(d), victims.ErrState)
	require.Empty(t, d.Plan.Places)
}

// Where it takes too long to find the first way to place members without
// victims, the largest are placed first, and the proof is the weaker one.
func TestDecide_FitsSorted(t *testing.T) {
	for _, test := range []struct {
		world, fits string
		proof       victims.Proof
	}{
		{"queue q\nnode n1 5\nnode n2 4\njob q 4,5", "fits j0=n2 j1=n1", victims.ProofCost},
		// Only n1 has room for the last member, and there are 8 nodes for each of the six before it.
		{"queue q\nnode n1 1000\nnode n2 700\nnode n3 700\nnode n4 700\nnode n5 700\nnode n6 700\nnode n7 700\nnode n8 700\n" +
			"job q 101,102,103,104,105,106,995", "fits j0=n2 j1=n2 j2=n2 j3=n2 j4=n2 j5=n2 j6=n1", victims.ProofLevels},
	} {
		for _, budget := range []int64{0, 1} {
			w := build(t, test.world)
			p := w.planner()
			p.Steps = budget
			var d victims.Decision
			require.NoError(t, p.Decide(&d, &w.job, noon))
			require.Equal(t, test.fits, w.brief(&d))
			require.Equal(t, test.proof, d.Plan.Proof)
		}
	}
}

// Amounts may be as large as they get: nothing wraps.
func TestDecide_NearTheEndOfInt64(t *testing.T) {
	w := build(t, "queue q\nqueue low\nnode n1 0\njob q 0,0")
	require.NoError(t, w.cluster.UpdateNode(&victims.Node{Name: "n1", Capacity: resources.Vector{math.MaxInt64}}))
	low, _ := w.cluster.Tree().Lookup("root.low")
	_, err := w.cluster.AddTask(&victims.Task{Key: "v", Queue: low, Node: 1, Size: resources.Vector{math.MaxInt64 - 10}})
	require.NoError(t, err)
	w.job.Members[0].Size, w.job.Members[1].Size = resources.Vector{5}, resources.Vector{5}
	require.Equal(t, "fits j0=n1 j1=n1", w.brief(w.decide()))
	require.NoError(t, w.cluster.UpdateNode(&victims.Node{Name: "n1", Capacity: resources.Vector{math.MaxInt64 - 1}}))
	require.Equal(t, "plan j0=n1 j1=n1 -v", w.brief(w.decide()))
}

// Units overlap: a member of a gang counts alone and with all of it. Here their
// sizes together pass the range of int64, and nothing comes of that.
func TestDecide_GangNearTheEndOfInt64(t *testing.T) {
	const quarter = 1 << 61
	for _, quick := range []bool{false, true} {
		for member, want := range map[int64]string{
			quarter:     "plan j0=n1 -v",
			quarter + 9: "plan j0=n1 -v! -w!",
		} {
			w := build(t, "queue q\nqueue low\nnode n1 0\njob q 0\nkeep g 1")
			require.NoError(t, w.cluster.UpdateNode(&victims.Node{Name: "n1", Capacity: resources.Vector{2*quarter + 2}}))
			low, _ := w.cluster.Tree().Lookup("root.low")
			for _, key := range []string{"v", "w"} {
				_, err := w.cluster.AddTask(&victims.Task{Key: key, Queue: low, Node: 1, Job: "g", Size: resources.Vector{quarter + 1}})
				require.NoError(t, err)
			}
			w.job.Members[0].Size = resources.Vector{member}
			p := w.planner()
			p.SetQuick(quick)
			var d victims.Decision
			require.NoError(t, p.Decide(&d, &w.job, noon))
			require.Equal(t, want, w.brief(&d), "quick: %v", quick)
		}
	}
}
