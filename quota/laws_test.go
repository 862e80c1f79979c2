// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// laws hold for every enforcement in every world.
var laws = []law.Law{
	{Name: "sound", Holds: propertySound},
	{Name: "law 2: never below a guarantee", Holds: propertyGuarantee},
	{Name: "exact frees no more than asked", Holds: propertyExact},
	{Name: "one task too much at most", Holds: propertyOneTask},
	{Name: "nothing is changed", Holds: propertyUnchanged},
	{Name: "order of tasks does not matter", Holds: propertyShuffled},
	{Name: "order of children does not matter but for ties", Holds: propertyTurned},
	{Name: "memory does not matter", Holds: propertyReused},
	{Name: "applied, it is enforced", Holds: propertyApplied},
	{Name: "stops say what stays", Holds: propertyStops},
	{Name: "fewest are no more, and free as much", Holds: propertyFewest},
	{Name: "who would not stop is as one that is bound to its node", Holds: propertyRefused},
}

func TestLaws(t *testing.T) { law.Check(t, laws) }

func FuzzLaws(f *testing.F) {
	seedFuzz(f)
	law.Fuzz(f, laws)
}

// draw draws a trial of any size.
func draw(t *rapid.T) *trial {
	return trials(of(t, "shape", world.Large, world.Crowded, world.Small)).Draw(t, "trial")
}

// The auditor, which knows the laws and none of the code, has nothing to say.
func propertySound(t *rapid.T) {
	c := draw(t)
	cluster := c.build(t)
	o := c.enforce(t, cluster)
	for _, v := range c.auditor(cluster).Audit(nil, o, o.Plan.At) {
		t.Errorf("%v", v)
	}
	if t.Failed() {
		t.Fatalf("%v\n%v", c, o.String())
	}
}

// Told once more, from the world: what each queue uses without the victims is
// at least its guarantee, or what it was.
func propertyGuarantee(t *rapid.T) {
	c := draw(t)
	gone := keys(c.enforce(t, c.build(t)))
	before := c.World.Usage(true)
	after := c.World
	after.Tasks = slices.DeleteFunc(slices.Clone(after.Tasks), func(t world.Task) bool { return slices.Contains(gone, t.Key) })
	usage := after.Usage(true)
	for _, q := range c.World.Queues() {
		for name, g := range q.Guaranteed {
			if usage[q.Path][name] < min(g, before[q.Path][name]) {
				t.Fatalf("%s: %d of %s, guaranteed %d, before %d\n%v", q.Path, usage[q.Path][name], name, g, before[q.Path][name], c)
			}
		}
	}
}

func propertyExact(t *rapid.T) {
	c := draw(t)
	c.Exact = true
	o := c.enforce(t, c.build(t))
	for i, want := range o.Enforcement.Target {
		if want > 0 && o.Enforcement.Freed[i] > want {
			t.Fatalf("%d of %d of type %d\n%v", o.Enforcement.Freed[i], want, i, c)
		}
	}
}

// With a single type a leaf overshoots by less than one task, and so does
// everything once it is trimmed. Tasks of a gang count together, if it goes as a
// whole.
func propertyOneTask(t *rapid.T) {
	c := draw(t)
	c.Exact = false
	first := c.World.Types[0]
	c.Max = world.Amounts{first: c.Max[first]}
	cluster := c.build(t)
	o := c.enforce(t, cluster)
	whole := make(map[string]int64)
	for _, v := range o.Plan.Victims {
		if v.Whole {
			whole[v.Job] += v.Size[0]
		}
	}
	for _, v := range o.Plan.Victims {
		task := cluster.Task(v.Task)
		if size := max(task.Size[0], whole[task.Job]); o.Enforcement.Freed[0]-o.Enforcement.Target[0] >= size {
			t.Fatalf("%d freed for %d, with %s of %d\n%v", o.Enforcement.Freed[0], o.Enforcement.Target[0], v.Key, size, c)
		}
	}
}

func propertyUnchanged(t *rapid.T) {
	c := draw(t)
	cluster := c.build(t)
	before, version := picture(cluster), cluster.Version()
	o := c.enforce(t, cluster)
	if o.Outcome != victims.Refused && o.Plan.Version != version || cluster.Version() != version || picture(cluster) != before {
		t.Fatalf("changed from\n%v to\n%v", before, picture(cluster))
	}
}

// picture writes down all that can be seen of the queues and tasks of a
// cluster.
func picture(c *victims.Cluster) string {
	var b strings.Builder
	b.WriteString(c.Tree().String())
	for id := range c.Tasks() {
		fmt.Fprintln(&b, id, c.Task(id))
	}
	return b.String()
}

func propertyShuffled(t *rapid.T) {
	c := draw(t)
	want := keys(c.enforce(t, c.build(t)))
	c.World.Tasks = rapid.Permutation(c.World.Tasks).Draw(t, "tasks")
	if got := keys(c.enforce(t, c.build(t))); !slices.Equal(want, got) {
		t.Fatalf("%v, and shuffled %v\n%v", want, got, c)
	}
}

func propertyRefused(t *rapid.T) {
	c := draw(t)
	until := map[string]time.Time{}
	for i := range c.World.Tasks {
		if task := &c.World.Tasks[i]; !task.State.Leaving() && rapid.IntRange(0, 2).Draw(t, "refuses") == 0 {
			until[task.Key] = world.Epoch.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "minutes")) * time.Minute)
		}
	}
	cluster := c.build(t)
	for key, at := range until {
		if _, err := cluster.Spare(key, at); err != nil {
			t.Fatal(err)
		}
	}
	o := c.enforce(t, cluster)
	for _, v := range c.auditor(cluster).Audit(nil, o, o.Plan.At) {
		t.Errorf("%v", v)
	}
	for i := range c.World.Tasks {
		task := &c.World.Tasks[i]
		task.RequiredNode = task.RequiredNode || until[task.Key].After(world.Epoch)
	}
	if want, got := keys(c.enforce(t, c.build(t))), keys(o); !slices.Equal(want, got) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, key := range keys(o) {
		if _, err := cluster.Spare(key, world.Epoch.Add(1)); err != nil {
			t.Fatal(err)
		}
		o.Plan.Version = cluster.Version()
		if found := c.auditor(cluster).Audit(nil, o, o.Plan.At); !slices.ContainsFunc(found, func(v victims.Violation) bool { return v.Law == "refused" && v.Victim == key }) {
			t.Errorf("%q refuses, and is told %v", key, found)
		}
	}
	if t.Failed() {
		t.Fatalf("%v\n%v", c, o.String())
	}
}

// Parts are the same whatever the order of children, unless it had to break a
// tie.
func propertyTurned(t *rapid.T) {
	c := draw(t)
	parts, tied := divideSlowly(c)
	if tied {
		return
	}
	c.World.Root = turn(c.World.Root)
	cluster := c.build(t)
	got := make(map[string]world.Amounts)
	for _, p := range c.enforce(t, cluster).Enforcement.Parts {
		if p.Amount == nil {
			continue
		}
		got[p.Queue] = world.AmountsOf(cluster, p.Amount)
	}
	if diff := cmp.Diff(parts, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s\n%v", diff, c)
	}
}

// turn returns a queue with children in the reverse order, all the way down.
func turn(q world.Queue) world.Queue {
	q.Children = slices.Clone(q.Children)
	slices.Reverse(q.Children)
	for i := range q.Children {
		q.Children[i] = turn(q.Children[i])
	}
	return q
}

// A warm enforcer gives a used outcome the same answer as new ones.
func propertyReused(t *rapid.T) {
	var e quota.Enforcer
	var o victims.Decision
	for range 3 {
		c := draw(t)
		cluster := c.build(t)
		want := c.enforce(t, cluster)
		fresh := c.enforcer(cluster)
		e.Cluster, e.NeverOvershoot, e.Order, e.Steps = cluster, fresh.NeverOvershoot, fresh.Order, fresh.Steps
		e.Enforced = fresh.Enforced
		if err := e.Enforce(&o, want.Plan.Ask.Queue, world.Epoch); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, &o, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(victims.Decision{}, victims.Help{}), cmp.AllowUnexported(victims.Refusal{}, victims.Protector{}, victims.Obstacle{}), cmpopts.EquateComparable(victims.Version{}, resources.Wide{})); diff != "" {
			t.Fatalf("%s\n%v", diff, c)
		}
	}
}

// Applied, the victims count as leaving: another enforcement finds the same
// shortfall and nobody to take. (With Exact there may be somebody, who had more
// of a type that is not over any more. And a gang that lost its members in other
// leaves may go as a whole now.) Undone, everything is as it was.
func propertyApplied(t *rapid.T) {
	c := draw(t)
	cluster := c.build(t)
	before, version := picture(cluster), cluster.Version()
	o := c.enforce(t, cluster)
	if o.Outcome == victims.Refused { // nobody goes
		return
	}
	if err := cluster.Apply(o); err != nil {
		t.Fatal(err)
	}
	again := c.enforce(t, cluster)
	if !slices.Equal(o.Enforcement.Shortfall, again.Enforcement.Target) || !c.Exact && again.Plan.Cost.Jobs == 0 && len(again.Plan.Victims) > 0 {
		t.Fatalf("again: %v\n%v", again.String(), c)
	}
	if err := cluster.Undo(); err != nil {
		t.Fatal(err)
	}
	if cluster.Version() != version || picture(cluster) != before {
		t.Fatalf("not undone\n%v", c)
	}
}

// What stays over is at most what stops are said to keep, and there are none
// where nothing stays.
func propertyStops(t *rapid.T) {
	c := draw(t)
	o := c.enforce(t, c.build(t))
	kept := make([]int64, len(o.Enforcement.Shortfall))
	for _, s := range o.Enforcement.Obstacles {
		kept[s.Type] += s.Amount
	}
	for i, short := range o.Enforcement.Shortfall {
		// All that is left is kept by something.
		if want := o.Enforcement.Usage[i] - o.Enforcement.Freed[i]; short > 0 && kept[i] != want || short == 0 && kept[i] != 0 {
			t.Fatalf("type %d: %d are left, %d kept\n%v", i, want, kept[i], c)
		}
	}
}

// Fewest takes no more victims than the default order, in no earlier level more, and frees as
// much of the target; of all leaves together it is the same beside fewest. Parts stay.
func propertyFewest(t *rapid.T) {
	c := draw(t)
	cluster := c.build(t)
	var before *victims.Decision
	for _, c.Order = range []quota.Order{quota.YoungestFirst, quota.Fewest, quota.FewestOfAll} {
		d := c.enforce(t, cluster)
		if before == nil {
			before = d
			continue
		}
		more := false
		for i, target := range d.Enforcement.Target {
			was, is := min(before.Enforcement.Freed[i], target), min(d.Enforcement.Freed[i], target)
			if more = more || is > was; is < was {
				t.Fatalf("%s frees %d of type %d, and it was %d\n%v", c.Order, is, i, was, c)
			}
		}
		was, is := levelsOf(before), levelsOf(d)
		for l := range is {
			if is[l] > was[l] && !more {
				t.Fatalf("%s costs %v, and it was %v\n%v", c.Order, is, was, c)
			}
		}
		before = d
	}
}

// levelsOf returns what a plan costs in the levels up to the number of victims.
func levelsOf(d *victims.Decision) []int64 {
	c := &d.Plan.Cost
	return []int64{int64(c.Originators), c.MaxPriority, int64(c.OptedOut), int64(c.Victims)}
}
