package preempttest_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/preempttest"
)

type predicate = func(ask *victims.Ask, node victims.NodeID, ids []victims.TaskID) bool

func TestQuestions(t *testing.T) {
	list := asks()
	got := preempttest.Questions(cluster(t), list)
	require.Len(t, got, 4)
	for i, want := range []preempttest.Question{
		{Ask: &list[0], Node: 0, Victims: []victims.TaskID{0, 1, 2}},
		{Ask: &list[0], Node: 1, Victims: []victims.TaskID{3}},
		{Ask: &list[1], Node: 0, Victims: []victims.TaskID{0, 1, 2}},
		{Ask: &list[1], Node: 1, Victims: []victims.TaskID{3}},
	} {
		require.Same(t, want.Ask, got[i].Ask)
		require.Equal(t, want.Node, got[i].Node)
		require.ElementsMatch(t, want.Victims, got[i].Victims)
	}
}

// many has a question with more victims than all parts are tried of.
func many() []preempttest.Question {
	ask := victims.Ask{Key: "z"}
	return []preempttest.Question{{Ask: &ask, Victims: []victims.TaskID{10, 11, 12, 13, 14, 15, 16, 17}}}
}

func TestTestPredicate_Sound(t *testing.T) {
	for name, f := range map[string]predicate{
		"everything":  func(*victims.Ask, victims.NodeID, []victims.TaskID) bool { return true },
		"nothing":     func(*victims.Ask, victims.NodeID, []victims.TaskID) bool { return false },
		"a node":      func(_ *victims.Ask, n victims.NodeID, _ []victims.TaskID) bool { return n == 1 },
		"a victim":    func(_ *victims.Ask, _ victims.NodeID, ids []victims.TaskID) bool { return slices.Contains(ids, 1) },
		"two victims": func(_ *victims.Ask, _ victims.NodeID, ids []victims.TaskID) bool { return len(ids) >= 2 },
		"one of two": func(_ *victims.Ask, _ victims.NodeID, ids []victims.TaskID) bool {
			return slices.Contains(ids, 0) || slices.Contains(ids, 2)
		},
		"a high priority": func(a *victims.Ask, _ victims.NodeID, _ []victims.TaskID) bool { return a.Priority > 0 },
	} {
		require.NoError(t, preempttest.TestPredicate(f, preempttest.Questions(cluster(t), asks())), name)
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
		{"spares a victim", func(_ *victims.Ask, _ victims.NodeID, ids []victims.TaskID) bool {
			return !slices.Contains(ids, 2) && !slices.Contains(ids, 12)
		}, preempttest.ErrRefusal, "is refused, and not victims"},
		{"an even number", func(_ *victims.Ask, _ victims.NodeID, ids []victims.TaskID) bool {
			return len(ids)%2 == 0
		}, preempttest.ErrRefusal, "is refused, and not victims []"},
		{"the first of them", func(_ *victims.Ask, _ victims.NodeID, ids []victims.TaskID) bool {
			return len(ids) > 0 && (ids[0] == 0 || ids[0] == 10)
		}, preempttest.ErrUnsteady, ", and then "},
		{"counts its calls", func(*victims.Ask, victims.NodeID, []victims.TaskID) bool {
			calls++
			return calls > 3
		}, preempttest.ErrUnsteady, "false, and then true"},
		{"keeps the first victims", func(_ *victims.Ask, _ victims.NodeID, ids []victims.TaskID) bool {
			if kept == nil && len(ids) > 0 {
				kept = ids
			}
			return len(kept) == 0 || kept[0] >= 0
		}, preempttest.ErrKeeps, "true, and then false"},
		{"sorts", func(_ *victims.Ask, _ victims.NodeID, ids []victims.TaskID) bool {
			slices.SortFunc(ids, func(a, b victims.TaskID) int { return int(b - a) })
			return true
		}, preempttest.ErrWrites, "with victims"},
		{"writes to the ask", func(a *victims.Ask, _ victims.NodeID, _ []victims.TaskID) bool {
			a.Size = append(a.Size, 1)
			return true
		}, preempttest.ErrWrites, "with victims []"},
	} {
		for _, questions := range [][]preempttest.Question{preempttest.Questions(cluster(t), asks()), many()} {
			calls, kept = 0, nil
			err := preempttest.TestPredicate(test.f, questions)
			require.ErrorIs(t, err, test.want, test.name)
			require.ErrorContains(t, err, "preempttest: predicate: ", test.name)
			require.ErrorContains(t, err, `ask "`+questions[0].Ask.Key+`" on node 0 `, test.name)
			require.ErrorContains(t, err, test.said, test.name)
		}
	}
}
