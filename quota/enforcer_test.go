// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// An unknown order is an error, and leaves the decision as it was.
func TestEnforce_Errors(t *testing.T) {
	f := newFixture(t, leaf("a"))
	o := victims.Decision{Outcome: victims.Refused}
	f.e.Order = "oldest"
	require.ErrorIs(t, f.e.Enforce(&o, f.queue("a"), now), victims.ErrUnknown)
	require.EqualError(t, f.e.Enforce(&o, f.queue("a"), now), `quota: order "oldest": unknown`)
	require.Equal(t, victims.Decision{Outcome: victims.Refused}, o)
}

// A max that equals the guarantee is enforced, with a delay as without one.
func TestEnforce_MaxAtGuaranteed(t *testing.T) {
	withDelay := leaf("delayed", slots(5))
	withDelay.Properties = map[string]string{"quota.preemption.delay": "5m"}
	f := newFixture(t, leaf("plain", slots(5)), withDelay)
	for _, path := range []string{"plain", "delayed"} {
		f.task(path+"1", path, 5)
		f.task(path+"2", path, 2)
		o := f.enforce(path, slots(5))
		require.Equal(t, "met", o.Enforcement.Result)
		require.Equal(t, []string{path + "2"}, keys(o))
	}
}

// A dry run on a clone changes nothing, and its decision owns what it says.
func TestEnforce_DryRun(t *testing.T) {
	f := newFixture(t, leaf("a"))
	f.task("t", "a", 5)
	live := f.c
	f.c = live.Clone()
	f.e.Cluster = f.c
	o := f.enforce("a", slots(3))
	require.NoError(t, f.c.SetMax(f.queue("a"), slots(9)))
	require.Equal(t, slots(3).Value[0], o.Enforcement.Max.Value[0])
	require.Zero(t, live.Tree().Max(f.queue("a")).Defined)
	o.Enforcement.Usage[0] = 99
	require.EqualValues(t, 5, f.c.Tree().Usage(f.queue("a"))[0])
}

// Every enforcement is observed once. With Audit one that breaks a law is withheld: here a caller
// changes its mind about who is enforced already.
func TestEnforce_AuditAndObserve(t *testing.T) {
	f := newFixture(t, queue.Config{Name: "p", Children: []queue.Config{leaf("a")}})
	f.task("t1", "p.a", 5)
	var seen []victims.Outcome
	asked, most := 0, 1000
	e := quota.Enforcer{Cluster: f.c, Options: victims.Options{
		Observe:  func(d *victims.Decision) { seen = append(seen, d.Outcome) },
		Enforced: func(queue.ID) bool { asked++; return asked > most },
	}}
	require.NoError(t, f.c.SetMax(f.queue("p"), slots(3)))
	var d victims.Decision
	require.NoError(t, e.Enforce(&d, f.queue("p"), now))
	require.Equal(t, victims.Preempts, d.Outcome)
	e.Audit, asked, most = true, 0, asked // the auditor hears otherwise
	require.NoError(t, e.Enforce(&d, f.queue("p"), now))
	require.Equal(t, victims.Refused, d.Outcome)
	require.Equal(t, victims.Unlawful, d.Refusal.Reason)
	require.Empty(t, d.Plan.Victims)
	require.ErrorIs(t, f.c.Apply(&d), victims.ErrState)
	require.Equal(t, []victims.Outcome{victims.Preempts, victims.Refused}, seen)
	require.NotEmpty(t, d.Summary())
	require.NotEmpty(t, d.String())
}

// A decision made for another version of the cluster is refused, and the victims
// of one that is applied count as leaving.
func TestApply(t *testing.T) {
	f := newFixture(t, leaf("a"))
	f.task("t1", "a", 5)
	f.task("t2", "a", 5)
	o := f.enforce("a", slots(5))
	f.task("t3", "a", 0)
	err := f.c.Apply(o)
	require.ErrorIs(t, err, victims.ErrStale)
	require.ErrorContains(t, err, `plan for "root.a"`)
	o = f.enforce("a", slots(5))
	require.NoError(t, f.c.Apply(o))
	id, _ := f.c.Lookup("t1")
	require.Equal(t, victims.Marked, f.c.Task(id).State)
	require.EqualValues(t, 5, f.c.Tree().Leaving(f.queue("a"))[0])
	require.Equal(t, "met", f.enforce("a", slots(5)).Enforcement.Result)
	require.Empty(t, f.enforce("a", slots(5)).Plan.Victims)
}

// A search over a few tasks is always complete; one over more goes as far
// as the budget does, and the outcome says so.
func TestEnforce_Budget(t *testing.T) {
	// Tasks of 2, after one of 1: room is left for an even number of slots.
	cluster := func(tasks int) *fixture {
		f := newFixture(t, leaf("a", slots(1)))
		f.task("odd", "a", 1)
		for i := range tasks - 1 {
			// No two are alike.
			f.task(fmt.Sprintf("t%02d", i), "a", 2, priority(1), ran(time.Duration(i)*time.Hour), withDisks(int64(i)))
		}
		return f
	}
	few := cluster(quota.CompleteCandidates)
	few.e.Steps = 1
	o := few.enforce("a", slots(1))
	require.Equal(t, "met", o.Enforcement.Result)
	require.True(t, o.Enforcement.Proven)
	require.NotContains(t, keys(o), "odd")

	many := cluster(quota.CompleteCandidates + 1)
	many.e.Steps = 1
	o = many.enforce("a", slots(1))
	require.Equal(t, "partial", o.Enforcement.Result)
	require.False(t, o.Enforcement.Proven)
	require.Contains(t, keys(o), "odd")

	many.e.Steps = 0
	o = many.enforce("a", slots(1))
	require.Equal(t, "met", o.Enforcement.Result)
	require.True(t, o.Enforcement.Proven)
	require.Positive(t, o.Plan.Steps)
}

// A warm enforcer allocates nothing, and neither does the outcome.
func TestEnforce_NoAllocs(t *testing.T) {
	c := broad(t, 2000, 20)
	makeGangs(t, c, 200)
	p, _ := c.Tree().Lookup("root.p")
	leaf, _ := c.Tree().Lookup("root.p.q0.w0")
	for _, test := range []struct {
		name string
		e    quota.Enforcer
		q    queue.ID
		max  resources.Limit
	}{
		{"nothing to do", quota.Enforcer{}, p, shareOf(c, p, 1, 1, 1)},
		{"a leaf", quota.Enforcer{}, leaf, shareOf(c, leaf, 2, 3, 7)},
		{"a parent", quota.Enforcer{}, p, shareOf(c, p, 9, 10, 3)},
		{"closest match", quota.Enforcer{Order: quota.ClosestMatch}, p, shareOf(c, p, 9, 10, 3)},
		{"pack", quota.Enforcer{Order: quota.Pack}, p, shareOf(c, p, 9, 10, 3)},
		{"fewest", quota.Enforcer{Order: quota.Fewest}, p, shareOf(c, p, 9, 10, 3)},
		{"fewest of all", quota.Enforcer{Order: quota.FewestOfAll, Options: victims.Options{Steps: 1000}}, p, shareOf(c, p, 9, 10, 3)},
		{"an order of the caller", quota.Enforcer{CompareTasks: quota.ByTraits(c.Capacity())}, p, shareOf(c, p, 9, 10, 3)},
		{"gangs and budgets", quota.Enforcer{}, p, shareOf(c, p, 9, 10, 3)},
		{"gangs and budgets, exactly", quota.Enforcer{Options: victims.Options{NeverOvershoot: true, Steps: 50_000}}, p, shareOf(c, p, 9, 10, 1)},
		{"exactly", quota.Enforcer{Options: victims.Options{NeverOvershoot: true, Steps: 1}}, p, shareOf(c, p, 9, 10, 1)},
		{"in part", quota.Enforcer{Options: victims.Options{Steps: 1}}, p, shareOf(c, p, 1, 3, 1)},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.e.Cluster = c
			var o victims.Decision
			require.NoError(t, c.SetMax(test.q, test.max))
			run := func() {
				if err := test.e.Enforce(&o, test.q, now); err != nil {
					t.Fatal(err)
				}
			}
			run()
			if n := testing.AllocsPerRun(20, run); n > 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}
