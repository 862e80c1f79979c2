// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/resources"
)

var laws = []law.Law{
	{Name: "Numbering", Holds: numbering},
	{Name: "Inheritance", Holds: inheritance},
	{Name: "Problems", Holds: problems},
	{Name: "Change", Holds: change},
	{Name: "History", Holds: history},
}

func TestLaws(t *testing.T) { law.Check(t, laws) }

func FuzzLaws(f *testing.F) { law.Fuzz(f, laws) }

// drawTree draws a tree with its twin.
func drawTree(t *rapid.T) (*Tree, *twin) {
	s := schemas().Draw(t, "schema")
	mode := rapid.SampledFrom([]bool{lenient, strict}).Draw(t, "mode")
	c := trees(s, mode).Draw(t, "tree")
	tree, err := build(s, &c, mode)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return tree, newTwin(s, c)
}

// check fails unless got is want.
func check(t *rapid.T, got, want any, what ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", strings.Join(what, " "), diff)
	}
}

// all returns the queues of a tree.
func all(tree *Tree) (list []ID) {
	for q := range ID(tree.Len()) {
		list = append(list, q)
	}
	return list
}

// numbering: the numbers say of any two queues what their paths say.
func numbering(t *rapid.T) {
	tree, w := drawTree(t)
	paths := func(ids []ID) (list []string) {
		for _, q := range ids {
			list = append(list, tree.Path(q))
		}
		return list
	}
	check(t, tree.Len(), len(w.paths), "Len")
	check(t, paths(all(tree)), w.paths, "All")
	for i, path := range w.paths {
		q, ok := tree.Lookup(path)
		check(t, ok, true, "Lookup", path)
		check(t, q, ID(i), "Lookup", path)
		check(t, tree.name(q), w.config[path].Name, "Name", path)
		check(t, strings.Count(tree.Path(q), "."), strings.Count(path, "."), "Depth", path)
		check(t, tree.IsLeaf(q), w.isLeaf(path), "IsLeaf", path)
		check(t, paths(slices.Collect(tree.Ancestors(q))), up(path), "Up", path)
		check(t, paths(slices.Collect(tree.Children(q))), w.children(path), "Children", path)
		check(t, paths(slices.Collect(tree.Leaves(q))), w.leaves(path), "Leaves", path)

		var above string
		if parent, ok := tree.Parent(q); ok {
			above = tree.Path(parent)
		}
		check(t, above, path[:max(strings.LastIndex(path, "."), 0)], "Parent", path)
		for j, other := range w.paths {
			if got := tree.Contains(q, ID(j)); got != inside(other, path) {
				t.Fatalf("Contains(%s, %s) = %v", path, other, got)
			}
			if got, want := tree.Path(tree.CommonAncestor(q, ID(j))), w.commonAncestor(path, other); got != want {
				t.Fatalf("CommonAncestor(%s, %s) = %s, want %s", path, other, got, want)
			}
		}
	}
}

// inheritance: a queue has the policies that a walk up by names finds.
func inheritance(t *rapid.T) {
	tree, w := drawTree(t)
	for i, path := range w.paths {
		q := ID(i)
		by, disabled := disabledBy(tree, q)
		check(t, disabled, w.disabled(path), "DisabledBy", path)
		check(t, *tree.Policies(q).PreemptionDelay, w.delay(path), "PreemptionDelay", path)

		own := w.config[path].Properties[propertyPreemptionPolicy]
		if i == 0 || own != "fence" && own != "disabled" {
			own = "default"
		}
		if disabled {
			check(t, own == "disabled", by == q, "DisabledBy", path)
			own = "disabled"
		}
		check(t, tree.Policies(q).Preemption, own, "Preemption", path)
		check(t, tree.Policies(q).WithinQueue, w.within(path), "WithinQueue", path)
	}
}

// findings returns the kinds of problems, each with its queue, and fails where
// one of them is no [*Problem].
func findings(t *rapid.T, errs []error) (list []finding) {
	for _, err := range errs {
		var p *lent.Problem
		if !errors.As(err, &p) {
			t.Fatalf("%v (%T) is no Problem", err, err)
		}
		list = append(list, finding{p.Queue, errors.Unwrap(p.Err)})
	}
	return list
}

// joined returns the errors that [errors.Join] made err of.
func joined(err error) []error {
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		return list.Unwrap()
	}
	return nil
}

// problems: New finds what a slow search finds, queue by queue in tree order.
func problems(t *rapid.T) {
	s := schemas().Draw(t, "schema")
	c := wildTrees(s).Draw(t, "tree")
	mode := rapid.SampledFrom([]bool{lenient, strict}).Draw(t, "mode")
	tree, err := build(s, &c, mode)
	got := findings(t, joined(err))
	if tree != nil {
		got = append(got, findings(t, tree.Warnings())...)
	}

	var want []finding
	for _, f := range slowProblems(s, &c) {
		switch f.kind {
		case errNoEffect, errNeverPreempts: // warnings always
		case lent.ErrOverCommitted:
			if mode {
				want = append(want, f)
			}
		default:
			want = append(want, f)
		}
	}
	if wantErr := len(want) > 0 || mode && hasBad(&c); (err != nil) != wantErr || (tree == nil) != wantErr {
		t.Fatalf("New: %v, %v; want %v", tree, err, want)
	}
	if err == nil { // then all is in the warnings
		want = slowProblems(s, &c)
	}
	got = slices.DeleteFunc(got, func(f finding) bool { return f.kind == lent.ErrProperty })
	sortKinds(got)
	sortKinds(want)
	if !slices.Equal(got, want) {
		t.Fatalf("found %v, want %v", got, want)
	}
}

// hasBad reports whether a queue has a bad property, at it or below.
func hasBad(c *Config) bool {
	for _, value := range c.Properties {
		if slices.Contains(badValues, value) {
			return true
		}
	}
	return slices.ContainsFunc(c.Children, func(child Config) bool { return hasBad(&child) })
}

// sortKinds sorts the kinds of the problems of each queue, and leaves the
// queues in their order.
func sortKinds(list []finding) {
	for from := 0; from < len(list); {
		to := from
		for to < len(list) && list[to].queue == list[from].queue {
			to++
		}
		slices.SortFunc(list[from:to], func(a, b finding) int { return strings.Compare(a.kind.Error(), b.kind.Error()) })
		from = to
	}
}

// change: setting a bound does, and says, what New does with a configuration
// that has this bound.
func change(t *rapid.T) {
	tree, w := drawTree(t)
	for range rapid.IntRange(1, 5).Draw(t, "changes") {
		drawChange(t, tree, w)
		checkBounds(t, tree, w)
	}
}

// drawChange draws a change of a bound and applies it to tree and twin. It must
// fail where New would.
func drawChange(t *rapid.T, tree *Tree, w *twin) {
	path := rapid.SampledFrom(w.paths).Draw(t, "queue")
	q, _ := tree.Lookup(path)
	limit := wildLimit().Draw(t, "limit")
	set, bound := tree.SetMax, &w.config[path].Max
	if rapid.Bool().Draw(t, "guaranteed") {
		set, bound = tree.SetGuaranteed, &w.config[path].Guaranteed
	}
	before := *bound
	*bound = limit
	_, wantErr := build(w.schema, w.root, tree.in().Strict)
	err := set(q, resources.Limit{Value: slices.Clone(limit.Value), Defined: limit.Defined})
	check(t, text(err), text(wantErr), "setting", path)
	if err != nil {
		*bound = before
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func checkBounds(t *rapid.T, tree *Tree, w *twin) {
	for i, path := range w.paths {
		c := w.config[path]
		if g := tree.Guaranteed(ID(i)); !g.Equal(c.Guaranteed) {
			t.Fatalf("Guaranteed(%s) = %v, want %v", path, g, c.Guaranteed)
		}
		if m := tree.Max(ID(i)); !m.Equal(c.Max) {
			t.Fatalf("Max(%s) = %v, want %v", path, m, c.Max)
		}
	}
}
