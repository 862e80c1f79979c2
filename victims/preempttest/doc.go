// Package preempttest tests the functions that callers plug into planners: an
// order of tasks, an order of costs, a filter, blockers, a predicate, an
// exemption function. Each has a contract that its field or type documents, and
// a planner takes it for granted. If it is broken, nothing crashes: plans come
// out worse, differ between runs, or claim to be proven and are not.
//
// A test takes the function and inputs to ask it about, and returns nil or an
// error that names the contract and the inputs that show the breach:
//
//	func TestMyOrder(t *testing.T) {
//		if err := preempttest.TestOrder(myOrder, tasks); err != nil {
//			t.Error(err)
//		}
//	}
//
// Like testing/fstest the package does not import testing, so that it can also
// serve a fuzz target or a check at start.
//
// A test sees what its inputs show. Give it few that differ in much: equal
// ones, extreme ones, ones that differ in one field only. A property of n
// inputs is asked about in O(n²) questions.
//
// # Which contract is whose
//
//   - [TestOrder]: Compare of package quota's Enforcer, and all orders that are
//     composed by [victims.Then].
//   - [TestCompare]: Compare of [victims.Planner].
//   - [TestFilter]: Filter of [victims.Planner] and of [victims.Auditor]. That of
//     package jobs has the same contract with the job and the class of its
//     members in place of the ask.
//   - [TestBlockers]: Blockers of [victims.Planner] and of [victims.Auditor].
//   - [TestPredicate]: Predicate of [victims.Planner]. That of package jobs has
//     the same contract with another argument; the example of this package
//     shows how to ask it.
//   - [TestExempt]: Exempt of [victims.Planner], of [victims.Auditor], and of the
//     planner of package jobs, which share it.
//
// No test can show that a function depends on its arguments only. What they
// show is that it answers the same when it is asked again, after other
// questions and in another order.
package preempttest
