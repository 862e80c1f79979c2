// SPDX-License-Identifier: Apache-2.0

package toleration

import (
	"fmt"
	"strings"
	"testing"
)

// Whatever the texts say, they are read as the twin reads them, or an error
// names the one that is malformed.
func FuzzParse(f *testing.F) {
	for _, text := range malformed {
		f.Add(int32(8000), text, "600", true, true)
		f.Add(int32(8000), "10000", text, true, true)
	}
	f.Add(int32(2147483647), "2147483648", "9223372036854775808", false, true)
	f.Add(int32(-2147483648), "-2147483649", "-9223372036854775809", true, false)
	f.Add(int32(0), "+09", "-0", true, true)
	f.Fuzz(func(t *testing.T, value int32, minimum, seconds string, hasMinimum, hasSeconds bool) {
		texts := make(map[string]string)
		if hasMinimum {
			texts[AnnotationMinimum] = minimum
		}
		if hasSeconds {
			texts[AnnotationSeconds] = seconds
		}
		p, err := policyOf(value, texts)
		w, ok := parseTwin(value, texts)
		if ok != (err == nil) {
			t.Fatalf("error %v of\n%s", err, picture(texts))
		}
		if err != nil {
			named := func(key string) bool {
				text, ok := texts[key]
				return ok && strings.Contains(err.Error(), fmt.Sprintf("annotation %s: %q: ", key, text))
			}
			if !named(AnnotationMinimum) && !named(AnnotationSeconds) || p != (Policy{}) {
				t.Fatalf("%v with %v of\n%s", p, err, picture(texts))
			}
			return
		}
		if w.minimum != nil && w.minimum.Int64() != int64(p.MinimumPreemptablePriority) ||
			w.minimum == nil && p.MinimumPreemptablePriority != defaultMinimum(value) ||
			w.seconds != nil && w.seconds.Int64() != p.Seconds ||
			w.seconds == nil && p.Seconds != 0 {
			t.Fatalf("%+v of\n%s", p, picture(texts))
		}
	})
}
