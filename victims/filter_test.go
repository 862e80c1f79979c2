// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// A node that has room once what is leaving has gone is asked about when the ask
// might wait for it, and is no question any more when victims are looked for.
func TestFilter_AskedOnce(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 2)
	f.node("n2", 2)
	f.task("leaves", "a", "n1", 2, func(t *victims.Task) { t.State = victims.Releasing })
	f.task("v", "a", "n2", 2)
	for _, lets := range []string{"n1", "n2", ""} {
		asked := make(map[string]int)
		p := &jobs.Planner{Options: victims.Options{WithinQueue: queue.Met, Filter: func(q *victims.Question) bool {
			asked[f.c.NodeName(q.Node)]++
			return f.c.NodeName(q.Node) == lets
		}}}
		p.Cluster = f.c
		var d victims.Decision
		require.NoError(t, p.Decide(&d, f.ask("x", "b", 2), now)) // to count asks again
		require.Equal(t, map[string]victims.Outcome{"n1": victims.Waits, "n2": victims.Preempts, "": victims.Refused}[lets], d.Outcome)
		for node, times := range asked {
			require.Equal(t, 1, times, "%s, if %q is let", node, lets)
		}
		require.NotZero(t, asked["n1"])
	}
}

// A predicate is asked about nodes that the filter lets the ask run on, and about no
// others: the cheapest node is out, whatever the predicate would say of it.
func TestFilter_BeforePredicate(t *testing.T) {
	f := giverAndTaker(t)
	for _, node := range []string{"n1", "n2", "n3"} {
		f.node(node, 2)
		f.task("v-"+node, "a", node, 2)
	}
	var asked []string
	p := &jobs.Planner{
		Options: victims.Options{
			Filter: func(q *victims.Question) bool { return f.c.NodeName(q.Node) != "n1" },
			Predicate: func(q *victims.Question) bool {
				asked = append(asked, f.c.NodeName(q.Node))
				return f.c.NodeName(q.Node) != "n2"
			},
		},
	}
	d := f.decide(p, f.ask("x", "b", 2))
	require.Equal(t, victims.Preempts, d.Outcome)
	require.Equal(t, "n3", d.Plan.Places[0].NodeName)
	require.NotContains(t, asked, "n1")
}

// Whatever there is to decide, a filter is asked at most once about a node, and
// only about the ask.
func TestFilter_AskedOnceInRandomWorlds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := world.Cases(world.Small.With(world.Everything)).Draw(t, "case")
		cluster := build(t, &c.World)
		planner := world.CasePlanner(cluster, c)
		ask := askOf(t, cluster, &c.Ask)
		lets := planner.Filter
		if lets == nil {
			lets = func(*victims.Question) bool { return true }
		}
		asked := make(map[victims.NodeID]int)
		planner.Filter = func(q *victims.Question) bool {
			if asked[q.Node]++; asked[q.Node] > 1 || q.Member.Class != ask.Class {
				t.Fatalf("asked %d times about %s, for %s\n%v", asked[q.Node], cluster.NodeName(q.Node), ask.Key, c)
			}
			return lets(q)
		}
		var d victims.Decision
		for _, exhaustive := range []bool{false, true} {
			planner.Exhaust(exhaustive)
			clear(asked)
			if err := planner.Decide(&d, &ask, c.Options.Now); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestFilter_Until: whatever a filter refuses for some time, a refusal stays one until RetryAt,
// and without one for ever, all else equal.
func TestFilter_Until(t *testing.T) { rapid.Check(t, filterEnds) }

func filterEnds(t *rapid.T) {
	c := world.Cases(world.Small.With(world.Everything)).Draw(t, "case")
	cluster := build(t, &c.World)
	planner := world.CasePlanner(cluster, c)
	ask := askOf(t, cluster, &c.Ask)
	lets, more := world.Windows(t, cluster, c.Options.Now), planner.Filter
	planner.Filter = func(q *victims.Question) bool { return lets(q) && (more == nil || more(q)) }
	world.StaysRefused(t, c.Options.Now, func(at time.Time) *victims.Decision {
		var d victims.Decision
		if err := planner.Decide(&d, &ask, at); err != nil {
			t.Fatal(err)
		}
		return &d
	})
}
