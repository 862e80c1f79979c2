// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// BenchmarkSearch compares the search that passes over nodes by bounds with the
// one that looks at the tasks of all of them. A bound costs a glance at a few
// sums that are kept current, and nearly all nodes need no second one; solving
// each node takes a hundred times the steps. (A first design bounded every node,
// kept the bounds, and began with the lowest. It took three times as long as
// beginning anywhere and comparing each bound at once with the best plan.)
func BenchmarkSearch(b *testing.B) {
	for _, all := range []bool{false, true} {
		s := subjectOf(small, 4)
		s.name = fmt.Sprintf("exhaustive=%t/%s", all, s.name)
		if all {
			lent.To(&s.Planner.Options).Exhaust()
		}
		s.bench(b)
	}
}

// BenchmarkWhatIf compares ways to try a plan out. A copy needs no code that
// takes changes back, but costs as much as the cluster is large, where undoing
// costs as much as was done.
func BenchmarkWhatIf(b *testing.B) {
	s := subjectOf(small, 4)
	s.decide(b)
	c := s.Planner.Cluster
	for _, way := range []struct {
		name string
		try  func() error
	}{
		{"undo", func() error {
			if err := c.Apply(&s.Decision); err != nil {
				return err
			}
			return c.Undo()
		}},
		{"clone", func() error { return c.Clone().Apply(&s.Decision) }},
	} {
		b.Run(fmt.Sprintf("by=%s/%s", way.name, s.name), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := way.try(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkInside compares ways to tell whether a queue is inside another, for
// all leaves. By path it takes a look at every byte, and is wrong where one
// name begins like another unless the dot is looked at, too; numbered in
// preorder it takes two comparisons.
func BenchmarkInside(b *testing.B) {
	tree := built(small).Tree()
	paths := make([]string, tree.Len())
	for q := range queue.ID(tree.Len()) {
		paths[q] = tree.Path(q)
	}
	above, ok := tree.Lookup("root.q3")
	if !ok {
		b.Fatal("no queue")
	}
	for _, way := range []struct {
		name   string
		inside func(q queue.ID) bool
	}{
		{"number", func(q queue.ID) bool { return tree.Contains(above, q) }},
		{"path", func(q queue.ID) bool {
			rest, ok := strings.CutPrefix(paths[q], paths[above])
			return ok && (rest == "" || rest[0] == '.')
		}},
	} {
		b.Run(fmt.Sprintf("by=%s/queues=%d", way.name, tree.Len()), func(b *testing.B) {
			inside := 0
			for b.Loop() {
				inside = 0
				for q := range queue.ID(tree.Len()) {
					if way.inside(q) {
						inside++
					}
				}
			}
			if inside != 25 { // 1 + 4 + 20
				b.Fatal(inside)
			}
		})
	}
}

// BenchmarkRows compares ways to hold tasks. With a pointer per task a pass
// waits for memory at each of them, once they have come and gone for a while,
// and the garbage collector follows them all; rows lie in one block.
func BenchmarkRows(b *testing.B) {
	c := built(big)
	var flat []victims.Task
	for id := range c.Tasks() {
		flat = append(flat, c.Task(id))
	}
	pointers := make([]*victims.Task, len(flat))
	for i, at := range rand.New(rand.NewPCG(1, 2)).Perm(len(flat)) {
		t := flat[at]
		pointers[i] = &t
	}
	slices.SortFunc(pointers, func(a, b *victims.Task) int { return cmp.Compare(a.Node, b.Node) })
	var sum, want int64
	for i := range flat {
		want += int64(flat[i].Priority) + int64(flat[i].Queue)
	}
	name := fmt.Sprintf("tasks=%d", len(flat))
	b.Run("held=block/"+name, func(b *testing.B) {
		for b.Loop() {
			sum = 0
			for i := range flat {
				sum += int64(flat[i].Priority) + int64(flat[i].Queue)
			}
		}
	})
	b.Run("held=pointers/"+name, func(b *testing.B) {
		for b.Loop() {
			sum = 0
			for _, t := range pointers {
				sum += int64(t.Priority) + int64(t.Queue)
			}
		}
	})
	if sum != want {
		b.Fatal(sum, want)
	}
}
