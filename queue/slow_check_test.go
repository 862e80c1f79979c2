// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/resources"
)

// A finding is the kind of a problem, and the queue that has it.
type finding struct {
	queue string
	kind  error
}

// slowProblems returns what is wrong with a queue, and then with those below it
// in tree order, but for the values of properties. above are the names above it.
func slowProblems(s *resources.Schema, c *Config, above ...string) (list []finding) {
	names := append(slices.Clip(above), c.Name)
	found := func(kind error) { list = append(list, finding{strings.Join(names, "."), kind}) }
	if c.Name == "" || strings.Contains(c.Name, ".") {
		found(errName)
	}
	if len(names) > 64 {
		found(errDepth)
		return list
	}
	for _, l := range []resources.Limit{c.Guaranteed, c.Max} {
		for i := range 64 {
			v, ok := l.Bound(i)
			switch {
			case ok && i >= s.Len():
				found(lent.ErrType)
			case ok && v < 0:
				found(lent.ErrNegative)
			}
		}
	}
	if len(names) > 1 && c.Properties["preemption.policy"] == "fence" {
		if d, err := time.ParseDuration(c.Properties["quota.preemption.delay"]); err == nil && d > 0 {
			found(errNoEffect)
		}
		below := slices.ContainsFunc(c.Children, func(child Config) bool { return guaranteesBelow(s, &child) })
		if guarantees(s, c) && len(c.Children) > 0 && !below {
			found(errNeverPreempts)
		}
	}
	seen := map[string]int{}
	for _, child := range c.Children {
		seen[child.Name]++
	}
	for _, n := range seen {
		if n > 1 {
			found(errName)
		}
	}
	// A negative bound is a problem by itself, and no other.
	bound := func(l resources.Limit, i int) (*big.Int, bool) {
		v, ok := l.Bound(i)
		return big.NewInt(v), ok && v >= 0
	}
	for i := range s.Len() {
		g, hasG := bound(c.Guaranteed, i)
		m, hasM := bound(c.Max, i)
		if hasG && hasM && g.Cmp(m) > 0 {
			found(lent.ErrAboveMax)
		}
		sum := new(big.Int)
		for _, child := range c.Children {
			if v, ok := bound(child.Guaranteed, i); ok {
				sum.Add(sum, v)
			}
			if v, ok := bound(child.Max, i); ok && hasM && v.Cmp(m) > 0 {
				found(lent.ErrOverCommitted)
			}
		}
		if hasG && sum.Cmp(g) > 0 {
			found(lent.ErrOverCommitted)
		}
		if hasM && sum.Cmp(m) > 0 {
			found(lent.ErrOverCommitted)
		}
	}
	for i := range c.Children {
		list = append(list, slowProblems(s, &c.Children[i], names...)...)
	}
	return list
}

// guarantees reports whether a queue is guaranteed more than nothing of a type,
// and guaranteesBelow whether it or one below it is.

func guarantees(s *resources.Schema, c *Config) bool {
	for i := range s.Len() {
		if g, _ := c.Guaranteed.Bound(i); g > 0 {
			return true
		}
	}
	return false
}

func guaranteesBelow(s *resources.Schema, c *Config) bool {
	return guarantees(s, c) || slices.ContainsFunc(c.Children, func(child Config) bool { return guaranteesBelow(s, &child) })
}
