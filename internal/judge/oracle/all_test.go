// SPDX-License-Identifier: Apache-2.0

package oracle_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "github.com/go-preempt/preempt/internal/judge/law" // draws the same cases in every run
	"github.com/go-preempt/preempt/internal/judge/oracle"
	"github.com/go-preempt/preempt/internal/judge/world"
)

// The search for the cheapest plan leaves nothing out: of all sets of tasks on
// all nodes, lawful by [oracle.Breaks], none costs less.
func TestDecideLooksAtAll(t *testing.T) { rapid.Check(t, propertyDecideLooksAtAll) }

func FuzzDecideLooksAtAll(f *testing.F) {
	for _, seed := range world.FuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(propertyDecideLooksAtAll))
}

func propertyDecideLooksAtAll(t *rapid.T) {
	tiny := world.Shape{Types: 2, Queues: 5, Depth: 3, Nodes: 3, Tasks: 6}
	c := world.Cases(tiny.With(world.Everything)).Draw(t, "case")
	r := oracle.Decide(c)
	if r.Outcome != oracle.Preempts && r.Reason != "no-victims" {
		return
	}
	first := *c
	first.SetOwnLeaf("")
	var best oracle.Cost
	ok := false
	// A precondition may end the first stage, as over-max does, and then plans of it do not
	// count: the second stage chooses among all.
	if one := oracle.Decide(&first); one.Outcome == oracle.Preempts || one.Reason == "no-victims" {
		best, ok = leastOf(&first)
	}
	if !ok {
		best, ok = leastOf(c)
	}
	require.Equal(t, ok, r.Outcome == oracle.Preempts, "%v\n%v", best, c)
	if ok {
		require.Equal(t, best.Node, r.Cost.Node, "%v\n%v", r, c)
		require.Equal(t, best.Keys, r.Cost.Keys, "%v\n%v", r, c)
	}
}

// leastOf returns the least cost of a lawful plan, of all sets of all tasks.
func leastOf(c *world.Case) (best oracle.Cost, ok bool) {
	for _, n := range c.World.Nodes {
		for set := range 1 << len(c.World.Tasks) {
			var keys []string
			for i, t := range c.World.Tasks {
				if set>>i&1 != 0 {
					keys = append(keys, t.Key)
				}
			}
			if len(oracle.Breaks(c, n.Name, keys)) > 0 {
				continue
			}
			if cost := oracle.CostOf(c, n.Name, keys); !ok || cost.Compare(nil, &best) < 0 {
				best, ok = cost, true
			}
		}
	}
	slices.Sort(best.Keys)
	return best, ok
}
