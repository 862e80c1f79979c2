// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/law"
	"github.com/go-preempt/preempt/resources"
)

func mustSchema(t require.TestingT, names ...string) *resources.Schema {
	s, err := resources.NewSchema(names...)
	require.NoError(t, err)
	return s
}

// TestMove takes the usage of a tree to another one with more types and queues.
func TestMove(t *testing.T) {
	from := mustNew(t, node("root", "", "", node("a", "", "", node("x", "", ""), node("y", "", "")), node("b", "", ""), node("c", "", "")), Strict)
	used := map[string]string{"root.a.x": "gpu=3 disk=1", "root.a.y": "gpu=2", "root.b": "disk=7"}
	for path, amounts := range used {
		require.NoError(t, from.Add(mustLookup(t, from, path), vector(amounts)))
	}
	require.NoError(t, from.Mark(mustLookup(t, from, "root.a.x"), vector("gpu=1")))

	to, err := New(mustSchema(t, "cpu", "disk", "gpu"), node("root", "", "",
		node("new", "", ""), node("b", "", ""), node("a", "", "", node("y", "", ""), node("x", "", ""))), Strict)
	require.NoError(t, err)
	m, err := NewMove(from, to)
	require.NoError(t, err)

	where := map[string]string{}
	for q := range from.All() {
		if there, ok := m.Queue(q); ok {
			where[from.Path(q)] = to.Path(there)
		}
	}
	require.Equal(t, map[string]string{"root": "root", "root.a": "root.a", "root.a.x": "root.a.x", "root.a.y": "root.a.y", "root.b": "root.b"}, where)
	require.Equal(t, []ID{mustLookup(t, from, "root.c")}, slices.Collect(m.Gone()))
	require.Equal(t, resources.Vector{0, 5, 4}, m.Vector(nil, resources.Vector{4, 5, 6}))

	require.NoError(t, m.Usage())
	require.Equal(t, `root  used disk=8 gpu=5 leaving gpu=1
  new used none
  b   used disk=7
  a   used disk=1 gpu=5 leaving gpu=1
    y used gpu=2
    x used disk=1 gpu=3 leaving gpu=1
`, to.String())
}

func TestMove_Gone(t *testing.T) {
	from := mustNew(t, node("root", "", "", node("a", "", "", node("x", "", "")), node("b", "", ""), node("c", "", ""), node("d", "", "")), Strict)
	for _, path := range []string{"root.a.x", "root.b", "root.d"} {
		require.NoError(t, from.Add(mustLookup(t, from, path), vector("gpu=2")))
	}
	// a is a leaf now, and b is none; c and d are gone, and nothing uses c.
	to := mustNew(t, node("root", "", "", node("a", "", ""), node("b", "", "", node("x", "", ""))), Strict)
	m, err := NewMove(from, to)
	require.NoError(t, err)
	err = m.Usage()
	require.Equal(t, []string{
		"queue: root.a.x: the leaf is gone: used gpu=2",
		"queue: root.b: the leaf is gone: used gpu=2",
		"queue: root.d: the leaf is gone: used gpu=2"}, texts(err))
	require.ErrorIs(t, err, ErrGone)
	require.True(t, resources.IsZero(to.Usage(Root)), "nothing changes")

	a, b := mustLookup(t, from, "root.a"), mustLookup(t, from, "root.b")
	there, ok := m.Queue(a)
	require.True(t, ok && to.Path(there) == "root.a")
	_, ok = m.Leaf(a)
	require.False(t, ok, "it was no leaf")
	_, ok = m.Leaf(b)
	require.False(t, ok, "it is no leaf any more")
}

func TestMove_Errors(t *testing.T) {
	from := mustNew(t, node("root", "", "", node("a", "", "")), Strict)
	small, err := New(mustSchema(t, "cpu"), node("root", "", "", node("a", "", "")), Strict)
	require.NoError(t, err)
	_, err = NewMove(from, small)
	require.Equal(t, []string{`queue: root: not a type: "gpu"`, `queue: root: not a type: "disk"`}, texts(err))
	require.ErrorIs(t, err, ErrType)

	to := from.Clone()
	require.NoError(t, from.Add(1, vector("gpu=3")))
	require.NoError(t, to.Add(1, resources.Vector{math.MaxInt64 - 2}))
	m, err := NewMove(from, to)
	require.NoError(t, err)
	require.Equal(t, []string{"queue: root: sum of amounts out of range: gpu 3 where the root uses 9223372036854775805"}, texts(m.Usage()))
	require.Equal(t, int64(math.MaxInt64-2), to.Usage(Root)[0], "nothing changes")

	_, err = to.Own()
	require.NoError(t, err)
	require.ErrorIs(t, m.Usage(), ErrOwned)

	other := mustNew(t, node("tree", "", "", node("a", "", "")), Strict)
	m, err = NewMove(from, other)
	require.NoError(t, err)
	require.Equal(t, []ID{1}, slices.Collect(m.Gone()), "the root has another name")

	require.PanicsWithValue(t, "queue: NewMove of a Tree without queues (nil or zero): see New", func() { _, _ = NewMove(nil, to) })
	require.PanicsWithValue(t, "queue: NewMove of a Tree without queues (nil or zero): see New", func() { _, _ = NewMove(from, &Tree{}) })
	require.PanicsWithError(t, "queue: no queue 2 in a tree of 2 queues: an ID of another tree?", func() { m.Leaf(2) })
}

var moveLaws = []law.Law{{Name: "Move", Holds: move}}

func TestMoveLaws(t *testing.T) { law.Check(t, moveLaws) }

func FuzzMoveLaws(f *testing.F) { law.Fuzz(f, moveLaws) }

// move: queues are where their paths are, and the usage of every leaf is there,
// or nothing is and the error names the leaves that are gone.
func move(t *rapid.T) {
	s := schemas().Draw(t, "schema")
	build := func(what string) *Tree {
		tree, err := New(s, trees(s, false).Draw(t, what), Lenient)
		if err != nil {
			t.Fatal(err)
		}
		return tree
	}
	from, to := build("from"), build("to")
	var gone []string
	for q := range from.Leaves(Root) {
		size := make(resources.Vector, s.Len())
		for i := range size {
			size[i] = rapid.Int64Range(0, 3).Draw(t, "size")
		}
		if err := from.Add(q, size); err != nil {
			t.Fatal(err)
		}
		there, ok := to.Lookup(from.Path(q))
		if !resources.IsZero(size) && (!ok || !to.IsLeaf(there)) {
			gone = append(gone, from.Path(q))
		}
	}
	m, err := NewMove(from, to)
	if err != nil {
		t.Fatal(err)
	}
	for q := range from.All() {
		there, ok := m.Queue(q)
		want, wantOK := to.Lookup(from.Path(q))
		check(t, ok, wantOK, "Queue", from.Path(q))
		check(t, there, want, "Queue", from.Path(q))
	}
	var named []string
	for _, f := range findings(t, joined(m.Usage())) {
		named = append(named, f.queue)
	}
	check(t, named, gone, "leaves that are gone")
	for q := range to.Leaves(Root) {
		want := make(resources.Vector, s.Len())
		if there, ok := from.Lookup(to.Path(q)); ok && from.IsLeaf(there) && gone == nil {
			want = from.Usage(there)
		}
		check(t, to.Usage(q), want, "usage of", to.Path(q))
	}
}
