// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"slices"
	"testing"
)

func TestMask(t *testing.T) {
	var m Mask
	for _, i := range []int{63, 0, 5, 0} {
		m |= 1 << i
	}
	if m != 1<<63|1<<5|1 {
		t.Fatalf("mask = %b", m)
	}
	if got := slices.Collect(m.All()); !slices.Equal(got, []int{0, 5, 63}) {
		t.Errorf("All = %v", got)
	}
	for i := -2; i < 130; i++ {
		if got, want := m.Has(i), i == 0 || i == 5 || i == 63; got != want {
			t.Errorf("Has(%d) = %t", i, got)
		}
	}
}

// TestMaskAllStops leaves the loop early.
func TestMaskAllStops(t *testing.T) {
	var got []int
	for i := range Mask(0b1110).All() {
		got = append(got, i)
		if len(got) == 2 {
			break
		}
	}
	if !slices.Equal(got, []int{1, 2}) {
		t.Errorf("All = %v", got)
	}
}
