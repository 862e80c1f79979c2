// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// node is a queue with properties: name, value, name, value …
func node(name string, properties []string, children ...queue.Config) queue.Config {
	c := queue.Config{Name: name, Properties: map[string]string{}, Children: children}
	for i := 0; i < len(properties); i += 2 {
		c.Properties[properties[i]] = properties[i+1]
	}
	return c
}

// set returns properties. The short names are those of the tables: fence and
// disabled are preemption policies, "=5" is a priority fence of 5, "+5" and
// "-5" are offsets.
func set(words ...string) (properties []string) {
	for _, word := range words {
		switch {
		case word == "fence" || word == "disabled" || word == "default":
			properties = append(properties, "preemption.policy", word)
		case word[0] == '=':
			properties = append(properties, "priority.policy", "fence", "priority.offset", word[1:])
		default:
			properties = append(properties, "priority.offset", word)
		}
	}
	return properties
}

func mustNew(t require.TestingT, root queue.Config) *queue.Tree {
	schema, err := resources.NewSchema("cpu")
	require.NoError(t, err)
	tree, err := queue.New(schema, root)
	require.NoError(t, err)
	return tree
}

func mustLookup(t testing.TB, tree *queue.Tree, path string) queue.ID {
	t.Helper()
	q, ok := tree.Lookup(path)
	require.True(t, ok, "no queue %s", path)
	return q
}

// Names are drawn from a few that begin like each other, for "below" is not
// "begins with".
var names = []string{"a", "ab", "b", "abc", "root"}

// configs draws configurations with fences and offsets: bushes of a few queues,
// now and then with branches as deep as trees may be.
func configs() *rapid.Generator[queue.Config] {
	return rapid.Custom(func(t *rapid.T) queue.Config {
		deep := rapid.IntRange(0, 9).Draw(t, "deep") == 9
		count := rapid.IntRange(1, 12).Draw(t, "queues")
		if deep {
			count = 10 * count
		}
		below, depth := [][]int{nil}, []int{1}
		for q := 1; q < count; q++ {
			parent := rapid.IntRange(0, q-1).Draw(t, "parent")
			if deep { // two branches, mostly
				parent = max(0, q-1-parent%3)
			}
			for len(below[parent]) == len(names) || depth[parent] == maxDepth {
				parent = (parent + 1) % q
			}
			below, depth = append(below, nil), append(depth, depth[parent]+1)
			below[parent] = append(below[parent], q)
		}
		first := rapid.IntRange(0, len(names)-1).Draw(t, "first name")
		var build func(q int, name string) queue.Config
		build = func(q int, name string) queue.Config {
			c := queue.Config{Name: name, Properties: properties().Draw(t, "properties")}
			for i, child := range below[q] {
				c.Children = append(c.Children, build(child, names[(first+i)%len(names)]))
			}
			return c
		}
		return build(0, "root")
	})
}

// properties draws what a queue is set to. Most are set to nothing.
func properties() *rapid.Generator[map[string]string] {
	return rapid.Custom(func(t *rapid.T) map[string]string {
		m := map[string]string{}
		draw := func(key string, values ...string) {
			if value := rapid.SampledFrom(values).Draw(t, key); value != "" {
				m[key] = value
			}
		}
		draw("preemption.policy", "", "", "", "", "fence", "disabled", "default")
		draw("priority.policy", "", "", "", "fence", "default")
		draw("priority.offset", "", "", "1", "-1", "2", "2147483647", "-2147483648")
		return m
	})
}

// priorities draws raw priorities: close to each other, or at the ends.
func priorities() *rapid.Generator[int32] {
	return rapid.OneOf(
		rapid.Int32Range(-3, 3),
		rapid.SampledFrom([]int32{-1 << 31, -1<<31 + 1, 1<<31 - 2, 1<<31 - 1}),
		rapid.Int32(),
	)
}

// text returns an offset as a property value.
func text(n int32) string { return strconv.Itoa(int(n)) }
