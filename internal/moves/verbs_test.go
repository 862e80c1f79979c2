// SPDX-License-Identifier: Apache-2.0

package moves_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/victims"
)

// However the plan of an ask ends, a mover that has stopped or is stopping keeps its place, and
// one that is told to run on needs none. It starts at its place once it has gone.
func TestVerbs_Moves(t *testing.T) {
	cancel := func(c *victims.Cluster) error { _, err := c.Cancel("ask"); return err }
	for _, test := range []struct {
		name  string
		mover func(*victims.Cluster) error // what it does
		end   func(*victims.Cluster) error
		keeps bool
	}{
		{"gone, cancelled", func(c *victims.Cluster) error { return c.RemoveTask("mover") }, cancel, true},
		{"leaving by itself, cancelled", func(c *victims.Cluster) error { return c.SetState("mover", victims.Releasing) }, cancel, true},
		{"told, cancelled", func(*victims.Cluster) error { return nil }, cancel, false},
		{"unmarked, cancelled", func(c *victims.Cluster) error { return c.SetState("mover", victims.Running) }, cancel, false},
		{"told, dropped", func(*victims.Cluster) error { return nil }, func(c *victims.Cluster) error { return c.Drop("ask") }, true},
	} {
		for _, saved := range []bool{false, true} {
			t.Run(test.name, func(t *testing.T) {
				c := townOf(t, 0, 8, 4, nodesOf(8, 4),
					world.Task{Key: "mover", Queue: "root.b", Node: "n1", Size: gpu(4)}, world.Task{Key: "slow", Queue: "root.b", Node: "n1", Size: gpu(4)})
				p := planner(c)
				world.LetMove(c, 0, func(key string) bool { return key == "mover" })
				d := decideAsk(t, &p, world.Ask{Key: "ask", Queue: "root.a", Size: gpu(8)})
				require.Len(t, d.Plan.Moves, 1)
				require.Len(t, d.Plan.Victims, 1)
				require.NoError(t, c.Apply(&d))
				require.Equal(t, [2]string{"n2", ""}, [2]string{movesTo(c, "mover"), movesTo(c, "slow")})
				require.NoError(t, test.mover(c))
				if saved {
					var text bytes.Buffer
					require.NoError(t, c.Save(&text))
					var err error
					c, err = victims.Load(&text)
					require.NoError(t, err)
				}
				g, _ := c.Grant("ask")
				require.Equal(t, 1, len(g.Places))
				if id, there := c.Lookup("mover"); there && c.State(id) == victims.Running {
					place, _ := c.Grant("mover+")
					require.Empty(t, place.Leaving)
					require.Equal(t, []string{"mover"}, place.Returned)
				}
				require.NoError(t, test.end(c))
				_, held := c.Grant("ask")
				require.False(t, held)
				place, held := c.Grant("mover+")
				require.Equal(t, test.keeps, held)
				id, there := c.Lookup("mover")
				if !held {
					require.Equal(t, victims.Running, c.State(id))
					require.Empty(t, movesTo(c, "mover"))
					return
				}
				if there {
					require.Equal(t, "n2", movesTo(c, "mover"))
					require.Equal(t, []string{"mover"}, place.Leaving)
					require.EqualError(t, c.Start("mover+", world.Epoch), `victims: start of "mover+": "mover" has not gone: no room`)
					require.NoError(t, c.RemoveTask("mover"))
				}
				started, err := c.StartReady(world.Epoch.Add(time.Minute), nil)
				require.NoError(t, err)
				require.Equal(t, []string{"mover+"}, started)
			})
		}
	}
}

// movesTo returns where a task starts again that was told to stop.
func movesTo(c *victims.Cluster, key string) string {
	id, _ := c.Lookup(key)
	return c.Task(id).MovesTo
}
