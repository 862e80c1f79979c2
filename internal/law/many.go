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
// asked for by the flag counts. It must not run in parallel with other checks.
func CheckMany(t *testing.T, checks int, holds func(*rapid.T)) {
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
