// SPDX-License-Identifier: Apache-2.0

// Package preempttest tests the functions that you plug into planners. If one breaks its
// contract nothing crashes: plans are worse, differ between runs, or wrongly claim to be
// proven.
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
// Give it few inputs that differ in much: equal ones, extreme ones, ones that differ in
// one field. Each test asks again, in another order. Functions must depend on their
// arguments only, and must not change or keep them.
//
// [TestFilter] and [TestExempt] serve package jobs as well. So does [TestPredicate]; see
// its example.
package preempttest
