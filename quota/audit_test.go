// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// audited is a cluster with an outcome that every mutation below spoils. Of the
// 20 slots that p will use, 12 may stay; a releases 4, b 8, so that parts are 3
// and 5.
func audited(t *testing.T) (*fixture, *victims.Auditor, *victims.Decision) {
	f := newFixture(t, inner("p", leaf("a", slots(5)), leaf("b"), leaf("busy")), leaf("other"))
	f.task("a1", "p.a", 3)
	f.task("a2", "p.a", 4, priority(1))
	f.task("a3", "p.a", 2, priority(2), withDisks(1))
	f.task("b1", "p.b", 4)
	f.task("b2", "p.b", 3, priority(1))
	f.task("b3", "p.b", 2, noSlots, withDisks(5))
	f.task("ds", "p.b", 1, requiredNode)
	f.task("busy", "p.busy", 3)
	f.task("other", "other", 3)
	f.task("gone", "p.b", 3, leaving)
	busy := f.queue("p.busy")
	f.e.Enforced = func(q queue.ID) bool { return q == busy }
	o := f.enforce("p", slots(12))
	require.Equal(t, []string{"a1", "b1", "b2"}, keys(o))
	return f, &victims.Auditor{Cluster: f.c, Options: f.e.Options}, o
}

// Each mutation of a sound outcome is found, and told by the laws it breaks.
func TestAudit_Mutations(t *testing.T) {
	type o = victims.Decision
	row := func(f *fixture, key string) victims.Victim {
		id, _ := f.c.Lookup(key)
		return victims.Victim{Task: id, Key: key}
	}
	join := func(keys ...string) func(*fixture, *o) {
		return func(f *fixture, o *o) {
			for _, key := range keys {
				o.Plan.Victims = append(o.Plan.Victims, row(f, key))
			}
		}
	}
	swap := func(out, in string) func(*fixture, *o) {
		return func(f *fixture, o *o) {
			i := slices.Index(keys(o), out)
			o.Plan.Victims = slices.Delete(o.Plan.Victims, i, i+1)
			join(in)(f, o)
		}
	}
	for _, test := range []struct {
		name   string
		mutate func(*fixture, *o)
		want   []string // among others
	}{
		{"no such queue", func(_ *fixture, o *o) { o.Plan.Ask.Queue = 99 }, []string{"queue: no queue of the tree"}},
		{"a queue below all", func(_ *fixture, o *o) { o.Plan.Ask.Queue = -1 }, []string{"queue: no queue of the tree"}},
		{"usage", func(_ *fixture, o *o) { o.Enforcement.Usage[0] = 7 }, []string{"usage: slots 7 used, want what the cluster has, 20"}},
		{"target", func(_ *fixture, o *o) { o.Enforcement.Target = nil }, []string{"target: slots 0 as target, want what is over max, 8"}},
		{"another max", func(_ *fixture, o *o) { o.Enforcement.Max = slots(15) }, []string{
			"target: slots 8 as target, want what is over max, 5", `minimal: victim a1: can be given back`}},
		{"freed", func(_ *fixture, o *o) { o.Enforcement.Freed[1] = 2 }, []string{"freed: disks 2 said to be freed, want what the victims have, 0"}},
		{"shortfall", func(_ *fixture, o *o) { o.Enforcement.Shortfall[0] = 2 }, []string{"shortfall: slots 2 said to be short, want what is left of the target, 0"}},
		{"result", func(_ *fixture, o *o) { o.Enforcement.Result = "partial" }, []string{"result: not what shortfall and victims make it"}},
		{"no such task", func(_ *fixture, o *o) { o.Plan.Victims[0].Key = "nobody" }, []string{
			`known: victim nobody: no task of this row and key`, "freed: slots 10 said to be freed, want what the victims have, 7"}},
		{"the row of another", func(_ *fixture, o *o) { o.Plan.Victims[0].Task++ }, []string{`known: victim a1: no task of this row and key`}},
		{"named twice", join("b1"), []string{`once: victim b1: named before`}},
		{"leaving", join("gone"), []string{`leaving: victim gone: leaving already`}},
		{"bound to a node", join("ds"), []string{`required-task: victim ds: can run on its node only`}},
		{"of another queue", join("other"), []string{`inside: victim other: not below the queue`}},
		{"being enforced", join("busy"), []string{`enforced: victim busy: in a queue that is being enforced already`}},
		{"of no use", join("b3"), []string{`helpful: victim b3: has no type of the target`, `minimal: victim b3: can be given back`}},
		{"too much of a leaf", join("a2"), []string{"guarantee (law 2): root.p.a: slots 2 after the plan, want at least 5", `minimal: victim a1: can be given back`}},
		{"one too many", join("a3"), []string{`minimal: victim a1: can be given back`}}, // 2 more than the 10
		{"one too few", func(_ *fixture, o *o) { o.Plan.Victims = o.Plan.Victims[:2] }, []string{
			"result: not what shortfall and victims make it", `spared: task b2: could be taken, and usage stays over`}},
		{"one for a smaller one", swap("b2", "a3"), []string{"guarantee (law 2): root.p.a: slots 4 after the plan, want at least 5"}},
		{"a part too small", func(_ *fixture, o *o) { o.Enforcement.Parts[0].Amount[0]-- }, []string{"parts: root.p: slots 7 as part, want its share of the target, 8"}},
		{"a part too large", func(_ *fixture, o *o) { o.Enforcement.Parts[0].Amount[0], o.Enforcement.Parts[1].Amount[0] = 5, 5 }, []string{"parts: root.p.a: slots 5 as part, want its share of the target, 4"}},
		{"parts out of order", func(_ *fixture, o *o) { slices.Reverse(o.Enforcement.Parts) }, []string{"parts: not in tree order, or not below the queue"}},
		{"a part outside", func(_ *fixture, o *o) { o.Enforcement.Parts[1].Queue = "root.other" }, []string{"parts: not in tree order, or not below the queue"}},
		{"a part of the queue itself", func(_ *fixture, o *o) { o.Enforcement.Parts[0].Queue = "root.p" }, []string{"parts: not in tree order, or not below the queue"}},
		{"a leaf with more victims", func(f *fixture, o *o) { o.Enforcement.Parts[1].Victims = 3 }, []string{"leaf: root.p.b: not so many victims"}},
		{"a leaf that frees more", func(f *fixture, o *o) { o.Enforcement.Parts[1].Freed[0] = 8 }, []string{"leaf: root.p.b: slots 8 said to be freed, want what its victims have, 7"}},
		{"outcome", func(_ *fixture, o *o) { o.Outcome = victims.Fits }, []string{"result: not what shortfall and victims make it"}},
		{"overrun", func(_ *fixture, o *o) { o.Plan.Cost.Overrun = 1 }, []string{"overrun: 1 said to overrun soft budgets, want what the victims make it, 0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, a, o := audited(t)
			test.mutate(f, o)
			var got []string
			for _, v := range a.Audit(nil, o, o.Plan.At) {
				got = append(got, v.String())
			}
			for _, want := range test.want {
				require.Contains(t, got, want)
			}
		})
	}
}

// A gang that went as a whole, of which 4 slots were to go, is told of if fewer of its
// members would do, one by one.
func TestAudit_PartOfGang(t *testing.T) {
	for _, test := range []struct {
		name  string
		sizes []int64
		keeps int
		want  string
	}{
		{"the first would do", []int64{4, 2, 2}, 2, "minimal: victim g1: can be given back"},
		{"the last would do", []int64{2, 2, 4}, 2, "minimal: victim g1: can be given back"},
		{"two would do", []int64{3, 3, 2}, 1, "minimal: victim g1: can be given back"},
		{"none would do", []int64{3, 3, 2}, 2, ""},
		{"none goes alone", []int64{4, 2, 2}, 3, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, leaf("a"))
			for i, size := range test.sizes {
				f.task("g"+string(rune('1'+i)), "a", size, job("g"))
			}
			f.minimums(map[string]int{"g": 3})
			o := f.enforce("a", slots(4))
			require.Equal(t, []string{"g1", "g2", "g3"}, keys(o))
			f.minimums(map[string]int{"g": test.keeps})
			var got string
			for _, v := range (&victims.Auditor{Cluster: f.c, Options: f.e.Options}).Audit(nil, o, o.Plan.At) {
				got += v.String()
			}
			require.Equal(t, test.want, got)
		})
	}
}

// With Exact neither the whole nor a leaf may free more than it was asked for.
func TestAudit_Exact(t *testing.T) {
	f, a, o := audited(t)
	a.NeverOvershoot = true
	require.Equal(t, "exact: slots 10 freed, want at most 8", a.Audit(nil, o, o.Plan.At)[0].String())
	o = f.enforce("p", slots(10)) // parts are 3 and 7
	require.Equal(t, []string{"a1", "b1", "b2"}, keys(o))
	require.Empty(t, a.Audit(nil, o, o.Plan.At))
	o.Enforcement.Parts[0].Asked[0] = 2
	require.Equal(t, "exact: root.p.a: slots 3 freed, want at most 2", a.Audit(nil, o, o.Plan.At)[0].String())
}

// An audit never panics, whatever is in the outcome.
func TestAudit_Garbage(t *testing.T) { rapid.Check(t, propertyGarbage) }

func FuzzAudit(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(propertyGarbage))
}

func propertyGarbage(t *rapid.T) {
	c := draw(t)
	cluster := c.build(t)
	o := c.enforce(t, cluster)
	garbage := rapid.Custom(func(t *rapid.T) resources.Vector {
		return rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(-3, 9), rapid.Just[int64](math.MaxInt64), rapid.Just[int64](math.MinInt64)), 0, 4).Draw(t, "vector")
	})
	id := rapid.Map(rapid.Int32Range(-2, 12), func(i int32) queue.ID { return queue.ID(i) })
	path := rapid.SampledFrom([]string{"", "root", "root.p", "root.p.a", "root.p.b", "root.other", "root.nobody"})
	for range below(t, "mutations", 4) + 1 {
		switch below(t, "what", 9) {
		case 0:
			o.Plan.Ask.Queue = id.Draw(t, "queue")
		case 1:
			o.Enforcement.Max = resources.Limit{Value: garbage.Draw(t, "max"), Defined: resources.Mask(rapid.Uint64().Draw(t, "defined"))}
		case 2:
			o.Enforcement.Usage, o.Enforcement.Target = garbage.Draw(t, "usage"), garbage.Draw(t, "target")
		case 3:
			o.Enforcement.Freed, o.Enforcement.Shortfall = garbage.Draw(t, "freed"), garbage.Draw(t, "shortfall")
		case 4:
			o.Enforcement.Parts = append(o.Enforcement.Parts, victims.Part{Queue: path.Draw(t, "queue"), Amount: garbage.Draw(t, "part")})
		case 5:
			o.Enforcement.Parts = append(o.Enforcement.Parts, victims.Part{Queue: path.Draw(t, "queue"), Asked: garbage.Draw(t, "asked"), Freed: garbage.Draw(t, "freed")})
		case 6:
			o.Plan.Victims = append(o.Plan.Victims, victims.Victim{Task: victims.TaskID(below(t, "row", 80) - 1), Key: of(t, "key", "t3", "t10", "g0", "")})
		case 7:
			o.Plan.Victims = nil
		case 8:
			o.Enforcement.Result = of(t, "result", "", "met", "partial", "impossible", "x")
		}
	}
	for _, v := range c.auditor(cluster).Audit(nil, o, o.Plan.At) {
		if v.String() == "" {
			t.Fatal("a violation without words")
		}
	}
}
