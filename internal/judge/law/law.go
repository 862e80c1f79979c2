// SPDX-License-Identifier: Apache-2.0

// Package law runs named properties: each as a test, and all of them as one
// fuzz target that chooses among them.
package law

import (
	"testing"

	"pgregory.net/rapid"
)

// A Law is a property that holds for everything that it draws.
type Law struct {
	Name  string
	Holds func(*rapid.T)
}

// Check checks every law as a subtest of its name.
func Check(t *testing.T, laws []Law) {
	for _, l := range laws {
		t.Run(l.Name, func(t *testing.T) { rapid.Check(t, l.Holds) })
	}
}

// Fuzz fuzzes laws; which of them is the first thing that the input decides.
func Fuzz(f *testing.F, laws []Law) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		laws[rapid.IntRange(0, len(laws)-1).Draw(t, "law")].Holds(t)
	}))
}
