// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// A refusal says how many members would have had a plan, and when there will be
// one for all.
func TestRefusal(t *testing.T) {
	const queues = "queue q\nqueue low\n"
	for _, test := range []struct {
		name, town string
		placeable  int
		wanted     int
		retryAt    time.Duration // after noon; 0: never
	}{
		{"none of one", queues + "node n1 4\njob q 5", 0, 1, 0},
		{"two of three", queues + "node n1 4\nnode n2 4\ntask v low n1 4\njob q 4,4,4", 2, 3, 0},
		{"as many in their order", queues + "node n1 4\njob q 5,1,1", 0, 3, 0},
		{"of the minimum", queues + "node n1 4\njob q 4,4,4 min=2", 1, 2, 0},
		{"one exemption", queues + "node n1 4\ntask v low n1 4 until=5m\njob q 4", 0, 1, 5 * time.Minute},
		{"the later of two", queues + "node n1 4\ntask v low n1 2 until=5m\ntask w low n1 2 until=7m\njob q 4", 0, 1, 7 * time.Minute},
		{"the earlier of two", queues + "node n1 4\nnode n2 4\ntask v low n1 4 until=9m\ntask w low n2 4 until=7m\njob q 4", 0, 1, 7 * time.Minute},
		{"never", queues + "node n1 4\ntask v low n1 4 until=ever\njob q 4", 0, 1, 0},
		{"time does not help", queues + "node n1 4\ntask v low n1 4 p=10 until=5m\njob q 4", 0, 1, 0},
		{"a member of a gang", queues + "node n1 4\nnode n2 4 off\ntask v low n1 4 job=g\ntask w low n2 4 job=g until=5m\nkeep g 2\njob q 4", 0, 1, 5 * time.Minute},
		{"for the quota", "queue q quota=4:4\nnode n1 4\nnode n2 4\ntask v q n1 4 until=5m\njob q 4 fixed", 0, 1, 5 * time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := build(t, test.town)
			d := w.decide()
			r := &d.Refusal
			require.Equal(t, []int{test.placeable, test.wanted}, []int{r.Placeable, r.Wanted}, w.brief(d))
			require.True(t, r.Proven)
			if test.retryAt == 0 {
				require.Zero(t, r.RetryAt)
				return
			}
			require.Equal(t, noon.Add(test.retryAt), r.RetryAt)
			// At that instant there is a plan, and a nanosecond before there is none.
			var then, before victims.Decision
			require.NoError(t, w.planner().Decide(&then, &w.job, r.RetryAt))
			require.NoError(t, w.planner().Decide(&before, &w.job, r.RetryAt.Add(-1)))
			require.Equal(t, []string{"plan", "refused"}, []string{then.Outcome.String(), before.Outcome.String()})
		})
	}
}

// A job that law 2 refuses is told so, also if each of the tasks could go alone:
// a queue gives all or nothing of what the job needs. Nothing is said of a
// guarantee if there is no room without it either.
func TestRefusal_Guarantee(t *testing.T) {
	const six = "node n1 6\ntask low q n1 2\ntask mid q n1 2 p=1\ntask high q n1 2 p=10\n"
	for _, test := range []struct{ name, town, want string }{
		{"replaced by less", "queue q g=6\n" + six + "job q 3", "refused no-victims 1 priority 2 guarantee"},
		{"in a queue above", "queue p g=6\nqueue p.q\n" + strings.ReplaceAll(six, " q ", " p.q ") + "job p.q 3", "refused no-victims 1 priority 2 guarantee"},
		{"replaced by as much", "queue q g=6\n" + six + "job q 2,2", "plan j0=n1 j1=n1 -low -mid"},
		{"too large without it, too", "queue q g=6\n" + six + "job q 5", "refused no-victims 1 priority"},
		{"of two queues one gives", "queue q\nqueue a g=3\nqueue b\nnode n1 6\ntask v a n1 2\ntask w a n1 2\ntask x b n1 2\njob q 6", "refused no-victims 2 guarantee"},
		{"of another type", "queue q\nqueue a g=/2\nnode n1 6/2\ntask v a n1 3/1\ntask w a n1 3/0\njob q 6", "refused no-victims 1 guarantee"},
		{"alone already", "queue q\nqueue a g=4\nnode n1 4\ntask v a n1 4\njob q 4", "refused no-victims 1 guarantee"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := build(t, test.town)
			d := w.decide()
			require.Equal(t, test.want, w.brief(d))
		})
	}
}

// The formulas that keep a job out are all named, the leaf's first.
func TestRefusal_Breaches(t *testing.T) {
	w := build(t, "queue p quota=2/0:\nqueue p.q quota=3:\nnode n1 9/9\njob p.q 4/1 fixed")
	d := w.decide()
	require.Equal(t, "refused quota-min", w.brief(d))
	var got []string
	for _, b := range d.Refusal.Breaches {
		got = append(got, b.Text(w.schema))
	}
	require.Equal(t, []string{
		"non-preemptible-min: root.p.q: cpu: 0 used and 4 asked for are above 3 by 1",
		"non-preemptible-min: root.p.q: gpu: 0 used and 1 asked for are above 0 by 1",
		"non-preemptible-min: root.p: cpu: 0 used and 4 asked for are above 2 by 2",
		"non-preemptible-min: root.p: gpu: 0 used and 1 asked for are above 0 by 1",
	}, got)
}

// With few steps, and however early it is stopped: there is no plan before RetryAt, unless the refusal says that
// it is not certain.
func TestRefusal_RetryAtInHaste(t *testing.T) {
	w := build(t, "queue a g=9\nqueue b\nnode n1 8\ntask v b n1 4 until=10m\ntask w b n1 4 until=20m\njob a 1,1")
	p := w.planner()
	p.ByPriority, p.Admit = false, nil
	var d victims.Decision
	for _, steps := range []int64{1, 100, 1 << 20, 0} {
		p.Steps = steps
		require.NoError(t, p.Decide(&d, &w.job, noon))
		require.True(t, d.Refusal.Proven)
		require.Equal(t, noon.Add(10*time.Minute), d.Refusal.RetryAt, "%d steps", steps)
	}
	stopped := 0
	for at := range 30 {
		polls := 0
		p.Stop = func() bool { polls++; return polls > at }
		require.NoError(t, p.Decide(&d, &w.job, noon))
		if polls > at {
			stopped++
			require.False(t, d.Refusal.Proven)
			require.Zero(t, d.Refusal.RetryAt)
		} else {
			require.Equal(t, noon.Add(10*time.Minute), d.Refusal.RetryAt)
		}
	}
	require.Positive(t, stopped)
}

// The steps of a refusal are those of its decision: if its own leaf may give and is not in reach either, none.
func TestRefuse_StepsAreOfTheDecision(t *testing.T) {
	w := build(t, "queue q\nqueue shut policy=disabled\nnode n1 4\ntask v q n1 2 p=5\ntask w shut n1 2\njob q 4,4")
	p := w.planner()
	p.ByPriority, p.Admit, p.WithinQueue = false, nil, queue.Met
	var d victims.Decision
	require.NoError(t, p.Decide(&d, &w.job, noon))
	require.NotZero(t, d.Plan.Steps)
	require.Equal(t, "no-victims", d.Refusal.Reason)
	w.job.Queue = w.leaf("shut")
	require.NoError(t, p.Decide(&d, &w.job, noon))
	require.Equal(t, "nothing-in-reach", d.Refusal.Reason)
	require.Zero(t, d.Plan.Steps)
}
