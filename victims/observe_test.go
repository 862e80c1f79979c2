// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// Observe is told of each decision once, with what the audit has made of it, and
// neither of errors nor of the trials of Explain.
func TestObserve_TellsEveryDecisionOnce(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 4)
	f.task("t1", "a", "n1", 4)
	var told []*victims.Decision
	p := &jobs.Planner{Cluster: f.c, Options: victims.Options{Audit: true, Observe: func(d *victims.Decision) { told = append(told, d) }}}

	d := f.decide(p, f.ask("x", "b", 4))
	require.Len(t, told, 1)
	require.Same(t, d, told[0])
	require.Equal(t, victims.Preempts, told[0].Outcome)

	bad := f.ask("x", "b", 4)
	bad.Queue = queue.Root
	require.Error(t, p.Decide(d, bad, now))
	require.Len(t, told, 1, "an error is no decision")

	var e victims.Explanation
	require.NoError(t, p.Explain(&e, f.ask("x", "b", 9), now))
	require.Len(t, told, 1, "nor are the trials of an explanation")

	again := f.decide(p, f.ask("y", "b", 9))
	require.Len(t, told, 2)
	require.Same(t, again, told[1])
	require.Equal(t, victims.Refused, told[1].Outcome)
}
