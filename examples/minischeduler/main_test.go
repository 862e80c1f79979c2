// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/golden"
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
	require.Empty(t, waitingAsks(s), "both run")
	require.NoError(t, s.tick(time.Minute)) // and nobody waits for them any more
	s.submit(victims.Ask{Key: "web", Application: "web", Queue: prod, Size: size})
	return s
}

func waitingAsks(s *scheduler) (keys []string) {
	for ask := range s.waiting.All() {
		keys = append(keys, ask.Key)
	}
	return keys
}

// A plan that cannot be applied stops nobody, and its ask waits on.
func TestTick_NobodyStopsWithoutApply(t *testing.T) {
	s := crowded(t)
	original := s.cluster
	s.waiting.Planner.Cluster = original.Clone() // it plans on what the cluster was
	require.NoError(t, original.RemoveTask("b2"))
	require.NoError(t, original.RemoveTask("b1"))
	require.ErrorIs(t, s.tick(time.Minute), victims.ErrStale)
	require.Empty(t, s.leaving)
	require.Len(t, waitingAsks(s), 1)

	s.waiting.Planner.Cluster = original
	require.NoError(t, s.tick(time.Minute))
	require.Empty(t, waitingAsks(s), "it fits where b1 was")
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
	require.Equal(t, []string{"bad", "last"}, waitingAsks(s), "web runs, the others wait")
}

// An ask that was refused is decided again once something has happened that helps.
func TestTick_AsksAgainIfWorthIt(t *testing.T) {
	s := crowded(t)
	for ask := range s.waiting.All() {
		web := *ask
		web.MayNotPreempt = true
		s.waiting.Add(web)
		break
	}
	asked := 0
	s.waiting.Planner.Observe = func(*victims.Decision) { asked++ }
	for range 10 {
		require.NoError(t, s.tick(time.Minute))
	}
	require.Equal(t, 1, asked, "nothing has happened")
	s.stop("b2")
	require.NoError(t, s.cluster.SetState("b2", victims.Releasing))
	require.NoError(t, s.tick(time.Minute))
	require.Equal(t, 2, asked)
	require.Empty(t, waitingAsks(s), "it fits where b2 was")
}

// The history, to be read: testdata has it.
func TestRun(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(&out, "", end))
	golden.Compare(t, "testdata/history.golden", out.String())
}

// Every promise of the quarter of an hour, told from the end of it.
func TestRun_Ends(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(&out, "", end))
	for _, line := range []string{
		"12:03:00  started: web\n",
		"12:05:00  started: llm-0, llm-1, llm-2\n",
		"12:09:30  etl-7 has gone\n",
		"12:14:00  started: checkout\n",
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

// A run that is cut after any tick, and goes on from the file in another process, as
// it were, comes to the same end by the same way.
func TestRun_Cut(t *testing.T) {
	var whole strings.Builder
	require.NoError(t, run(&whole, "", end))
	for most := step; most < end; most += step {
		file := filepath.Join(t.TempDir(), "state")
		var parts strings.Builder
		require.NoError(t, run(&parts, file, most))
		require.NotContains(t, parts.String(), "root used")
		require.NoError(t, run(&parts, file, end))
		require.Equal(t, whole.String(), parts.String(), "cut after %v", most)
		left, err := os.ReadDir(filepath.Dir(file))
		require.NoError(t, err)
		require.Len(t, left, 1, "the file alone")
	}
	// Cut after every tick, too.
	file := filepath.Join(t.TempDir(), "state")
	var parts strings.Builder
	for most := step; most <= end; most += step {
		require.NoError(t, run(&parts, file, step))
	}
	require.Equal(t, whole.String(), parts.String())
	require.Contains(t, whole.String(), "root")
}

// A file that is cut off, or not one of these, is an error that names it, and stays as it is.
func TestRun_BadState(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state")
	require.NoError(t, run(io.Discard, file, 5*time.Minute))
	good, err := os.ReadFile(file)
	require.NoError(t, err)
	for text, want := range map[string]string{
		"":                          "load " + file + ": the scheduler's line: EOF",
		"{}\n":                      "load " + file + ": the scheduler's line: version 0, want 2",
		string(good[:len(good)/2]):  "bad saved text",
		string(good) + "more":       "something follows what was saved",
		fmt.Sprintln("a scheduler"): "the scheduler's line: invalid character",
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		require.ErrorContains(t, run(io.Discard, file, end), want)
		kept, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, text, string(kept))
	}
	// It cannot be saved where there is no folder. The history has been printed by then.
	var out strings.Builder
	require.ErrorIs(t, run(&out, filepath.Join(t.TempDir(), "missing", "state"), end), os.ErrNotExist)
	require.NotEmpty(t, out.String())
}
