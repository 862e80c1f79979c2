// SPDX-License-Identifier: Apache-2.0

package law

import (
	"flag"
	"testing"

	"pgregory.net/rapid"
)

func TestCheck3000(t *testing.T) {
	for _, test := range []struct {
		set   string
		least int
	}{
		{"100", 3000},
		{"3001", 3001},
	} {
		before := flag.Lookup(checksFlag).Value.String()
		if err := flag.Set(checksFlag, test.set); err != nil {
			t.Fatal(err)
		}
		n := 0
		Check3000(t, func(*rapid.T) { n++ })
		if !testing.Short() && n < test.least {
			t.Errorf("%d checks, want at least %d", n, test.least)
		}
		if got := flag.Lookup(checksFlag).Value.String(); got != test.set {
			t.Errorf("the flag is %s afterwards, was %s", got, test.set)
		}
		if err := flag.Set(checksFlag, before); err != nil {
			t.Fatal(err)
		}
	}
}
