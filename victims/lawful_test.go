// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
		return f.decide(&victims.Planner{}, ask).Plan
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

func application(app string) func(*victims.Task) {
	return func(t *victims.Task) { t.Application = app }
}
