// SPDX-License-Identifier: Apache-2.0

// Package preempttest tests the functions that you plug into planners. If one breaks its contract plans are
// worse, differ between runs, or wrongly claim to be proven:
//
//	func TestMyFunctions(t *testing.T) {
//		if err := preempttest.Test(&planner, asks, now); err != nil {
//			t.Error(err)
//		}
//	}
package preempttest

import (
	"errors"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// Test asks each function of the planner's options about its cluster and some asks, twice and in another order.
// Errors, joined, name the contract and what breaks it:
//
//   - Filter and Blockers answer the same when asked again, and keep no memory. Blockers appends tasks of the node.
//   - Exempt keeps to the end that it names, and does not begin later.
//   - Predicate refuses every part of the victims that it refuses, in any order.
//   - Compare is a strict weak order, in which victims never cost less than some of them.
//   - None changes what it is given.
//
// Give it few asks that differ in much, and a small cluster: the cost is asks·nodes, and for each that of up to 64 sets
// of victims.
func Test(p *jobs.Planner, asks []victims.Ask, now time.Time) error {
	var broken []error
	o, c := &p.Options, p.Cluster
	if o.Filter != nil {
		broken = append(broken, testFilter(o.Filter, c, asks, now))
	}
	if o.Exempt != nil {
		broken = append(broken, testExempt(o.Exempt, exemptions(c, asks, now)))
	}
	if o.Blockers != nil {
		broken = append(broken, testBlockers(o.Blockers, c, asks, now))
	}
	if o.Predicate != nil {
		broken = append(broken, testPredicate(o.Predicate, placings(c, asks, now)))
	}
	if o.Compare != nil {
		broken = append(broken, testCompare(o.Compare, kinds()))
	}
	return errors.Join(broken...)
}
