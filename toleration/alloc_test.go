// SPDX-License-Identifier: Apache-2.0

package toleration

import (
	"testing"
	"time"
	"unsafe"
)

var (
	sinkTime time.Time
	sinkBool bool
)

// TestNoAllocs shows that what is asked per candidate allocates nothing.
func TestNoAllocs(t *testing.T) {
	for _, policy := range []Policy{{}, {9, 600}, {9, -1}} {
		if n := testing.AllocsPerRun(100, func() { sinkTime, sinkBool = policy.Until(placed, 8) }); n != 0 {
			t.Errorf("%v: %v allocations, want 0", policy, n)
		}
	}
}

// A policy is kept beside every task.
func TestPolicySize(t *testing.T) {
	if n := unsafe.Sizeof(Policy{}); n != 16 {
		t.Errorf("%d bytes, want 16", n)
	}
}
