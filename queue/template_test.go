// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/lent"
)

// users is a tree with a template for the queues of users, and one below it for
// those of a team.
func users() Config {
	root := node("root", "", "gpu=9", node("users", "", "", node("eve", "gpu=2", ""), node("team", "", "")), node("lab", "", ""))
	root.Children[0].Template = &Config{Guaranteed: limit("gpu=2"), Max: limit("gpu=4 disk=8"),
		Properties: map[string]string{propertyPriorityOffset: "7", propertyQuotaPreemptionDelay: "1m"}}
	root.Children[0].Children[1].Template = &Config{Max: limit("gpu=3")}
	return root
}

// line is what a queue is and says, on a line.
func line(t *Tree, q ID) string {
	text := t.Path(q)
	if t.Policies(q).Dynamic {
		text += " dynamic"
	}
	return text + " guaranteed " + schema.FormatLimit(t.Guaranteed(q)) + " max " + schema.FormatLimit(t.Max(q)) + " " + settings(t, q)
}

func TestAdd(t *testing.T) {
	const of = " default disabled=false delay=30s default offset=7 quota="
	for _, test := range []struct {
		name, path string
		queue      Config
		want       []string
	}{
		{"a leaf takes all", "root.users", node("ann", "", ""),
			[]string{"root.users.ann dynamic guaranteed gpu=2 max gpu=4 disk=8" + of + "1m0s"}},
		{"but what it sets itself", "root.users", with(node("ann", "", "gpu=3"), propertyQuotaPreemptionDelay, "0"),
			[]string{"root.users.ann dynamic guaranteed gpu=2 max gpu=3 disk=8" + of + "0s"}},
		{"the nearest template alone", "root.users.team", node("ann", "", ""),
			[]string{"root.users.team.ann dynamic guaranteed none max gpu=3 " + unset}},
		{"below a queue without one", "root.users.eve", node("ann", "", ""),
			[]string{"root.users.eve.ann dynamic guaranteed gpu=2 max gpu=4 disk=8" + of + "1m0s"}},
		{"no template above", "root.lab", node("ann", "", "gpu=1"),
			[]string{"root.lab.ann dynamic guaranteed none max gpu=1 " + unset}},
		{"leaves only", "root.users", node("ann", "", "", node("x", "", ""), node("y", "gpu=1", "")), []string{
			"root.users.ann dynamic guaranteed none max none " + unset,
			"root.users.ann.x dynamic guaranteed gpu=2 max gpu=4 disk=8" + of + "1m0s",
			"root.users.ann.y dynamic guaranteed gpu=1 max gpu=4 disk=8" + of + "1m0s"}},
		{"a template of its own", "root.users", func() Config {
			c := node("ann", "", "", node("x", "", ""))
			c.Template = &Config{Max: limit("disk=1")}
			return c
		}(), []string{
			"root.users.ann dynamic guaranteed none max none " + unset,
			"root.users.ann.x dynamic guaranteed none max disk=1 " + unset}},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := users()
			before := mustNew(t, root, strict)
			require.NoError(t, root.Add(test.path, test.queue))
			tree := mustNew(t, root, strict)
			var got []string
			for q := range ID(tree.Len()) {
				text := line(tree, q)
				if old, ok := before.Lookup(tree.Path(q)); ok {
					require.Equal(t, line(before, old), text, "it was there before")
				} else {
					got = append(got, text)
				}
			}
			require.Equal(t, test.want, got)
		})
	}
}

func TestAdd_Errors(t *testing.T) {
	for _, test := range []struct {
		path, name, want string
		kind             error
	}{
		{"root.sales", "x", "queue: root.sales: no such queue", errNoQueue},
		{"", "x", `queue: "": no such queue`, errNoQueue},
		{"users", "x", "queue: users: no such queue", errNoQueue},
		{"root.users.", "x", "queue: root.users.: no such queue", errNoQueue},
		{"root.users", "eve", `queue: root.users: bad name: more than one child named "eve"`, errName},
	} {
		root := users()
		err := root.Add(test.path, node(test.name, "", ""))
		require.EqualError(t, err, test.want)
		require.ErrorIs(t, err, test.kind)
		require.Equal(t, users(), root, "nothing changes")
	}
}

// TestAdd_Copies shows that what was made at run time is its own: neither the
// template nor the queue that was given reaches it any more.
func TestAdd_Copies(t *testing.T) {
	root := users()
	given := node("ann", "disk=1", "", node("x", "disk=1", ""))
	given.Properties = map[string]string{propertyFairWeight: "2"}
	require.NoError(t, root.Add("root.users", given))
	require.NoError(t, root.Add("root.users", node("bob", "", "")))
	before := mustNew(t, root, strict).String()

	template := root.Children[0].Template
	template.Guaranteed.Value[0], template.Max.Value[0] = 0, 9
	template.Properties[propertyPriorityOffset] = "100"
	given.Guaranteed.Value[1] = 0
	given.Properties[propertyFairWeight] = "3"
	given.Children[0].Guaranteed.Value[1] = 0
	tree := mustNew(t, root, strict)
	require.Equal(t, before, tree.String())
	require.EqualValues(t, 2, tree.Policies(mustLookup(t, tree, "root.users.ann")).Weight)
	require.EqualValues(t, 7, *tree.Policies(mustLookup(t, tree, "root.users.bob")).PriorityOffset)
	require.False(t, given.Policies.Dynamic)

	require.NoError(t, root.Add("root.users", node("cid", "", "")))
	tree = mustNew(t, root, strict)
	require.EqualValues(t, 100, *tree.Policies(mustLookup(t, tree, "root.users.cid")).PriorityOffset)
}

// TestNew_Template shows that a template is checked before any queue is made of it.
func TestNew_Template(t *testing.T) {
	root := users()
	root.Template = &Config{Guaranteed: limit("gpu=2 disk=-1"), Max: limit("gpu=1")}
	_, err := NewLenient(schema, root)
	require.Equal(t, []string{
		"queue: root: template: negative bound: guaranteed disk -1",
		"queue: root: template: guaranteed above max: gpu: guaranteed 2, max 1"}, texts(err))
	require.ErrorIs(t, err, lent.ErrAboveMax)

	root.Template = &Config{Properties: map[string]string{propertyPriorityOffset: "high"}}
	want := []string{`queue: root: template: bad property: priority.offset "high": want a 32-bit integer`}
	require.Equal(t, want, texts(mustNew(t, root, lenient).Warnings()...))
	_, err = New(schema, root)
	require.Equal(t, want, texts(err))
}
