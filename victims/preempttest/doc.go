// SPDX-License-Identifier: Apache-2.0

// Package preempttest tests the functions that you plug into planners. If one breaks its contract plans are
// worse, differ between runs, or wrongly claim to be proven.
//
// A test returns nil, or an error that names the contract and the inputs that break it:
//
//	func TestMyOrder(t *testing.T) {
//		if err := preempttest.TestOrder(myOrder, tasks); err != nil {
//			t.Error(err)
//		}
//	}
//
// Give it few inputs that differ in much: equal ones, extreme ones, ones that differ in one field. Each test
// asks again, in another order.
//
// TestFilter, TestExempt and TestPredicate serve package jobs as well.
package preempttest
