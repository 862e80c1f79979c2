// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Policies are how a queue takes part in preemption. The zero value says nothing. Pointers tell 0 from what is
// not said.
type Policies struct {
	// Preemption is "default", "fence" (asks below take no victims from outside) or "disabled" (its tasks are
	// no victims; its asks may preempt). "" is "disabled" below a disabled queue, else "default". On the root
	// it has no effect.
	Preemption string
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

// Words of Policies.Preemption and, but for Disabled, of Policies.PriorityFence.
const (
	Default  = "default"
	Fence    = "fence"
	Disabled = "disabled"
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

// Policies returns what counts for q: nothing is unset, but WithinQueue if no queue of the path says it. Do not
// change what its pointers point to.
func (t *Tree) Policies(q ID) Policies { return t.policies[t.known(q)] }

// below returns p with what it does not say filled in, and what it says. above are the policies of the queue
// above, nil for the root.
func (p Policies) below(above *Policies) (all Policies, own [len(sayings)]bool) {
	if above == nil { // a preemption policy has no effect on the root
		above, p.Preemption = aboveRoot(), Default
	}
	for i := range sayings {
		s := &sayings[i]
		if own[i] = s.said(&p); !own[i] {
			s.fill(&p, above)
		}
	}
	return p, own
}

// aboveRoot is what the root inherits.
func aboveRoot() *Policies {
	return &Policies{PreemptionDelay: new(defaultDelay), MinRuntime: new(time.Duration)}
}

// A saying is one thing that policies and properties say.
type saying struct {
	field string   // of Policies
	names []string // of properties
	want  string   // of a value
	said  func(p *Policies) bool
	copy  func(dst, src *Policies)
	read  func(p *Policies, value string) bool // a property
	valid func(p *Policies) bool               // of what is said
	text  func(p *Policies) string             // as a property has it
	fill  func(p, above *Policies)             // what is not said
	// instead is what a bad value counts as; nil: as unset.
	instead *Policies
	// Who inherits properties as YuniKorn's queues do does not inherit this.
	alone bool
}

// sayings has all of them.
var sayings = [...]saying{
	{
		field: "Preemption", names: []string{propertyPreemptionPolicy}, alone: true, // but for disabled
		want: "default, fence or disabled",
		said: func(p *Policies) bool { return p.Preemption != "" },
		copy: func(dst, src *Policies) { dst.Preemption = src.Preemption },
		read: func(p *Policies, value string) bool { p.Preemption = value; return true },
		valid: func(p *Policies) bool {
			return p.Preemption == Default || p.Preemption == Fence || p.Preemption == Disabled
		},
		text: func(p *Policies) string { return p.Preemption },
		fill: func(p, above *Policies) {
			if p.Preemption = Default; above.Preemption == Disabled {
				p.Preemption = Disabled
			}
		},
	},
	duration("PreemptionDelay", func(p *Policies) **time.Duration { return &p.PreemptionDelay }, saying{
		names: []string{propertyPreemptionDelay}, want: "a duration, 0 or above; it counts as 30s",
		instead: &Policies{PreemptionDelay: new(defaultDelay)},
		fill:    func(p, above *Policies) { p.PreemptionDelay = above.PreemptionDelay },
	}),
	duration("MinRuntime", func(p *Policies) **time.Duration { return &p.MinRuntime }, saying{
		names: []string{"preemption.min-runtime"}, want: "a duration, 0 or above",
		fill: func(p, above *Policies) { p.MinRuntime = above.MinRuntime },
	}),
	{
		field: "WithinQueue", names: []string{propertyOwnLeaf}, want: "never, met or branch",
		said: func(p *Policies) bool { return p.WithinQueue != "" },
		copy: func(dst, src *Policies) { dst.WithinQueue = src.WithinQueue },
		read: func(p *Policies, value string) bool { p.WithinQueue = WithinQueue(value); return true },
		valid: func(p *Policies) bool {
			p.WithinQueue = WithinQueue(strings.ToLower(string(p.WithinQueue)))
			return p.WithinQueue == Never || p.WithinQueue == Met || p.WithinQueue == Branch
		},
		text: func(p *Policies) string { return string(p.WithinQueue) },
		fill: func(p, above *Policies) { p.WithinQueue = above.WithinQueue },
	}, {
		field: "PriorityFence", names: []string{propertyPriorityPolicy}, alone: true, want: "default or fence",
		said:  func(p *Policies) bool { return p.PriorityFence != "" },
		copy:  func(dst, src *Policies) { dst.PriorityFence = src.PriorityFence },
		read:  func(p *Policies, value string) bool { p.PriorityFence = value; return true },
		valid: func(p *Policies) bool { return p.PriorityFence == Default || p.PriorityFence == Fence },
		text:  func(p *Policies) string { return p.PriorityFence },
		fill:  func(p, _ *Policies) { p.PriorityFence = Default },
	}, {
		field: "PriorityOffset", names: []string{propertyPriorityOffset}, alone: true, want: "a 32-bit integer",
		said: func(p *Policies) bool { return p.PriorityOffset != nil },
		copy: func(dst, src *Policies) { dst.PriorityOffset = copyOfPointer(src.PriorityOffset) },
		read: func(p *Policies, value string) bool {
			n, err := strconv.ParseInt(value, 10, 32)
			p.PriorityOffset = new(int32(n))
			return err == nil
		},
		valid: func(*Policies) bool { return true },
		text:  func(p *Policies) string { return strconv.Itoa(int(*p.PriorityOffset)) },
		fill:  func(p, _ *Policies) { p.PriorityOffset = new(int32) },
	},
	duration("QuotaDelay", func(p *Policies) **time.Duration { return &p.QuotaDelay }, saying{
		names: []string{propertyQuotaPreemptionDelay, propertyQuotaDelay}, want: "a duration or seconds, 0 or above",
		read: func(p *Policies, value string) bool {
			d, ok := parseDelay(value)
			p.QuotaDelay = &d
			return ok
		},
		fill: func(p, _ *Policies) { p.QuotaDelay = new(time.Duration) },
	}),
	{
		field: "Weight", names: []string{propertyFairWeight}, alone: true, want: "an integer from 1 to 2147483647",
		said: func(p *Policies) bool { return p.Weight != 0 },
		copy: func(dst, src *Policies) { dst.Weight = src.Weight },
		read: func(p *Policies, value string) bool {
			n, err := strconv.ParseInt(value, 10, 32)
			p.Weight = int32(n)
			return err == nil
		},
		valid: func(p *Policies) bool { return p.Weight >= 1 },
		text:  func(p *Policies) string { return strconv.Itoa(int(p.Weight)) },
		fill:  func(p, _ *Policies) { p.Weight = 1 },
	},
}

// duration returns the row of a duration of 0 or above, with what all of them share.
func duration(field string, at func(p *Policies) **time.Duration, s saying) saying {
	s.field = field
	s.said = func(p *Policies) bool { return *at(p) != nil }
	s.copy = func(dst, src *Policies) { *at(dst) = copyOfPointer(*at(src)) }
	s.valid = func(p *Policies) bool { return **at(p) >= 0 }
	s.text = func(p *Policies) string { return (*at(p)).String() }
	if s.read == nil {
		s.read = func(p *Policies, value string) bool {
			d, err := time.ParseDuration(value)
			*at(p) = &d
			return err == nil
		}
	}
	return s
}

// take has p say what one says, if that is good, and returns whether it is.
func (s *saying) take(p, one *Policies, good bool) bool {
	if good = good && s.valid(one); good {
		s.copy(p, one)
	} else if s.instead != nil {
		s.copy(p, s.instead)
	}
	return good
}

// saysItself reports whether a queue says itself what a property says.
func (t *Tree) saysItself(q int32, property string) bool {
	i := sayingOf(property)
	return i >= 0 && t.said[q][i]
}

// says returns the properties that give a queue its policies, below a queue that has its own.
func (t *Tree) says(q int32) map[string]string {
	all, p, above := make(map[string]string), &t.policies[q], aboveRoot()
	if up, ok := t.Parent(ID(q)); ok {
		above = &t.policies[up]
	}
	for i := range sayings {
		s, unset := &sayings[i], Policies{}
		s.fill(&unset, above)
		if text := s.text(p); text != s.text(&unset) || s.names[0] == propertyPreemptionPolicy && t.said[q][i] && p.Preemption == Disabled {
			all[s.names[0]] = text
		}
	}
	return all
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
