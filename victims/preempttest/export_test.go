// SPDX-License-Identifier: Apache-2.0

package preempttest

// What is broken, for tests.
var (
	ErrUnsteady   = errUnsteady
	ErrWrites     = errWrites
	ErrKeeps      = errKeeps
	ErrEqual      = errEqual
	ErrBothWays   = errBothWays
	ErrTransitive = errTransitive
	ErrPart       = errPart
	ErrRefusal    = errRefusal
	ErrAppend     = errAppend
	ErrElsewhere  = errElsewhere
	ErrAgain      = errAgain
	ErrEnd        = errEnd
)

// Tests of one function each.
var (
	TestFilter    = testFilter
	TestExempt    = testExempt
	TestBlockers  = testBlockers
	TestPredicate = testPredicate
	TestCompare   = testCompare
	Exemptions    = exemptions
	Placings      = placings
)
