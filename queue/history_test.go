// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"errors"
	"fmt"
	"math"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/resources"
)

// history: whatever happens to a tree, sensible or not, happens to its twin,
// and to no clone.
func history(t *rapid.T) {
	tree, w := drawTree(t)
	m := &machine{tree: tree, twin: w, otherTree: tree.Clone(), otherTwin: w.clone()}
	t.Repeat(map[string]func(*rapid.T){
		"Add":    func(t *rapid.T) { m.change(t, "Add", (*Tree).Add, (*twin).add) },
		"Remove": func(t *rapid.T) { m.change(t, "Remove", (*Tree).Remove, (*twin).remove) },
		"Mark":   func(t *rapid.T) { m.change(t, "Mark", (*Tree).Mark, (*twin).mark) },
		"Unmark": func(t *rapid.T) { m.change(t, "Unmark", (*Tree).Unmark, (*twin).unmark) },
		"Bound":  func(t *rapid.T) { drawChange(t, m.tree, m.twin) },
		"Clone":  func(*rapid.T) { m.otherTree, m.otherTwin = m.tree.Clone(), m.twin.clone() },
		"Swap": func(*rapid.T) {
			m.tree, m.otherTree = m.otherTree, m.tree
			m.twin, m.otherTwin = m.otherTwin, m.twin
		},
		"": func(t *rapid.T) { m.compare(t, m.tree, m.twin) },
	})
	m.compare(t, m.otherTree, m.otherTwin)
}

// A machine has two trees with their twins, one the other's clone. One changes,
// until they are swapped; what reaches the one that should not shows then.
type machine struct {
	tree, otherTree *Tree
	twin, otherTwin *twin
	vector          resources.Vector // destinations that are used again
	limit           resources.Limit
}

// change changes tree and twin in the same way. Both must refuse it for the
// same reason.
func (m *machine) change(t *rapid.T, verb string, tree func(*Tree, ID, resources.Vector) error, w func(*twin, string, resources.Vector) error) {
	path := rapid.SampledFrom(m.twin.paths).Draw(t, "queue")
	q, _ := m.tree.Lookup(path)
	size := m.drawSize(t, q)
	before := m.tree.String()
	err, want := tree(m.tree, q, size), w(m.twin, path, size)
	if !errors.Is(err, want) || (err == nil) != (want == nil) {
		t.Fatalf("%s(%s, %v): %v, want %v of\n%s", verb, path, size, err, want, before)
	}
	var p *lent.Problem
	if err != nil && (!errors.As(err, &p) || p.Queue != path) {
		t.Fatalf("%s(%s, %v): %v (%T) does not name the queue", verb, path, size, err, err)
	}
}

// drawSize draws sizes around what there is and what there is room for.
func (m *machine) drawSize(t *rapid.T, q ID) resources.Vector {
	types := m.tree.Schema().Len()
	size := make(resources.Vector, rapid.IntRange(0, types+1).Draw(t, "types"))
	for i := range size {
		amounts := []int64{0, 1, 2, 3}
		if i < types {
			e, p := m.tree.Effective(nil, q)[i], m.tree.Leaving(q)[i]
			room := math.MaxInt64 - m.tree.Usage(Root)[i]
			amounts = append(amounts, e, p, e/2, p/2, room, room/2)
			if rapid.IntRange(0, 7).Draw(t, "wrong") == 7 {
				amounts = []int64{-1, e + 1, p + 1, room + 1, math.MinInt64, math.MaxInt64} // e + 1 may wrap
			}
		} else if rapid.IntRange(0, 3).Draw(t, "unknown type") < 3 {
			amounts = []int64{0}
		}
		size[i] = rapid.SampledFrom(amounts).Draw(t, "amount")
	}
	return size
}

// compare fails unless every row of the tree is that of the twin.
func (m *machine) compare(t *rapid.T, tree *Tree, w *twin) {
	checkBounds(t, tree, w)
	for n, path := range w.paths {
		q := ID(n)
		m.vector = tree.Surplus(m.vector, q)
		m.limit = tree.Headroom(m.limit, q)
		effective := tree.Effective(nil, q)
		for i := range w.schema.Len() {
			same := func(what string, got, want any) {
				if got != want {
					t.Fatalf("%s of %s in %s: %v, want %v, of\n%s", what, w.schema.Name(i), path, got, want, tree)
				}
			}
			same("usage", tree.Usage(q)[i], w.sum(w.used, path, i))
			same("leaving", tree.Leaving(q)[i], w.sum(w.leaving, path, i))
			same("effective usage", effective[i], w.effective(path, i))
			same("surplus", m.vector[i], w.surplus(path, i))

			room, bounded := m.limit.Bound(i)
			wantRoom, wantBounded := w.headroom(path, i)
			same("headroom", fmt.Sprint(room, bounded), fmt.Sprint(wantRoom, wantBounded))
			same("headroom without a bound", bounded || m.limit.Value[i] == 0, true)

			governing := ""
			if g, ok := tree.Governing(q, i); ok {
				governing = tree.Path(g)
			}
			want, _ := w.governing(path, i)
			same("governing queue", governing, want)
		}
	}
}
