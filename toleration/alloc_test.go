// SPDX-License-Identifier: Apache-2.0

package toleration

import (
	"testing"
	"time"
	"unsafe"
)

var (
	sinkTime  time.Time
	sinkBool  bool
	sinkClass Class
)

// TestNoAllocs shows that what is asked per candidate allocates nothing.
func TestNoAllocs(t *testing.T) {
	var c Classes
	set(t, &c, Config{Name: "hold", Annotations: map[string]string{AnnotationSeconds: "600"}})
	for _, policy := range []Policy{{}, {9, 600}, {9, -1}} {
		for _, test := range []struct {
			name string
			f    func()
		}{
			{"Until", func() { sinkTime, sinkBool = policy.Until(placed, 8) }},
			{"Tolerates", func() { sinkBool = policy.Tolerates(placed, 8, placed) }},
			{"Classes.Lookup", func() { sinkClass, _ = c.Lookup("hold") }},
			{"Classes.Lookup/none", func() { sinkClass, _ = c.Lookup("") }},
		} {
			t.Run(test.name+"/"+policy.String(), func(t *testing.T) {
				if n := testing.AllocsPerRun(100, test.f); n != 0 {
					t.Errorf("%v allocations, want 0", n)
				}
			})
		}
	}
}

// A policy is kept beside every task.
func TestPolicySize(t *testing.T) {
	if n := unsafe.Sizeof(Policy{}); n != 16 {
		t.Errorf("%d bytes, want 16", n)
	}
}
