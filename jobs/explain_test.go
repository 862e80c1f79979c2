// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Of a gang of one the same rules stand in the way as of its ask, with the same plans without them: asks relax
// them inside of a decision, gangs in a copy of the cluster. Its member is explained as the ask is.
func TestExplain_OfOneMember(t *testing.T) { law.Check3000(t, propertyExplainOfOneMember) }

func FuzzExplain_OfOneMember(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(propertyExplainOfOneMember))
}

func propertyExplainOfOneMember(t *rapid.T) {
	c, h, asks, ask := drawOneMember(t)
	h.planner.Admit = nil
	var want, got victims.Explanation
	if err := asks.Explain(&want, &ask, c.Options.Now); err != nil {
		t.Fatalf("%v\n%v", err, c)
	}
	version := h.cluster.Version()
	if err := h.planner.Explain(&got, &h.job, c.Options.Now); err != nil {
		t.Fatalf("%v\n%v", err, h.c)
	}
	if h.cluster.Version() != version {
		t.Fatalf("explaining has changed the cluster\n%v", h.c)
	}
	if diff := gocmp.Diff(relaxed(h.cluster, &ask, want.Relaxations), relaxed(h.cluster, &ask, got.Relaxations)); diff != "" {
		t.Fatalf("as an ask (-) and as a job (+):\n%s%s%v", diff, got.String(), h.c)
	}
	if len(got.Members) == 0 {
		if got.Decision.Outcome == victims.Refused && got.Decision.Refusal.Reason != victims.InFlight {
			t.Fatalf("the member is not explained\n%v", h.c)
		}
		return
	}
	// But for the name of its job, which no task has, the member is the ask.
	said := func(e *victims.Explanation) string { return e.String() }
	if diff := gocmp.Diff(said(&want), said(&got.Members[0].Alone)); diff != "" {
		t.Fatalf("as an ask (-) and as a member (+):\n%s%v", diff, h.c)
	}
}

// relaxed writes down the rules that gangs relax, too: not those of the path's guarantees.
func relaxed(c *victims.Cluster, ask *victims.Ask, list []victims.Relaxation) (all []string) {
	for _, f := range list {
		at, ok := c.Tree().Lookup(f.Queue)
		if rulebook.RelaxationOf(f.Rule).Subject != rulebook.OfTask && (f.Rule != "guarantee" || !ok || !c.Tree().Contains(at, ask.Queue)) {
			all = append(all, fmt.Sprintf("%s queue %q node %q budget %q: %v on %s, %d victims", f.Rule, f.Queue, f.Node, f.Budget, f.Outcome, f.Place, f.Victims))
		}
	}
	return all
}

// Each rule of a gang that is told was in the way, and whoever is told of it has a plan once that is changed for
// good.
func TestExplain_Gang(t *testing.T) {
	schema, err := resources.NewSchema("gpu")
	require.NoError(t, err)
	gpus := func(n int64) resources.Limit { return resources.Limit{Value: resources.Vector{n}, Defined: 1} }
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "a", Guaranteed: gpus(4), Max: gpus(4)}, {Name: "b", Guaranteed: gpus(1)},
	}})
	require.NoError(t, err)
	c := victims.NewCluster(tree)
	a, _ := tree.Lookup("root.a")
	b, _ := tree.Lookup("root.b")
	for i := range 4 {
		_, err := c.AddNode(&victims.Node{Name: fmt.Sprint("n", i), Capacity: resources.Vector{1}, Unschedulable: i == 3})
		require.NoError(t, err)
	}
	for i := range 3 {
		n, _ := c.LookupNode(fmt.Sprint("n", i))
		_, err := c.AddTask(&victims.Task{Key: fmt.Sprint("t", i), Queue: b, Node: n, Size: resources.Vector{1}, Scheduled: time.Unix(9, 0), Created: time.Unix(9, 0)})
		require.NoError(t, err)
	}
	gang := victims.Ask{Key: "g", Queue: a}
	for i := range 3 {
		gang.Members = append(gang.Members, victims.Member{Key: fmt.Sprint("m", i), Size: resources.Vector{1}})
	}
	p := jobs.Planner{Cluster: c}
	var e victims.Explanation
	require.NoError(t, p.Explain(&e, &gang, time.Unix(100, 0)))
	require.Equal(t, victims.Refused, e.Decision.Outcome)
	require.Len(t, e.Members, 1)
	require.Equal(t, []int{0, 1, 2}, e.Members[0].Members)
	require.Equal(t, victims.Preempts, e.Members[0].Alone.Decision.Outcome)
	require.Equal(t, `m0, m1, m2, asked alone: m0 (root.a, gpu=1) runs on n0 once these have stopped: t0
    queue   tasks  candidates  may lose  finding
    root                                 on the path
    root.a  0      0                     the asking queue, starving
    root.b  3      3           gpu=2
    node  finding
    n0    chosen: 1 victim, 1m31s of work lost, 91 gpu-seconds
    n1    costlier: 1 victim, 1m31s of work lost, 91 gpu-seconds
    n2    costlier: 1 victim, 1m31s of work lost, 91 gpu-seconds
    n3    unschedulable: has room for it
    task  queue   node  finding
    t0    root.b  n0    victim
    t1    root.b  n1    candidate
    t2    root.b  n2    candidate
it would have its places
  without the guarantee of root.b (guarantee): 3 members, with 3 victims
  if n3 were schedulable (unschedulable): 3 members, with 2 victims
`, e.String())
	report, err := json.Marshal(e)
	require.NoError(t, err)
	require.Contains(t, string(report), `"relaxed":[{"rule":"guarantee","text":"without the guarantee of root.b (guarantee): 3 members, with 3 victims","outcome":"plan","node":"n0","members":3,"victims":3}`)
	require.Contains(t, string(report), `"members":[{"keys":["m0","m1","m2"],"alone":{"decision":`)

	stopped := p
	stopped.Stop = func() bool { return true }
	require.NoError(t, stopped.Explain(&e, &gang, time.Unix(100, 0)))
	require.Equal(t, victims.Refused, e.Decision.Outcome)
	require.Empty(t, e.Relaxations)
	require.Empty(t, e.Members)
	require.Equal(t, "cut short: not all rules were tried\n", e.String())
	report, err = json.Marshal(e)
	require.NoError(t, err)
	require.Contains(t, string(report), `"cutShort":true`)

	require.NoError(t, c.SetGuaranteed(b, resources.Limit{}))
	require.NoError(t, p.Explain(&e, &gang, time.Unix(100, 0)))
	require.Equal(t, victims.Preempts, e.Decision.Outcome)
	require.Empty(t, e.Relaxations)
	require.Empty(t, e.Members)
}

// All that follows a decision is begun only as long as steps are left, and what is told then is as if there were more.
func TestExplain_CutShort(t *testing.T) {
	schema, err := resources.NewSchema("gpu")
	require.NoError(t, err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "a", Guaranteed: resources.Limit{Value: resources.Vector{100}, Defined: 1}}, {Name: "b", Guaranteed: resources.Limit{Value: resources.Vector{4000}, Defined: 1}},
	}})
	require.NoError(t, err)
	c := victims.NewCluster(tree)
	a, _ := tree.Lookup("root.a")
	b, _ := tree.Lookup("root.b")
	for i := range 40 {
		n, err := c.AddNode(&victims.Node{Name: fmt.Sprint("n", i), Capacity: resources.Vector{100}, Unschedulable: i >= 4})
		require.NoError(t, err)
		for k := range 10 {
			_, err := c.AddTask(&victims.Task{Key: fmt.Sprint("t", i, "-", k), Queue: b, Node: n, Size: resources.Vector{9}, Scheduled: noon, Created: noon})
			require.NoError(t, err)
		}
	}
	gang := victims.Ask{Key: "g", Queue: a}
	for i := range 6 {
		gang.Members = append(gang.Members, victims.Member{Key: fmt.Sprint("m", i), Size: resources.Vector{int64(11 + i)}})
	}
	p := jobs.Planner{Cluster: c}
	explain := func(steps int64) (e victims.Explanation) {
		p.Steps = steps
		require.NoError(t, p.Explain(&e, &gang, noon))
		require.Equal(t, victims.Refused, e.Decision.Outcome)
		return e
	}
	whole := explain(0)
	require.False(t, whole.CutShort)
	require.Len(t, whole.Members, 6)
	require.Len(t, whole.Relaxations, 1, "the guarantee of root.b")
	last := 0
	for _, steps := range []int64{1, 10_000, 100_000, 1_000_000} {
		e := explain(steps)
		told := len(e.Members) + len(e.Relaxations)
		t.Logf("%d steps: %d of %d are told", steps, told, len(whole.Members)+len(whole.Relaxations))
		require.True(t, told == 7 || e.CutShort)
		require.GreaterOrEqual(t, told, last)
		for i := range e.Members {
			require.Equal(t, whole.Members[i].Members, e.Members[i].Members)
		}
		last = told
	}
	require.Len(t, explain(1).Members, 1)
	require.False(t, explain(1_000_000).CutShort)
}

// Whatever the gang: explaining it decides as the planner does and changes nothing, the members without a place are
// explained, and a rule that is told does stand in the way.
func TestExplain_Gangs(t *testing.T) {
	relaxed, refused := 0, 0
	law.Check3000(t, func(t *rapid.T) {
		h := newHarness(t, world.JobCases(world.Small.With(world.Everything)).Draw(t, "case"))
		h.decide("job")
		version := h.cluster.Version()
		var e victims.Explanation
		if err := h.planner.Explain(&e, &h.job, h.c.Options.Now); err != nil {
			t.Fatalf("%v\n%v", err, h.c)
		}
		if e.Decision.String() != h.d.String() || h.cluster.Version() != version {
			t.Fatalf("%s\nand explained\n%s%v", h.d.String(), e.Decision.String(), h.c)
		}
		if e.Decision.Outcome != victims.Refused {
			return
		}
		refused++
		var explained []string
		for _, f := range e.Members {
			for _, i := range f.Members {
				explained = append(explained, h.job.Members[i].Key)
			}
			for _, task := range f.Alone.Tasks {
				id, ok := h.cluster.Lookup(task.Key)
				if !ok {
					t.Fatalf("%+v is about no task\n%v", task, h.c)
				}
				if of := h.cluster.Task(id); task.Rule == "" && (of.NonPreemptible || of.Job == h.job.Key) {
					t.Fatalf("%s is a candidate\n%v", task.Key, h.c)
				}
			}
		}
		if !h.planner.ByPriority && h.planner.Admit == nil && e.Decision.Refusal.Reason != victims.InFlight {
			for _, m := range h.job.Members {
				_, runs := h.cluster.Lookup(m.Key)
				_, held := h.cluster.LookupGrant(m.Key)
				if explained := slices.Contains(explained, m.Key); explained == (runs || held) {
					t.Fatalf("member %q explained: %v\n%v", m.Key, explained, h.c)
				}
			}
		}
		for _, f := range e.Relaxations {
			relaxed++
			if f.Outcome == victims.Refused || len(h.job.Members) > 0 && f.Members == 0 {
				t.Fatalf("%+v\n%v", f, h.c)
			}
		}
		_ = e.String()
		if _, err := json.Marshal(e); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("%d rules stood in the way of %d refused gangs", relaxed, refused)
	if refused > 1000 && 100*relaxed < 4*refused {
		t.Error("too few")
	}
}

// A member is told whom its job spares, which it need not spare as an ask.
func TestExplain_SparedByTheJob(t *testing.T) {
	schema, err := resources.NewSchema("gpu")
	require.NoError(t, err)
	four := resources.Limit{Value: resources.Vector{4}, Defined: 1}
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{{Name: "a", Guaranteed: four}, {Name: "b"}}})
	require.NoError(t, err)
	c := victims.NewCluster(tree)
	a, _ := tree.Lookup("root.a")
	b, _ := tree.Lookup("root.b")
	n, err := c.AddNode(&victims.Node{Name: "n", Capacity: resources.Vector{3}})
	require.NoError(t, err)
	for _, task := range []victims.Task{{Key: "fixed", NonPreemptible: true}, {Key: "of the job", Job: "g"}, {Key: "other"}} {
		task.Queue, task.Node, task.Size = b, n, resources.Vector{1}
		_, err := c.AddTask(&task)
		require.NoError(t, err)
	}
	p := jobs.Planner{Cluster: c}
	rules := func(size int64) (rules []string) {
		gang := victims.Ask{Key: "g", Queue: a, Size: resources.Vector{size}, Members: []victims.Member{{Key: "m0"}, {Key: "m1"}}}
		var e victims.Explanation
		require.NoError(t, p.Explain(&e, &gang, noon))
		require.Equal(t, victims.Refused, e.Decision.Outcome)
		require.Len(t, e.Members, 1)
		for _, task := range e.Members[0].Alone.Tasks {
			rules = append(rules, task.Key+": "+task.Rule)
		}
		return rules
	}
	require.Equal(t, []string{"fixed: non-preemptible", "of the job: same-application", "other: "}, rules(1))
	require.Equal(t, []string{"fixed: non-preemptible", "of the job: same-application", "other: "}, rules(2))
	lone := victims.Ask{Key: "lone", Queue: a, Size: resources.Vector{3}}
	var e victims.Explanation
	require.NoError(t, p.Explain(&e, &lone, noon))
	require.Equal(t, victims.Preempts, e.Decision.Outcome, "a lone ask spares none of them")
}

// Without a hard budget nothing of it is overrun: the victims are those of lower priority, though more of them are in
// the budget.
func TestExplain_BudgetWithMoreLeft(t *testing.T) {
	schema, err := resources.NewSchema("gpu")
	require.NoError(t, err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "a", Guaranteed: resources.Limit{Value: resources.Vector{1}, Defined: 1}}, {Name: "b"},
	}})
	require.NoError(t, err)
	c := victims.NewCluster(tree)
	a, _ := tree.Lookup("root.a")
	b, _ := tree.Lookup("root.b")
	n1, err := c.AddNode(&victims.Node{Name: "n1", Capacity: resources.Vector{2}})
	require.NoError(t, err)
	require.NoError(t, c.SetBudget("web", victims.Budget{Hard: true}))
	for _, task := range []victims.Task{
		{Key: "t3", Size: resources.Vector{1}, Priority: 1, Budgets: []string{"web"}},
		{Key: "t10", Size: resources.Vector{1}, Job: "g"},
		{Key: "t17", Job: "g", Budgets: []string{"web"}},
		{Key: "t24", Job: "g", Budgets: []string{"web"}},
	} {
		task.Queue, task.Node, task.Scheduled, task.Created = b, n1, noon, noon
		_, err := c.AddTask(&task)
		require.NoError(t, err)
	}
	require.NoError(t, c.SetMinMembers("g", 4))
	gang := victims.Ask{Key: "x", Queue: a, Priority: 3, Members: []victims.Member{{Key: "m", Size: resources.Vector{1}}}}
	p := jobs.Planner{Cluster: c}
	var e victims.Explanation
	require.NoError(t, p.Explain(&e, &gang, noon))
	require.Equal(t, victims.Refused, e.Decision.Outcome)
	require.Len(t, e.Relaxations, 1)
	require.Equal(t, `if the budget web had more left (budget): 1 member, with 3 victims`, e.Relaxations[0].String())
}
