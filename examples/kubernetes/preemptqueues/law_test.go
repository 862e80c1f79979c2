// SPDX-License-Identifier: Apache-2.0

package preemptqueues

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/queue"
)

// A world is a set of objects that people change, each with the status of its last verdict.
type world struct {
	*Assembly
	objects []*PreemptQueue
	hours   int64
	busy    map[string]bool
}

var (
	namespaces = []string{"admin", "web", "api"}
	names      = []string{"a", "b", "c"}
	parents    = []string{"", "a", "b", "c", "a.b", "b.a", "a.b.c", "other", "system"}
)

// mostly draws one of a few values, and now and then one of others.
func mostly[T any](t *rapid.T, label string, often, seldom []T) T {
	if rapid.IntRange(0, 9).Draw(t, label+" is odd") > 6 {
		often = seldom
	}
	return rapid.SampledFrom(often).Draw(t, label)
}

// bounds draws amounts of some types.
func bounds(t *rapid.T, label string) map[string]Amount {
	l := map[string]Amount{}
	for range rapid.IntRange(0, 3).Draw(t, label) {
		name := mostly(t, "type", []string{"cpu", "gpu"}, []string{"disk"})
		l[name] = mostly(t, "amount", []Amount{"1", "2", "3", "5", "8"}, []Amount{"0", "500m", "-1", "x"})
	}
	return l
}

// spec draws what people say: the administrator has a and b below the root, and teams have
// theirs below a.
func spec(t *rapid.T, namespace string) Spec {
	usual := "a"
	if namespace == "admin" {
		usual = ""
	}
	s := Spec{
		Parent:     mostly(t, "parent", []string{usual}, parents),
		Namespaces: mostly(t, "namespaces", [][]string{{"*"}}, [][]string{nil, {"web"}, {"api", "web"}}),
		Guaranteed: bounds(t, "guaranteed"),
	}
	if rapid.Bool().Draw(t, "with max") {
		s.Max = bounds(t, "max")
	}
	if rapid.IntRange(0, 5).Draw(t, "with property") > 3 {
		s.Properties = map[string]string{mostly(t, "property", []string{delegated}, []string{"priority.offset"}): "1"}
	}
	return s
}

// put puts the objects together, and writes what came of it.
func (w *world) put(t *rapid.T) (*queue.Tree, []Verdict) {
	root, verdicts := w.Put(w.objects)
	tree, err := queue.New(w.Schema, root)
	require.NoError(t, err)
	w.write(verdicts)
	w.Before = tree
	return tree, verdicts
}

// TestLaws: whatever people make of their objects, the tree keeps the strict rules; nobody
// loses by what others below the same parent do; and what is in force stays so.
func TestLaws(t *testing.T) {
	kept, cut, held := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := &world{Assembly: assembly(t), busy: map[string]bool{}}
		w.Named = func(path string) bool { return w.busy[path] }
		for range rapid.IntRange(1, 20).Draw(t, "changes") {
			before, moving := w.promises()
			changed := w.change(t)
			moving = append(moving, changed)
			tree, verdicts := w.put(t)
			for _, v := range verdicts {
				w.holds(t, tree, &v)
				switch v.Reason {
				case ReasonRefused:
					kept++
				case ReasonExceedsParent:
					cut++
				}
			}
			for path, p := range before {
				if slices.ContainsFunc(moving, func(m promises) bool { return m.has(p) }) {
					continue
				}
				require.Equal(t, path, p.object.Status.Queue, "lost its place by a change of %s/%s", changed.object.Namespace, changed.object.Name)
				for name, was := range p.guaranteed {
					is := promises{object: p.object, guaranteed: p.object.Status.Guaranteed}
					held++
					require.GreaterOrEqual(t, is.of(w, name), promises{guaranteed: map[string]string{name: was}}.of(w, name), "%s of %s", name, path)
				}
			}
			w.again(t, tree, verdicts)
		}
	})
	require.NotZero(t, kept)
	require.NotZero(t, cut)
	require.NotZero(t, held)
}

// promises are what an object has in force.
type promises struct {
	object     *PreemptQueue
	queue      string
	guaranteed map[string]string
}

func (p promises) of(w *world, name string) int64 {
	l, err := w.Schema.Limit(p.guaranteed)
	if err != nil {
		panic(err)
	}
	i, _ := w.Schema.Index(name)
	bound, _ := l.Bound(i)
	return bound
}

// has reports whether p is of the same object, or of one below it.
func (m promises) has(p promises) bool {
	return m.object == p.object || m.queue != "" && strings.HasPrefix(p.queue+".", m.queue+".")
}

// promises returns what is in force, by path, and those of objects that wait for something
// to be other than they are: a change of others may be what they wait for.
func (w *world) promises() (all map[string]promises, moving []promises) {
	all = map[string]promises{}
	for _, o := range w.objects {
		if s := &o.Status; s.Queue != "" {
			p := promises{o, s.Queue, maps.Clone(s.Guaranteed)}
			all[s.Queue] = p
			if !reflect.DeepEqual(&o.Spec, s.InForce) {
				moving = append(moving, p)
			}
		}
	}
	return all, moving
}

// change creates, changes or deletes an object, and returns it as it was.
func (w *world) change(t *rapid.T) promises {
	w.busy = rapid.MapOfN(rapid.SampledFrom(parents[1:]), rapid.Just(true), 0, 1).Draw(t, "busy")
	ns, name := rapid.SampledFrom(namespaces).Draw(t, "namespace"), rapid.SampledFrom(names).Draw(t, "name")
	i := slices.IndexFunc(w.objects, func(o *PreemptQueue) bool { return o.Namespace == ns && o.Name == name })
	if i < 0 {
		w.hours += rapid.Int64Range(0, 1).Draw(t, "later")
		w.objects = append(w.objects, &PreemptQueue{Spec: spec(t, ns), ObjectMeta: metav1.ObjectMeta{
			Namespace: ns, Name: name, CreationTimestamp: metav1.NewTime(time.Unix(3600*w.hours, 0))}})
		return promises{object: w.objects[len(w.objects)-1]}
	}
	o := w.objects[i]
	was := promises{object: o, queue: o.Status.Queue}
	if rapid.IntRange(0, 4).Draw(t, "delete") == 0 {
		w.objects = slices.Delete(w.objects, i, i+1)
	} else {
		o.Spec = spec(t, ns)
	}
	return was
}

// holds checks a verdict against the tree.
func (w *world) holds(t *rapid.T, tree *queue.Tree, v *Verdict) {
	if v.Queue == "" {
		require.Equal(t, ReasonRefused, v.Reason)
		return
	}
	q, ok := tree.Lookup("root." + v.Queue)
	require.True(t, ok, v.Queue)
	require.True(t, tree.Guaranteed(q).Equal(v.Guaranteed))
	require.True(t, tree.Max(q).Equal(v.Max))
	if v.Reason == ReasonAsSpecified {
		require.Empty(t, v.Message)
		require.Equal(t, &v.Object.Spec, v.Spec)
	} else {
		require.NotEmpty(t, v.Message)
	}
	if v.Object.Namespace == w.Namespace {
		return
	}
	parent, _ := tree.Parent(q)
	require.NotEqual(t, queue.Root, parent)
	for i := range v.Guaranteed.Defined.All() {
		own, _ := v.Guaranteed.Bound(i)
		above, _ := tree.Guaranteed(parent).Bound(i)
		require.LessOrEqual(t, own, above, "delegated")
	}
	require.NotContains(t, v.Spec.Properties, "priority.offset")
}

// again: the same objects in another order, with what was written, are the same tree.
func (w *world) again(t *rapid.T, tree *queue.Tree, verdicts []Verdict) {
	w.objects = rapid.Permutation(w.objects).Draw(t, "order")
	root, same := w.Put(w.objects)
	is, err := queue.New(w.Schema, root)
	require.NoError(t, err)
	require.Equal(t, tree.String(), is.String())
	require.Equal(t, told(verdicts, w.Schema), told(same, w.Schema))
}
