// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Each thing that policies say stands in all lists of them.
func TestPolicies_Listed(t *testing.T) {
	for _, s := range sayings {
		for file, want := range map[string]string{
			"queue/config.go": "//	" + s.names[0] + " ", "DESIGN.md": "| `" + s.names[0] + "` |", "examples/live/yunikorn.go": strconv.Quote(s.names[0]),
			"internal/trees/save.go": "p." + s.field,
		} {
			text, err := os.ReadFile(filepath.Join("..", file))
			require.NoError(t, err)
			require.Contains(t, string(text), want, "%s does not have %s", file, s.names[0])
		}
	}
}

// typed returns a configuration that says by policies what c says by properties.
func typed(c Config) Config {
	for key, value := range c.Properties {
		i := sayingOf(key)
		if i < 0 {
			continue
		}
		s, one := &sayings[i], Policies{}
		good := s.read(&one, value)
		checked := one
		s.copy(&c.Policies, &one)
		if f := reflect.ValueOf(&c.Policies).Elem().FieldByName(s.field); good && s.valid(&checked) {
			continue
		} else if f.CanInt() {
			f.SetInt(-1) // as bad
		} else if f.Kind() == reflect.Pointer {
			f.Elem().SetInt(-1)
		}
	}
	children := c.Children
	c.Properties, c.Children = nil, nil
	for _, child := range children {
		c.Children = append(c.Children, typed(child))
	}
	return c
}

// TestPolicies_AreProperties: what a tree answers does not depend on the way in which its
// configuration says it, and as many things are wrong with it.
func TestPolicies_AreProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := schemas().Draw(t, "schema")
		// What is bad as a property and says nothing as a policy would be inherited or not.
		inherit := rapid.Bool().Draw(t, "inherit")
		c := trees(s, inherit).Draw(t, "tree")
		c.InheritProperties = inherit
		want, err := NewLenient(s, c)
		require.NoError(t, err)
		got, err := NewLenient(s, typed(c))
		require.NoError(t, err)
		empty := 0 // an empty text is bad as a property, and says nothing as a policy
		for q := range ID(want.Len()) {
			require.Equal(t, settings(want, q), settings(got, q), want.Path(q))
		}
		for _, err := range want.Warnings() {
			if strings.Contains(err.Error(), `""`) {
				empty++
			}
		}
		require.Len(t, got.Warnings(), len(want.Warnings())-empty)
	})
}

// Each says one thing that cannot be.
func TestPolicies_Bad(t *testing.T) {
	for _, test := range []struct {
		policies Policies
		settings string
		want     string
	}{
		{Policies{Preemption: "fenced"}, unset, `bad policy: Preemption "fenced": want default, fence or disabled`},
		{Policies{PreemptionDelay: new(-time.Second)}, unset, `bad policy: PreemptionDelay "-1s": want a duration, 0 or above; it counts as 30s`},
		{Policies{WithinQueue: "any"}, unset, `bad policy: WithinQueue "any": want never, met or branch`},
		{Policies{PriorityFence: "disabled"}, unset, `bad policy: PriorityFence "disabled": want default or fence`},
		{Policies{MinRuntime: new(-time.Second)}, unset, `bad policy: MinRuntime "-1s": want a duration, 0 or above`},
		{Policies{QuotaDelay: new(-time.Second)}, unset, `bad policy: QuotaDelay "-1s": want a duration or seconds, 0 or above`},
		{Policies{Weight: -1}, unset, `bad policy: Weight "-1": want an integer from 1 to 2147483647`},
		{Policies{WithinQueue: "Met"}, unset + " within=met", ""},
	} {
		root := node("root", "", "", node("a", "", ""))
		root.Children[0].Policies = test.policies
		tree, text := mustNew(t, root, lenient), ""
		require.Equal(t, test.settings, settings(tree, 1))
		var want []string
		if test.want != "" {
			text = "queue: root.a: " + test.want
			want = []string{text}
		}
		require.Equal(t, want, texts(tree.Warnings()...))
		_, err := New(schema, root)
		require.Equal(t, want, texts(err))
	}
}

// TestPolicies_Twice: a thing is said by a policy or by a property, and who says both is
// told, whatever the values are.
func TestPolicies_Twice(t *testing.T) {
	for at := range sayings {
		s, policies := &sayings[at], Policies{}
		i := slices.IndexFunc(propertyValues, func(p propertyValue) bool { return p.name == s.names[0] })
		require.GreaterOrEqual(t, i, 0, "queue/generate_test.go: no values of %s", s.names[0])
		require.True(t, s.read(&policies, propertyValues[i].values[0]))
		for _, key := range s.names {
			twice := with(node("a", "", ""), key, "x")
			twice.Policies = policies
			for _, mode := range []bool{lenient, strict} {
				_, err := build(schema, new(node("root", "", "", twice)), mode)
				require.ErrorIs(t, err, errTwice)
				require.ErrorContains(t, err, `queue: root.a: said twice: property `+key+` "x" and policy `)

				root := node("root", "", "", node("a", "", ""))
				root.Template = &twice
				_, err = build(schema, &root, mode)
				require.ErrorContains(t, err, `queue: root: template: said twice: property `+key)
			}
			// Whatever else is said besides is no contradiction.
			other := with(node("a", "", ""), "application.sort.policy", "fifo")
			other.Policies = policies
			mustNew(t, node("root", "", "", other), strict)
		}
	}
}

// TestPolicies_Inherited: Default ends an inherited Disabled, in whichever way the two are
// said, and the nearest word about the own leaf counts.
func TestPolicies_Inherited(t *testing.T) {
	root := node("root", "", "", with(node("a", "", "", node("x", "", ""), node("y", "", "", node("z", "", ""))), propertyPreemptionPolicy, "disabled", propertyOwnLeaf, "nobody"))
	root.Policies.WithinQueue = Branch
	y := &root.Children[0].Children[1]
	y.Policies = Policies{Preemption: Default, WithinQueue: Never, PreemptionDelay: new(time.Duration(0)), Weight: 3}
	tree := mustNew(t, root, lenient)
	for path, want := range map[string]string{
		"root":       unset + " within=branch",
		"root.a":     "disabled disabled=true delay=30s default offset=0 quota=0s within=branch",
		"root.a.x":   "default disabled=true delay=30s default offset=0 quota=0s within=branch",
		"root.a.y":   "default disabled=false delay=0s default offset=0 quota=0s weight=3 within=never",
		"root.a.y.z": "default disabled=false delay=0s default offset=0 quota=0s within=never",
	} {
		require.Equal(t, want, settings(tree, mustLookup(t, tree, path)), path)
	}
	require.Len(t, tree.Warnings(), 1)
	by, ok := disabledBy(tree, mustLookup(t, tree, "root.a.x"))
	require.True(t, ok)
	require.Equal(t, "root.a", tree.Path(by))
	// As YuniKorn's queues inherit.
	y.Policies = Policies{Preemption: Default, QuotaDelay: new(time.Minute)}
	y.Properties = nil
	root.Children[0].Properties[propertyQuotaDelay] = "1h"
	root.InheritProperties = true
	tree = mustNew(t, root, lenient)
	require.Equal(t, "default disabled=false delay=30s default offset=0 quota=1m0s within=branch", settings(tree, mustLookup(t, tree, "root.a.y.z")))
}

// TestAdd_Policies: a template fills up policies one by one, said in either way.
func TestAdd_Policies(t *testing.T) {
	root := node("root", "", "")
	root.Template = &Config{Policies: Policies{WithinQueue: Met, QuotaDelay: new(time.Hour), PriorityOffset: new(int32(7))},
		Properties: map[string]string{propertyFairWeight: "4", propertyPreemptionDelay: "1m", "a.b": "c"}}
	given := with(node("a", "", ""), propertyQuotaDelay, "1s", propertyPriorityOffset, "0")
	given.Policies.Weight = 2
	require.NoError(t, root.Add("root", given))
	require.Equal(t, "default disabled=false delay=1m0s default offset=0 quota=1s weight=2 within=met", settings(mustNew(t, root, strict), 1))
	require.Equal(t, "c", root.Children[0].Properties["a.b"])
	*root.Template.Policies.QuotaDelay, *root.Template.Policies.PriorityOffset = 0, 0
	require.NoError(t, root.Add("root", node("b", "", "")))
	require.Equal(t, "default disabled=false delay=1m0s default offset=0 quota=0s weight=4 within=met", settings(mustNew(t, root, strict), 2))
}

// TestPolicies_AreCopied: a tree does not see what its configuration becomes.
func TestPolicies_AreCopied(t *testing.T) {
	root := node("root", "", "")
	root.Policies = Policies{PreemptionDelay: new(time.Minute), PriorityOffset: new(int32(1)), QuotaDelay: new(time.Minute)}
	tree := mustNew(t, root, strict)
	before := settings(tree, Root)
	*root.Policies.PreemptionDelay, *root.Policies.PriorityOffset, *root.Policies.QuotaDelay = 0, 0, 0
	require.Equal(t, before, settings(tree, Root))
}
