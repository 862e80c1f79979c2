// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"testing"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// watched is a tree of three queues with a watch: "a" is guaranteed 10
// thousandths of a CPU, of which pods there want 3 or 4, "b" is guaranteed
// nothing, and "c" 10 again, but has no pods to come.
func watched(t *testing.T) (*queue.Tree, *watch) {
	t.Helper()
	const a, b = 1, 2
	schema, err := resources.NewSchema("cpu", "memory", "gpu-milli")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := queue.New(schema, queue.Config{Name: "root", Children: []queue.Config{
		{Name: "a", Guaranteed: resources.Limit{Value: resources.Vector{10}, Defined: 1}},
		{Name: "b"},
		{Name: "c", Guaranteed: resources.Limit{Value: resources.Vector{10}, Defined: 1}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return tree, newWatch(tree, []pod{
		{leaf: a, size: resources.Vector{4, 7, 0}},
		{leaf: a, size: resources.Vector{3, 0, 0}},
		{leaf: a, size: resources.Vector{0, 9, 0}}, // wants nothing that is governed
		{leaf: b, size: resources.Vector{1, 1, 1}}, // nor does this
	}, tree.Governing)
}

func TestWatchBound(t *testing.T) {
	tree, w := watched(t)
	add := func(q queue.ID, n int64) func() error {
		return func() error { return tree.Add(q, resources.Vector{n}) }
	}
	remove := func(q queue.ID, n int64) func() error {
		return func() error { return tree.Remove(q, resources.Vector{n}) }
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	want := func(fixed, restored int64, plans int64, broken int) {
		t.Helper()
		if w.fixed != fixed || w.restored != restored || w.plans != plans || w.broken != broken {
			t.Errorf("fixed %d, restored %d, plans %d, broken %d; want %d, %d, %d, %d",
				w.fixed, w.restored, w.plans, w.broken, fixed, restored, plans, broken)
		}
		if w.bound() != fixed+restored {
			t.Errorf("bound %d, want %d", w.bound(), fixed+restored)
		}
	}
	want(4, 0, 0, 0) // ⌈10/3⌉

	do(w.plan(add(1, 4))) // 4 of 10
	do(w.plan(add(1, 4))) // 8 of 10
	do(w.plan(add(1, 4))) // 12: past the guarantee, by part of one ask
	want(4, 0, 3, 0)

	do(w.end(1, remove(1, 2))) // 10 of 10: nothing is short
	want(4, 0, 3, 0)
	do(w.end(1, remove(1, 4))) // 6 of 10: room for ⌈4/3⌉
	want(4, 2, 3, 0)
	do(w.end(1, remove(1, 1))) // 5 of 10: ⌈5/3⌉ is no more
	want(4, 2, 3, 0)

	do(add(2, 5)())
	do(w.end(2, remove(2, 5))) // nothing is guaranteed there
	want(4, 2, 3, 0)
}

func TestWatchBrokenPlans(t *testing.T) {
	size := resources.Vector{3}
	for _, c := range []struct {
		name   string
		change func(*queue.Tree) error
		broken int
	}{
		{"progress", func(tree *queue.Tree) error { return tree.Add(1, size) }, 0},
		{"up to the guarantee", func(tree *queue.Tree) error { return tree.Add(1, resources.Vector{50}) }, 0},
		{"nothing", func(*queue.Tree) error { return nil }, 1},
		{"without a guarantee", func(tree *queue.Tree) error { return tree.Add(2, size) }, 1},
		{"a queue falls back", func(tree *queue.Tree) error { return tree.Remove(1, size) }, 1},
		{"one gains and one falls back", func(tree *queue.Tree) error {
			return errors.Join(tree.Add(1, size), tree.Remove(3, size))
		}, 1},
		{"one gains and one gives its surplus", func(tree *queue.Tree) error {
			return errors.Join(tree.Add(1, size), tree.Remove(2, size))
		}, 0},
		{"victims count as gone", func(tree *queue.Tree) error { return tree.Mark(1, size) }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, w := watched(t)
			for q := range tree.Children(queue.Root) {
				if err := tree.Add(q, size); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.plan(func() error { return c.change(tree) }); err != nil {
				t.Fatal(err)
			}
			if w.broken != c.broken {
				t.Errorf("%d broken plans, want %d", w.broken, c.broken)
			}
		})
	}
}

func TestWatchErrors(t *testing.T) {
	_, w := watched(t)
	failed := errors.New("failed")
	fails := func() error { return failed }
	if err := w.plan(fails); !errors.Is(err, failed) {
		t.Errorf("plan: error %v, want %v", err, failed)
	}
	if err := w.end(1, fails); !errors.Is(err, failed) {
		t.Errorf("end: error %v, want %v", err, failed)
	}
	if w.plans != 0 || w.broken != 0 || w.restored != 0 {
		t.Errorf("what failed was counted: %+v", w)
	}
}
