// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/golden"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// crowded returns the scheduler with tasks of batch on all nodes, and an ask of
// prod, which is guaranteed what one of them has.
func crowded(t *testing.T) *scheduler {
	t.Helper()
	s, err := example(io.Discard)
	require.NoError(t, err)
	size, err := s.cluster.Schema().Vector(map[string]string{"cpu": "8"})
	require.NoError(t, err)
	for _, key := range []string{"b1", "b2"} {
		s.submit(victims.Ask{Key: key, Application: key, Queue: batch, Size: size})
	}
	require.NoError(t, s.tick(time.Minute))
	require.Empty(t, s.asks, "both run")
	s.submit(victims.Ask{Key: "web", Application: "web", Queue: prod, Size: size})
	return s
}

// A plan that cannot be applied stops nobody, and its ask waits on.
func TestTick_NobodyStopsWithoutApply(t *testing.T) {
	s := crowded(t)
	original := s.cluster
	s.planner.Cluster = original.Clone() // it plans on what the cluster was
	require.NoError(t, original.RemoveTask("b2"))
	require.NoError(t, original.RemoveTask("b1"))
	require.ErrorIs(t, s.tick(time.Minute), victims.ErrStale)
	require.Empty(t, s.leaving)
	require.Len(t, s.asks, 1)

	s.planner.Cluster = original
	require.NoError(t, s.tick(time.Minute))
	require.Empty(t, s.asks, "it fits where b1 was")
}

// An ask that is an error loses none of the others, and none is placed twice.
func TestTick_AsksSurviveErrors(t *testing.T) {
	s := crowded(t)
	require.NoError(t, s.cluster.RemoveTask("b1"))
	size, err := s.cluster.Schema().Vector(map[string]string{"cpu": "1"})
	require.NoError(t, err)
	s.submit(victims.Ask{Key: "bad", Application: "bad", Queue: queue.Root, Size: size, Priority: -1})
	s.submit(victims.Ask{Key: "last", Application: "last", Queue: batch, Size: size, Priority: -2})
	require.Error(t, s.tick(time.Minute))
	var keys []string
	for _, p := range s.asks {
		keys = append(keys, p.work.Key)
	}
	require.Equal(t, []string{"bad", "last"}, keys, "web runs, the others wait")
}

// An ask that was refused is decided again once something has happened that helps.
func TestTick_AsksAgainIfWorthIt(t *testing.T) {
	s := crowded(t)
	s.asks[0].work.MayNot = true
	asked := 0
	s.planner.Observe = func(*victims.Decision) { asked++ }
	for range 10 {
		require.NoError(t, s.tick(time.Minute))
	}
	require.Equal(t, 1, asked, "nothing has happened")
	s.stop(departure{key: "b2"})
	require.NoError(t, s.cluster.SetState("b2", victims.Releasing))
	require.NoError(t, s.tick(time.Minute))
	require.Equal(t, 2, asked)
	require.Empty(t, s.asks, "it fits where b2 was")
}

// The history, to be read: testdata has it.
func TestRun(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(&out))
	golden.Compare(t, "testdata/history.golden", out.String())
}

// Every promise of the quarter of an hour, told from the end of it.
func TestRun_Ends(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(&out))
	for _, line := range []string{
		"12:03:00  web (root.prod, cpu=4) fits on n1\n",
		"12:05:00  llm starts: llm-0, llm-1, llm-2\n",
		"12:09:30  etl-7 has gone\n",
		"12:14:00  checkout (root.prod, cpu=2) fits on n2\n",
		"  batch used cpu=4 max cpu=4\n",
		"  prod  used cpu=6 guaranteed cpu=8\n",
		"  train used cpu=6",
	} {
		require.Contains(t, out.String(), line)
	}
	for _, key := range []string{"etl-0", "etl-1"} { // a hard budget with nothing left
		require.NotContains(t, out.String(), key+" has gone")
	}
}
