// SPDX-License-Identifier: Apache-2.0

package resources

import "testing"

func TestShareCompare(t *testing.T) {
	tests := []struct {
		s, o Share
		want int
	}{
		{Share{}, Share{}, 0},
		{Share{1, 2}, Share{2, 4}, 0},
		{Share{1, 3}, Share{1, 2}, -1},
		{Share{0, 5}, Share{}, 0},
		{Share{-7, 5}, Share{}, 0},       // negative amounts count as none
		{Share{3, 0}, Share{3, 1}, 0},    // no capacity counts as 1
		{Share{3, -10}, Share{2, 1}, +1}, // nor does a negative one
		{Share{most, most}, Share{1, 1}, 0},
		{Share{most - 1, most}, Share{most - 2, most - 1}, +1},
		{Share{most, 1}, Share{1, most}, +1},
		{Share{lowest, lowest}, Share{}, 0},
	}
	for _, tt := range tests {
		if got := tt.s.Compare(tt.o); got != tt.want {
			t.Errorf("%#v.Compare(%#v) = %d, want %d", tt.s, tt.o, got, tt.want)
		}
		if got := tt.o.Compare(tt.s); got != -tt.want {
			t.Errorf("%#v.Compare(%#v) = %d, want %d", tt.o, tt.s, got, -tt.want)
		}
	}
}

func TestDominantShare(t *testing.T) {
	tests := []struct {
		name        string
		v, capacity Vector
		want        Share
	}{
		{"nothing", nil, Vector{10}, Share{}},
		{"zeros", Vector{0, 0}, Vector{10, 10}, Share{}},
		{"negative", Vector{-5}, Vector{10}, Share{}},
		{"largest", Vector{2, 5, 3}, Vector{10, 10, 10}, Share{5, 10}},
		{"not the largest amount", Vector{900, 5}, Vector{1000, 5}, Share{5, 5}},
		{"first of equals", Vector{1, 2, 3}, Vector{2, 4, 6}, Share{1, 2}},
		{"beyond the end of capacity", Vector{1, 2}, Vector{1}, Share{2, 1}},
		{"capacity zero and below", Vector{1, 2, 3}, Vector{10, 0, -4}, Share{3, 1}},
		{"too close for floats", Vector{most - 2, most - 1}, Vector{most - 1, most}, Share{most - 1, most}},
	}
	for _, tt := range tests {
		if got := DominantShare(tt.v, tt.capacity); got != tt.want {
			t.Errorf("%s: DominantShare(%v, %v) = %v, want %v", tt.name, tt.v, tt.capacity, got, tt.want)
		}
	}
}

func TestShareString(t *testing.T) {
	for _, tt := range []struct {
		s    Share
		want string
	}{
		{Share{3, 10}, "3/10"},
		{Share{}, "0/1"},
		{Share{-3, -10}, "0/1"},
	} {
		if got := tt.s.String(); got != tt.want {
			t.Errorf("%#v prints %q, want %q", tt.s, got, tt.want)
		}
	}
}
