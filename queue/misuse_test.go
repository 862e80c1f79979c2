// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/resources"
)

// TestMisuse shows that a caller's bug panics with the name of the mistake.
func TestMisuse(t *testing.T) {
	tree := mustNew(t, node("root", "gpu=1", "", node("a", "", ""), node("b", "", "")), strict)
	const foreign = ID(3)
	for name, call := range map[string]func(*Tree, ID){
		"Policies":      func(t *Tree, q ID) { t.Policies(q) },
		"Name":          func(t *Tree, q ID) { t.name(q) },
		"Path":          func(t *Tree, q ID) { t.Path(q) },
		"Usage":         func(t *Tree, q ID) { t.Usage(q) },
		"Leaving":       func(t *Tree, q ID) { t.Leaving(q) },
		"Effective":     func(t *Tree, q ID) { t.Effective(nil, q) },
		"Surplus":       func(t *Tree, q ID) { t.Surplus(nil, q) },
		"Headroom":      func(t *Tree, q ID) { t.Headroom(resources.Limit{}, q) },
		"Guaranteed":    func(t *Tree, q ID) { t.Guaranteed(q) },
		"Max":           func(t *Tree, q ID) { t.Max(q) },
		"Governing":     func(t *Tree, q ID) { t.Governing(q, 0) },
		"SetGuaranteed": func(t *Tree, q ID) { _ = t.SetGuaranteed(q, resources.Limit{}) },
		"SetMax":        func(t *Tree, q ID) { _ = t.SetMax(q, resources.Limit{}) },
		"Add":           func(t *Tree, q ID) { _ = t.Add(q, nil) },
		"Remove":        func(t *Tree, q ID) { _ = t.Remove(q, nil) },
		"Mark":          func(t *Tree, q ID) { _ = t.Mark(q, nil) },
		"Unmark":        func(t *Tree, q ID) { _ = t.Unmark(q, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			require.NotPanics(t, func() { call(tree, foreign-1) })
			require.PanicsWithError(t, "queue: no queue 3 in a tree of 3 queues: an ID of another tree?", func() { call(tree, foreign) })
			require.PanicsWithError(t, "queue: no queue -1 in a tree of 3 queues: an ID of another tree?", func() { call(tree, -1) })
		})
	}
	require.PanicsWithError(t, "queue: no queue 0 in a tree of 0 queues: an ID of another tree?", func() { new(Tree).Path(Root) })
	require.PanicsWithValue(t, "queue: New without a Schema (nil): see resources.NewSchema", func() { _, _ = New(nil, Config{Name: "root"}) })
}
