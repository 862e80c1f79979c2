package law

import (
	"flag"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// checksFlag is the flag by which package rapid is told how often to check.
const checksFlag = "rapid.checks"

// Check3000 checks a property of which a hundred random cases, which is what
// package rapid checks by default, see too little. A larger number that is
// asked for by the flag counts. It must not run in parallel with other checks.
func Check3000(t *testing.T, holds func(*rapid.T)) {
	const checks = 3000
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
