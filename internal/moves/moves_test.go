// SPDX-License-Identifier: Apache-2.0

package moves_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/internal/moves"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Two teams within their guarantees have a small task on each of two nodes, and neither
// node has room for a large one. Nobody may stop. One of them may move.
func TestDecide_Fragments(t *testing.T) {
	c, ask := fragments(t, 8, 1)
	p := planner(c)
	world.LetMove(c, 0, nil)
	var d victims.Decision
	version := c.Version()
	require.NoError(t, p.Decide(&d, &ask, world.Epoch))
	require.Equal(t, victims.Preempts, d.Outcome, d.String())
	require.Len(t, d.Plan.Moves, 1)
	require.Equal(t, "b1", d.Plan.Moves[0].Key)
	require.Equal(t, "n1", d.Plan.Places[0].NodeName)
	require.True(t, d.Plan.Proof == victims.ProofCost)
	require.Equal(t, version, c.Version())
	audit := victims.Auditor{Cluster: c, Options: p.Options}
	require.Empty(t, audit.Audit(nil, &d, world.Epoch))

	require.NoError(t, c.Apply(&d))
	require.NoError(t, c.RemoveTask("b1"))
	require.NoError(t, c.Start("b1+", world.Epoch))
	require.NoError(t, c.Start("a1", world.Epoch))
}

// fragments is a cluster of two nodes with a small task of team b on each, and a large ask of
// team a.
func fragments(t *testing.T, guaranteed int64, priority int32) (*victims.Cluster, victims.Ask) {
	gpu := func(n int64) world.Amounts { return world.Amounts{"gpu": n} }
	w := &world.World{
		Types: []string{"gpu"},
		Root: world.Queue{Name: "root", Children: []world.Queue{
			{Name: "a", Guaranteed: gpu(8)}, {Name: "b", Guaranteed: gpu(guaranteed)},
		}},
		Nodes: []world.Node{{Name: "n1", Capacity: gpu(8)}, {Name: "n2", Capacity: gpu(8)}},
		Tasks: []world.Task{
			{Key: "b1", Queue: "root.b", Node: "n1", Size: gpu(2), Priority: priority},
			{Key: "b2", Queue: "root.b", Node: "n2", Size: gpu(2), Priority: priority},
		},
	}
	c, err := world.Build(w)
	require.NoError(t, err)
	ask, err := world.AskOf(c, &world.Ask{Key: "a1", Queue: "root.a", Size: gpu(8), Priority: 1})
	require.NoError(t, err)
	return c, ask
}

// To stop nobody is cheaper than any stop, also if the sum of priorities is below 0 then.
func TestDecide_NobodyStops(t *testing.T) {
	c, ask := fragments(t, 0, -5)
	p := planner(c)
	var d victims.Decision
	require.NoError(t, p.Decide(&d, &ask, world.Epoch))
	require.Equal(t, victims.Preempts, d.Outcome)
	require.Negative(t, d.Plan.Cost.MaxPriority)
	world.LetMove(c, 0, nil)
	require.NoError(t, p.Decide(&d, &ask, world.Epoch))
	require.Equal(t, victims.Preempts, d.Outcome)
	require.Len(t, d.Plan.Moves, 1)
}

// What is too small for the ask may be enough for a mover: a refusal is worth another try
// after any change.
func TestDecide_Help(t *testing.T) {
	c, ask := fragments(t, 8, 0)
	require.NoError(t, c.Resize("b2", resources.Vector{7}))
	require.NoError(t, c.Resize("b1", resources.Vector{2}))
	p := planner(c)
	world.LetMove(c, 0, nil)
	var d victims.Decision
	require.NoError(t, p.Decide(&d, &ask, world.Epoch))
	without := stay(t, &p, &ask, world.Epoch)
	require.Equal(t, victims.Refused, d.Outcome)
	require.False(t, d.Refusal.Help.MayHaveChanged(c, world.Epoch))

	require.NoError(t, c.Resize("b2", resources.Vector{6}))
	require.False(t, without.Refusal.Help.MayHaveChanged(c, world.Epoch), "2 are free, and the ask wants 8")
	require.True(t, d.Refusal.Help.MayHaveChanged(c, world.Epoch))
	require.NoError(t, p.Decide(&d, &ask, world.Epoch))
	require.Equal(t, victims.Preempts, d.Outcome)
}

// A task that may not move yet may move later, and so may one that no node takes yet: RetryAt says when.
func TestDecide_RetryAt(t *testing.T) {
	end := world.Epoch.Add(10 * time.Minute)
	for name, set := range map[string]func(c *victims.Cluster, o *victims.Options){
		"refused": func(c *victims.Cluster, _ *victims.Options) {
			for _, key := range []string{"b1", "b2"} {
				_, err := c.Spare(key, end)
				require.NoError(t, err)
			}
		},
		"exempt": func(_ *victims.Cluster, o *victims.Options) {
			o.Exempt = func(q *victims.Question) (time.Time, bool) { return end, q.Now.Before(end) }
		},
		"filter": func(c *victims.Cluster, o *victims.Options) {
			o.Filter = func(q *victims.Question) bool {
				q.Until = end
				return q.Ask.Key == "a1" || !q.Now.Before(end)
			}
		},
		"filter of who asks": func(c *victims.Cluster, o *victims.Options) {
			o.Filter = func(q *victims.Question) bool {
				q.Until = end
				return q.Ask.Key != "a1" || !q.Now.Before(end)
			}
		},
	} {
		c, ask := fragments(t, 8, 0)
		world.LetMove(c, 0, nil)
		var o victims.Options
		set(c, &o)
		p := planned(c, o)
		var d victims.Decision
		require.NoError(t, p.Decide(&d, &ask, world.Epoch))
		require.Equal(t, victims.Refused, d.Outcome, name)
		require.True(t, d.Refusal.Proven, name)
		require.Equal(t, end, d.Refusal.RetryAt, name)
		require.False(t, d.Refusal.Help.MayHaveChanged(c, end.Add(-1)), name)
		require.True(t, d.Refusal.Help.MayHaveChanged(c, end), name)
		require.NoError(t, p.Decide(&d, &ask, end))
		require.Len(t, d.Plan.Moves, 1, name)
	}
}

// said tells who moves.
func said(d *victims.Decision) (s string) {
	for i := range d.Plan.Moves {
		m := &d.Plan.Moves[i]
		s += fmt.Sprintf("%s moves from %s to %s\n", m.Key, m.FromName, m.ToName)
	}
	return s
}

// planner makes one that moves tasks for who may preempt.
func planner(c *victims.Cluster) jobs.Planner { return planned(c, victims.Options{}) }

func planned(c *victims.Cluster, o victims.Options) jobs.Planner {
	o.Moves = victims.MovesEntitled
	return jobs.Planner{Cluster: c, Options: o}
}

// stay decides without moves.
func stay(t require.TestingT, p *jobs.Planner, ask *victims.Ask, now time.Time) (d victims.Decision) {
	o := p.Options
	o.Moves = ""
	require.NoError(t, (&jobs.Planner{Cluster: p.Cluster, Options: o}).Decide(&d, ask, now))
	return d
}

// hasty decides about an ask as in a large cluster.
func hasty(t require.TestingT, p *jobs.Planner, ask *victims.Ask, now time.Time) victims.Decision {
	d, search := stay(t, p, ask, now), moves.Search{Hasty: true}
	require.NoError(t, search.Improve(&d, moves.Case{
		Options: &p.Options, Cluster: p.Cluster, Ask: ask, Now: now,
		Decide: func(d *victims.Decision, c *victims.Cluster, only victims.NodeID, stop func() bool) error {
			trial := jobs.Planner{Cluster: c, Options: p.Options}
			trial.Moves, trial.Stop = "", stop
			trial.Filter = func(q *victims.Question) bool { return q.Node == only && (p.Filter == nil || p.Filter(q)) }
			return trial.Decide(d, ask, now)
		},
	}))
	return d
}

// A town is a random case in which some tasks may move.
type town struct {
	k       *world.Case
	m       oracle.Moving
	c       *victims.Cluster
	ask     victims.Ask
	planner jobs.Planner
}

func drawTown(t *rapid.T) *town {
	shape := world.Small
	switch rapid.IntRange(0, 4).Draw(t, "features") {
	case 0:
		shape = shape.With(world.Everything)
	case 1:
		shape = shape.With(world.WithBudgets | world.WithGrants)
	case 2:
		shape.Types = 1
	}
	shape.Tasks = 8
	k := world.Cases(shape).Draw(t, "case")
	m := oracle.Moving{Movable: map[string]bool{}, Closed: map[string]bool{}}
	for i := range k.World.Tasks {
		m.Movable[k.World.Tasks[i].Key] = rapid.IntRange(0, 3).Draw(t, "movable") > 0
	}
	for i := range k.World.Nodes {
		m.Closed[k.World.Nodes[i].Name] = rapid.IntRange(0, 5).Draw(t, "closed") == 5
		// Room to move to.
		if more := rapid.IntRange(0, 2).Draw(t, "more"); more > 0 && i > 0 {
			for name, v := range k.World.Nodes[i].Capacity {
				k.World.Nodes[i].Capacity[name] = v + int64(more)
			}
		}
	}
	if len(k.World.Tasks) > 1 && rapid.IntRange(0, 2).Draw(t, "pair") == 0 {
		pair(t, k, m.Movable)
	}
	m.Any = rapid.Bool().Draw(t, "any")
	m.Most = rapid.Int64Range(0, 2).Draw(t, "most")

	c, err := world.Build(&k.World)
	require.NoError(t, err)
	ask, err := world.AskOf(c, &k.Ask)
	require.NoError(t, err)
	p := planned(c, world.CasePlanner(c, k).Options)
	if p.MaxMoved = m.Most; m.Any {
		p.Moves = victims.MovesAny
	}
	world.LetMove(c, 1, func(key string) bool { return m.Movable[key] })
	if filter := p.Filter; true {
		p.Filter = func(q *victims.Question) bool {
			if q.Member.Class == 1 {
				return !m.Closed[c.NodeName(q.Node)]
			}
			return filter == nil || filter(q)
		}
	}
	if blockers := p.Blockers; blockers != nil {
		p.Blockers = func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
			if q.Ask.Key != ask.Key {
				return dst // movers need no port
			}
			return blockers(dst, q)
		}
	}
	return &town{k: k, m: m, c: c, ask: ask, planner: p}
}

// pair makes a gang of two tasks, in a cluster with racks: most often on two nodes.
func pair(t *rapid.T, k *world.Case, movable map[string]bool) {
	for i := range k.World.Nodes {
		k.World.Nodes[i].Domains = rapid.SampledFrom([][]string{nil, {"r1"}, {"r1"}, {"r2"}}).Draw(t, "rack")
	}
	a, b := &k.World.Tasks[0], &k.World.Tasks[1]
	b.Queue, b.Application = a.Queue, a.Application
	minimums := map[string]int{"pair": 2}
	maps.Copy(minimums, k.Options.Minimums)
	k.Options.Minimums = minimums
	for _, task := range []*world.Task{a, b} {
		task.Job, movable[task.Key] = "pair", true
	}
}

func (w *town) decide(t *rapid.T) (d victims.Decision) {
	version := w.c.Version()
	require.NoError(t, w.planner.Decide(&d, &w.ask, w.k.Options.Now))
	require.Equal(t, version, w.c.Version())
	w.lawful(t, &d)
	require.Equal(t, version, w.c.Version())
	return d
}

// lawful asserts that no law is broken.
func (w *town) lawful(t *rapid.T, d *victims.Decision) {
	if d.Outcome != victims.Refused {
		audit := victims.Auditor{Cluster: w.c, Options: w.planner.Options}
		require.Empty(t, audit.Audit(nil, d, w.k.Options.Now), d.String())
	}
}

// A text is written only if it is read.
type text func() string

func (f text) String() string { return f() }

// The search agrees with one that looks at every set of movers and every place.
func propertyMoves(t *rapid.T) {
	w := drawTown(t)
	k, m, c := w.k, w.m, w.c
	d := w.decide(t)

	want := oracle.DecideMoves(k, &m)
	if len(want.Moved) > 0 {
		want.Outcome = oracle.Preempts // who moves has to be told
	}
	say := text(func() string { return d.String() + fmt.Sprintf("%v, want %+v\n%v", d.Plan.Moves, want, k) })
	require.Equal(t, want.Outcome, d.Outcome.String(), say)
	if want.Outcome == oracle.Preempts {
		require.Equal(t, want.Cost.Victims, len(d.Plan.Victims), say)
		require.Equal(t, want.Cost.OptedOut, d.Plan.Cost.OptedOut, say)
	}
	require.Len(t, d.Plan.Moves, len(want.Moved), say)
	optedOut := 0
	for i := range d.Plan.Moves {
		if c.TaskView(d.Plan.Moves[i].Task).OptedOut {
			optedOut++
		}
	}
	require.Equal(t, want.OptedOut, optedOut, say)
	if d.Outcome != victims.Refused {
		require.NoError(t, c.Apply(&d))
	}
}

func TestDecide_EverySet(t *testing.T) { law.Check3000(t, propertyMoves) }

func FuzzDecide(f *testing.F) { f.Fuzz(rapid.MakeFuzz(propertyMoves)) }

// What large clusters are told is lawful, and no better than what a search to the end finds.
// With moves an answer is not worse than without.
func propertyHasty(t *rapid.T) {
	w := drawTown(t)
	best := w.decide(t)
	d := hasty(t, &w.planner, &w.ask, w.k.Options.Now)
	w.lawful(t, &d)
	without := stay(t, &w.planner, &w.ask, w.k.Options.Now)
	say := text(func() string {
		return fmt.Sprintf("%swithout moves %sthe best %s%v", d.String(), without.String(), best.String(), w.k)
	})
	require.LessOrEqual(t, d.Outcome, without.Outcome, say)
	require.LessOrEqual(t, best.Outcome, d.Outcome, say)
	if d.Outcome == victims.Preempts && best.Outcome == victims.Preempts {
		require.LessOrEqual(t, worse(&best, &d), 0, say)
	}
	if d.Outcome == victims.Preempts && without.Outcome == victims.Preempts {
		require.LessOrEqual(t, worse(&d, &without), 0, say)
	}
	kinds[kind(&best)]++
	hastyKinds[kind(&d)]++
}

var kinds, hastyKinds = map[string]int{}, map[string]int{}

func kind(d *victims.Decision) string { return fmt.Sprint(d.Outcome, len(d.Plan.Moves) > 0) }

// worse compares who stops: others before the own leaf.
func worse(a, b *victims.Decision) int {
	if own := a.Plan.WithinQueue; own != b.Plan.WithinQueue {
		return map[bool]int{true: 1, false: -1}[own]
	}
	x, y := a.Plan.Cost, b.Plan.Cost
	for _, c := range []*victims.Cost{&x, &y} {
		c.Excess, c.Work, c.NodePenalty, c.Node = resources.Share{}, resources.Wide{}, 0, 0
	}
	return x.Compare(&y)
}

func TestDecide_Hasty(t *testing.T) { law.Check3000(t, propertyHasty); t.Log(kinds, hastyKinds) }
