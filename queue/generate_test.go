// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/resources"
)

// Names are drawn from a few that begin like each other, for "inside" is not
// "begins with".
var names = []string{"a", "ab", "b", "abc", "root"}

// schemas draws schemas of no type to three.
func schemas() *rapid.Generator[*resources.Schema] {
	return rapid.Map(rapid.IntRange(0, 3), func(n int) *resources.Schema {
		s, err := resources.NewSchema([]string{"cpu", "memory", "gpu"}[:n]...)
		if err != nil {
			panic(err)
		}
		return s
	})
}

// trees draws configurations without an error. A tidy one is not over-committed
// either, so that a strict tree can be made of it.
func trees(s *resources.Schema, tidy bool) *rapid.Generator[Config] {
	return rapid.Custom(func(t *rapid.T) Config {
		c := shape(t)
		addProperties(t, &c, tidy)
		addBounds(t, s, &c, tidy)
		return c
	})
}

// shape draws queues with their names: bushes of a few queues, or now and then
// a tree as deep as trees may be.
func shape(t *rapid.T) Config {
	most, deep := 12, rapid.IntRange(0, 9).Draw(t, "deep") == 9
	if deep {
		most = maxDepth
	}
	var below [][]int // the children of each queue
	for q := range rapid.IntRange(1, most).Draw(t, "queues") {
		below = append(below, nil)
		if q == 0 {
			continue
		}
		parent := q - 1
		if !deep {
			parent = rapid.IntRange(0, q-1).Draw(t, "parent")
		}
		for len(below[parent]) == len(names) {
			parent++
		}
		below[parent] = append(below[parent], q)
	}
	first := rapid.IntRange(0, len(names)-1).Draw(t, "first name")
	var build func(q int, name string) Config
	build = func(q int, name string) Config {
		c := Config{Name: name}
		for i, child := range below[q] {
			c.Children = append(c.Children, build(child, names[(first+i)%len(names)]))
		}
		return c
	}
	return build(0, "root")
}

// badValues are of no property.
var badValues = []string{"Fence", "", "-1s", "60", "soon", "any", "0", "many"}

type propertyValue struct {
	name   string
	values []string
}

// propertyValues has values of all properties. The first is good.
var propertyValues = []propertyValue{
	{propertyPreemptionPolicy, []string{"fence", "default", "disabled", "Fence", ""}},
	{propertyPreemptionDelay, []string{"1m", "1h30m", "0s", "-1s", "60", "soon"}},
	{"preemption.min-runtime", []string{"1m", "0s", "-1s", "soon"}},
	{propertyOwnLeaf, []string{"never", "Met", "branch", "any"}},
	{propertyPriorityPolicy, []string{"fence", "default", "Fence"}},
	{propertyPriorityOffset, []string{"7", "-1", "0"}},
	{propertyQuotaPreemptionDelay, []string{"1m", "0s", "soon"}},
	{propertyFairWeight, []string{"2", "3", "7", "100", "2147483647", "0", "many"}},
}

// addProperties draws properties for a queue and those below it, in a tidy tree good ones
// only. Most set none.
func addProperties(t *rapid.T, c *Config, tidy bool) {
	if rapid.IntRange(0, 3).Draw(t, "properties") == 3 {
		c.Properties = make(map[string]string)
		for _, p := range propertyValues {
			values := slices.Clone(p.values)
			if tidy {
				values = slices.DeleteFunc(values, func(v string) bool { return slices.Contains(badValues, v) })
			}
			c.Properties[p.name] = rapid.SampledFrom(values).Draw(t, p.name)
		}
	}
	for i := range c.Children {
		addProperties(t, &c.Children[i], tidy)
	}
}

// addBounds draws the bounds of a queue and those below it.
func addBounds(t *rapid.T, s *resources.Schema, c *Config, tidy bool) {
	for i := range c.Children {
		addBounds(t, s, &c.Children[i], tidy)
	}
	g, m := make(resources.Vector, s.Len()), make(resources.Vector, s.Len())
	for i := range s.Len() {
		var sum, most int64
		if tidy {
			sum, most = promised(c.Children, i)
		}
		g[i] = sum + rapid.Int64Range(0, 5).Draw(t, "guaranteed")
		m[i] = max(g[i], most) + rapid.Int64Range(0, 5).Draw(t, "max")
	}
	c.Guaranteed = resources.Limit{Value: g, Defined: mask(t, s)}
	c.Max = resources.Limit{Value: m, Defined: mask(t, s)}
}

// promised returns the sum of the guarantees of children and their highest max.
func promised(children []Config, i int) (sum, most int64) {
	for _, child := range children {
		g, _ := child.Guaranteed.Bound(i)
		m, _ := child.Max.Bound(i)
		sum, most = sum+g, max(most, m)
	}
	return sum, most
}

// disabledBy returns the queue that protects the tasks of another one, if one does.
func disabledBy(t *Tree, q ID) (by ID, ok bool) {
	for by = q; by != Root && !t.saysItself(int32(by), propertyPreemptionPolicy); {
		by = t.parents[by]
	}
	return by, t.Policies(q).Preemption == Disabled
}

func mask(t *rapid.T, s *resources.Schema) resources.Mask {
	return resources.Mask(rapid.Uint64Range(0, 1<<s.Len()-1).Draw(t, "defined"))
}

// wildTrees draws configurations with all kinds of problems, but for depth.
func wildTrees(s *resources.Schema) *rapid.Generator[Config] {
	return rapid.Custom(func(t *rapid.T) Config {
		c := trees(s, false).Draw(t, "tree")
		var spoil func(c *Config)
		spoil = func(c *Config) {
			if rapid.IntRange(0, 5).Draw(t, "bad name") == 5 {
				c.Name = rapid.SampledFrom([]string{"", "a.b", "a", "."}).Draw(t, "name")
			}
			if rapid.IntRange(0, 2).Draw(t, "bad bounds") == 2 {
				c.Guaranteed = wildLimit().Draw(t, "guaranteed")
				c.Max = wildLimit().Draw(t, "max")
			}
			for i := range c.Children {
				spoil(&c.Children[i])
			}
		}
		spoil(&c)
		return c
	})
}

// wildLimit draws limits of any amounts and of more types than there are.
func wildLimit() *rapid.Generator[resources.Limit] {
	return rapid.Custom(func(t *rapid.T) resources.Limit {
		amount := rapid.OneOf(
			rapid.Int64Range(-2, 5),
			rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, math.MaxInt64 - 1}),
		)
		return resources.Limit{
			Value:   rapid.SliceOfN(amount, 0, 5).Draw(t, "value"),
			Defined: resources.Mask(rapid.SampledFrom([]uint64{0, 1, 2, 3, 7, 15, 1 << 63}).Draw(t, "defined")),
		}
	})
}
