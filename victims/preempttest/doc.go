// SPDX-License-Identifier: Apache-2.0

// Package preempttest tests the functions that you plug into planners for their
// contracts. If one is broken nothing crashes: plans come out worse, differ between
// runs, or wrongly claim to be proven.
//
// A test takes the function and inputs, and returns nil or an error that names the
// contract and the inputs that break it:
//
//	func TestMyOrder(t *testing.T) {
//		if err := preempttest.TestOrder(myOrder, tasks); err != nil {
//			t.Error(err)
//		}
//	}
//
// Give it few inputs that differ in much: equal ones, extreme ones, ones that differ
// in one field. No test shows that a function depends on its arguments only, but each
// asks again, in another order. Arguments must not be changed or kept.
//
// [TestFilter] and [TestExempt] serve package jobs as well. Predicate of package jobs
// has the same contract as [TestPredicate]; the example shows how to ask it. The
// package does not import testing.
package preempttest
