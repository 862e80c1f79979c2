// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/victims"
)

// refuse is a predicate that refuses members of some nodes: "j0=n1".
func (w *town) refuse(all ...string) func(*victims.Question) bool {
	return func(p *victims.Question) bool {
		return !slices.Contains(all, p.Member.Key+"="+w.cluster.Node(p.Node).Name)
	}
}

// gone lists the keys of the victims of a placing, sorted.
func (w *town) gone(p *victims.Question) (keys []string) {
	for _, id := range p.Victims {
		keys = append(keys, w.cluster.Task(id).Key)
	}
	slices.Sort(keys)
	return keys
}

// The predicate has the last word on every placement: without victims, with
// them, and beyond the minimum.
func TestPredicate(t *testing.T) {
	const two = "queue q\nqueue low\nnode n1 4\nnode n2 4\n"
	const full = two + "task v low n1 4\ntask w low n2 4 p=1\n"
	for _, test := range []struct {
		name, town string
		refused    []string
		want       string
	}{
		{"fits elsewhere", two + "job q 2", []string{"j0=n1"}, "fits j0=n2"},
		{"fits, members changed", two + "job q 4,4", []string{"j0=n1"}, "fits j0=n2 j1=n1"},
		{"waits elsewhere", two + "task v low n2 4 state=releasing\njob q 4", []string{"j0=n1"}, "waits j0=n2"},
		{"next best", full + "job q 4", []string{"j0=n1"}, "plan j0=n2 -w"},
		{"the only way", full + "job q 4,4", []string{"j0=n1"}, "plan j0=n2 j1=n1 -v -w"},
		{"no way", full + "job q 4,4", []string{"j0=n1", "j1=n1"}, "refused predicate"},
		{"beyond the minimum", two + "job q 1,1 min=1", []string{"j1=n1"}, "fits j0=n1 +j1=n2"},
		{"beyond the minimum, with victims", full + "job q 3,1 min=1", []string{"j1=n1"}, "plan j0=n1 -v"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, quick := range []bool{false, true} {
				w := build(t, test.town)
				p := w.planner()
				p.SetQuick(quick)
				p.Predicate = w.refuse(test.refused...)
				var d victims.Decision
				require.NoError(t, p.Decide(&d, &w.job, noon))
				require.Equal(t, test.want, w.brief(&d), "quick: %v", quick)
			}
		})
	}
}

// It is asked about every member in turn, with those before it and all of the
// victims.
func TestPredicate_Sees(t *testing.T) {
	w := build(t, "queue q\nqueue low\nnode n1 4\nnode n2 4\ntask v low n1 4\ntask w low n2 4\njob q 4,4,0 min=2")
	p := w.planner()
	var asked []string
	p.Predicate = func(x *victims.Question) bool {
		words := []string{x.Member.Key, "on", w.cluster.Node(x.Node).Name, "after"}
		for _, at := range x.Places {
			words = append(words, x.Ask.Members[at.Member].Key)
		}
		asked = append(asked, strings.Join(append(append(words, "without"), w.gone(x)...), " "))
		return true
	}
	var d victims.Decision
	require.NoError(t, p.Decide(&d, &w.job, noon))
	require.Equal(t, "plan j0=n1 j1=n2 +j2=n1 -v -w", w.brief(&d))
	require.Equal(t, []string{
		"j0 on n1 after without v w", "j1 on n2 after j0 without v w", "j2 on n1 after j0 j1 without v w",
	}, asked[:3], "when it was decided; the audit asks again")
}

// A predicate that wants more gone than room alone needs gets it, and the plan
// is trimmed with it in the loop.
func TestPredicate_WantsMore(t *testing.T) {
	const town = "queue q\nqueue low\nnode n1 6\ntask v low n1 2\ntask w low n1 2 p=1\ntask x low n1 2 p=2\njob q 2"
	for _, quick := range []bool{false, true} {
		w := build(t, town)
		p := w.planner()
		p.SetQuick(quick)
		p.Predicate = func(x *victims.Question) bool { return slices.Contains(w.gone(x), "w") && len(x.Victims) > 1 }
		var d victims.Decision
		require.NoError(t, p.Decide(&d, &w.job, noon))
		require.Equal(t, "plan j0=n1 -v -w", w.brief(&d), "quick: %v", quick)
		require.Equal(t, victims.NoProof, d.Plan.Proof)
	}
}

// With a predicate that takes whatever comes, few steps change the proof and
// nothing else.
func TestPredicate_FewSteps(t *testing.T) {
	text := "queue q\nqueue low\nnode n1 30\nnode n2 0\njob q 2,2,2,3\n"
	for i := range 30 {
		text += "task t" + string(rune('A'+i)) + " low n1 1\n"
	}
	w := build(t, text)
	p := w.planner()
	p.Predicate, p.Steps = func(*victims.Question) bool { return true }, 1
	var d victims.Decision
	require.NoError(t, p.Decide(&d, &w.job, noon))
	require.Equal(t, victims.Preempts, d.Outcome)
	require.Len(t, d.Plan.Victims, 9)
}

// Functions of the caller that change their minds get no plan.
func TestDecide_Unlawful(t *testing.T) {
	w := build(t, "queue q\nqueue low\nnode n1 4\ntask v low n1 4\njob q 4")
	p := w.planner()
	asked := 0
	p.Predicate = func(*victims.Question) bool { asked++; return asked < 2 }
	var d victims.Decision
	require.NoError(t, p.Decide(&d, &w.job, noon))
	require.Equal(t, "refused unlawful", w.brief(&d))
	require.Empty(t, d.Plan.Victims)
	require.False(t, d.Refusal.Proven)
	require.ErrorIs(t, w.cluster.Apply(&d), victims.ErrState)
}

// What a predicate wants to go must make room as well, by guarantee: nobody goes because a
// predicate says so alone. By priority it may be anybody on the nodes.
func TestPredicate_NobodyForItAlone(t *testing.T) {
	for wanted, want := range map[string][2]string{
		"v": {"plan j0=n1 -v", "plan j0=n1 -v"},
		"w": {"refused predicate", "plan j0=n1 -v -w"},
	} {
		for i, byPriority := range []bool{false, true} {
			w := build(t, "queue q g=9\nqueue low\nnode n1 4\ntask v low n1 4\ntask w low n1 0\njob q 4")
			p := w.planner()
			p.ByPriority = byPriority
			p.Predicate = func(x *victims.Question) bool { return slices.Contains(w.gone(x), wanted) }
			var d victims.Decision
			require.NoError(t, p.Decide(&d, &w.job, noon))
			require.Equal(t, want[i], w.brief(&d), "%s by priority: %v", wanted, byPriority)
		}
	}
}

// Whoever a predicate wants to go, a plan keeps every law: the planner withholds none. Law 1
// may suffer if the predicate refuses the best sets.
func TestPredicate_Lawful(t *testing.T) {
	more := 0
	law.CheckUntil(t, func() bool { return more > 0 }, func(t *rapid.T) {
		c := world.JobCases(world.Small.With(everything)).Draw(t, "case")
		h := newHarness(t, c)
		h.decide("without")
		least := len(h.d.Plan.Victims)
		hated := make(map[victims.TaskID]bool)
		for id := range h.cluster.Tasks() {
			hated[id] = h.cluster.State(id) == victims.Running && rapid.IntRange(0, 3).Draw(t, "hated") == 0
		}
		h.planner.Predicate = func(p *victims.Question) bool {
			for id := range hated {
				if hated[id] && h.cluster.NodeOf(id) == p.Node && !slices.Contains(p.Victims, id) {
					return false
				}
			}
			return true
		}
		h.decide("with")
		if h.d.Outcome == victims.Refused {
			if h.d.Refusal.Reason == victims.Unlawful {
				t.Fatalf("%s\n%v\n%v", h.said(), hated, c)
			}
			return
		}
		if least > 0 && len(h.d.Plan.Victims) > least {
			more++
		}
		a := h.auditorOfCase()
		a.Predicate = h.planner.Predicate
		for _, v := range a.Audit(nil, &h.d, c.Options.Now) {
			if v.Law != finding.LawOptedOut {
				t.Fatalf("%s: %v\n%v\n%v", h.said(), v, hated, c)
			}
		}
	})
}

// TestFilter_Until: whatever a filter refuses for some time, a refusal stays one until RetryAt,
// and without one for ever, all else equal.
func TestFilter_Until(t *testing.T) { rapid.Check(t, filterEnds) }

func filterEnds(t *rapid.T) {
	c := world.JobCases(world.Small.With(everything)).Draw(t, "case")
	c.ByPriority = rapid.Bool().Draw(t, "by priority")
	h := newHarness(t, c)
	lets, more := world.Windows(t, h.cluster, c.Options.Now), h.planner.Filter
	h.planner.Filter = func(q *victims.Question) bool { return lets(q) && more(q) }
	world.StaysRefused(t, c.Options.Now, func(at time.Time) *victims.Decision {
		if err := h.planner.Decide(&h.d, &h.job, at); err != nil {
			t.Fatal(err)
		}
		return &h.d
	})
}
