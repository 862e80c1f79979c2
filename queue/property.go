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
	propertyFairWeight           = "fair.weight"            // YuniKorn has none
)

// defaultDelay is the preemption delay of a leaf if no queue of its path sets one, or
// the nearest that does sets a bad value.
const defaultDelay = 30 * time.Second

// The values of a preemption policy, and of a priority policy.
const (
	policyDefault  = "default"
	policyFence    = "fence"
	policyDisabled = "disabled"
)

// Policies are what the properties of a queue say; see [Config].
type Policies struct {
	// Preemption is the queue's own policy: default, fence or disabled. A fence keeps
	// asks below it from victims outside. The root's is always default.
	Preemption string
	// Disabled: the nearest policy upwards is disabled, which protects the tasks of the
	// queue. Its asks may preempt all the same.
	Disabled bool
	// PreemptionDelay is how long an ask must be pending before it may preempt: what the
	// nearest queue upwards sets, or 30 s.
	PreemptionDelay time.Duration
	// PriorityFence: priorities from below become PriorityOffset. Else it is added.
	// Neither is inherited.
	PriorityFence  bool
	PriorityOffset int32
	// QuotaPreemptionDelay is from a lowered max to its enforcement by preemption; 0 is
	// never.
	QuotaPreemptionDelay time.Duration
	// FairWeight is the weight among siblings, 1 or more.
	FairWeight int32
	// Dynamic: the queue was made at run time.
	Dynamic bool
}

// Policies returns the policies of q.
func (t *Tree) Policies(q ID) Policies { return t.policies[t.known(q)] }

// parse reads the properties of a queue. inherited are the policies of the queue
// above, nil for the root. Each bad value is a warning.
func (p *Policies) parse(properties map[string]string, inherited *Policies, warn func(error)) {
	*p = Policies{Preemption: policyDefault, PreemptionDelay: defaultDelay, FairWeight: 1, Dynamic: p.Dynamic}
	if inherited != nil {
		p.PreemptionDelay = inherited.PreemptionDelay
		p.Disabled = inherited.Disabled
	}
	// Sorted, for the order of the warnings.
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		value := properties[key]
		if bad := p.set(key, value); bad != "" {
			warn(fmt.Errorf("%w: %s %q: %s", errProperty, plain.Name(key), value, bad))
		}
	}
	if inherited == nil { // a preemption policy has no effect on the root
		p.Preemption, p.Disabled = policyDefault, false
	}
	if p.Preemption == policyFence && p.QuotaPreemptionDelay > 0 {
		warn(fmt.Errorf("%w: the %s fence, when the max is enforced (%s %v)",
			errNoEffect, propertyPreemptionPolicy, propertyQuotaPreemptionDelay, p.QuotaPreemptionDelay))
	}
}

// set sets one property and returns what is wrong with its value, or "". A bad
// value changes nothing, but for a bad delay: see [Policies].
func (p *Policies) set(key, value string) (bad string) {
	switch key {
	case propertyPreemptionPolicy:
		if !isPreemption(value) {
			return "want default, fence or disabled"
		}
		p.Preemption, p.Disabled = value, value == policyDisabled
	case propertyPreemptionDelay:
		d, err := time.ParseDuration(value)
		if err != nil || d < 0 {
			p.PreemptionDelay = defaultDelay
			return "want a duration, 0 or above; it counts as 30s"
		}
		p.PreemptionDelay = d
	case propertyPriorityPolicy:
		if !isPriority(value) {
			return "want default or fence"
		}
		p.PriorityFence = value == policyFence
	case propertyPriorityOffset:
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return "want a 32-bit integer"
		}
		p.PriorityOffset = int32(n)
	case propertyQuotaPreemptionDelay, propertyQuotaDelay:
		d, ok := parseDelay(value)
		if !ok {
			return "want a duration or seconds, 0 or above"
		}
		p.QuotaPreemptionDelay = d
	case propertyFairWeight:
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil || n < 1 {
			return "want an integer from 1 to 2147483647"
		}
		p.FairWeight = int32(n)
	default:
		return unknown(key)
	}
	return ""
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

// InheritProperties gives the queues below c the properties of those above them, as
// YuniKorn does, and New does not: what a queue sets itself stays. A priority policy
// is not inherited, nor an offset, a weight, or a preemption policy other than
// disabled. Call it once a configuration is whole, before New; again changes nothing.
// Leaves made of a template inherit nothing. The cost is queues·properties.
func (c *Config) InheritProperties() {
	c.Children = slices.Clone(c.Children)
	for i := range c.Children {
		child := &c.Children[i]
		if !child.Dynamic {
			child.Properties = inherit(c.Properties, child.Properties)
		}
		child.InheritProperties()
	}
}

// inherit returns the properties of a queue, and those of its parent that it
// inherits and does not set.
func inherit(parent, own map[string]string) map[string]string {
	all := maps.Clone(parent)
	maps.DeleteFunc(all, func(key, value string) bool {
		switch key {
		case propertyPriorityPolicy, propertyPriorityOffset, propertyFairWeight:
			return true
		case propertyPreemptionPolicy:
			return value != policyDisabled
		case propertyQuotaPreemptionDelay, propertyQuotaDelay: // one name must not win over the other
			_, ok := own[propertyQuotaPreemptionDelay]
			_, also := own[propertyQuotaDelay]
			return ok || also
		}
		return false
	})
	if len(all) == 0 {
		return own
	}
	maps.Copy(all, own)
	return all
}

func isPriority(policy string) bool   { return policy == policyDefault || policy == policyFence }
func isPreemption(policy string) bool { return isPriority(policy) || policy == policyDisabled }

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

// Add makes queues at run time: it puts a copy of q last among the children of the queue
// with that path, which begins with the name of the root c. Then make a new tree with
// [New]; a cluster takes it over (SetTree of package victims). The new queues are Dynamic. Errors are a
// path that leads nowhere and a name that a sibling has. The cost is linear in the queues
// along the path, their siblings, and q.
func (c *Config) Add(path string, q Config) error {
	parent, template := c.find(path)
	if parent == nil {
		return &Problem{Queue: path, Err: errNoQueue}
	}
	if slices.ContainsFunc(parent.Children, func(sibling Config) bool { return sibling.Name == q.Name }) {
		return &Problem{Queue: path, Err: fmt.Errorf("%w: more than one child named %q", errName, q.Name)}
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
	q.Dynamic = true
	q.Guaranteed = copyOfLimit(q.Guaranteed)
	q.Max = copyOfLimit(q.Max)
	q.Properties = maps.Clone(q.Properties)
	if q.Template != nil {
		template = q.Template
	}
	if len(q.Children) == 0 && template != nil {
		q.Guaranteed = resources.Merge(resources.Limit{}, q.Guaranteed, template.Guaranteed)
		q.Max = resources.Merge(resources.Limit{}, q.Max, template.Max)
		if properties := maps.Clone(template.Properties); properties != nil {
			maps.Copy(properties, q.Properties)
			q.Properties = properties
		}
	}
	q.Children = slices.Clone(q.Children)
	for i, child := range q.Children {
		q.Children[i] = madeAtRunTime(child, template)
	}
	return q
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
	// The policies above do not matter, for all that is asked is what can be read.
	new(Policies).parse(c.Properties, &Policies{}, func(err error) { b.warn(q, fmt.Errorf("template: %w", err)) })
}
