// SPDX-License-Identifier: Apache-2.0

package moves_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// potential returns Φ of DESIGN.md, Storm freedom.
func potential(c *victims.Cluster) (phi int64) {
	tree := c.Tree()
	for q := range queue.ID(tree.Len()) {
		g := tree.Guaranteed(q)
		for i := range g.Defined.All() {
			phi += min(tree.Usage(q)[i], g.Value[i])
		}
	}
	return phi
}

// Every victim asks again at once. Plans that stop others make Φ larger, plans that only move
// place one more and leave Φ no smaller. So histories end.
func propertyCalm(t *rapid.T) {
	w := world.Workloads(world.Small).Draw(t, "workload")
	c, err := world.Build(&w.World)
	require.NoError(t, err)
	var waiting []victims.Ask
	for i := range w.Asks {
		a, err := world.AskOf(c, &w.Asks[i])
		require.NoError(t, err)
		if a.RequiredNode == "" {
			waiting = append(waiting, a)
		}
	}
	p := planner(c)
	p.Moves = rapid.SampledFrom([]victims.Moves{victims.MovesEntitled, victims.MovesAny}).Draw(t, "moves")
	world.LetMove(c, 0, nil)
	for key, s := range states(c) {
		if s != victims.Running { // what is leaving is gone soon
			require.NoError(t, c.RemoveTask(key))
		}
	}
	var d victims.Decision
	for range 40 {
		if len(waiting) == 0 {
			return
		}
		i := rapid.IntRange(0, len(waiting)-1).Draw(t, "ask")
		ask := waiting[i]
		require.NoError(t, p.Decide(&d, &ask, world.Epoch))
		if d.Outcome == victims.Refused {
			continue
		}
		phi, placed := potential(c), c.TaskLen()
		require.NoError(t, c.Apply(&d))
		waiting = append(waiting[:i:i], waiting[i+1:]...)
		for _, v := range d.Plan.Victims {
			task := c.Task(v.Task)
			waiting = append(waiting, victims.Ask{
				Key: task.Key, Application: task.Application, Queue: task.Queue, Size: task.Size, Priority: task.Priority,
			})
		}
		for _, v := range d.Plan.Victims {
			require.NoError(t, c.RemoveTask(v.Key))
		}
		for _, m := range d.Plan.Moves {
			require.NoError(t, c.RemoveTask(m.Key))
			require.NoError(t, c.Start(m.Grant, world.Epoch))
		}
		for _, g := range d.Plan.Places {
			require.NoError(t, c.Start(g.Key, world.Epoch))
		}
		switch {
		case len(d.Plan.Victims) > 0:
			require.Greater(t, potential(c), phi)
			histories["stops"]++
		default:
			require.GreaterOrEqual(t, potential(c), phi)
			require.Equal(t, placed+1, c.TaskLen())
			if len(d.Plan.Moves) > 0 {
				histories["moves"]++
			}
		}
	}
}

var histories = map[string]int{}

func states(c *victims.Cluster) map[string]victims.State {
	all := map[string]victims.State{}
	for id := range c.Tasks() {
		if c.State(id) != victims.Granted {
			all[c.Key(id)] = c.State(id)
		}
	}
	return all
}

func TestStormFreedom(t *testing.T) {
	law.CheckUntil(t, func() bool { return histories["stops"] > 0 && histories["moves"] > 0 }, propertyCalm)
	t.Log(histories)
}

func FuzzStormFreedom(f *testing.F) { f.Fuzz(rapid.MakeFuzz(propertyCalm)) }
