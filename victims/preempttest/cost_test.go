// SPDX-License-Identifier: Apache-2.0

package preempttest_test

import (
	"cmp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "github.com/go-preempt/preempt/internal/judge/law" // draws the same cases in every run
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/preempttest"
)

// costs are those of three sets of victims.
func costs() []victims.Cost {
	return []victims.Cost{
		{MaxRank: -5, MaxPriority: 1, Victims: 1, SumRanks: -5, Excess: resources.Share{Amount: 1, Of: 10}, Work: resources.WideOf(int64(time.Hour))},
		{MaxRank: -1, MaxPriority: 9, Victims: 2, SumRanks: -4, Work: resources.WideOf(int64(time.Minute)), Node: 1},
		{OptedOut: 1, MaxRank: -7, MaxPriority: -3, Victims: 1, SumRanks: -7, Node: 1},
	}
}

func TestTestCompare_Sound(t *testing.T) {
	for name, compare := range map[string]func(a, b *victims.Cost) int{
		"the default": (*victims.Cost).Compare,
		"fewest first": func(a, b *victims.Cost) int {
			return cmp.Or(cmp.Compare(a.Victims, b.Victims), a.Compare(b))
		},
		"least work first": func(a, b *victims.Cost) int {
			return cmp.Or(a.Work.Compare(b.Work), a.Compare(b))
		},
		"all alike": func(a, b *victims.Cost) int { return 0 },
	} {
		require.NoError(t, preempttest.TestCompare(compare, costs()), name)
		require.NoError(t, preempttest.TestCompare(compare, append(costs(), victims.Cost{Node: 2})), name)
	}
}

func TestTestCompare_Broken(t *testing.T) {
	for _, test := range []struct {
		name    string
		compare func(a, b *victims.Cost) int
		want    error
		said    string
	}{
		{"sums of ranks, which fall as victims are added", func(a, b *victims.Cost) int {
			return cmp.Compare(a.SumRanks, b.SumRanks)
		}, preempttest.ErrPart, "costs[0] (highest rank -5, highest priority 1, 1 victim, "},
		{"ranks, that of nobody being above most", func(a, b *victims.Cost) int {
			return cmp.Compare(a.MaxRank, b.MaxRank)
		}, preempttest.ErrPart, "against no victims"},
		{"most victims first", func(a, b *victims.Cost) int {
			if a.Victims == 0 || b.Victims == 0 {
				return cmp.Compare(a.Victims, b.Victims)
			}
			return cmp.Compare(b.Victims, a.Victims)
		}, preempttest.ErrPart, "against the first alone"},
		{"never equal", func(a, b *victims.Cost) int {
			return cmp.Or(a.Compare(b), 1)
		}, preempttest.ErrEqual, "costs[0]"},
		{"within a margin", func(a, b *victims.Cost) int {
			if d := a.SumRanks - b.SumRanks; d < -2 || d > 2 {
				return int(d)
			}
			return 0
		}, preempttest.ErrTransitive, "costs[2]"},
		{"writes", func(a, b *victims.Cost) int {
			a.Node = 0
			return a.Compare(b)
		}, preempttest.ErrWrites, "costs[1]"},
	} {
		err := preempttest.TestCompare(test.compare, costs())
		require.ErrorIs(t, err, test.want, test.name)
		require.ErrorContains(t, err, "preempttest: compare: ", test.name)
		require.ErrorContains(t, err, test.said, test.name)
	}
}

// TestTestCompare_Default holds the default order of costs to its contract, and
// that of any levels.
func TestTestCompare_Default(t *testing.T) { rapid.Check(t, defaultCompare) }

func FuzzTestCompare(f *testing.F) { f.Fuzz(rapid.MakeFuzz(defaultCompare)) }

func defaultCompare(t *rapid.T) {
	list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) victims.Cost {
		n := rapid.IntRange(0, 3).Draw(t, "victims")
		node := rapid.IntRange(0, 2).Draw(t, "node")
		if n == 0 {
			return victims.Cost{Node: node, NodePenalty: int64(node % 2)}
		}
		return victims.Cost{
			OptedOut: rapid.IntRange(0, n).Draw(t, "opted out"), Originators: rapid.IntRange(0, n).Draw(t, "originators"),
			MaxRank: rapid.Int64Range(-2, 0).Draw(t, "rank"), MaxPriority: rapid.Int64Range(-1, 1).Draw(t, "priority"),
			Overrun: rapid.Int64Range(0, 1).Draw(t, "overrun"), Jobs: rapid.IntRange(0, 1).Draw(t, "jobs"),
			Own:     resources.WideOf(rapid.SampledFrom([]int64{0, 0, 1, 1 << 62}).Draw(t, "own cost")),
			Victims: n, SumRanks: rapid.Int64Range(-3, 0).Draw(t, "ranks"),
			SumPriorities: rapid.Int64Range(-3, 3).Draw(t, "priorities"), NodePenalty: int64(node % 2),
			Excess: resources.Share{Amount: rapid.Int64Range(0, 2).Draw(t, "excess"), Of: rapid.Int64Range(1, 2).Draw(t, "of")},
			Work:   resources.WideOf(rapid.Int64Range(0, 2).Draw(t, "work")),
			Node:   node,
		}
	}), 0, 6).Draw(t, "costs")
	require.NoError(t, preempttest.TestCompare((*victims.Cost).Compare, list))
}
