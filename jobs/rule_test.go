// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/internal/invalid"
	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// What a caller says of services, tasks and nodes decides between plans that are
// alike otherwise, each in its place.
func TestDecide_Costs(t *testing.T) {
	const two = "queue q\nqueue low\nnode n1 4\nnode n2 4\n"
	const ranked = "queue q\nqueue low\nnode n1 4 rank=1\nnode n2 4\n"
	const one = "\njob q 4"
	for _, test := range []struct{ name, town, want string }{
		{"own cost before the number", two + "task v low n1 4 cost=3\ntask w low n2 2 cost=1\ntask x low n2 2 cost=1" + one, "plan j0=n2 -w -x"},
		{"own costs of all", two + "task v low n1 4 cost=3\ntask w low n2 2 cost=2\ntask x low n2 2 cost=2" + one, "plan j0=n1 -v"},
		{"priority before own cost", two + "task v low n1 4 p=1\ntask w low n2 4 cost=9" + one, "plan j0=n2 -w"},
		{"work since the checkpoint", two + "task v low n1 4 age=1h\ntask w low n2 4 age=9h saved=5m" + one, "plan j0=n2 -w"},
		{"a checkpoint before the start", two + "task v low n1 4 age=1h\ntask w low n2 4 age=2h saved=3h" + one, "plan j0=n1 -v"},
		{"the sum of priorities", "queue q\nqueue low priority=fence\nnode n1 4\nnode n2 4\n" +
			"task u low n1 2 p=5\ntask v low n1 2 p=3\ntask w low n2 2 p=5\ntask x low n2 2 p=1" + one, "plan j0=n2 -w -x"},
		{"the rank of the node", ranked + "task v low n1 4\ntask w low n2 4" + one, "plan j0=n2 -w"},
		{"work before the rank", ranked + "task v low n1 4\ntask w low n2 4 age=2h" + one, "plan j0=n1 -v"},
		{"ranks are no part of fits", "queue q\nnode n1 4 rank=9\nnode n2 4" + one, "fits j0=n1"},
		{"a soft budget before originators", "budget web 0\n" + two + "task v low n1 4 web=web\ntask w low n2 4 originator" + one, "plan j0=n2 -w"},
		{"opted out before a soft budget", "budget web 0\n" + two + "task v low n1 4 web=web\ntask w low n2 4 opted" + one, "plan j0=n1 -v"},
		{"a soft budget with something left", "budget web 1\n" + two + "task v low n1 4 web=web\ntask w low n2 4 p=1" + one, "plan j0=n1 -v"},
		{"below 0 is 0", "budget web -3\n" + two + "task v low n1 4 web=web\ntask w low n2 2 web=web\ntask x low n2 2" + one, "plan j0=n1 -v"},
		{"two at once overrun", "budget web 1\n" + two + "task v low n1 2 web=web\ntask w low n1 2 web=web\ntask x low n2 4 p=9" + one, "plan j0=n2 -x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := build(t, test.town)
			require.Equal(t, test.want, w.brief(w.decide()))
		})
	}
}

// A hard budget is a wall, for single tasks and for whole jobs.
func TestDecide_HardBudgets(t *testing.T) {
	const web = "budget web 0 hard\nqueue q\nqueue low\nnode n1 4\nnode n2 4\n"
	for _, test := range []struct{ name, town, want string }{
		{"another way", web + "task v low n1 4 web=web\ntask w low n2 4 p=9\njob q 4", "plan j0=n2 -w"},
		{"no other way", web + "task v low n1 4 web=web\ntask w low n2 4 p=10\njob q 4", "refused no-victims 1 priority 1 budget"},
		{"one of two", "budget web 1 hard\nqueue q\nqueue low\nnode n1 4\nnode n2 4\ntask v low n1 4 web=web\ntask w low n2 4 web=web\njob q 4,4", "refused no-victims"},
		{"a whole job", "budget web 1 hard\nqueue q\nqueue low\nnode n1 4\nnode n2 4\ntask v low n1 4 job=g web=web\ntask w low n2 4 job=g web=web\nkeep g 2\njob q 4",
			"refused no-victims 2 budget"},
		{"of the surplus", "budget web 0 hard\nqueue q\nqueue low\nnode n1 4\nnode n2 4\ntask v low n1 4 job=g web=web\ntask w low n2 4 job=g\nkeep g 1\njob q 4", "plan j0=n2 -w"},
		{"for headroom", "budget web 0 hard\nqueue q max=4\nnode n1 8\ntask v q n1 4 web=web\njob q 4", "refused no-victims 1 budget"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := build(t, test.town)
			require.Equal(t, test.want, w.brief(w.decide()))
		})
	}
}

// The filter is asked about each node and class once at most, and a node that it
// refuses still counts for headroom.
func TestDecide_Filter(t *testing.T) {
	const town = "queue q max=4\nqueue low\nnode n1 4\nnode n2 4\nnode n3 4\ntask v q n1 4\njob q 2,1,1 class=7,7,-1"
	w := build(t, town)
	asked := map[[2]int]int{}
	p := w.planner()
	p.Filter = func(q *victims.Question) bool {
		asked[[2]int{q.Member.Class, int(q.Node)}]++
		return w.cluster.NodeName(q.Node) == map[int]string{7: "n2", -1: "n3"}[q.Member.Class]
	}
	var d victims.Decision
	require.NoError(t, p.Decide(&d, &w.job, noon))
	require.Equal(t, "plan j0=n2 j1=n2 j2=n3 -v", w.brief(&d))
	for question, n := range asked {
		require.Equal(t, 1, n, question)
	}

	// Nodes that refuse everybody are counted.
	p.Filter = func(q *victims.Question) bool {
		return q.Member.Class == 7 && w.cluster.NodeName(q.Node) == "n2"
	}
	require.NoError(t, p.Decide(&d, &w.job, noon))
	require.NoError(t, d.Count())
	require.Equal(t, "refused no-victims", w.brief(&d))
	require.Equal(t, 2, d.Refusal.Filtered)
	require.Contains(t, d.String(), "\n  the filter refuses 2 nodes\n")
}

// Members beyond the minimum are filtered, too.
func TestDecide_FilterFurther(t *testing.T) {
	w := build(t, "queue q\nnode n1 4\nnode n2 4\njob q 1,1,1 min=1 class=1,1,2")
	p := w.planner()
	p.Filter = func(q *victims.Question) bool { return q.Member.Class == int(q.Node) }
	var d victims.Decision
	require.NoError(t, p.Decide(&d, &w.job, noon))
	require.Equal(t, "fits j0=n1 +j1=n1 +j2=n2", w.brief(&d))
}

// The predicate is told whether what is leaving is still there. A plan that fits
// is audited as one that waits: there is more room then.
func TestDecide_Moment(t *testing.T) {
	for _, test := range []struct {
		name, town, want string
		moments          []bool
	}{
		{"fits", "queue q\nnode n1 4\njob q 4", "fits j0=n1", []bool{false, true}},
		{"waits", "queue q\nqueue low\nnode n1 4\ntask v low n1 4 state=releasing\njob q 4", "waits j0=n1", []bool{true}},
		{"plan", "queue q\nqueue low\nnode n1 4\ntask v low n1 4\njob q 4", "plan j0=n1 -v", []bool{true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := build(t, test.town)
			var moments []bool
			p := w.planner()
			p.Predicate = func(q *victims.Question) bool {
				if !slices.Contains(moments, q.AfterVictims) {
					moments = append(moments, q.AfterVictims)
				}
				return true
			}
			var d victims.Decision
			require.NoError(t, p.Decide(&d, &w.job, noon))
			require.Equal(t, test.want, w.brief(&d))
			require.Equal(t, test.moments, moments)
		})
	}
}

// What a member says of itself once it runs is what its grant says.
func TestApply_TellsMembers(t *testing.T) {
	w := build(t, "budget web 1\nqueue q\nnode n1 4\njob q 1")
	m := &w.job.Members[0]
	m.Name, m.Tag, m.Cost, m.Budgets = "first", 7, 3, []string{"web"}
	d := w.decide()
	require.NoError(t, w.cluster.Apply(d))
	id, ok := w.cluster.LookupGrant("j0")
	require.True(t, ok)
	got := w.cluster.Task(id)
	require.Equal(t, []any{"first", uint64(7), int64(3), []string{"web"}}, []any{got.Name, got.Tag, got.Cost, got.Budgets})
}

// Mistakes of members are told, and change nothing.
func TestDecide_MemberMistakes(t *testing.T) {
	w := build(t, "budget web 1\nqueue q\nnode n1 4\njob q 1")
	for _, test := range []struct {
		spoil func(*victims.Ask)
		want  string
		kind  error
	}{
		{func(j *victims.Ask) { j.Members[0].Cost = -1 }, `jobs: job "j": member "j0": cost -1: `, invalid.Amount},
		{func(j *victims.Ask) { j.Members[0].Budgets = []string{""} }, `jobs: job "j": member "j0": budget "": `, invalid.Empty},
		{func(j *victims.Ask) { j.Members[0].Budgets = []string{"web", "web"} }, `jobs: job "j": member "j0": budget "web": `, victims.ErrDuplicate},
		{func(j *victims.Ask) { j.DomainDepth = -1 }, `jobs: job "j": domain of depth -1: `, invalid.Range},
	} {
		job := w.job
		job.Members = slices.Clone(job.Members)
		test.spoil(&job)
		var d victims.Decision
		err := w.planner().Decide(&d, &job, noon)
		require.ErrorIs(t, err, test.kind)
		require.Contains(t, err.Error(), test.want)
		require.Zero(t, d.Outcome)
	}
}

// A member may name a budget that nobody has set yet, as a lone ask may.
func TestDecide_MemberOfAnUnknownBudget(t *testing.T) {
	w := build(t, "queue q\nnode n1 4\njob q 1")
	w.job.Members[0].Budgets = []string{"db"}
	var d victims.Decision
	require.NoError(t, w.planner().Decide(&d, &w.job, noon))
	require.Equal(t, victims.Fits, d.Outcome)
	require.NoError(t, w.cluster.Apply(&d))
	require.Equal(t, []string{"db"}, slices.Collect(w.cluster.UnknownBudgets()))
}

// The auditor knows what the planner does, and shares none of its code.
func TestAudit_Rules(t *testing.T) {
	const town = "budget web 1 hard\nqueue q\nqueue low\nnode n1 4 in=b1/r1\nnode n2 4 in=b1/r2\nnode n3 4\n" +
		"task v low n1 4 web=web\ntask w low n2 4 web=web\njob q 4,4"
	for _, test := range []struct {
		name  string
		depth int
		nodes []string
		want  []string
	}{
		{"budget", 0, []string{"n1", "n2"}, []string{"budget: budget web: 2 victims, want at most 1"}},
		{"one rack", 2, []string{"n1", "n2"}, []string{
			"domain: member j1: node n2: not in the domain of the other members", "budget: budget web: 2 victims, want at most 1",
		}},
		{"one block", 1, []string{"n1", "n2"}, []string{"budget: budget web: 2 victims, want at most 1"}},
		{"in no domain", 1, []string{"n3", "n1"}, []string{
			"domain: member j0: node n3: not in the domain of the other members", "budget: budget web: 2 victims, want at most 1",
			"minimal: victim w: can be given back",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := build(t, town)
			w.job.DomainDepth = test.depth
			var got []string
			for _, v := range w.auditor().Audit(nil, asDecision(w.plan(test.nodes, "v", "w")), noon) {
				got = append(got, v.String())
			}
			require.Equal(t, test.want, got)
		})
	}
	w := build(t, town)
	a := w.auditor()
	a.Filter = func(q *victims.Question) bool { return q.Node != 1 }
	found := a.Audit(nil, asDecision(w.plan([]string{"n1", "n3"}, "v")), noon)
	require.Len(t, found, 1)
	require.Equal(t, "filter: member j0: node n1: refused by the filter", found[0].String())
}

// Plans that overrun budgets say so in their cost.
func TestDecide_Overrun(t *testing.T) {
	w := build(t, "budget web 1\nqueue q\nqueue low\nnode n1 6\ntask v low n1 2 web=web\ntask w low n1 2 web=web\ntask x low n1 2 web=web\njob q 6")
	d := w.decide()
	require.Equal(t, "plan j0=n1 -v -w -x", w.brief(d))
	require.Equal(t, int64(2), d.Plan.Cost.Overrun)
	require.NoError(t, w.cluster.Apply(d))
	left, _ := w.cluster.Budget("web")
	require.Equal(t, int64(-2), left.Left)
	require.Equal(t, resources.Vector{6000, 0}, w.cluster.Tree().Leaving(0))
}

// A node that goes before its tasks takes no members, and its tasks may still go
// for headroom.
func TestDecide_ClosedNode(t *testing.T) {
	w := build(t, "queue q max=4\nqueue low\nnode n1 4\nnode n2 4\ntask v q n2 4\njob q 4")
	require.NoError(t, law.ErrOf(w.cluster.RemoveNode("n2")))
	require.Equal(t, "plan j0=n1 -v", w.brief(w.decide()))
	found := w.auditor().Audit(nil, asDecision(w.plan([]string{"n2"}, "v")), noon)
	require.Len(t, found, 1)
	require.Equal(t, finding.LawNode, found[0].Law)
}

// Tasks without an application are of none, not of one and the same.
func TestDecide_NoApplication(t *testing.T) {
	w := build(t, "queue q\nqueue low\nnode n1 4\ntask v low n1 4 app=\njob q 4 app=")
	require.Empty(t, w.job.Application)
	require.Equal(t, "plan j0=n1 -v", w.brief(w.decide()))
}
