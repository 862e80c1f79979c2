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
	"github.com/go-preempt/preempt/jobs/moves"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Two teams within their guarantees have a small task on each of two nodes, and neither
// node has room for a large one. Nobody may stop. One of them may move.
func TestDecide_Fragments(t *testing.T) {
	c, ask := fragments(t, 8, 1)
	p := moves.Planner{Asks: &victims.Planner{Cluster: c}}
	world.LetMove(c, 0, nil)
	var d decision
	version := c.Version()
	require.NoError(t, d.make(&p, &ask, world.Epoch))
	require.Equal(t, victims.Preempts, d.Outcome, d.Describe(c))
	require.Len(t, d.Moves, 1)
	require.Equal(t, "b1", d.Moves[0].Key)
	require.Equal(t, "n1", d.Decision.Plan.Places[0].NodeName)
	require.True(t, d.Proven)
	require.Equal(t, version, c.Version())
	audit := moves.Auditor{Asks: &victims.Auditor{Cluster: c}, Options: p.Options}
	require.Empty(t, audit.Audit(&d.Plan, &d.Decision.Plan, world.Epoch))

	require.NoError(t, c.ApplyChange(d.change()))
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
	p := moves.Planner{Asks: &victims.Planner{Cluster: c}}
	var d victims.Decision
	require.NoError(t, p.Asks.Decide(&d, &ask, world.Epoch))
	require.Equal(t, victims.Preempts, d.Outcome)
	require.Negative(t, d.Plan.Cost.MaxPriority)
	world.LetMove(c, 0, nil)
	plan, err := p.Decide(&d, &ask, world.Epoch)
	require.NoError(t, err)
	require.Equal(t, victims.Preempts, d.Outcome)
	require.Len(t, plan.Moves, 1)
}

// What is too small for the ask may be enough for a mover: a refusal is worth another try
// after any change.
func TestDecide_Help(t *testing.T) {
	c, ask := fragments(t, 8, 0)
	require.NoError(t, c.Resize("b2", resources.Vector{7}))
	require.NoError(t, c.Resize("b1", resources.Vector{2}))
	p := moves.Planner{Asks: &victims.Planner{Cluster: c}}
	world.LetMove(c, 0, nil)
	var d, without decision
	require.NoError(t, d.make(&p, &ask, world.Epoch))
	require.NoError(t, p.Asks.Decide(&without.Decision, &ask, world.Epoch))
	require.Equal(t, victims.Refused, d.Outcome)
	require.False(t, d.Refusal.Help.Worth(c, world.Epoch))

	require.NoError(t, c.Resize("b2", resources.Vector{6}))
	require.False(t, without.Refusal.Help.Worth(c, world.Epoch), "2 are free, and the ask wants 8")
	require.True(t, d.Refusal.Help.Worth(c, world.Epoch))
	require.NoError(t, d.make(&p, &ask, world.Epoch))
	require.Equal(t, victims.Preempts, d.Outcome)
}

// A decision is an answer and who moves.
type decision struct {
	victims.Decision
	moves.Plan
}

func (d *decision) make(p *moves.Planner, ask *victims.Ask, now time.Time) (err error) {
	d.Plan, err = p.Decide(&d.Decision, ask, now)
	return err
}

func (d *decision) change() victims.Change { return d.AddTo(d.Decision.Change()) }

// Describe says who moves, and then the rest.
func (d *decision) Describe(c *victims.Cluster) string {
	return d.Plan.Describe(c) + d.Decision.Describe(c)
}

// A town is a random case in which some tasks may move.
type town struct {
	k       *world.Case
	m       oracle.Moving
	c       *victims.Cluster
	ask     victims.Ask
	planner moves.Planner
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
	p := moves.Planner{Asks: world.CasePlanner(c, k), Options: moves.Options{Any: m.Any, MaxMoved: m.Most}}
	world.LetMove(c, 1, func(key string) bool { return m.Movable[key] })
	if filter := p.Asks.Filter; true {
		p.Asks.Filter = func(q *victims.Question) bool {
			if q.Member.Class == 1 {
				return !m.Closed[c.NodeName(q.Node)]
			}
			return filter == nil || filter(q)
		}
	}
	if blockers := p.Asks.Blockers; blockers != nil {
		p.Asks.Blockers = func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
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

func (w *town) decide(t *rapid.T) (d decision) {
	version := w.c.Version()
	require.NoError(t, d.make(&w.planner, &w.ask, w.k.Options.Now))
	require.Equal(t, version, w.c.Version())
	if d.Outcome == victims.Refused {
		return d
	}
	a := w.planner.Asks
	audit := moves.Auditor{
		Asks:    &victims.Auditor{Cluster: w.c, Options: a.Options},
		Options: w.planner.Options,
	}
	require.Empty(t, audit.Audit(&d.Plan, &d.Decision.Plan, w.k.Options.Now), d.Describe(w.c))
	require.Equal(t, version, w.c.Version())
	return d
}

// The search agrees with one that looks at every set of movers and every place.
func propertyMoves(t *rapid.T) {
	w := drawTown(t)
	k, m, c := w.k, w.m, w.c
	d := w.decide(t)

	want := oracle.DecideMoves(k, &m)
	if len(want.Moved) > 0 {
		want.Outcome = oracle.Preempts // who moves has to be told
	}
	say := func() string { return d.Describe(c) + fmt.Sprintf("%v, want %+v\n%v", d.Moves, want, k) }
	require.Equal(t, want.Outcome, d.Outcome.String(), say())
	if want.Outcome == oracle.Preempts {
		require.Equal(t, want.Cost.Victims, len(d.Decision.Plan.Victims), say())
		require.Equal(t, want.Cost.OptedOut, d.Decision.Plan.Cost.OptedOut, say())
	}
	require.Len(t, d.Moves, len(want.Moved), say())
	optedOut := 0
	for i := range d.Moves {
		if d.Moves[i].Ask.OptedOut {
			optedOut++
		}
	}
	require.Equal(t, want.OptedOut, optedOut, say())
	if d.Outcome != victims.Refused {
		require.NoError(t, c.ApplyChange(d.change()))
	}
}

func TestDecide_EverySet(t *testing.T) { law.Check3000(t, propertyMoves) }

func FuzzDecide(f *testing.F) { f.Fuzz(rapid.MakeFuzz(propertyMoves)) }

// What large clusters are told is lawful, and no better than what a search to the end finds.
// With moves an answer is not worse than without.
func propertyHasty(t *rapid.T) {
	w := drawTown(t)
	best := w.decide(t)
	w.planner.Hasty()
	d := w.decide(t)
	var without victims.Decision
	require.NoError(t, w.planner.Asks.Decide(&without, &w.ask, w.k.Options.Now))
	say := fmt.Sprintf("%swithout moves %sthe best %s%v", d.Describe(w.c), without.Describe(w.c), best.Describe(w.c), w.k)
	require.LessOrEqual(t, d.Outcome, without.Outcome, say)
	require.LessOrEqual(t, best.Outcome, d.Outcome, say)
	if d.Outcome == victims.Preempts && best.Outcome == victims.Preempts {
		require.LessOrEqual(t, worse(&best, &d), 0, say)
	}
	if d.Outcome == victims.Preempts && without.Outcome == victims.Preempts {
		require.LessOrEqual(t, worse(&d, &decision{Decision: without}), 0, say)
	}
	kinds[kind(&best)]++
	hasty[kind(&d)]++
}

var kinds, hasty = map[string]int{}, map[string]int{}

func kind(d *decision) string { return fmt.Sprint(d.Outcome, len(d.Moves) > 0) }

// worse compares who stops: others before the own leaf.
func worse(a, b *decision) int {
	if own := a.Decision.Plan.WithinQueue; own != b.Decision.Plan.WithinQueue {
		return map[bool]int{true: 1, false: -1}[own]
	}
	x, y := a.Decision.Plan.Cost, b.Decision.Plan.Cost
	for _, c := range []*victims.Cost{&x, &y} {
		c.Excess, c.Work, c.NodePenalty, c.Node = resources.Share{}, resources.Wide{}, 0, 0
	}
	return x.Compare(&y)
}

func TestDecide_Hasty(t *testing.T) { law.Check3000(t, propertyHasty); t.Log(kinds, hasty) }
