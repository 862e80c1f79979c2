// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/resources"
)

// The tables of this package write queues and amounts as short as they can.

// schema has two types that are counted in ones.
var schema = func() *resources.Schema {
	s, err := resources.NewSchema("gpu", "disk")
	if err != nil {
		panic(err)
	}
	return s
}()

// limit reads "gpu=2 disk=-3".
func limit(text string) (l resources.Limit) {
	l.Value = make(resources.Vector, schema.Len())
	for _, field := range strings.Fields(text) {
		name, amount, _ := strings.Cut(field, "=")
		i, ok := schema.Index(name)
		v, err := strconv.ParseInt(amount, 10, 64)
		if !ok || err != nil {
			panic("no limit: " + text)
		}
		l.Value[i] = v
		l.Defined |= 1 << i
	}
	return l
}

func vector(text string) resources.Vector { return limit(text).Value }

// node is a queue with what it is guaranteed and what it may use at most.
func node(name, guaranteed, most string, children ...Config) Config {
	return Config{Name: name, Guaranteed: limit(guaranteed), Max: limit(most), Children: children}
}

// with returns the queue with properties: name, value, name, value …
func with(c Config, properties ...string) Config {
	c.Properties = map[string]string{}
	for i := 0; i < len(properties); i += 2 {
		c.Properties[properties[i]] = properties[i+1]
	}
	return c
}

// How strictly a tree is made.
const lenient, strict = false, true

func mustNew(t testing.TB, root Config, mode bool) *Tree {
	t.Helper()
	tree, err := build(schema, &root, mode)
	require.NoError(t, err)
	return tree
}

func mustLookup(t testing.TB, tree *Tree, path string) ID {
	t.Helper()
	q, ok := tree.Lookup(path)
	require.True(t, ok, "no queue %s", path)
	return q
}

// texts returns the messages of errors, of joined ones apart.
func texts(errs ...error) (list []string) {
	for _, err := range errs {
		if parts := joined(err); parts != nil {
			list = append(list, texts(parts...)...)
		} else if err != nil {
			list = append(list, err.Error())
		}
	}
	return list
}
