// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Policies are how a queue takes part in preemption. The zero value says nothing. Pointers tell 0 from what is
// not said.
type Policies struct {
	// Preemption is "default", "fence" (asks below take no victims from outside) or "disabled" (its tasks are
	// no victims; its asks may preempt). "" is "disabled" below a disabled queue, else "default". On the root
	// it has no effect.
	Preemption Preemption
	// PreemptionDelay is how long an ask must be pending before it may preempt, 0 or more. nil is that of the
	// queue above, and 30 s at the root.
	PreemptionDelay *time.Duration
	// WithinQueue says what asks below may take of their own leaf. "" is that of the queue above, else of the
	// options.
	WithinQueue WithinQueue
	// MinRuntime is how long tasks below must have run before asks may take them, 0 or more. nil is that of
	// the queue above, and 0 at the root.
	MinRuntime *time.Duration
	// PriorityFence is "fence": priorities from below become PriorityOffset; or "default",
	// as is "": it is added. Neither is inherited. nil is 0.
	PriorityFence  string
	PriorityOffset *int32
	// QuotaDelay is from a lowered max to its enforcement by preemption; nil and 0: never.
	QuotaDelay *time.Duration
	// Weight is the weight among siblings, for [FairShares]; 0 counts as 1.
	Weight int32
	// Dynamic: the queue was made at run time, and its max is not enforced.
	Dynamic bool
}

// A Preemption is how a queue takes part in preemption.
type Preemption string

// See [Policies].
const (
	Default  Preemption = "default"
	Fence    Preemption = "fence"
	Disabled Preemption = "disabled"
)

// A WithinQueue says whether less important tasks of the same queue may stop for an ask, if there is no other
// plan. That of the asking leaf counts.
type WithinQueue string

// Words are read in any case of letters.
const (
	// Never: no task of the ask's own leaf.
	Never WithinQueue = "never"
	// Met: tasks of its own leaf. A guarantee once met stays met; a queue under it ends no lower, except in
	// types that the ask uses.
	Met WithinQueue = "met"
	// Branch: also those of strictly lower effective priority of other leaves below the queue that governs the
	// ask.
	Branch WithinQueue = "branch"
)

// within returns the value that a word stands for, in any case of letters.
func within(word string) (w WithinQueue, ok bool) {
	w = WithinQueue(strings.ToLower(word))
	return w, w == Never || w == Met || w == Branch
}

// Policies returns what counts for q: nothing is unset, but WithinQueue if no queue of the path says it. Do not
// change what its pointers point to.
func (t *Tree) Policies(q ID) Policies { return t.policies[t.known(q)] }

// below returns p with what it does not say filled in. above are the policies of the queue
// above, nil for the root.
func (p Policies) below(above *Policies) Policies {
	r := p
	if above == nil {
		// A preemption policy has no effect on the root.
		above, r.Preemption = &Policies{PreemptionDelay: new(defaultDelay), MinRuntime: new(time.Duration)}, Default
	}
	if r.Preemption == "" {
		if r.Preemption = Default; above.Preemption == Disabled {
			r.Preemption = Disabled
		}
	}
	if r.PreemptionDelay == nil {
		r.PreemptionDelay = above.PreemptionDelay
	}
	if r.MinRuntime == nil {
		r.MinRuntime = above.MinRuntime
	}
	if r.WithinQueue == "" {
		r.WithinQueue = above.WithinQueue
	}
	if r.PriorityFence == "" {
		r.PriorityFence = policyDefault
	}
	if r.PriorityOffset == nil {
		r.PriorityOffset = new(int32)
	}
	if r.QuotaDelay == nil {
		r.QuotaDelay = new(time.Duration)
	}
	r.Weight = max(r.Weight, 1)
	return r
}

// A saying is one thing that policies and properties say.
type saying struct {
	field string   // of Policies
	names []string // of properties
	said  func(p *Policies) bool
	copy  func(dst, src *Policies)
	bad   func(p *Policies) string // what is wrong with it, which is unset then
	// Who inherits properties as YuniKorn's queues do does not inherit this.
	alone bool
}

// sayings has all of them.
var sayings = [...]saying{
	{
		field: "Preemption", names: []string{propertyPreemptionPolicy}, alone: true, // but for disabled
		said: func(p *Policies) bool { return p.Preemption != "" },
		copy: func(dst, src *Policies) { dst.Preemption = src.Preemption },
		bad: func(p *Policies) string {
			if isPreemption(string(p.Preemption)) {
				return ""
			}
			defer func() { p.Preemption = "" }()
			return fmt.Sprintf("%q: want default, fence or disabled", string(p.Preemption))
		},
	}, {
		field: "PreemptionDelay", names: []string{propertyPreemptionDelay},
		said: func(p *Policies) bool { return p.PreemptionDelay != nil },
		copy: func(dst, src *Policies) { dst.PreemptionDelay = copyOfPointer(src.PreemptionDelay) },
		bad: func(p *Policies) string {
			if *p.PreemptionDelay >= 0 {
				return ""
			}
			defer func() { p.PreemptionDelay = new(defaultDelay) }()
			return fmt.Sprintf("%v: want 0 or above; it counts as 30s", *p.PreemptionDelay)
		},
	}, {
		field: "MinRuntime", names: []string{propertyMinRuntime},
		said: func(p *Policies) bool { return p.MinRuntime != nil },
		copy: func(dst, src *Policies) { dst.MinRuntime = copyOfPointer(src.MinRuntime) },
		bad: func(p *Policies) string {
			if *p.MinRuntime >= 0 {
				return ""
			}
			defer func() { p.MinRuntime = nil }()
			return fmt.Sprintf("%v: want 0 or above", *p.MinRuntime)
		},
	}, {
		field: "WithinQueue", names: []string{propertyOwnLeaf},
		said: func(p *Policies) bool { return p.WithinQueue != "" },
		copy: func(dst, src *Policies) { dst.WithinQueue = src.WithinQueue },
		bad: func(p *Policies) (bad string) {
			w, ok := within(string(p.WithinQueue))
			if !ok {
				bad, w = fmt.Sprintf("%q: want never, met or branch", string(p.WithinQueue)), ""
			}
			p.WithinQueue = w
			return bad
		},
	}, {
		field: "PriorityFence", names: []string{propertyPriorityPolicy}, alone: true,
		said: func(p *Policies) bool { return p.PriorityFence != "" },
		copy: func(dst, src *Policies) { dst.PriorityFence = src.PriorityFence },
		bad: func(p *Policies) string {
			if isPriority(p.PriorityFence) {
				return ""
			}
			defer func() { p.PriorityFence = "" }()
			return fmt.Sprintf("%q: want default or fence", p.PriorityFence)
		},
	}, {
		field: "PriorityOffset", names: []string{propertyPriorityOffset}, alone: true,
		said: func(p *Policies) bool { return p.PriorityOffset != nil },
		copy: func(dst, src *Policies) { dst.PriorityOffset = copyOfPointer(src.PriorityOffset) },
		bad:  func(*Policies) string { return "" },
	}, {
		field: "QuotaDelay", names: []string{propertyQuotaPreemptionDelay, propertyQuotaDelay},
		said: func(p *Policies) bool { return p.QuotaDelay != nil },
		copy: func(dst, src *Policies) { dst.QuotaDelay = copyOfPointer(src.QuotaDelay) },
		bad: func(p *Policies) string {
			if *p.QuotaDelay >= 0 {
				return ""
			}
			defer func() { p.QuotaDelay = nil }()
			return fmt.Sprintf("%v: want 0 or above", *p.QuotaDelay)
		},
	}, {
		field: "Weight", names: []string{propertyFairWeight}, alone: true,
		said: func(p *Policies) bool { return p.Weight != 0 },
		copy: func(dst, src *Policies) { dst.Weight = src.Weight },
		bad: func(p *Policies) string {
			if p.Weight >= 1 {
				return ""
			}
			defer func() { p.Weight = 0 }()
			return fmt.Sprintf("%d: want 1 or above", p.Weight)
		},
	},
}

// clone returns policies that share nothing with p.
func (p Policies) clone() Policies {
	for i := range sayings {
		sayings[i].copy(&p, &p)
	}
	return p
}

func copyOfPointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}

// says reports whether a queue says a thing, as a policy or as a property.
func (c *Config) says(s *saying) bool {
	return s.said(&c.Policies) || slices.ContainsFunc(s.names, func(name string) bool {
		_, ok := c.Properties[name]
		return ok
	})
}

// take has c say what it does not say itself and from says, as far as wanted; properties
// of other features too.
func (c *Config) take(from *Config, wanted func(s *saying) bool) {
	properties := make(map[string]string)
	for key, value := range from.Properties {
		if _, ok := c.Properties[key]; !ok && sayingOf(key) < 0 {
			properties[key] = value
		}
	}
	for i := range sayings {
		s := &sayings[i]
		if c.says(s) || !wanted(s) {
			continue
		}
		s.copy(&c.Policies, &from.Policies)
		for _, name := range s.names {
			if value, ok := from.Properties[name]; ok {
				properties[name] = value
			}
		}
	}
	if len(properties) > 0 { // the map of c stays as it is
		maps.Copy(properties, c.Properties)
		c.Properties = properties
	}
}

// sayingOf returns the number of what a property says, or -1.
func sayingOf(property string) int {
	return slices.IndexFunc(sayings[:], func(s saying) bool { return slices.Contains(s.names, property) })
}
