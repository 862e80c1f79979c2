// SPDX-License-Identifier: Apache-2.0

package snapshot_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/jobs/koordinator"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/snapshot"
)

// jobScene returns the scene of a random job, with quotas and what waits for them,
// gangs, budgets, grants, labels, domains and tolerations.
func jobScene(t require.TestingT, k *world.JobCase) *snapshot.Scene {
	c, err := world.Build(&k.World)
	require.NoError(t, err)
	own := world.OwnLeaves[k.Options.OwnLeaf]
	p := &jobs.Planner{Cluster: c, Options: victims.Options{WithinQueue: own, StrictPriority: k.Options.StrictPriority, RetryInterval: k.Options.Interval, Scarce: k.Options.Counting(c)}}
	if k.ByPriority {
		p.ByPriority = true
	}
	quotas := make(map[string]*koordinator.ElasticQuota)
	for path, q := range k.Quotas {
		quotas[path] = &koordinator.ElasticQuota{
			Min: world.LimitOf(c, q.Min), Max: world.LimitOf(c, q.Max), Waiting: world.VectorOf(c, q.Waiting),
		}
	}
	scenario.AddWaiting(c.Tree(), quotas)
	if len(quotas) > 0 {
		p.Admit = func(dst resources.Vector, a *victims.Admission) (resources.Vector, bool) {
			return quotas[a.Queue].Admit(dst, a)
		}
	}
	world.SetMinimums(c, k.Minimums)
	p.Exempt = func(e *victims.Question) (time.Time, bool) {
		at := world.Options{Now: e.Now, Exempt: k.Options.Exempt}
		return at.Exempts(e.Cluster.Key(e.Task))
	}
	p.Filter = func(q *victims.Question) bool {
		name := c.NodeName(q.Node)
		return slices.ContainsFunc(k.World.Nodes, func(n world.Node) bool { return n.Name == name && n.Has(k.Job.Members[q.Member.Class].Selector) })
	}
	leaf, ok := c.Tree().Lookup(k.Job.Queue)
	require.True(t, ok)
	job := victims.Ask{
		Key: k.Job.Name, Application: k.Job.Application, Queue: leaf, Priority: k.Job.Priority,
		NonPreemptible: k.Job.NonPreemptible, MinMembers: k.Job.MinMembers, MayNotPreempt: k.Job.MayNot, DomainDepth: k.Job.Domain,
		PendingSince: k.Job.PendingSince, LastAttempt: k.Job.LastAttempt,
	}
	for _, m := range k.Job.Members {
		class := slices.IndexFunc(k.Job.Members, func(o world.Member) bool { return maps.Equal(o.Selector, m.Selector) })
		job.Members = append(job.Members, victims.Member{Key: m.Key, Size: world.VectorOf(c, m.Size), Class: class})
	}
	return &snapshot.Scene{
		Planner: p, Now: k.Options.Now, Asks: []victims.Ask{job}, Quotas: quotas,
	}
}

// TestTake_Job_SameAnswer decides random jobs live and as documents.
func TestTake_Job_SameAnswer(t *testing.T) {
	all, said, plans, entitled := 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		k := world.JobCases(everything).Draw(t, "case")
		s := jobScene(t, k)
		shot, run := run(t, s)
		all++
		if len(shot.Unsaid) > 0 {
			for _, u := range shot.Unsaid {
				require.Contains(t, []string{"exempt", "job", "interval", "pending", "scarce", "scheduled"}, strings.FieldsFunc(u, func(r rune) bool { return r == ' ' || r == ':' })[0])
			}
			return
		}
		said++
		var d victims.Decision
		require.NoError(t, s.Planner.Decide(&d, &s.Asks[0], s.Now))
		require.NoError(t, d.Count())
		if d.Outcome == victims.Preempts {
			plans++
			if !k.ByPriority {
				entitled++
			}
		}
		require.Len(t, run.Steps, 1)
		require.Equal(t, d.String(), answer(run, 0), "%v\n%s", k, shot.Text)
	})
	if all < 100 {
		return // with -short there are too few to say anything of all
	}
	require.Greater(t, said, all/2, "of %d", all)
	require.Positive(t, plans)
	require.Positive(t, entitled)
}

// TestTake_Quota_SameAnswer enforces random quotas live and as documents.
func TestTake_Quota_SameAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := world.EnforceCases(everything).Draw(t, "case")
		c, err := world.Build(&k.World)
		require.NoError(t, err)
		world.SetMinimums(c, k.Minimums)
		e := &quota.Enforcer{Cluster: c}
		if k.Exact {
			e.NeverOvershoot = true
		}
		e.Order = quota.Order(k.Order)
		q, ok := c.Tree().Lookup(k.Queue)
		require.True(t, ok)
		require.NoError(t, c.SetMax(q, world.LimitOf(c, k.Max)))
		shot, run := run(t, &snapshot.Scene{
			Planner: &jobs.Planner{Cluster: c}, Now: world.Epoch, Enforcer: e, Enforce: []queue.ID{q},
		})
		require.Empty(t, shot.Unsaid)
		var d victims.Decision
		require.NoError(t, e.Enforce(&d, q, world.Epoch))
		require.Equal(t, d.String(), answer(run, 0), "%v\n%s", k, shot.Text)
	})
}
