// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A pod is a task of somebody else's. Its request is of GPUs.
type pod struct {
	name     string
	class    int32
	critical bool
	started  time.Time
	request  resources.Vector
}

// Who stops first, over a type of one's own: the library's order.
func ExampleTraits() {
	capacity := resources.Vector{12}
	traits := func(p pod) victims.Traits {
		return victims.Traits{
			Priority: p.class, OptedOut: p.critical, Created: p.started, Key: p.name,
			Share: resources.DominantShare(p.request, capacity),
		}
	}
	pods := examplePods()
	slices.SortFunc(pods, func(a, b pod) int { return traits(a).Compare(traits(b)) })
	for _, p := range pods {
		fmt.Print(p.name, " ")
	}
	// Output:
	// young old large dns web
}

// An order of one's own: critical pods last and larger ones first, so that fewer have to
// stop; else the library's.
func ExampleTraits_Compare() {
	capacity := resources.Vector{12}
	traits := func(p pod) victims.Traits {
		return victims.Traits{Originator: p.critical, Priority: p.class, Created: p.started, Key: p.name}
	}
	pods := examplePods()
	slices.SortFunc(pods, func(a, b pod) int {
		x, y := resources.DominantShare(a.request, capacity), resources.DominantShare(b.request, capacity)
		return cmp.Or(y.Compare(x), traits(a).Compare(traits(b)))
	})
	for _, p := range pods {
		fmt.Print(p.name, " ")
	}
	// Output:
	// large web young old dns
}

func examplePods() []pod {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ran := func(d time.Duration) time.Time { return now.Add(-d) }
	return []pod{
		{"dns", 0, true, ran(9 * time.Hour), resources.Vector{1}},
		{"web", 10, false, ran(time.Hour), resources.Vector{3}},
		{"old", 0, false, ran(8 * time.Hour), resources.Vector{2}},
		{"young", 0, false, ran(time.Minute), resources.Vector{2}},
		{"large", 0, false, ran(9 * time.Hour), resources.Vector{5}},
	}
}
