// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A list of what waits gives the answers of a loop that decides each job each time, whatever happens
// in between.
func propertyPending(t *rapid.T) {
	c := world.JobCases(world.Small).Draw(t, "case")
	c.ByPriority = false
	c.SetOwnLeaf("")
	h := newHarness(t, c)
	h.planner.Admit = nil
	if len(c.Options.Exempt) == 0 {
		h.planner.Exempt = nil // with it no two jobs are alike
	}
	first := h.job
	all := []victims.Ask{first}
	for i := range 3 { // alike, but for names, and one smaller
		j := first
		j.Key, j.Members = fmt.Sprint(first.Key, "-", i), nil
		for _, m := range first.Members[i/2:] {
			m.Key = fmt.Sprint(m.Key, "-", i)
			j.Members = append(j.Members, m)
		}
		j.MinMembers = min(j.MinMembers, len(j.Members))
		if len(j.Members) > 0 {
			all = append(all, j)
		}
	}
	waiting := jobs.Pending{Planner: &h.planner}
	for i := range all {
		waiting.Add(all[i])
	}
	m := &meanwhile{harness: h, t: t, now: c.Options.Now, any: true, help: &victims.Help{}}
	for range 4 {
		if rapid.IntRange(0, 3).Draw(t, "other types count") == 3 {
			h.planner.Scarce = new(resources.Mask(rapid.Uint64Range(0, 1<<h.cluster.Schema().Len()-1).Draw(t, "scarce")))
		}
		twin := jobs.Planner{Cluster: h.cluster.Clone(), Options: h.planner.Options}
		var want, got []string
		for ask := range waiting.All() {
			if waits(twin.Cluster, ask) {
				continue
			}
			var d victims.Decision
			require.NoError(t, twin.Decide(&d, ask, m.now))
			if len(d.Plan.Places) > 0 {
				want = append(want, d.Summary())
				carryOut(t, twin.Cluster, &d)
			}
		}
		for d, err := range waiting.Decide(m.now) {
			require.NoError(t, err)
			if d.Outcome != victims.Refused {
				got = append(got, d.Summary())
				carryOut(t, h.cluster, d)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%q, and a loop over all of them says %q; after %q\n%v", got, want, m.done, c)
		}
		for range rapid.IntRange(0, 3).Draw(t, "happenings") {
			m.next()
		}
	}
}

// carryOut applies a plan. A job whose members are all placed has nothing to apply.
func carryOut(t *rapid.T, c *victims.Cluster, d *victims.Decision) {
	if len(d.Plan.Places)+len(d.Plan.Victims) > 0 {
		require.NoError(t, c.Apply(d))
	}
}

func TestPending_AsALoop(t *testing.T) { law.Check3000(t, propertyPending) }

func FuzzPending(f *testing.F) { f.Fuzz(rapid.MakeFuzz(propertyPending)) }

// pendingIn returns a list for the cluster of a town, by guarantee.
func pendingIn(w *town) *jobs.Pending {
	return &jobs.Pending{Planner: &jobs.Planner{Cluster: w.cluster}}
}

// decided decides what waits at noon, and applies what is no refusal.
func decided(t *testing.T, w *town, p *jobs.Pending) (told []string) {
	for d, err := range p.Decide(noon) {
		require.NoError(t, err)
		told = append(told, d.Plan.Ask.Key+" "+d.Outcome.String())
		if d.Outcome != victims.Refused {
			require.NoError(t, w.cluster.Apply(d))
		}
	}
	return told
}

func waiting(p *jobs.Pending) (keys []string) {
	for a := range p.All() {
		keys = append(keys, a.Key)
	}
	return keys
}

// A gang is passed over while it holds what it needs, waits for room for more once it runs, and
// leaves when all of it runs.
func TestPending_Gang(t *testing.T) {
	w := build(t, "queue q\nnode n1 3\nnode n2 1\ntask v q n2 1\njob q 1,2,1 min=2")
	p := pendingIn(w)
	p.Add(w.job)
	require.Equal(t, []string{"j fits"}, decided(t, w, p))
	require.Empty(t, decided(t, w, p), "it holds what it needs")
	require.NoError(t, w.cluster.Start("j", noon))
	require.Empty(t, decided(t, w, p), "there is no room for more")
	require.NotNil(t, p.Last("j"))
	require.NoError(t, w.cluster.RemoveTask("v"))
	require.Equal(t, []string{"j fits"}, decided(t, w, p))
	require.Equal(t, []string{"j"}, waiting(p))
	require.Empty(t, decided(t, w, p), "and it holds that")
	require.NoError(t, w.cluster.Start("j", noon))
	require.Empty(t, waiting(p), "all of it runs")
	require.Empty(t, decided(t, w, p))
	require.NoError(t, w.cluster.RemoveTask("j0"))
	require.Empty(t, decided(t, w, p), "nothing waits any more")
}

// A gang of which a member runs that says of no job is like no other.
func TestPending_MemberWithoutJob(t *testing.T) {
	w := build(t, "queue q\nnode n1 4\ntask v q n1 2\ntask b-0 q n1 1\njob q 1,1")
	p := pendingIn(w)
	addAlike(p, &w.job)
	require.Equal(t, []string{"a refused", "b fits"}, decided(t, w, p))
}

// addAlike adds two gangs, a and b, that are like another one.
func addAlike(p *jobs.Pending, like *victims.Ask) {
	for _, key := range []string{"a", "b"} {
		gang := *like
		gang.Key, gang.Members = key, slices.Clone(gang.Members)
		for i := range gang.Members {
			gang.Members[i].Key = fmt.Sprint(key, "-", i)
		}
		p.Add(gang)
	}
}

// Gangs that are alike keep their members if all of them are in error.
func TestPending_AlikeInError(t *testing.T) {
	w := build(t, "queue q\nnode n1 4\njob q 1,1")
	p := pendingIn(w)
	addAlike(p, &w.job)
	for d, err := range p.Decide(time.Time{}.AddDate(1<<20, 0, 0)) {
		require.ErrorIs(t, err, invalid.Range, d.Plan.Ask.Key)
	}
	require.Equal(t, []string{"a fits", "b fits"}, decided(t, w, p))
	for _, key := range []string{"a-0", "a-1", "b-0", "b-1"} {
		_, ok := w.cluster.LookupGrant(key)
		require.True(t, ok, key)
	}
}

// Asks in error are yielded, whatever is wrong with them, and the others go on.
func TestPending_AsksInError(t *testing.T) {
	w := build(t, "queue q\nnode n1 4\njob q 1")
	good := victims.Ask{Key: "good", Queue: w.leaf("q"), Size: w.size("1")}
	p := pendingIn(w)
	for key, change := range map[string]func(*victims.Ask){
		"no queue":    func(a *victims.Ask) { a.Queue = -1 },
		"no such":     func(a *victims.Ask) { a.Queue = 99 },
		"inner":       func(a *victims.Ask) { a.Queue = queue.Root },
		"cost":        func(a *victims.Ask) { a.Cost = -1 },
		"preemptions": func(a *victims.Ask) { a.Preemptions = -1 },
		"budget":      func(a *victims.Ask) { a.Budgets = []string{""} },
		"twice":       func(a *victims.Ask) { a.Budgets = []string{"web", "web"} },
	} {
		ask := good
		change(&ask)
		for _, members := range [][]victims.Member{nil, {{Key: key + "-0", Cost: ask.Cost, Preemptions: ask.Preemptions}}} {
			ask.Key, ask.Members = key+string(rune('a'+len(members))), members
			p.Add(ask)
			version := w.cluster.Version()
			_, err := w.cluster.GrantPlace(&ask, 1, noon)
			require.Error(t, err, "what cannot be granted")
			require.Equal(t, version, w.cluster.Version())
		}
	}
	p.Add(good)
	wrong := 0
	for d, err := range p.Decide(noon) {
		if d.Plan.Ask.Key == "good" {
			require.NoError(t, err)
			require.NoError(t, w.cluster.Apply(d))
			continue
		}
		wrong++
		require.Error(t, err, d.Plan.Ask.Key)
	}
	require.Equal(t, 14, wrong)
	_, ok := w.cluster.LookupGrant("good")
	require.True(t, ok)
}

// With an interval LastAttempt is set by plans and by refusals after a try, and is not moved by
// those that forbid to try.
func TestPending_LastAttempt(t *testing.T) {
	w := build(t, "queue q g=4\nnode n1 4\ntask v q n1 4\njob q 1")
	for _, interval := range []time.Duration{0, time.Minute} {
		p := pendingIn(w)
		p.Planner.RetryInterval = interval
		p.Add(victims.Ask{Key: "x", Queue: w.leaf("q"), Size: w.size("1")})
		attempts := func(now time.Time) (at time.Time) {
			for _, err := range p.Decide(now) {
				require.NoError(t, err)
			}
			for a := range p.All() {
				at = a.LastAttempt
			}
			return at
		}
		if interval == 0 {
			require.Zero(t, attempts(noon))
			continue
		}
		require.Equal(t, noon, attempts(noon))
		p.Reconsider()
		require.Equal(t, noon, attempts(noon.Add(time.Second)))
		require.Equal(t, "too-soon", p.Last("x").Refusal.Reason)
		require.Equal(t, noon.Add(time.Minute), attempts(noon.Add(time.Minute)))
		require.Equal(t, "over-guarantee", p.Last("x").Refusal.Reason)
	}
}

// On a cluster that lives nobody is asked again before the task that could go has run for as long as its
// queue lets it, and then at once.
func TestPending_MinRuntime(t *testing.T) {
	w := build(t, "queue q g=4\nqueue low runs=10m\nnode n1 4\ntask v low n1 4 age=6m\njob q 4")
	for _, asGang := range []bool{false, true} {
		p := pendingIn(w)
		ask := victims.Ask{Key: "x", Queue: w.leaf("q"), Size: w.size("4")}
		if asGang {
			ask = w.job
		}
		p.Add(ask)
		decided := func(now time.Time) (n int) {
			for d, err := range p.Decide(now) {
				require.NoError(t, err)
				require.Equal(t, now.Equal(noon.Add(4*time.Minute)), d.Outcome == victims.Preempts, "%v", now)
				n++
			}
			return n
		}
		require.Equal(t, 1, decided(noon))
		require.Equal(t, noon.Add(4*time.Minute), p.Last(ask.Key).Refusal.RetryAt)
		require.Equal(t, 0, decided(noon.Add(4*time.Minute-1)))
		require.Equal(t, 1, decided(noon.Add(4*time.Minute)))
	}
}

// Who is on hold is passed over, asked in order and before being decided only, and has no
// decision of those that are like it. What an ask refers to is copied.
func TestPending_Hold(t *testing.T) {
	w := build(t, "queue q\nnode n1 2\njob q 1")
	p := pendingIn(w)
	size := w.size("1")
	for _, key := range []string{"a", "b", "c", "a"} {
		p.Add(victims.Ask{Key: key, Queue: w.leaf("q"), Size: size})
	}
	size[0] = 1 << 40
	var asked []string
	p.Hold = func(a *victims.Ask) bool {
		asked = append(asked, a.Key)
		return a.Key == "c"
	}
	require.Equal(t, []string{"b fits", "a fits"}, decided(t, w, p), "a was added anew, after the others")
	require.Equal(t, []string{"b", "c", "a"}, asked)
	require.Nil(t, p.Last("c"))
	require.Empty(t, decided(t, w, p))
	require.Equal(t, []string{"b", "c", "a", "c"}, asked)
	p.Hold = nil
	require.Equal(t, []string{"c refused"}, decided(t, w, p))
	require.NotNil(t, p.Last("c"))
	p.Remove("c")
	require.Nil(t, p.Last("c"))
	p.Remove("c")
	require.Equal(t, []string{"b", "a"}, waiting(p), "they hold places and do not run")
}

// A node that is reserved for a gang by its key is that gang's only, whoever is like it.
func TestPending_ReservedByName(t *testing.T) {
	w := build(t, "queue x\nnode n 4 for=b\njob x 2")
	p := pendingIn(w)
	for _, key := range []string{"a", "b"} {
		p.Add(victims.Ask{Key: key, Queue: w.leaf("x"), Members: []victims.Member{{Key: key + "0", Size: w.size("2")}}})
	}
	require.Equal(t, []string{"a refused", "b fits"}, decided(t, w, p))
}

// Quotas of the caller hold lone asks, too, which stay alone. One that requires its node they do
// not hold.
func TestPending_Admit(t *testing.T) {
	w := build(t, "queue q quota=:2\nnode n1 9\njob q 1")
	p := pendingIn(w)
	p.Planner.Admit, p.Planner.ByPriority = w.planner().Admit, true
	for i, key := range []string{"a", "b", "c"} {
		p.Add(victims.Ask{Key: key, Queue: w.leaf("q"), Size: w.size(fmt.Sprint(1 + i)), RequiredNode: []string{"", "", "n1"}[i]})
	}
	require.Equal(t, []string{"a fits", "b refused", "c fits"}, decided(t, w, p))
	require.Equal(t, "quota-max", p.Last("b").Refusal.Reason)
	require.Contains(t, p.Last("b").String(), "b (root.q, priority 0) is refused (quota-max): a quota is passed\n")
	require.NoError(t, w.cluster.Start("a", noon))
	a, _ := w.cluster.Lookup("a")
	require.Empty(t, w.cluster.Job(a))
	require.Zero(t, w.cluster.MinMembers("a"))
	require.Empty(t, decided(t, w, p)[1:], "b is asked again, for the quota may look at anything")
	require.Equal(t, []string{"b", "c"}, waiting(p))
}

func TestPending_NeedsAPlanner(t *testing.T) {
	require.PanicsWithValue(t, "jobs: a Pending without a Planner", func() { new(jobs.Pending).Decide(time.Time{}) })
}
