// SPDX-License-Identifier: Apache-2.0

package moves_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/jobs/moves"
	"github.com/go-preempt/preempt/victims"
)

// However a round ends, a mover that has stopped or is stopping keeps its place, and one that
// runs on needs none.
func TestRounds_Moves(t *testing.T) {
	for _, test := range []struct {
		name  string
		mover func(*victims.Cluster, *jobs.Rounds) error // what it does
		end   func(*jobs.Rounds) jobs.End
		keeps bool
	}{
		{"gone, expired", gone, expire, true},
		{"gone, failed", gone, fail, true},
		{"gone, abandoned", gone, abandon, true},
		{"gone, completed, abandoned", allGone, complete, true},
		{"removed, expired", func(c *victims.Cluster, _ *jobs.Rounds) error { return c.RemoveTask("mover") }, expire, true},
		{"leaving by itself, expired", func(c *victims.Cluster, _ *jobs.Rounds) error { return c.SetState("mover", victims.Releasing) }, expire, true},
		{"told, expired", func(*victims.Cluster, *jobs.Rounds) error { return nil }, expire, false},
		{"told, abandoned", func(*victims.Cluster, *jobs.Rounds) error { return nil }, abandon, false},
		{"unmarked, expired", func(c *victims.Cluster, _ *jobs.Rounds) error { return c.SetState("mover", victims.Running) }, expire, false},
	} {
		for _, saved := range []bool{false, true} {
			t.Run(test.name, func(t *testing.T) {
				c := townOf(t, 0, 8, 4, nodesOf(8, 4),
					world.Task{Key: "mover", Queue: "root.b", Node: "n1", Size: gpu(4)}, world.Task{Key: "slow", Queue: "root.b", Node: "n1", Size: gpu(4)})
				p := moves.Planner{Asks: &victims.Planner{Cluster: c}}
				p.Movable = func(id victims.TaskID) (int, bool) { return 0, c.Key(id) == "mover" }
				d := decideAsk(t, &p, world.Ask{Key: "ask", Queue: "root.a", Size: gpu(8)})
				require.Len(t, d.Moves, 1)
				require.Len(t, d.Decision.Plan.Victims, 1)
				r := &jobs.Rounds{Cluster: c}
				require.NoError(t, r.Begin(d.change(), world.Epoch, world.Epoch.Add(time.Minute)))
				require.NoError(t, test.mover(c, r))
				if saved {
					var text bytes.Buffer
					require.NoError(t, r.Save(&text))
					r = &jobs.Rounds{Cluster: c}
					require.NoError(t, r.Load(&text))
				}
				round, _ := r.Lookup("ask")
				require.Equal(t, []string{"ask"}, round.Held)
				end := test.end(r)
				_, held := c.LookupGrant("mover+")
				require.Equal(t, test.keeps, held, "%+v", end)
				if test.keeps {
					require.Equal(t, []string{"mover+"}, end.Moved)
				} else {
					require.Equal(t, []string{"ask", "mover+"}, end.Dropped)
				}
				_, held = c.LookupGrant("ask")
				require.False(t, held)
			})
		}
	}
}

func gone(_ *victims.Cluster, r *jobs.Rounds) error { return r.Acknowledge("mover") }

func allGone(c *victims.Cluster, r *jobs.Rounds) error {
	if err := r.Acknowledge("slow"); err != nil {
		return err
	}
	return gone(c, r)
}

func expire(r *jobs.Rounds) jobs.End { return r.Expire(world.Epoch.Add(time.Hour))[0] }

func fail(r *jobs.Rounds) jobs.End {
	end, _ := r.Fail("slow")
	return end
}

func abandon(r *jobs.Rounds) jobs.End {
	end, _ := r.Abandon("ask")
	return end
}

// complete ends a round, and the job departs.
func complete(r *jobs.Rounds) jobs.End {
	end, err := r.Complete("ask")
	if err != nil {
		return end
	}
	_, _ = r.Abandon("ask")
	return end
}
