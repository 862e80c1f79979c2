// SPDX-License-Identifier: Apache-2.0

package law

import (
	"flag"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// checksFlag is the flag by which package rapid is told how often to check.
const checksFlag = "rapid.checks"

// Check3000 checks a property in 3000 random cases; see [CheckMany].
func Check3000(t *testing.T, holds func(*rapid.T)) { CheckMany(t, 3000, holds) }

// CheckMany checks a property of which a hundred random cases, which is what
// package rapid checks by default, see too little. A larger number that is
// asked for by the flag counts. Under -short it is a fifth, of which package rapid checks
// a fifth. It must not run in parallel with other checks.
func CheckMany(t *testing.T, checks int, holds func(*rapid.T)) {
	if testing.Short() {
		checks /= 5
	}
	f := flag.Lookup(checksFlag)
	before := f.Value.String()
	if n, err := strconv.Atoi(before); err == nil && n < checks {
		if err := flag.Set(checksFlag, strconv.Itoa(checks)); err != nil {
			t.Fatal(err)
		}
		defer flag.Set(checksFlag, before)
	}
	rapid.Check(t, holds)
}

// Some returns a list, and under -short every fifth of its items.
func Some[T any](list []T) (some []T) {
	if !testing.Short() {
		return list
	}
	for i := 0; i < len(list); i += 5 {
		some = append(some, list[i])
	}
	return some
}

// CheckUntil checks a property as package rapid does, and then in up to 500 cases
// that are the same in every run, until it has seen what it is there for: random
// cases may lack that, if they are few.
func CheckUntil(t *testing.T, seen func() bool, holds func(*rapid.T)) {
	t.Helper()
	rapid.Check(t, holds)
	for seed := 0; seed < 500 && !seen(); seed++ {
		rapid.Custom(func(t *rapid.T) int { holds(t); return 0 }).Example(seed)
	}
	if !seen() {
		t.Fatal("what the property is about came up in no case")
	}
}

// ErrOf returns the error of a call that returns something else, too.
func ErrOf[T any](_ T, err error) error { return err }
