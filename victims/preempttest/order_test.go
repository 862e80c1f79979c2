// SPDX-License-Identifier: Apache-2.0

package preempttest_test

import (
	"cmp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
	"github.com/go-preempt/preempt/victims/preempttest"
)

// tasks differ in priority and size, and two of them in the key only.
func tasks() []victims.Task {
	return []victims.Task{
		{Key: "a", Priority: 1, Size: resources.Vector{5}},
		{Key: "b", Priority: 2, Size: resources.Vector{5}},
		{Key: "c", Priority: 3, Size: resources.Vector{1}},
		{Key: "d", Priority: 3, Size: resources.Vector{1}},
	}
}

func traits(t *victims.Task) victims.Traits {
	return victims.Traits{Priority: t.Priority, Share: resources.DominantShare(t.Size, resources.Vector{7}), Key: t.Key}
}

// TestTestOrder_Orders has the orders of package victims, which are sound.
func TestTestOrder_Orders(t *testing.T) {
	for name, order := range map[string]func(a, b *victims.Task) int{
		"traits":     func(a, b *victims.Task) int { return traits(a).Compare(traits(b)) },
		"priority":   func(a, b *victims.Task) int { return cmp.Compare(a.Priority, b.Priority) },
		"no opinion": func(a, b *victims.Task) int { return 0 },
	} {
		require.NoError(t, preempttest.TestOrder(order, tasks()), name)
		require.NoError(t, preempttest.TestOrder(order, nil), name)
	}
}

// Each order is broken in one way, and that is what is found.
func TestTestOrder_Broken(t *testing.T) {
	calls := 0
	for _, test := range []struct {
		name  string
		order func(a, b *victims.Task) int
		want  error
		said  string
	}{
		{"true for equal ones", func(a, b *victims.Task) int {
			if a.Priority <= b.Priority {
				return -1
			}
			return +1
		}, preempttest.ErrEqual, `tasks[0] "a" against tasks[0] "a" is -1`},
		{"one way only", func(a, b *victims.Task) int {
			if a.Priority < b.Priority {
				return -1
			}
			return 0
		}, preempttest.ErrBothWays, `tasks[0] "a" against tasks[1] "b" is -1, the other way round 0`},
		{"a ring", func(a, b *victims.Task) int {
			if a.Key == "d" || b.Key == "d" {
				return cmp.Compare(a.Key, b.Key)
			}
			return []int{0, -1, +1}[(b.Priority-a.Priority+3)%3] // a before b before c before a
		}, preempttest.ErrTransitive, `"a"`},
		{"ties that do not carry over", func(a, b *victims.Task) int {
			if d := a.Priority - b.Priority; d < -1 || d > 1 {
				return int(d)
			}
			return 0
		}, preempttest.ErrTransitive, `tasks[0] "a" against tasks[2] "c" is -1, tasks[2] "c" against tasks[1] "b" is 0, and tasks[0] "a" against tasks[1] "b" is 0`},
		{"counts its calls", func(a, b *victims.Task) int {
			if calls++; calls > 20 {
				return cmp.Compare(b.Priority, a.Priority)
			}
			return cmp.Compare(a.Priority, b.Priority)
		}, preempttest.ErrUnsteady, `, and then `},
		{"writes", func(a, b *victims.Task) int {
			b.Size[0]++
			return 0
		}, preempttest.ErrWrites, `tasks[0] "a", compared with tasks[0] "a"`},
	} {
		err := preempttest.TestOrder(test.order, tasks())
		require.ErrorIs(t, err, test.want, test.name)
		require.ErrorContains(t, err, "preempttest: order: ", test.name)
		require.ErrorContains(t, err, test.said, test.name)
	}
}

// TestTestOrder_Twin compares the test with the definition of a strict weak
// order, asked of every triple, on random tables of answers.
func TestTestOrder_Twin(t *testing.T) { rapid.Check(t, twinOrder) }

func FuzzTestOrder(f *testing.F) { f.Fuzz(rapid.MakeFuzz(twinOrder)) }

func twinOrder(t *rapid.T) {
	n := rapid.IntRange(0, 5).Draw(t, "tasks")
	list := make([]victims.Task, n)
	value := make([]int, n)
	for i := range list {
		list[i] = victims.Task{Key: string(rune('a' + i)), Created: time.Unix(int64(i), 0)}
		value[i] = rapid.IntRange(0, 3).Draw(t, "value")
	}
	// An order by value, with some answers changed.
	table := make(map[[2]int]int)
	for i := range n {
		for j := range n {
			table[[2]int{i, j}] = cmp.Compare(value[i], value[j])
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "changes") {
		if n > 0 {
			p := [2]int{rapid.IntRange(0, n-1).Draw(t, "a"), rapid.IntRange(0, n-1).Draw(t, "b")}
			s := rapid.IntRange(-1, 1).Draw(t, "sign")
			table[p] = s
			if rapid.Bool().Draw(t, "both") && p[0] != p[1] {
				table[[2]int{p[1], p[0]}] = -s
			}
		}
	}
	at := func(t *victims.Task) int { return int(t.Key[0] - 'a') }
	err := preempttest.TestOrder(func(a, b *victims.Task) int { return 7 * table[[2]int{at(a), at(b)}] }, list)
	require.Equal(t, weak(n, table), err == nil, "%v: %v", table, err)
}

// weak is the definition: irreflexive and asymmetric, and before and ties are
// both transitive.
func weak(n int, table map[[2]int]int) bool {
	sign := func(a, b int) int { return table[[2]int{a, b}] }
	for a := range n {
		for b := range n {
			if a == b && sign(a, b) != 0 || sign(a, b) != -sign(b, a) {
				return false
			}
			for c := range n {
				if s := sign(a, b); s <= 0 && s == sign(b, c) && sign(a, c) != s {
					return false
				}
			}
		}
	}
	return true
}
