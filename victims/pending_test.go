// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A list of what waits gives the answers of a loop that decides each ask each time, in the same order,
// whatever happens in between.
func propertyPending(t *rapid.T) {
	shape := world.Small
	if rapid.Bool().Draw(t, "large") {
		shape = world.Large
	}
	if rapid.Bool().Draw(t, "features") {
		shape = shape.With(world.WithGrants | world.WithBudgets | world.WithNearby)
	}
	w := world.Workloads(shape).Draw(t, "workload")
	c := build(t, &w.World)
	p := world.PlannerOf(c, &w.Options)
	asks := make([]victims.Ask, len(w.Asks))
	for i := range w.Asks {
		asks[i] = askOf(t, c, &w.Asks[i])
		if i > 0 && rapid.Bool().Draw(t, "alike") { // as another one, but for its key
			key := asks[i].Key
			asks[i] = asks[rapid.IntRange(0, i-1).Draw(t, "as")]
			asks[i].Key = key
		}
	}
	waiting := pendingOf(p)
	for i := range asks {
		waiting.Add(asks[i])
	}
	k := &world.Case{World: w.World, Options: w.Options}
	m := &meanwhile{t: t, c: c, k: k, help: &victims.Help{}, now: w.Options.Now, any: true}
	for range 5 {
		if rapid.IntRange(0, 3).Draw(t, "other types count") == 3 {
			p.Scarce = new(resources.Mask(rapid.Uint64Range(0, 1<<c.Schema().Len()-1).Draw(t, "scarce")))
			waiting.Planner.Scarce = p.Scarce
		}
		if rapid.Bool().Draw(t, "start") {
			_, err := c.StartReady(m.now, nil)
			require.NoError(t, err)
		}
		asks = asks[:0]
		for ask := range waiting.All() {
			_, holds := c.LookupGrant(ask.Key)
			if _, leaves := c.Lookup(ask.Key); !holds && !leaves {
				asks = append(asks, *ask)
			}
		}
		want := decideEach(t, p, asks, m.now)
		var got []string
		for d, err := range waiting.Decide(m.now) {
			require.NoError(t, err)
			if d.Outcome != victims.Refused {
				got = append(got, said(t, c, d))
				carryOut(t, c, d.Plan.Ask.Key, d)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%q, and a loop over all of them says %q; after %q\n%v", got, want, m.done, &w.World)
		}
		for range rapid.IntRange(0, 3).Draw(t, "happenings") {
			m.next()
		}
	}
}

// pendingOf returns an empty list for a planner.
func pendingOf(p *jobs.Planner) *jobs.Pending {
	return &jobs.Pending{Planner: &jobs.Planner{Cluster: p.Cluster, Options: p.Options}}
}

// decideEach decides all asks in a copy of the cluster, and starts what fits.
func decideEach(t *rapid.T, p *jobs.Planner, asks []victims.Ask, now time.Time) (all []string) {
	q := jobs.Planner{Cluster: p.Cluster.Clone(), Options: p.Options}
	for i := range asks {
		var d victims.Decision
		require.NoError(t, q.Decide(&d, &asks[i], now))
		if d.Outcome != victims.Refused {
			all = append(all, said(t, q.Cluster, &d))
			carryOut(t, q.Cluster, asks[i].Key, &d)
		}
	}
	return all
}

func said(t *rapid.T, c *victims.Cluster, d *victims.Decision) string {
	return d.Summary() + d.Plan.Places[0].NodeName
}

func carryOut(t *rapid.T, c *victims.Cluster, key string, d *victims.Decision) {
	require.NoError(t, c.Apply(d))
	if d.Outcome == victims.Fits {
		require.NoError(t, startAnyway(c, key, d.Plan.At))
	}
}

func TestPending_AsALoop(t *testing.T) { law.Check3000(t, propertyPending) }

func FuzzPending(f *testing.F) { f.Fuzz(rapid.MakeFuzz(propertyPending)) }

// What is alike is decided once, until something happens that is enough for it.
func TestPending(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 4)
	f.task("v", "a", "n1", 4, func(t *victims.Task) { t.Priority = 9 })
	p := &jobs.Planner{Cluster: f.c}
	decided := 0
	p.Observe = func(*victims.Decision) { decided++ }
	q := pendingOf(p)
	q.Order = func(a, b *victims.Ask) int { return int(b.Priority - a.Priority) }
	for i := range 10 {
		q.Add(*f.ask(fmt.Sprint("x", i), "b", 2))
	}
	large := f.ask("large", "b", 3)
	large.Priority = 1
	q.Add(*large)
	pass := func() (keys []string) {
		for d, err := range q.Decide(now) {
			require.NoError(t, err)
			keys = append(keys, fmt.Sprint(d.Plan.Ask.Key, " ", d.Outcome))
			if d.Outcome != victims.Refused {
				require.NoError(t, f.c.Apply(d))
				require.NoError(t, f.c.Start(d.Plan.Ask.Key, now))
			}
		}
		return keys
	}
	require.Equal(t, []string{"large refused", "x0 refused"}, pass())
	require.Equal(t, "no-victims", q.Last("x9").Refusal.Reason)
	require.Nil(t, q.Last("nobody"))
	require.Empty(t, pass())
	require.NoError(t, f.c.Resize("v", slots(3).Value))
	require.Empty(t, pass(), "1 is free, and they want 2 and 3")
	require.NoError(t, f.c.Resize("v", slots(2).Value))
	require.Equal(t, []string{"x0 fits", "x1 refused"}, pass())
	require.Equal(t, 4, decided)
	q.Reconsider()
	require.Equal(t, []string{"large refused", "x1 refused"}, pass())
	q.Add(victims.Ask{Key: "bad", Priority: 2})
	var wrong []string
	for d, err := range q.Decide(now) {
		require.ErrorIs(t, err, invalid.Queue)
		wrong = append(wrong, d.Plan.Ask.Key)
	}
	require.Equal(t, []string{"bad"}, wrong, "and the loop goes on, with nothing to decide")
}
