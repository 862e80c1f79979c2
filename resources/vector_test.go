// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"math"
	"slices"
	"testing"
)

const (
	most   = math.MaxInt64
	lowest = math.MinInt64 // read as -most
)

func TestBinary(t *testing.T) {
	tests := []struct {
		name            string
		x, y            Vector
		add, sub        Vector
		smaller, larger Vector
	}{
		{name: "nothing"},
		{
			name: "plain",
			x:    Vector{5, 1}, y: Vector{3, 4},
			add: Vector{8, 5}, sub: Vector{2, -3},
			smaller: Vector{3, 1}, larger: Vector{5, 4},
		},
		{
			name: "x shorter",
			x:    Vector{5}, y: Vector{3, 4, -6},
			add: Vector{8, 4, -6}, sub: Vector{2, -4, 6},
			smaller: Vector{3, 0, -6}, larger: Vector{5, 4, 0},
		},
		{
			name: "y nil",
			x:    Vector{5, -1}, y: nil,
			add: Vector{5, -1}, sub: Vector{5, -1},
			smaller: Vector{0, -1}, larger: Vector{5, 0},
		},
		{
			name: "saturated above",
			x:    Vector{most, most, most - 1}, y: Vector{1, most, 1},
			add: Vector{most, most, most}, sub: Vector{most - 1, 0, most - 2},
			smaller: Vector{1, most, 1}, larger: Vector{most, most, most - 1},
		},
		{
			name: "saturated below",
			x:    Vector{-most, -most, -2}, y: Vector{-1, most, -most},
			add: Vector{-most, 0, -most}, sub: Vector{-most + 1, -most, most - 2},
			smaller: Vector{-most, -most, -most}, larger: Vector{-1, most, -2},
		},
		{
			name: "the lowest amount reads as the lowest but one",
			x:    Vector{lowest, lowest, lowest}, y: Vector{0, 1, lowest},
			add: Vector{-most, -most + 1, -most}, sub: Vector{-most, -most, 0},
			smaller: Vector{-most, -most, -most}, larger: Vector{0, 1, -most},
		},
		{
			name: "the lowest amount, y shorter",
			x:    Vector{lowest}, y: nil,
			add: Vector{-most}, sub: Vector{-most},
			smaller: Vector{-most}, larger: Vector{0},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			check := func(name string, got, want Vector) {
				t.Helper()
				if !slices.Equal(got, want) {
					t.Errorf("%s(%v, %v) = %v, want %v", name, tt.x, tt.y, got, want)
				}
			}
			check("Add", Add(nil, tt.x, tt.y), tt.add)
			check("Sub", Sub(nil, tt.x, tt.y), tt.sub)
			check("Min", Min(nil, tt.x, tt.y), tt.smaller)
			check("Max", Max(nil, tt.x, tt.y), tt.larger)
		})
	}
}

// TestDestination shows what becomes of a block that rows are cut from.
func TestDestination(t *testing.T) {
	block := Vector{1, 1, 2, 2, 3, 3}
	row := block[2:4:4]
	if got := Add(row, row, Vector{10, 10}); &got[0] != &block[2] {
		t.Error("a row of sufficient length was not used")
	}
	got := Add(row, row, Vector{10, 10, 10})
	if want := (Vector{22, 22, 10}); !slices.Equal(got, want) {
		t.Errorf("Add = %v, want %v", got, want)
	}
	if want := (Vector{1, 1, 12, 12, 3, 3}); !slices.Equal(block, want) {
		t.Errorf("block = %v, want %v", block, want)
	}
}

func TestScale(t *testing.T) {
	tests := []struct {
		x    Vector
		k    int64
		want Vector
	}{
		{nil, 3, nil},
		{Vector{5, 0, -2}, 3, Vector{15, 0, -6}},
		{Vector{5, 0, -2}, 0, Vector{0, 0, 0}},
		{Vector{5, most, lowest}, -1, Vector{-5, -most, most}},
		{Vector{1 << 62, -1 << 62, 1}, 2, Vector{most, -most, 2}},
		{Vector{1, -1, 0}, lowest, Vector{-most, most, 0}},
	}
	for _, tt := range tests {
		if got := Scale(nil, tt.x, tt.k); !slices.Equal(got, tt.want) {
			t.Errorf("Scale(%v, %d) = %v, want %v", tt.x, tt.k, got, tt.want)
		}
	}
}

func TestCompare(t *testing.T) {
	tests := []struct {
		x, y              Vector
		fits, back, equal bool // x fits y, y fits x
	}{
		{nil, nil, true, true, true},
		{nil, Vector{0, 0}, true, true, true},
		{Vector{1, 0}, Vector{1}, true, true, true},
		{Vector{1, 2}, Vector{1, 3}, true, false, false},
		{Vector{1, 2}, Vector{2, 1}, false, false, false},
		{Vector{1, 2}, Vector{5}, false, false, false},
		{Vector{0, -2}, nil, true, false, false},
		{Vector{-1}, Vector{0, -1}, false, false, false},
		{Vector{lowest}, Vector{-most}, true, true, true},
		{Vector{lowest}, Vector{-most + 1}, true, false, false},
		{Vector{most}, Vector{lowest}, false, true, false},
	}
	for _, tt := range tests {
		if got := Fits(tt.x, tt.y); got != tt.fits {
			t.Errorf("Fits(%v, %v) = %t", tt.x, tt.y, got)
		}
		if got := Fits(tt.y, tt.x); got != tt.back {
			t.Errorf("Fits(%v, %v) = %t", tt.y, tt.x, got)
		}
		if got := Equal(tt.x, tt.y); got != tt.equal {
			t.Errorf("Equal(%v, %v) = %t", tt.x, tt.y, got)
		}
		if got := Equal(tt.y, tt.x); got != tt.equal {
			t.Errorf("Equal(%v, %v) = %t", tt.y, tt.x, got)
		}
	}
}

func TestSigns(t *testing.T) {
	long := make(Vector, 66)
	long[63], long[64], long[65] = 1, 1, 1
	tests := []struct {
		x        Vector
		zero     bool
		positive Mask
	}{
		{nil, true, 0},
		{Vector{0, 0, 0}, true, 0},
		{Vector{0, -1}, false, 0},
		{Vector{5, 0, -1, 1}, false, 0b1001}, // an explicit zero is no type that is asked for
		{Vector{lowest}, false, 0},
		{long, false, 1 << 63},
	}
	for _, tt := range tests {
		if got := IsZero(tt.x); got != tt.zero {
			t.Errorf("IsZero(%v) = %t", tt.x, got)
		}
		if got := Positive(tt.x); got != tt.positive {
			t.Errorf("Positive(%v) = %b, want %b", tt.x, got, tt.positive)
		}
	}
}
