// SPDX-License-Identifier: Apache-2.0

package snapshot_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/snapshot"
)

// withMovers lets tasks of a scene move: each is of one of two classes, which a node takes
// or not, and some are in each other's way.
func withMovers(t *rapid.T, s *snapshot.Scene) {
	p, c := s.Planner, s.Planner.Cluster
	classes, shut, port := make(map[victims.TaskID]int), make(map[[2]int]bool), make(map[string]bool)
	for id := range c.Tasks() {
		classes[id] = rapid.IntRange(0, 2).Draw(t, "class of a mover")
		port[c.Key(id)] = rapid.IntRange(0, 3).Draw(t, "port") == 0
	}
	for n := range c.Nodes() {
		for class := 1; class <= 2; class++ {
			shut[[2]int{class, int(n)}] = rapid.IntRange(0, 5).Draw(t, "shut") == 0
		}
	}
	for id, class := range classes {
		world.LetMove(c, -class, func(key string) bool { return class > 0 && key == c.Key(id) })
	}
	p.Moves = rapid.SampledFrom([]victims.Moves{victims.MovesEntitled, victims.MovesAny}).Draw(t, "moves")
	p.MaxMoved = rapid.Int64Range(0, 2).Draw(t, "most")
	filter, blockers := p.Filter, p.Blockers
	p.Filter = func(q *victims.Question) bool {
		if q.Member.Class < 0 {
			return !shut[[2]int{-q.Member.Class, int(q.Node)}]
		}
		return filter == nil || filter(q)
	}
	p.Blockers = func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
		if q.Ask.Class >= 0 {
			if blockers == nil {
				return dst
			}
			return blockers(dst, q)
		}
		for id := range c.TasksOn(q.Node) {
			if port[strings.TrimRight(q.Ask.Key, "+")] && port[c.Key(id)] {
				dst = append(dst, id)
			}
		}
		return dst
	}
}

// TestTake_Moves_SameAnswer decides random clusters in which tasks may move live and as
// documents.
func TestTake_Moves_SameAnswer(t *testing.T) {
	shape := world.Small
	shape.Tasks = 8
	said, moved, beside := 0, 0, 0
	enough := func() bool { return moved > 0 && beside > 0 }
	law.CheckUntil(t, enough, func(t *rapid.T) {
		features := rapid.SampledFrom([]world.Features{0, world.WithBudgets | world.WithGrants, world.Everything}).Draw(t, "features")
		k := world.Cases(shape.With(features)).Draw(t, "case")
		for i := 1; i < len(k.World.Nodes); i++ { // room to move to
			for _, name := range slices.Sorted(maps.Keys(k.World.Nodes[i].Capacity)) {
				k.World.Nodes[i].Capacity[name] += rapid.Int64Range(0, 2).Draw(t, "more")
			}
		}
		s := sceneOf(t, k)
		withMovers(t, s)
		shot, run := run(t, s)
		if len(shot.Unsaid) > 0 {
			return
		}
		said++
		var d victims.Decision
		live := jobs.Planner{Cluster: s.Planner.Cluster, Options: s.Planner.Options}
		require.NoError(t, live.Decide(&d, &s.Asks[0], s.Now))
		require.NoError(t, d.Count())
		moved += len(d.Plan.Moves)
		if len(d.Plan.Moves) > 0 && len(d.Plan.Victims) > 0 {
			beside++
		}
		require.Equal(t, d.String(), answer(run, 0), string(shot.Text))
	})
	t.Logf("%d said, %d moves, %d plans with moves and victims", said, moved, beside)
}

// TestTake_Ends: when tasks end goes into the document, and who is over time ends now.
func TestTake_Ends(t *testing.T) {
	s := fixture(t)
	s.Ends = func(id victims.TaskID) (time.Time, bool) {
		return now.Add(time.Hour * time.Duration(1-2*int(id))), id < 2
	}
	shot, _ := run(t, s)
	require.Equal(t, 2, strings.Count(string(shot.Text), `"ends"`))
	require.Contains(t, string(shot.Text), `"ends": "0s"`)
}

// TestTake_MoveUnsaid has what no document can say of movers.
func TestTake_MoveUnsaid(t *testing.T) {
	s := fixture(t)
	world.LetMove(s.Planner.Cluster, 7, nil)
	s.Planner.Moves, s.Planner.MaxMoved = victims.MovesEntitled, math.MaxInt32+1
	t2, _ := s.Planner.Cluster.Lookup("t2")
	s.Planner.Blockers = func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
		if q.Ask.Key == "t1+" {
			dst = append(dst, t2)
		}
		return dst
	}
	shot, _ := run(t, s)
	require.Equal(t, []string{
		"move: at most 2147483647 times what is asked may move",
		`move of "t2": it cannot move to where "t1" is`,
	}, shot.Unsaid)
}
