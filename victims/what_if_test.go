// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/choices"
	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// ofNodes are the laws that a WhatIf leaves to those who search: what depends on
// the node, and whether others or fewer would do. Law 5 follows from law 2.
var ofNodes = map[string]bool{
	finding.LawOptedOut: true, finding.LawSurplus: true, finding.LawNearby: true, finding.LawHelpful: true,
	finding.LawSchedulable: true, finding.LawReserved: true, finding.LawFilter: true, finding.LawRoom: true,
	finding.LawBlocker: true, finding.LawPredicate: true, finding.LawMinimal: true,
}

// whatIfAgreesWithAuditor changes a set at random and holds every answer against
// an audit of the set.
func whatIfAgreesWithAuditor(t *rapid.T) {
	w := drawAuditWorld(t)
	w.drawRules(t)
	w.planner.WithinQueue = w.auditor.WithinQueue
	choices.Of(&w.auditor.Options).Set(&w.planner.Options)
	node := rapid.SampledFrom(slices.Collect(w.cluster.Nodes())).Draw(t, "node")
	if w.ask.RequiredNode != "" {
		node, _ = w.cluster.LookupNode(w.ask.RequiredNode)
	}
	x := victims.WhatIf{Cluster: w.cluster, Options: w.planner.Options}
	err := x.Open(&w.ask, auditNow)
	if _, held := w.cluster.LookupGrant(w.ask.Key); held {
		require.ErrorIs(t, err, victims.ErrState)
		return
	}
	require.NoError(t, err)
	before := w.cluster.Version()
	set := map[string]victims.TaskID{}
	for range rapid.IntRange(0, 12).Draw(t, "changes") {
		id := rapid.SampledFrom(slices.Collect(w.cluster.Tasks())).Draw(t, "task")
		key := w.cluster.Key(id)
		_, known := w.cluster.Lookup(key)
		_, in := set[key]
		if rapid.IntRange(0, 2).Draw(t, "back") == 0 {
			require.Equal(t, in, x.TakeBack(id), key)
			delete(set, key)
		} else {
			require.Equal(t, known && !in, x.Preempt(id), key)
			if known {
				set[key] = id
			}
		}
		w.holdAgainst(t, &x, node, set)
	}
	w.holdAgainst(t, &x, node, set)
	require.Equal(t, before, w.cluster.Version())
	require.NoError(t, x.Open(&w.ask, auditNow), "again")
	w.holdAgainst(t, &x, node, nil)
}

// holdAgainst compares the answers about a set with those of the auditor.
func (w *auditWorld) holdAgainst(t *rapid.T, x *victims.WhatIf, node victims.NodeID, set map[string]victims.TaskID) {
	p := victims.Plan{Ask: w.ask, Places: []victims.Place{{Node: node}}}
	for key, id := range set {
		p.Victims = append(p.Victims, victims.Victim{Task: id, Key: key})
	}
	slices.SortFunc(p.Victims, func(a, b victims.Victim) int { return int(a.Task - b.Task) })
	lawful, mayFit := true, true
	found := w.auditor.Audit(nil, decided(&p), auditNow)
	for _, v := range found {
		if v.Law == finding.LawHeadroom {
			mayFit = false
		} else if !ofNodes[v.Law] {
			lawful = false
		}
	}
	require.Equal(t, lawful, x.Lawful(), "lawful with %v: %v", set, found)
	require.Equal(t, mayFit, x.MayFit(), "fits with %v: %v", set, found)
}

func TestWhatIf_AgreesWithAuditor(t *testing.T) { rapid.Check(t, whatIfAgreesWithAuditor) }
func FuzzWhatIfAgreesWithAuditor(f *testing.F)  { f.Fuzz(rapid.MakeFuzz(whatIfAgreesWithAuditor)) }

// deepWorld is a chain of three queues and leaves below it, each bounded and
// guaranteed, with so many tasks on a node.
func deepWorld(t testing.TB, tasks int) (*jobs.Planner, *victims.Ask) {
	limit := func(n int64) resources.Limit {
		return resources.Limit{Value: resources.Vector{n, n}, Defined: 3}
	}
	schema, err := resources.NewSchema("cpu", "memory")
	require.NoError(t, err)
	low := queue.Config{Name: "low", Guaranteed: limit(5), Max: limit(1000)}
	high := queue.Config{Name: "high", Guaranteed: limit(50), Max: limit(1000)}
	team := queue.Config{Name: "team", Guaranteed: limit(int64(tasks) + 2), Max: limit(int64(tasks) + 2), Children: []queue.Config{low, high}}
	all := queue.Config{Name: "all", Guaranteed: limit(int64(tasks) + 2), Max: limit(2000), Children: []queue.Config{team}}
	tree, err := queue.NewLenient(schema, queue.Config{Name: "root", Children: []queue.Config{all}})
	require.NoError(t, err)
	c := victims.NewCluster(tree)
	_, err = c.AddNode(&victims.Node{Name: "n", Capacity: resources.Vector{int64(tasks), int64(tasks)}})
	require.NoError(t, err)
	require.NoError(t, c.SetBudget("b", victims.Budget{Left: 4, Hard: true}))
	leaf, _ := tree.Lookup("root.all.team.low")
	for i := range tasks {
		_, err := c.AddTask(&victims.Task{
			Key: fmt.Sprint("t", i), Queue: leaf, NodeName: "n", Size: resources.Vector{1, 1}, Budgets: []string{"b"},
		})
		require.NoError(t, err)
	}
	leaf, _ = tree.Lookup("root.all.team.high")
	return &jobs.Planner{Cluster: c}, &victims.Ask{
		Key: "ask", Queue: leaf, Size: resources.Vector{4, 4}, Priority: 1, PendingSince: now.Add(-time.Hour),
	}
}

func TestWhatIf_CountsSums(t *testing.T) {
	p, ask := deepWorld(t, 8)
	x := victims.WhatIf{Cluster: p.Cluster}
	require.False(t, x.Lawful() || x.MayFit() || x.Preempt(0), "not open")
	require.NoError(t, x.Open(ask, now))
	type answer struct{ mayFit, lawful bool }
	var answers []answer
	for id := range p.Cluster.Tasks() {
		answers = append(answers, answer{x.MayFit(), x.Lawful()})
		require.True(t, x.Preempt(id))
	}
	yes, no := true, false
	require.Equal(t, []answer{
		{no, yes}, {no, yes}, {yes, yes}, {yes, yes}, // two make headroom
		{yes, no}, {yes, no}, {yes, no}, {yes, no}, // with four, low is under its guarantee
	}, answers)
	require.NoError(t, p.Cluster.RemoveTask("t0"))
	require.False(t, x.Lawful() || x.MayFit() || x.TakeBack(1), "another cluster now")
	require.NoError(t, x.Open(ask, now))
	require.True(t, x.Lawful())
	require.False(t, x.Preempt(0), "a row that is gone")
	require.False(t, x.Preempt(-1) || x.Preempt(1000) || x.TakeBack(-1), "rows out of range")
}

// What the queue says comes before the option: with branch the other leaf gives too, and a
// guarantee once met stays met.
func TestWhatIf_OwnLeafOfTheQueue(t *testing.T) {
	f := newFixture(t, queue.Config{Children: []queue.Config{{Name: "p", Guaranteed: slots(10), Policies: queue.Policies{WithinQueue: queue.Branch}, Children: []queue.Config{
		{Name: "own"}, {Name: "other"},
	}}}})
	f.node("n", 10)
	f.task("o", "p.own", "n", 4)
	f.task("s", "p.other", "n", 3)
	f.task("rest", "p.other", "n", 3)
	ask := f.ask("ask", "p.own", 3)
	ask.Priority = 1
	x := victims.WhatIf{Cluster: f.c}
	require.NoError(t, x.Open(ask, now))
	o, _ := f.c.Lookup("o")
	s, _ := f.c.Lookup("s")
	require.True(t, x.Preempt(s))
	require.True(t, x.Lawful())
	require.True(t, x.Preempt(o))
	require.False(t, x.Lawful())
	require.True(t, x.TakeBack(s))
	require.False(t, x.Lawful(), "4 go, and 3 come")
}

func TestWhatIf_WarmAllocatesNothing(t *testing.T) {
	p, ask := deepWorld(t, 20)
	require.NoError(t, p.Cluster.SetMinMembers("gang", 2)) // so that jobs are looked at
	x := victims.WhatIf{Cluster: p.Cluster}
	round := func() {
		if x.Open(ask, now) != nil {
			t.Fatal("not opened")
		}
		for id := range p.Cluster.Tasks() {
			x.Preempt(id)
			x.Lawful()
		}
		for id := range p.Cluster.Tasks() {
			x.TakeBack(id)
			x.MayFit()
		}
	}
	round()
	require.Zero(t, testing.AllocsPerRun(20, round))
}

// BenchmarkWhatIf changes a set four queues deep, and asks about it.
func BenchmarkWhatIf(b *testing.B) {
	p, ask := deepWorld(b, 64)
	x := victims.WhatIf{Cluster: p.Cluster}
	require.NoError(b, x.Open(ask, now))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		id := victims.TaskID(i / 2 % 64)
		if i%2 == 0 {
			x.Preempt(id)
		} else {
			x.TakeBack(id)
		}
		_, _ = x.MayFit(), x.Lawful()
	}
}

// Only tasks inside the needy queue make room under its max, and none of them may go: there
// are lawful sets, sets that make headroom, and none that is both.
func TestWhatIf_HeadroomInside(t *testing.T) {
	f := newFixture(t, queue.Config{Children: []queue.Config{
		{Name: "p", Guaranteed: slots(9), Max: slots(9), Children: []queue.Config{{Name: "x"}, {Name: "y"}}}, {Name: "z"},
	}})
	f.node("n", 12)
	f.task("inside", "p.y", "n", 8)
	f.task("outside", "z", "n", 4)
	p, ask := &jobs.Planner{}, f.ask("ask", "p.x", 2)
	require.Equal(t, "headroom-inside", f.decide(p, ask).Refusal.Reason)
	x := victims.WhatIf{Cluster: p.Cluster}
	require.NoError(t, x.Open(ask, now))
	inside, _ := f.c.Lookup("inside")
	outside, _ := f.c.Lookup("outside")
	require.True(t, x.Preempt(outside))
	require.Equal(t, [2]bool{true, false}, [2]bool{x.Lawful(), x.MayFit()})
	require.True(t, x.Preempt(inside))
	require.Equal(t, [2]bool{false, true}, [2]bool{x.Lawful(), x.MayFit()})
}
