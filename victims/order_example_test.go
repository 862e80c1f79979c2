// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
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

// An order of one's own over a type of one's own: critical pods last, then lower
// classes first, of those the larger ones, so that fewer have to stop, and the
// youngest.
func ExampleThen() {
	capacity := resources.Vector{12}
	order := victims.Then(
		victims.ByFlag(func(p pod) bool { return p.critical }),
		victims.By(func(p pod) int32 { return p.class }),
		victims.Reverse(victims.BySize(func(p pod) resources.Vector { return p.request }, capacity)),
		victims.ByTime(func(p pod) time.Time { return p.started }),
		victims.By(func(p pod) string { return p.name }),
	)
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ran := func(d time.Duration) time.Time { return now.Add(-d) }
	pods := []pod{
		{"dns", 0, true, ran(9 * time.Hour), resources.Vector{1}},
		{"web", 10, false, ran(time.Hour), resources.Vector{3}},
		{"old", 0, false, ran(8 * time.Hour), resources.Vector{2}},
		{"young", 0, false, ran(time.Minute), resources.Vector{2}},
		{"large", 0, false, ran(9 * time.Hour), resources.Vector{5}},
	}
	slices.SortFunc(pods, order)
	for _, p := range pods {
		fmt.Print(p.name, " ")
	}
	// Output:
	// large young old web dns
}
