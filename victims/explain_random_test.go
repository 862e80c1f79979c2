// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/victims"
)

// What an explanation says of a random case is so: where a rule, relaxed,
// would have given a place, the case with that really changed has one, and
// where it would not, it has none.
func TestExplain_RelaxationsAreTrue(t *testing.T) { rapid.Check(t, propertyRelaxations) }

func FuzzExplainRelaxations(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(propertyRelaxations))
}

func propertyRelaxations(t *rapid.T) {
	c := world.Cases(world.Small).Draw(t, "case")
	e, _ := explain(t, c)
	if e.Decision.Outcome != victims.Refused || e.Decision.Refusal.Reason == victims.InFlight {
		if len(e.Relaxations) > 0 {
			t.Fatalf("%v relaxed of %v\n%v", e.Relaxations, e.Decision.Outcome, c)
		}
		return
	}
	found := make(map[victims.Relaxation]victims.Relaxation)
	for _, f := range e.Relaxations {
		found[victims.Relaxation{Rule: f.Rule, Queue: f.Queue, Node: f.Node, Key: f.Key, Budget: f.Budget}] = f
	}
	for r, changed := range changes(c) {
		d, ok := decideIfBuilt(t, changed)
		if !ok {
			continue
		}
		f, isFound := found[r]
		switch {
		case isFound && d.Outcome != f.Outcome:
			t.Fatalf("%+v is found to give %v, and gives %v; %v\n%v", r, f.Outcome, d.Outcome, d.Refusal.Reason, c)
		case !isFound && d.Outcome != victims.Refused:
			t.Fatalf("%+v gives %v, and is not found\n%v", r, d.Outcome, c)
		case isFound && r.Rule != "priority" && (d.Plan.Places[0].NodeName != f.Place || len(d.Plan.Victims) != f.Victims):
			t.Fatalf("%+v: %d victims for node %s, found %+v\n%v", r, len(d.Plan.Victims), d.Plan.Places[0].NodeName, f, c)
		}
	}
}

// decideIfBuilt decides a case, unless its bounds contradict each other now.
func decideIfBuilt(t *rapid.T, c *world.Case) (*victims.Decision, bool) {
	if _, err := world.Build(&c.World); err != nil {
		return nil, false
	}
	d, _ := decide(t, c)
	return d, true
}

// explain builds the world of a case and has its ask explained.
func explain(t *rapid.T, c *world.Case) (*victims.Explanation, *victims.Cluster) {
	cluster := build(t, &c.World)
	ask := askOf(t, cluster, &c.Ask)
	e := new(victims.Explanation)
	if err := world.PlannerOf(cluster, &c.Options).Explain(e, &ask, c.Options.Now); err != nil {
		t.Fatalf("%v\n%v", err, c)
	}
	return e, cluster
}

// A changeSet has, for every relaxation that can be expressed so, the case in
// which what it relaxes is changed.
type changeSet struct {
	of  *world.Case
	all map[victims.Relaxation]*world.Case
}

func (s *changeSet) add(r victims.Relaxation, change func(*world.Case)) {
	changed := copyCase(s.of)
	change(changed)
	s.all[r] = changed
}

// changes returns the changes of a case.
func changes(c *world.Case) map[victims.Relaxation]*world.Case {
	s := &changeSet{c, make(map[victims.Relaxation]*world.Case)}
	s.add(victims.Relaxation{Rule: "may-not-preempt"}, func(c *world.Case) { c.Ask.MayNot = false })
	s.add(victims.Relaxation{Rule: "delay"}, func(c *world.Case) { c.Ask.PendingSince = c.Options.Now.AddDate(-1, 0, 0) })
	s.add(victims.Relaxation{Rule: "interval"}, func(c *world.Case) { c.Options.Interval = 0 })
	if counts := func(t string) bool { return c.Ask.Size[t] > 0 && counts(c, t) }; !governed(c) && slices.ContainsFunc(c.World.Types, counts) {
		// A guarantee of the leaf itself is the least that can be given: nothing
		// else is in the leaf, and nobody could take from there.
		s.add(victims.Relaxation{Rule: "not-guaranteed"}, guaranteeAsk)
	}
	s.addQueues()
	for i, n := range c.World.Nodes {
		s.add(victims.Relaxation{Rule: "unschedulable", Node: n.Name}, func(c *world.Case) { c.World.Nodes[i].Unschedulable = false })
		s.add(victims.Relaxation{Rule: "reservation", Node: n.Name}, func(c *world.Case) { c.World.Nodes[i].ReservedFor = "" })
	}
	s.addTasks()
	return s.all
}

func (s *changeSet) addQueues() {
	for i, q := range s.of.World.Queues() {
		s.add(victims.Relaxation{Rule: "max", Queue: q.Path}, func(c *world.Case) { c.World.Queues()[i].Max = nil })
		if rule, ok := ruleOfPolicy[q.Properties["preemption.policy"]]; ok && i > 0 {
			s.add(victims.Relaxation{Rule: rule, Queue: q.Path}, func(c *world.Case) {
				c.World.Queues()[i].Properties["preemption.policy"] = "default"
			})
		}
		if !governs(s.of, q) {
			s.add(victims.Relaxation{Rule: "guarantee", Queue: q.Path}, func(c *world.Case) {
				c.World.Queues()[i].Guaranteed = nil
			})
		}
	}
}

func (s *changeSet) addTasks() {
	for i, task := range s.of.World.Tasks {
		s.add(victims.Relaxation{Rule: "same-application", Key: task.Key}, func(c *world.Case) { c.World.Tasks[i].Application = "app-other" })
		s.add(victims.Relaxation{Rule: "required-node", Key: task.Key}, func(c *world.Case) { c.World.Tasks[i].RequiredNode = false })
		s.add(victims.Relaxation{Rule: "exempt", Key: task.Key}, func(c *world.Case) { delete(c.Options.Exempt, task.Key) })
		if canBeLowered(s.of, &s.of.World.Tasks[i]) {
			s.add(victims.Relaxation{Rule: "priority", Key: task.Key}, func(c *world.Case) { c.World.Tasks[i].Priority = math.MinInt32 })
		}
	}
}

var ruleOfPolicy = map[string]string{"fence": "fence", "disabled": "disabled"}

// copyCase copies what changes may change.
func copyCase(c *world.Case) *world.Case {
	d := *c
	d.World.Root = copyQueue(&c.World.Root)
	d.World.Nodes = slices.Clone(c.World.Nodes)
	d.World.Tasks = slices.Clone(c.World.Tasks)
	d.Options.Exempt = maps.Clone(c.Options.Exempt)
	return &d
}

func copyQueue(q *world.Queue) world.Queue {
	c := *q
	c.Guaranteed, c.Max, c.Properties = maps.Clone(q.Guaranteed), maps.Clone(q.Max), maps.Clone(q.Properties)
	c.Children = nil
	for i := range q.Children {
		c.Children = append(c.Children, copyQueue(&q.Children[i]))
	}
	return c
}

// governed reports whether a queue governs a type of the ask.
func governed(c *world.Case) bool {
	return slices.ContainsFunc(c.World.Queues(), func(q world.Place) bool { return governs(c, q) })
}

// governs reports whether a queue governs a type of the ask: it is the nearest
// on the path that guarantees it.
func governs(c *world.Case, q world.Place) bool {
	path := world.Up(c.Ask.Queue)
	for t, v := range c.Ask.Size {
		if v == 0 {
			continue
		}
		nearest := slices.IndexFunc(path, func(p string) bool {
			return slices.ContainsFunc(c.World.Queues(), func(a world.Place) bool {
				_, ok := a.Guaranteed[t]
				return ok && a.Path == p
			})
		})
		if nearest >= 0 && path[nearest] == q.Path {
			return true
		}
	}
	return false
}

// counts reports whether guarantees of a type count.
func counts(c *world.Case, t string) bool {
	return c.Options.Scarce == nil || slices.Contains(c.Options.Scarce, t)
}

// guaranteeAsk guarantees the asking leaf a little more than it uses, of a type
// that is asked for and counts. It is too much where that is more than the leaf's max.
func guaranteeAsk(c *world.Case) {
	leaf := slices.IndexFunc(c.World.Queues(), func(q world.Place) bool { return q.Path == c.Ask.Queue })
	q := c.World.Queues()[leaf].Queue
	for _, t := range c.World.Types {
		if c.Ask.Size[t] > 0 && counts(c, t) {
			bounds := world.Amounts{t: c.World.Usage(true)[c.Ask.Queue][t] + 1}
			maps.Copy(bounds, q.Guaranteed)
			q.Guaranteed = bounds
			return
		}
	}
}

// canBeLowered reports whether a task of the lowest priority there is would be
// low enough for the ask: queues may raise it, or replace it.
func canBeLowered(c *world.Case, task *world.Task) bool {
	theirs, ours := int64(math.MinInt32), int64(c.Ask.Priority)
	if c.Ask.RequiredNode == "" {
		theirs, ours = lifted(c, task.Queue, c.Ask.Queue, theirs), lifted(c, c.Ask.Queue, task.Queue, ours)
	}
	return theirs < ours || theirs == ours && !c.Options.StrictPriority
}

// lifted lifts a priority from a leaf to below its common ancestor with another.
func lifted(c *world.Case, leaf, other string, priority int64) int64 {
	for _, path := range world.Up(leaf) {
		if world.Inside(other, path) {
			break
		}
		for _, q := range c.World.Queues() {
			if q.Path != path {
				continue
			}
			if q.Properties["priority.policy"] == "fence" {
				priority = 0
			}
			offset, err := strconv.ParseInt(q.Properties["priority.offset"], 10, 32)
			if err == nil {
				priority += offset
			}
		}
	}
	return priority
}

// Explain decides as Decide does, and its tables agree with the refusal.
func TestExplain_Agrees(t *testing.T) { rapid.Check(t, propertyExplainAgrees) }

func FuzzExplainAgrees(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(propertyExplainAgrees))
}

func propertyExplainAgrees(t *rapid.T) {
	c := world.Cases(world.Large).Draw(t, "case")
	before, _ := decide(t, c)
	e, cluster := explain(t, c)
	if diff := cmp.Diff(before, &e.Decision, cmpopts.IgnoreUnexported(victims.Decision{}, victims.Help{}), cmp.AllowUnexported(victims.Refusal{}, victims.Protector{}), byText[victims.Version]()); diff != "" {
		t.Fatalf("Decide (-) and Explain (+) differ:\n%s\n%v", diff, c)
	}

	counts := make(map[string]int)
	for i, f := range e.Tasks {
		counts[f.Rule]++
		if _, ok := cluster.Lookup(f.Key); !ok {
			t.Fatalf("%+v is about no task", f)
		}
		if i > 0 && e.Tasks[i-1].Key >= f.Key {
			t.Fatalf("%s comes after %s", f.Key, e.Tasks[i-1].Key)
		}
		if f.Victim != slices.ContainsFunc(before.Plan.Victims, func(v victims.Victim) bool { return v.Key == f.Key }) || f.Victim && f.Rule != "" {
			t.Fatalf("%+v, and the victims are %v\n%v", f, before.Plan.Victims, c)
		}
	}
	if len(e.Tasks) != len(c.World.Tasks) {
		t.Fatalf("%d findings about %d tasks", len(e.Tasks), len(c.World.Tasks))
	}
	if r := &before.Refusal; before.Outcome == victims.Refused && r.Reason == "no-victims" {
		want := make(map[string]int)
		if r.Candidates > 0 {
			want[""] = r.Candidates
		}
		for _, n := range r.Counts {
			want[n.Rule] = n.Tasks
		}
		if !maps.Equal(counts, want) {
			t.Fatalf("tasks are kept by rule as in %v, the refusal counts %v\n%v", counts, want, c)
		}
	}

	tasks, candidates := 0, 0
	for _, f := range e.Queues {
		tasks, candidates = tasks+f.Tasks, candidates+f.Candidates
	}
	if tasks != len(e.Tasks) || candidates != counts[""] || len(e.Queues) != cluster.Tree().Len() {
		t.Fatalf("queues have %d tasks and %d candidates, there are %d and %d\n%v", tasks, candidates, len(e.Tasks), counts[""], c)
	}
}

// byText compares values by their text: two clusters never share a version, but
// count theirs alike.
func byText[T fmt.Stringer]() cmp.Option {
	return cmp.Comparer(func(x, y T) bool { return x.String() == y.String() })
}
