// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// TestPredicate_Twin: a predicate that refuses some nodes, whoever goes, leads to the
// plan of a filter that does, and one that wants some more victims on a node to the
// node of which the best plan is the cheapest, as far as all of its candidates are
// enough.
func TestPredicate_Twin(t *testing.T) { rapid.Check(t, propertyPredicateTwin) }

func FuzzPredicateTwin(f *testing.F) { f.Fuzz(rapid.MakeFuzz(propertyPredicateTwin)) }

func propertyPredicateTwin(t *rapid.T) {
	shape := world.Small
	if rapid.Bool().Draw(t, "everything") {
		shape = shape.With(world.Everything)
	}
	s := &predicateTwin{c: world.Cases(shape).Draw(t, "case")}
	s.c.SetOwnLeaf("") // see planner
	s.cluster = build(t, &s.c.World)
	s.wants = rapid.SliceOfN(rapid.SampledFrom([]int{0, 0, 1, 2, 3, 100}), s.cluster.NodeLen(), s.cluster.NodeLen()).Draw(t, "wants")
	ask := askOf(t, s.cluster, &s.c.Ask)
	var got victims.Decision
	questions := make(map[victims.NodeID]int)
	planner := s.planner()
	planner.Audit = true
	planner.Predicate = func(p *victims.Question) bool {
		if len(p.Victims) > 0 {
			questions[p.Node]++
		}
		return s.accepts(p)
	}
	require.NoError(t, planner.Decide(&got, &ask, s.c.Options.Now))
	want, proven := s.best(t, &ask)
	if got.Outcome == victims.Refused && got.Refusal.Reason != "predicate" && got.Refusal.Reason != "no-victims" {
		return
	}
	switch {
	case got.Outcome == victims.Refused:
		require.Nil(t, want, "refused, and there is a plan\n%v", s.c)
	case got.Outcome == victims.Preempts && got.Plan.Proof == victims.ProofCost && proven:
		require.NotNil(t, want)
		require.Equal(t, want.String(), stripped(&got).String(), "%v", s.c)
	}
	if got.Outcome == victims.Refused && !s.c.Later() { // else it is tried again for later
		for n, k := range questions {
			require.LessOrEqual(t, k, 2, "%s", s.cluster.NodeName(n))
		}
	}
}

// stripped is a decision without what depends on how it was found.
func stripped(d *victims.Decision) *victims.Decision {
	d.Plan.Steps = 0
	return d
}

// A predicateTwin decides with a predicate by a decision for each node.
type predicateTwin struct {
	c       *world.Case
	cluster *victims.Cluster
	wants   []int // by node, the first one of row 1: how many victims on it the predicate wants at least
}

// planner has one stage only, without the own leaf: else a node may have a plan in the
// second, and the cluster one in the first.
func (s *predicateTwin) planner() *jobs.Planner {
	return world.CasePlanner(s.cluster, s.c)
}

// accepts is the predicate: enough tasks of the node go.
func (s *predicateTwin) accepts(p *victims.Question) bool {
	on := 0
	for _, id := range p.Victims {
		if s.cluster.Task(id).Node == p.Node {
			on++
		}
	}
	return on >= s.wants[p.Node-1]
}

// best returns the cheapest decision of those for one node each that the predicate
// accepts, or nil, and whether all of them are proven.
func (s *predicateTwin) best(t *rapid.T, ask *victims.Ask) (best *victims.Decision, proven bool) {
	proven = true
	for n := range s.cluster.Nodes() {
		planner := s.planner()
		filter := planner.Filter
		planner.Filter = func(q *victims.Question) bool {
			return q.Node == n && (filter == nil || filter(q))
		}
		d := new(victims.Decision)
		require.NoError(t, planner.Decide(d, ask, s.c.Options.Now), s.cluster.NodeName(n))
		if d.Outcome != victims.Preempts {
			continue
		}
		proven = proven && d.Plan.Proof == victims.ProofCost
		ids := make([]victims.TaskID, len(d.Plan.Victims))
		for i, v := range d.Plan.Victims {
			ids[i] = v.Task
		}
		q := &victims.Question{Ask: ask, Node: d.Plan.Places[0].Node, Victims: ids, AfterVictims: true}
		if s.accepts(q) && (best == nil || lent.To(&planner.Options).CompareCosts(&d.Plan.Cost, &best.Plan.Cost) < 0) {
			best = stripped(d)
		}
	}
	return best, proven
}
