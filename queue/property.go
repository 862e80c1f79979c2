// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/sat"
	"github.com/go-preempt/preempt/resources"
)

// The names of the properties, as YuniKorn spells them.
const (
	propertyPreemptionPolicy     = "preemption.policy"
	propertyPreemptionDelay      = "preemption.delay"
	propertyPriorityPolicy       = "priority.policy"
	propertyPriorityOffset       = "priority.offset"
	propertyQuotaPreemptionDelay = "quota.preemption.delay"
	propertyQuotaDelay           = "preemption.quota.delay" // the same, in YuniKorn 1.8
	propertyOwnLeaf              = "preemption.own-leaf"    // YuniKorn has neither this
	propertyFairWeight           = "fair.weight"            // nor this
)

// defaultDelay is the preemption delay of a leaf if no queue of its path sets one, or
// the nearest that does sets a bad value.
const defaultDelay = 30 * time.Second

// policies returns what a queue says for itself, as policies and as properties. A bad value
// counts as unset, but for a bad delay, and is told to wrong; so is a misspelt property. To
// say one thing in both ways is told to twice.
func (c *Config) policies(wrong, twice func(error)) Policies {
	p := Policies{Dynamic: c.Policies.Dynamic}
	for i := range sayings {
		s, one := &sayings[i], c.Policies
		if s.said(&one) && !s.take(&p, &one, true) {
			wrong(fmt.Errorf("%w: %s %q: want %s", errPolicy, s.field, s.text(&c.Policies), s.want))
		}
	}
	// Sorted, for the order of the warnings.
	for _, key := range slices.Sorted(maps.Keys(c.Properties)) {
		value, bad := c.Properties[key], ""
		if i := sayingOf(key); i < 0 {
			bad = unknown(key)
		} else if s, one := &sayings[i], (Policies{}); s.said(&c.Policies) {
			twice(fmt.Errorf("%w: property %s %q and policy %s", errTwice, key, value, s.field))
		} else if !s.take(&p, &one, s.read(&one, value)) {
			bad = "want " + s.want
		}
		if bad != "" {
			wrong(fmt.Errorf("%w: %s %q: %s", lent.ErrProperty, plain.Name(key), value, bad))
		}
	}
	return p
}

// unknown returns what is wrong with a name that is none of ours, or "".
// Queues carry the properties of other features, too. But a misspelt name of
// preemption would have no effect, and nobody would notice.
func unknown(key string) (bad string) {
	for _, prefix := range []string{"preemption.", "priority.", "quota.preemption.", "fair."} {
		if strings.HasPrefix(key, prefix) {
			return "unknown property"
		}
	}
	return ""
}

// inherit has a queue take over from the one above what it does not say itself; from is nil
// if that leaves it nothing.
func (c *Config) inherit(from *Config) {
	if from == nil || c.Policies.Dynamic {
		return
	}
	c.InheritProperties = true
	disabled := from.Policies.Preemption == Disabled || from.Properties[propertyPreemptionPolicy] == Disabled
	c.take(from, func(s *saying) bool { return !s.alone || disabled && s.names[0] == propertyPreemptionPolicy })
}

// parseDelay reads a Go duration or bare seconds, 0 or above. More than a
// [time.Duration] can hold counts as the longest one: a delay that is far too
// long must not become none.
func parseDelay(value string) (time.Duration, bool) {
	const longest = math.MaxInt64
	seconds, err := strconv.ParseInt(value, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return longest, seconds > 0
	case err == nil:
		return time.Duration(sat.Mul(seconds, int64(time.Second))), seconds >= 0
	}
	d, err := time.ParseDuration(value)
	return d, err == nil && d >= 0
}

// Add makes queues at run time: it puts a copy of q last among the children of the queue with that path, from the root
// c on. Then make a new tree with [New]. The new queues are Dynamic. Errors are an unknown path and a name that a
// sibling has. The cost is linear in queues.
func (c *Config) Add(path string, q Config) error {
	parent, template := c.find(path)
	if parent == nil {
		return bad(path, errNoQueue)
	}
	if slices.ContainsFunc(parent.Children, func(sibling Config) bool { return sibling.Name == q.Name }) {
		return bad(path, fmt.Errorf("%w: more than one child named %q", errName, q.Name))
	}
	parent.Children = append(slices.Clip(parent.Children), madeAtRunTime(q, template))
	return nil
}

// find returns the queue of a path and the nearest template at it or above, each
// nil if there is none.
func (c *Config) find(path string) (q *Config, template *Config) {
	name, rest, more := strings.Cut(path, ".")
	if name != c.Name {
		return nil, nil
	}
	q, template = c, c.Template
	for more {
		name, rest, more = strings.Cut(rest, ".")
		i := slices.IndexFunc(q.Children, func(child Config) bool { return child.Name == name })
		if i < 0 {
			return nil, nil
		}
		if q = &q.Children[i]; q.Template != nil {
			template = q.Template
		}
	}
	return q, template
}

// madeAtRunTime returns a copy of a queue and of those below it, as they are below
// the given template, which may be nil.
func madeAtRunTime(q Config, template *Config) Config {
	q.Policies = q.Policies.clone()
	q.Policies.Dynamic = true
	q.Guaranteed = copyOfLimit(q.Guaranteed)
	q.Max = copyOfLimit(q.Max)
	q.Properties = maps.Clone(q.Properties)
	if q.Template != nil {
		template = q.Template
	}
	if len(q.Children) == 0 && template != nil {
		q.Guaranteed = merged(q.Guaranteed, template.Guaranteed)
		q.Max = merged(q.Max, template.Max)
		q.take(template, func(*saying) bool { return true })
	}
	q.Children = slices.Clone(q.Children)
	for i, child := range q.Children {
		q.Children[i] = madeAtRunTime(child, template)
	}
	return q
}

// merged returns own, and other in types that own does not bound.
func merged(own, other resources.Limit) resources.Limit {
	other.Defined &^= own.Defined
	all := resources.AddOnlyExisting(resources.Limit{}, own, nil)
	rest := resources.AddOnlyExisting(resources.Limit{}, other, nil)
	return resources.Limit{Value: resources.Add(all.Value, all.Value, rest.Value), Defined: all.Defined | rest.Defined}
}

func copyOfLimit(l resources.Limit) resources.Limit {
	return resources.Limit{Value: slices.Clone(l.Value), Defined: l.Defined}
}

// checkTemplate reports what is wrong with the template of q, the current queue,
// by itself: New does not know which queues will be made of it.
func (b *builder) checkTemplate(q ID, c *Config) {
	for _, err := range badBounds(b.tree.schema, promise{"", c.Guaranteed, c.Max}) {
		b.problem(fmt.Errorf("template: %w", err))
	}
	c.policies(b.bad(q, "template: "), func(err error) { b.problem(fmt.Errorf("template: %w", err)) })
}
