// SPDX-License-Identifier: Apache-2.0

package preempttest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/preempttest"
)

type (
	filter   = func(q *victims.Question) bool
	blockers = func(dst []victims.TaskID, q *victims.Question) []victims.TaskID
)

func TestTestFilter_Sound(t *testing.T) {
	for name, f := range map[string]filter{
		"everything": func(*victims.Question) bool { return true },
		"nothing":    func(*victims.Question) bool { return false },
		"a node":     func(q *victims.Question) bool { return q.Node == 2 },
		"a class":    func(q *victims.Question) bool { return q.Node == 1 || q.Member.Class > 0 },
	} {
		require.NoError(t, preempttest.TestFilter(f, cluster(t), asks(), now), name)
		require.NoError(t, preempttest.TestFilter(f, cluster(t), nil, now), name)
	}
}

func TestTestFilter_Broken(t *testing.T) {
	calls := 0
	var kept victims.NodeID
	for _, test := range []struct {
		name string
		f    filter
		want error
		said string
	}{
		{"counts its calls", func(*victims.Question) bool {
			calls++
			return calls > 4
		}, preempttest.ErrUnsteady, `ask "y" on node "n2": false, and then true`},
		{"goes by the question before", func(q *victims.Question) bool {
			defer func() { kept = q.Node }()
			return kept <= q.Node
		}, preempttest.ErrUnsteady, `and then`},
	} {
		calls, kept = 0, 0
		err := preempttest.TestFilter(test.f, cluster(t), asks(), now)
		require.ErrorIs(t, err, test.want, test.name)
		require.ErrorContains(t, err, "preempttest: filter: ", test.name)
		require.ErrorContains(t, err, test.said, test.name)
	}
	c := cluster(t)
	err := preempttest.TestFilter(func(*victims.Question) bool {
		return c.SetState("t3", victims.Releasing) == nil
	}, c, asks(), now)
	require.ErrorIs(t, err, preempttest.ErrWrites)
}

// allOf appends all that is on a node.
func allOf(c *victims.Cluster) blockers {
	return func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
		for id := range c.TasksOn(q.Node) {
			dst = append(dst, id)
		}
		return dst
	}
}

func TestTestBlockers_Sound(t *testing.T) {
	c := cluster(t)
	turn := 0
	for name, f := range map[string]blockers{
		"nobody": func(dst []victims.TaskID, _ *victims.Question) []victims.TaskID { return dst },
		"all":    allOf(c),
		"twice": func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
			return allOf(c)(allOf(c)(dst, q), q)
		},
		"in another order each time": func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
			if turn++; q.Node == 2 {
				return dst
			} else if turn%2 == 0 {
				return append(dst, 0, 2)
			}
			return append(dst, 2, 0)
		},
		"more than there is memory for": func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
			for range 40 {
				dst = allOf(c)(dst, q)
			}
			return dst
		},
	} {
		require.NoError(t, preempttest.TestBlockers(f, c, asks(), now), name)
		require.NoError(t, preempttest.TestBlockers(f, c, nil, now), name)
	}
}

func TestTestBlockers_Broken(t *testing.T) {
	c := cluster(t)
	calls := 0
	var kept []victims.TaskID
	for _, test := range []struct {
		name string
		f    blockers
		want error
		said string
	}{
		{"begins anew", func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
			return allOf(c)(dst[:0], q)
		}, preempttest.ErrAppend, `ask "x" on node "n1"`},
		{"leaves it out", func([]victims.TaskID, *victims.Question) []victims.TaskID {
			return nil
		}, preempttest.ErrAppend, `ask "x" on node "n1"`},
		{"of another node", func(dst []victims.TaskID, _ *victims.Question) []victims.TaskID {
			return append(dst, 0)
		}, preempttest.ErrElsewhere, `0: ask "x" on node "n2"`},
		{"no task at all", func(dst []victims.TaskID, _ *victims.Question) []victims.TaskID {
			return append(dst, 99)
		}, preempttest.ErrElsewhere, `99: ask "x" on node "n1"`},
		{"counts its calls", func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
			if calls++; calls > 4 {
				return dst
			}
			return allOf(c)(dst, q)
		}, preempttest.ErrUnsteady, `ask "y" on node "n2": [3], and then []`},
		{"keeps what it appended to", func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
			if q.Node == 2 {
				return dst
			}
			if kept == nil {
				kept = append(dst, 0)[len(dst):]
			}
			return append(dst, kept...)
		}, preempttest.ErrElsewhere, `-1: ask "y" on node "n1"`},
		{"writes to the ask", func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
			q.Ask.Budgets = append(q.Ask.Budgets, "more")
			return dst
		}, preempttest.ErrWrites, `ask "x" on node "n1"`},
	} {
		calls, kept = 0, nil
		err := preempttest.TestBlockers(test.f, c, asks(), now)
		require.ErrorIs(t, err, test.want, test.name)
		require.ErrorContains(t, err, "preempttest: blockers: ", test.name)
		require.ErrorContains(t, err, test.said, test.name)
	}
}
