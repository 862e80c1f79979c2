// SPDX-License-Identifier: Apache-2.0

package preempttest_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/preempttest"
)

type predicate = func(p *victims.Question) bool

func TestPlacings(t *testing.T) {
	list := asks()
	got := preempttest.Placings(cluster(t), list, now)
	require.Len(t, got, 4)
	for i, want := range []victims.Question{
		{Ask: &list[0], Node: 1, Victims: []victims.TaskID{0, 1, 2}},
		{Ask: &list[0], Node: 2, Victims: []victims.TaskID{3}},
		{Ask: &list[1], Node: 1, Victims: []victims.TaskID{0, 1, 2}},
		{Ask: &list[1], Node: 2, Victims: []victims.TaskID{3}},
	} {
		require.Same(t, want.Ask, got[i].Ask)
		require.Equal(t, want.Node, got[i].Node)
		require.True(t, got[i].AfterVictims)
		require.ElementsMatch(t, want.Victims, got[i].Victims)
	}
}

// many has a question with more victims than all parts are tried of.
func many() []victims.Question {
	ask := victims.Ask{Key: "z"}
	return []victims.Question{{Ask: &ask, Node: 1, Victims: []victims.TaskID{10, 11, 12, 13, 14, 15, 16, 17}}}
}

func TestTestPredicate_Sound(t *testing.T) {
	for name, f := range map[string]predicate{
		"everything":  func(p *victims.Question) bool { return true },
		"nothing":     func(p *victims.Question) bool { return false },
		"a node":      func(p *victims.Question) bool { return p.Node == 2 },
		"a victim":    func(p *victims.Question) bool { return slices.Contains(p.Victims, 1) },
		"two victims": func(p *victims.Question) bool { return len(p.Victims) >= 2 },
		"one of two": func(p *victims.Question) bool {
			return slices.Contains(p.Victims, 0) || slices.Contains(p.Victims, 2)
		},
		"a high priority": func(p *victims.Question) bool { return p.Ask.Priority > 0 },
	} {
		require.NoError(t, preempttest.TestPredicate(f, preempttest.Placings(cluster(t), asks(), now)), name)
		require.NoError(t, preempttest.TestPredicate(f, many()), name)
		require.NoError(t, preempttest.TestPredicate(f, nil), name)
	}
}

func TestTestPredicate_Broken(t *testing.T) {
	calls := 0
	var kept []victims.TaskID
	for _, test := range []struct {
		name string
		f    predicate
		want error
		said string
	}{
		{"spares a victim", func(p *victims.Question) bool {
			return !slices.Contains(p.Victims, 2) && !slices.Contains(p.Victims, 12)
		}, preempttest.ErrRefusal, "is refused, and not victims"},
		{"an even number", func(p *victims.Question) bool {
			return len(p.Victims)%2 == 0
		}, preempttest.ErrRefusal, "is refused, and not victims []"},
		{"the first of them", func(p *victims.Question) bool {
			return len(p.Victims) > 0 && (p.Victims[0] == 0 || p.Victims[0] == 10)
		}, preempttest.ErrUnsteady, ", and then "},
		{"counts its calls", func(p *victims.Question) bool {
			calls++
			return calls > 3
		}, preempttest.ErrUnsteady, "false, and then true"},
		{"keeps the first victims", func(p *victims.Question) bool {
			if kept == nil && len(p.Victims) > 0 {
				kept = p.Victims
			}
			return len(kept) == 0 || kept[0] >= 0
		}, preempttest.ErrKeeps, "true, and then false"},
		{"sorts", func(p *victims.Question) bool {
			slices.SortFunc(p.Victims, func(a, b victims.TaskID) int { return int(b - a) })
			return true
		}, preempttest.ErrWrites, "with victims"},
		{"writes to the ask", func(p *victims.Question) bool {
			p.Ask.Size = append(p.Ask.Size, 1)
			return true
		}, preempttest.ErrWrites, "with victims []"},
	} {
		for _, placings := range [][]victims.Question{preempttest.Placings(cluster(t), asks(), now), many()} {
			calls, kept = 0, nil
			err := preempttest.TestPredicate(test.f, placings)
			require.ErrorIs(t, err, test.want, test.name)
			require.ErrorContains(t, err, "preempttest: predicate: ", test.name)
			require.ErrorContains(t, err, `ask "`+placings[0].Ask.Key+`" on node 1 `, test.name)
			require.ErrorContains(t, err, test.said, test.name)
		}
	}
}
