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

// The property names of a queue, as YuniKorn spells them; YuniKorn has no fair weight.
// A bad value counts as unset, a bad preemption delay as [DefaultPreemptionDelay].
// Both, and misspelt names, are among [Tree.Warnings].
const (
	PropertyPreemptionPolicy     = "preemption.policy"      // default, fence or disabled
	PropertyPreemptionDelay      = "preemption.delay"       // a Go duration, 0 or above
	PropertyPriorityPolicy       = "priority.policy"        // default or fence
	PropertyPriorityOffset       = "priority.offset"        // an int32
	PropertyQuotaPreemptionDelay = "quota.preemption.delay" // a Go duration or bare seconds; 0 is off
	PropertyFairWeight           = "fair.weight"            // an integer from 1 to 2147483647
)

// DefaultPreemptionDelay is the delay of a leaf if no queue of its path sets one, or
// the nearest that does sets a bad value.
const DefaultPreemptionDelay = 30 * time.Second

// A PreemptionPolicy says what preemption may look at across a queue.
type PreemptionPolicy uint8

const (
	// PreemptionDefault lets asks of the queue look out, and others look in.
	PreemptionDefault PreemptionPolicy = iota
	// PreemptionFence keeps asks from below the queue from looking out.
	PreemptionFence
	// PreemptionDisabled protects tasks of the queue, and below it until a queue sets
	// a policy.
	PreemptionDisabled
)

// String returns the policy as [PropertyPreemptionPolicy] spells it.
func (p PreemptionPolicy) String() string {
	switch p {
	case PreemptionDefault:
		return "default"
	case PreemptionFence:
		return "fence"
	case PreemptionDisabled:
		return "disabled"
	}
	return fmt.Sprintf("PreemptionPolicy(%d)", uint8(p))
}

// A PriorityPolicy says what a queue does to priorities below it.
type PriorityPolicy uint8

const (
	// PriorityDefault adds the queue's offset.
	PriorityDefault PriorityPolicy = iota
	// PriorityFence replaces the priority by the queue's offset.
	PriorityFence
)

// String returns the policy as [PropertyPriorityPolicy] spells it.
func (p PriorityPolicy) String() string {
	switch p {
	case PriorityDefault:
		return "default"
	case PriorityFence:
		return "fence"
	}
	return fmt.Sprintf("PriorityPolicy(%d)", uint8(p))
}

// ErrProperty is wrapped by a warning about a property value.
var ErrProperty = errors.New("bad property")

// PreemptionPolicy returns the queue's own policy; the root's is always the default.
// See [Tree.Disabled].
func (t *Tree) PreemptionPolicy(q ID) PreemptionPolicy { return t.policies[t.known(q)].preemption }

// Disabled reports whether the tasks of q are protected: the nearest policy upwards is
// [PreemptionDisabled]. Asks of q may preempt all the same.
func (t *Tree) Disabled(q ID) bool { return t.policies[t.known(q)].disabled }

// PreemptionDelay returns how long an ask of leaf q must be pending before it may
// preempt: what the nearest queue upwards sets. See [DefaultPreemptionDelay].
func (t *Tree) PreemptionDelay(q ID) time.Duration { return t.policies[t.known(q)].delay }

// PriorityPolicy returns the queue's own policy; it is not inherited.
func (t *Tree) PriorityPolicy(q ID) PriorityPolicy { return t.policies[t.known(q)].priority }

// PriorityOffset returns the queue's own offset; it is not inherited.
func (t *Tree) PriorityOffset(q ID) int32 { return t.policies[t.known(q)].offset }

// QuotaPreemptionDelay returns how long after its max was lowered it is enforced by
// preemption; 0 is never. It is not inherited.
func (t *Tree) QuotaPreemptionDelay(q ID) time.Duration {
	return t.policies[t.known(q)].quotaPreemption
}

// FairWeight returns the weight of q among its siblings; 1 if it sets none. It is not
// inherited.
func (t *Tree) FairWeight(q ID) int32 { return t.policies[t.known(q)].weight }

// Dynamic reports whether the queue was made at run time.
func (t *Tree) Dynamic(q ID) bool { return t.policies[t.known(q)].dynamic }

// policies are the parsed properties of one queue, inheritance applied.
type policies struct {
	preemption      PreemptionPolicy
	priority        PriorityPolicy
	disabled        bool
	dynamic         bool
	offset          int32
	weight          int32
	delay           time.Duration
	quotaPreemption time.Duration
}

// parse reads the properties of a queue. inherited are the policies of the queue
// above, nil for the root. Each bad value is a warning.
func (p *policies) parse(properties map[string]string, inherited *policies, warn func(error)) {
	p.delay = DefaultPreemptionDelay
	p.weight = 1
	if inherited != nil {
		p.delay = inherited.delay
		p.disabled = inherited.disabled
	}
	// Sorted, for the order of the warnings.
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		value := properties[key]
		if bad := p.set(key, value); bad != "" {
			warn(fmt.Errorf("%w: %s %q: %s", ErrProperty, plain.Name(key), value, bad))
		}
	}
	if inherited == nil { // a preemption policy has no effect on the root
		p.preemption, p.disabled = PreemptionDefault, false
	}
	if p.preemption == PreemptionFence && p.quotaPreemption > 0 {
		warn(fmt.Errorf("%w: the %s fence, when the max is enforced (%s %v)",
			ErrNoEffect, PropertyPreemptionPolicy, PropertyQuotaPreemptionDelay, p.quotaPreemption))
	}
}

// set sets one property and returns what is wrong with its value, or "". A bad
// value changes nothing, but for a bad delay: see [Tree.PreemptionDelay].
func (p *policies) set(key, value string) (bad string) {
	switch key {
	case PropertyPreemptionPolicy:
		policy, ok := spelled(value, PreemptionDisabled)
		if !ok {
			return "want default, fence or disabled"
		}
		p.preemption, p.disabled = policy, policy == PreemptionDisabled
	case PropertyPreemptionDelay:
		d, err := time.ParseDuration(value)
		if err != nil || d < 0 {
			p.delay = DefaultPreemptionDelay
			return "want a duration, 0 or above; it counts as 30s"
		}
		p.delay = d
	case PropertyPriorityPolicy:
		policy, ok := spelled(value, PriorityFence)
		if !ok {
			return "want default or fence"
		}
		p.priority = policy
	case PropertyPriorityOffset:
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return "want a 32-bit integer"
		}
		p.offset = int32(n)
	case PropertyQuotaPreemptionDelay:
		d, ok := parseDelay(value)
		if !ok {
			return "want a duration or seconds, 0 or above"
		}
		p.quotaPreemption = d
	case PropertyFairWeight:
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil || n < 1 {
			return "want an integer from 1 to 2147483647"
		}
		p.weight = int32(n)
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

// spelled returns the policy, from the zero one to last, that value spells.
func spelled[P interface {
	~uint8
	fmt.Stringer
}](value string, last P) (P, bool) {
	for p := P(0); p <= last; p++ {
		if p.String() == value {
			return p, true
		}
	}
	return 0, false
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

// A Template has what leaves that [Config.Add] makes below the queue do not set
// themselves: bounds type by type, properties name by name, of the nearest template.
// YuniKorn calls it a child template. Configured queues, and queues with children,
// take nothing.
type Template struct {
	Guaranteed resources.Limit
	Max        resources.Limit
	Properties map[string]string
}

// ErrNoQueue: a path of [Config.Add] leads nowhere.
var ErrNoQueue = errors.New("no such queue")

// Add makes queues at run time: it puts a copy of q last among the children of the
// queue with that path, which begins with the name of the root c. Then make a new tree
// with [New], and take the usage over with a [Move]. The new queues are Dynamic;
// leaves among them take what they do not set from the nearest [Template] above.
// Errors are a path that leads nowhere and a name that a sibling has. The cost is
// linear in the queues along the path, their siblings, and q.
func (c *Config) Add(path string, q Config) error {
	parent, template := c.find(path)
	if parent == nil {
		return &Problem{Queue: path, Err: ErrNoQueue}
	}
	if slices.ContainsFunc(parent.Children, func(sibling Config) bool { return sibling.Name == q.Name }) {
		return &Problem{Queue: path, Err: fmt.Errorf("%w: more than one child named %q", ErrName, q.Name)}
	}
	parent.Children = append(slices.Clip(parent.Children), madeAtRunTime(q, template))
	return nil
}

// find returns the queue of a path and the nearest template at it or above, each
// nil if there is none.
func (c *Config) find(path string) (q *Config, template *Template) {
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
func madeAtRunTime(q Config, template *Template) Config {
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
func (b *builder) checkTemplate(q ID, c *Template) {
	for _, err := range badBounds(b.tree.schema, promise{"", c.Guaranteed, c.Max}) {
		b.problem(fmt.Errorf("template: %w", err))
	}
	// The policies above do not matter, for all that is asked is what can be read.
	new(policies).parse(c.Properties, &policies{}, func(err error) { b.warn(q, fmt.Errorf("template: %w", err)) })
}
