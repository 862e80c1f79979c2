// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// Large tasks that the laws keep are no reason to search a node: with one on each
// node a decision takes hardly more steps than without them. DESIGN.md, The seven
// laws: 3, 6 and 7.
func TestLawful(t *testing.T) {
	decide := func(t *testing.T, keep func(f *fixture, node string)) victims.Plan {
		f := newFixture(t, queue.Config{Children: []queue.Config{
			{Name: "a"}, {Name: "kept", Properties: map[string]string{"preemption.policy": "disabled"}},
			{Name: "b", Guaranteed: slots(10_000)},
		}})
		for n := range 200 {
			node := fmt.Sprintf("n%03d", n)
			f.node(node, 16)
			keep(f, node)
			for i := range 8 {
				f.task(fmt.Sprint(node, "-", i), "a", node, 1, ago(time.Duration(n*8+i+1)*time.Minute))
			}
		}
		ask := f.ask("x", "b", 3)
		ask.Application = "app"
		return f.decide(&jobs.Planner{}, ask).Plan
	}
	free := decide(t, func(f *fixture, node string) { f.task(node+"-own", "kept", node, 8) })
	require.Equal(t, "n000", free.Places[0].NodeName)
	require.Len(t, free.Victims, 3)
	for name, keep := range map[string]func(f *fixture, node string){
		"own leaf":    func(f *fixture, node string) { f.task(node+"-own", "b", node, 8) },
		"disabled":    func(f *fixture, node string) { f.task(node+"-own", "kept", node, 8) },
		"application": func(f *fixture, node string) { f.task(node+"-own", "a", node, 8, application("app")) },
		"priority":    func(f *fixture, node string) { f.task(node+"-own", "a", node, 8, priority(1)) },
	} {
		t.Run(name, func(t *testing.T) {
			plan := decide(t, keep)
			require.Equal(t, free.Cost, plan.Cost)
			require.Less(t, plan.Steps, int64(2000), "a search on every node takes more")
		})
	}
}

// What laws let go for one ask in one cluster tells nothing of another application, or of another cluster.
func TestLawful_IsOfApplicationAndCluster(t *testing.T) {
	build := func(app string) *fixture {
		f := newFixture(t, queue.Config{Children: []queue.Config{{Name: "a"}, {Name: "b", Guaranteed: slots(100)}}})
		f.node("n0", 4)
		f.node("n1", 8)
		for i := range 4 {
			f.task(fmt.Sprint("new", i), "a", "n0", 1, ago(time.Minute))
			f.task(fmt.Sprint("old", i), "a", "n1", 1, ago(time.Hour))
		}
		f.node("n2", 2)
		f.task("x", "a", "n2", 1, application("x"))
		f.task("y", "a", "n2", 1, application("y"))
		f.task("large", "a", "n1", 4, application(app))
		return f
	}
	x, y := build("x"), build("y")
	for _, further := range []struct {
		f   *fixture
		app string
	}{{x, "y"}, {y, "x"}} {
		var p jobs.Planner
		victimsOf := func(f *fixture, app string) []victims.Victim {
			ask := f.ask("ask", "b", 4)
			ask.Application = app
			return f.decide(&p, ask).Plan.Victims
		}
		require.Len(t, victimsOf(x, "x"), 4, "the large one is of the ask's application")
		require.Len(t, victimsOf(further.f, further.app), 1)
	}
}

func application(app string) func(*victims.Task) {
	return func(t *victims.Task) { t.Application = app }
}
