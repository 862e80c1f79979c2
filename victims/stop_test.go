// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/choices"
	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// stopAt returns a Stop that says so from its nth call on, and counts calls.
func stopAt(n int, calls *int) func() bool {
	return func() bool {
		*calls++
		return *calls >= n
	}
}

// manyOddSizes makes a node on which the cheapest set takes thousands of steps.
func manyOddSizes(t *testing.T) *fixture {
	f := giverAndTaker(t)
	f.node("n1", 100_000)
	sum := int64(0)
	for i := range 40 {
		size := int64(1000 + 37*i*i%911)
		f.task(fmt.Sprint("t", i), "a", "n1", size)
		sum += size
	}
	f.task("rest", "a", "n1", 100_000-sum, func(t *victims.Task) { t.RequiredNode = true })
	return f
}

func TestStop_EndsASearch(t *testing.T) {
	f := manyOddSizes(t)
	ask := f.ask("x", "b", 14_013)
	never := 0
	full := f.decide(&jobs.Planner{Options: victims.Options{Steps: 1 << 24, Stop: stopAt(math.MaxInt32, &never)}}, ask)
	require.Greater(t, never, 10, "it is asked again and again, and so ended by each call below")

	// A search that has begun ends with a plan, so the first of them is made in any case.
	calls := 0
	start := f.decide(&jobs.Planner{Options: victims.Options{Steps: 1 << 24, Stop: stopAt(1, &calls)}}, ask).Plan.Steps
	require.Less(t, start, full.Plan.Steps/10)

	audit := &victims.Auditor{Cluster: f.c}
	for _, n := range []int{1, 2, 5, 10} {
		calls := 0
		d := f.decide(&jobs.Planner{Options: victims.Options{Steps: 1 << 24, Stop: stopAt(n, &calls)}}, ask)
		require.Equal(t, victims.Preempts, d.Outcome)
		require.Equal(t, victims.NoProof, d.Plan.Proof)
		require.LessOrEqual(t, d.Plan.Steps, start+full.Plan.Steps*int64(n)/int64(never), "stopped by call %d of %d", n, never)
		require.Empty(t, audit.Audit(nil, d, now))
	}
}

// A refusal of a decision that was ended is no proof. A stopped decision forgets
// it for the next one.
func TestStop_LeavesRefusalsUnproven(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 4)
	f.node("n2", 4)
	f.task("t1", "a", "n1", 4)
	f.task("t2", "a", "n2", 4)
	calls := 0
	p := &jobs.Planner{
		Options: victims.Options{Stop: stopAt(1, &calls),
			Predicate: func(q *victims.Question) bool { return f.c.NodeName(q.Node) == "n2" }},
	}
	d := f.decide(p, f.ask("x", "b", 4))
	require.Equal(t, victims.Refused, d.Outcome)
	require.False(t, d.Refusal.Proven)
	p.Stop = nil
	d = f.decide(p, f.ask("x", "b", 4))
	require.Equal(t, victims.Preempts, d.Outcome)
	require.Equal(t, victims.ProofCost, d.Plan.Proof)
}

// The last question may come when all nodes were looked at, and it is tried to give members of a
// gang back: the plan is the same, and yet unproven.
func TestStop_AtTheEnd(t *testing.T) {
	f := giverAndTaker(t)
	f.node("n1", 10)
	for i := range 10 {
		f.task(fmt.Sprint("t", i), "a", "n1", 1, func(t *victims.Task) { t.Job = "gang" })
	}
	require.NoError(t, f.c.SetMinMembers("gang", 10))
	ask := f.ask("x", "b", 10)
	asked, calls := 0, 0
	full := f.decide(&jobs.Planner{Options: victims.Options{Stop: stopAt(math.MaxInt32, &asked)}}, ask)
	require.Equal(t, victims.ProofCost, full.Plan.Proof)
	last := f.decide(&jobs.Planner{Options: victims.Options{Stop: stopAt(asked, &calls)}}, ask)
	require.Equal(t, full.Plan.Steps, last.Plan.Steps)
	require.Equal(t, full.Plan.Victims, last.Plan.Victims)
	require.Equal(t, victims.NoProof, last.Plan.Proof)
}

// stopIsHonest ends a decision anywhere. What it says is lawful, and not proven.
func stopIsHonest(t *rapid.T) {
	w := drawAuditWorld(t)
	w.drawRules(t)
	choices.Of(&w.auditor.Options).Set(&w.planner.Options)
	w.planner.WithinQueue = w.auditor.WithinQueue
	w.planner.Filter, w.planner.Blockers = w.auditor.Filter, w.auditor.Blockers
	w.planner.Exhaust(rapid.Bool().Draw(t, "exhaustive"))
	want := w.decide(t)
	calls, at := 0, rapid.IntRange(1, 6).Draw(t, "stop at")
	w.planner.Stop = stopAt(at, &calls)
	got := w.decide(t)
	if calls < at {
		require.Equal(t, want, got, "not stopped")
		return
	}
	switch got.Outcome {
	case victims.Preempts:
		require.Equal(t, victims.NoProof, got.Plan.Proof)
		found := w.auditor.Audit(nil, got, auditNow)
		found = slices.DeleteFunc(found, func(v victims.Violation) bool {
			return v.Law == finding.LawOptedOut // the fewest are not known
		})
		require.Empty(t, found)
	case victims.Refused:
		require.False(t, got.Refusal.Proven)
		require.True(t, got.Refusal.RetryAt.IsZero())
	default:
		t.Fatalf("%v needs no search", got.Outcome)
	}
}

func TestStop_IsHonest(t *testing.T) { rapid.Check(t, stopIsHonest) }
func FuzzStopIsHonest(f *testing.F)  { f.Fuzz(rapid.MakeFuzz(stopIsHonest)) }
