// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"slices"
	"testing"
)

func TestBound(t *testing.T) {
	// Type 0 is bounded, type 1 is not whatever Value says, type 2 is bounded
	// by zero, type 5 is bounded by zero for want of an entry.
	l := Limit{Vector{10, 99, 0, lowest}, 0b101101}
	tests := []struct {
		i    int
		want int64
		ok   bool
	}{
		{-1, 0, false},
		{0, 10, true},
		{1, 0, false},
		{2, 0, true},
		{3, -most, true},
		{4, 0, false},
		{5, 0, true},
		{63, 0, false},
		{64, 0, false},
	}
	for _, tt := range tests {
		if got, ok := l.Bound(tt.i); got != tt.want || ok != tt.ok {
			t.Errorf("Bound(%d) = %d, %t, want %d, %t", tt.i, got, ok, tt.want, tt.ok)
		}
	}
}

func TestLimitEqual(t *testing.T) {
	tests := []struct {
		name string
		l, o Limit
		want bool
	}{
		{"nothing", Limit{}, Limit{}, true},
		{"not defined is ignored", Limit{Vector{1, 2}, 0b01}, Limit{Vector{1, 3}, 0b01}, true},
		{"zero is a bound", Limit{Vector{0}, 0b1}, Limit{}, false},
		{"a missing entry is zero", Limit{Vector{1, 0}, 0b11}, Limit{Vector{1}, 0b11}, true},
		{"other amounts", Limit{Vector{1}, 0b1}, Limit{Vector{2}, 0b1}, false},
		{"other types", Limit{Vector{1, 1}, 0b01}, Limit{Vector{1, 1}, 0b10}, false},
		{"the lowest amount", Limit{Vector{lowest}, 0b1}, Limit{Vector{-most}, 0b1}, true},
	}
	for _, tt := range tests {
		if got := tt.l.Equal(tt.o); got != tt.want {
			t.Errorf("%s: %v.Equal(%v) = %t", tt.name, tt.l, tt.o, got)
		}
		if got := tt.o.Equal(tt.l); got != tt.want {
			t.Errorf("%s: %v.Equal(%v) = %t", tt.name, tt.o, tt.l, got)
		}
	}
}

func TestLimitAndVector(t *testing.T) {
	tests := []struct {
		name        string
		l           Limit
		v           Vector
		admits      bool
		over, short Vector
		left, sum   Vector
	}{
		{
			name: "no bound", l: Limit{Value: Vector{1, 1}}, v: Vector{5},
			admits: true,
			over:   Vector{0, 0}, short: Vector{0, 0}, left: Vector{0, 0}, sum: Vector{0, 0},
		},
		{
			name: "over in one type, short in another, a third not bounded",
			l:    Limit{Vector{10, 10, 10}, 0b011}, v: Vector{12, 7, 50},
			over: Vector{2, 0, 0}, short: Vector{0, 3, 0}, left: Vector{-2, 3, 0}, sum: Vector{22, 17, 0},
		},
		{
			name: "at the bound", l: Limit{Vector{10}, 0b1}, v: Vector{10},
			admits: true,
			over:   Vector{0}, short: Vector{0}, left: Vector{0}, sum: Vector{20},
		},
		{
			name: "an explicit zero bounds", l: Limit{Vector{0}, 0b1}, v: Vector{1},
			over: Vector{1}, short: Vector{0}, left: Vector{-1}, sum: Vector{1},
		},
		{
			name: "so does a bound without an entry", l: Limit{nil, 0b10}, v: Vector{5, 1},
			over: Vector{0, 1}, short: Vector{0, 0}, left: Vector{0, -1}, sum: Vector{0, 1},
		},
		{
			name: "bounds and amounts beyond the end are zero", l: Limit{Vector{4}, 1<<63 | 1}, v: nil,
			admits: true,
			over:   Vector{0}, short: Vector{4}, left: Vector{4}, sum: Vector{4},
		},
		{
			name: "negative usage leaves more than the bound", l: Limit{Vector{4}, 0b1}, v: Vector{-3},
			admits: true,
			over:   Vector{0}, short: Vector{7}, left: Vector{7}, sum: Vector{1},
		},
		{
			name: "the lowest bound reads as the lowest but one", l: Limit{Vector{lowest}, 0b1}, v: Vector{-most},
			admits: true,
			over:   Vector{0}, short: Vector{0}, left: Vector{0}, sum: Vector{-most},
		},
		{
			name: "saturated", l: Limit{Vector{-most, most}, 0b11}, v: Vector{most, lowest},
			over: Vector{most, 0}, short: Vector{0, most}, left: Vector{-most, most}, sum: Vector{0, 0},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Admits(tt.l, tt.v); got != tt.admits {
				t.Errorf("Admits = %t", got)
			}
			check := func(name string, got, want Vector) {
				t.Helper()
				if !slices.Equal(got, want) {
					t.Errorf("%s = %v, want %v", name, got, want)
				}
			}
			check("Over", Over(nil, tt.v, tt.l), tt.over)
			check("Short", Short(nil, tt.l, tt.v), tt.short)
			left, sum := SubOnlyExisting(Limit{}, tt.l, tt.v), AddOnlyExisting(Limit{}, tt.l, tt.v)
			check("SubOnlyExisting", left.Value, tt.left)
			check("AddOnlyExisting", sum.Value, tt.sum)
			if left.Defined != tt.l.Defined || sum.Defined != tt.l.Defined {
				t.Errorf("defined: %b and %b, want %b", left.Defined, sum.Defined, tt.l.Defined)
			}
		})
	}
}

// TestPreemptable has the rows of DESIGN.md, Quota: target. What a lowered max
// makes preemptable is what SubOnlyExisting has below zero. The old max plays
// no part in it.
func TestPreemptable(t *testing.T) {
	const m, c = 0b01, 0b10 // memory, cpu
	tests := []struct {
		max    Limit
		usage  Vector
		target Vector
	}{
		{Limit{Vector{50, 0}, m}, Vector{80, 0}, Vector{30, 0}},
		{Limit{Vector{50, 50}, m | c}, Vector{80, 80}, Vector{30, 30}},
		{Limit{Vector{200, 50}, m | c}, Vector{100, 80}, Vector{0, 30}},
		{Limit{Vector{100, 100}, m | c}, Vector{50, 500}, Vector{0, 400}},
		{Limit{Vector{50, 0}, m}, Vector{80, 100}, Vector{30, 0}},
		{Limit{Vector{0, 100}, c}, Vector{100, 500}, Vector{0, 400}},
	}
	for _, tt := range tests {
		left := SubOnlyExisting(Limit{}, tt.max, tt.usage)
		got := Scale(nil, Min(nil, left.Value, nil), -1)
		if !slices.Equal(got, tt.target) {
			t.Errorf("%v of %v: target %v, want %v", tt.usage, tt.max, got, tt.target)
		}
		if got := Over(nil, tt.usage, tt.max); !slices.Equal(got, tt.target) {
			t.Errorf("%v of %v: over %v, want %v", tt.usage, tt.max, got, tt.target)
		}
	}
}

func TestTighten(t *testing.T) {
	tests := []struct {
		name string
		a, b Limit
		want Limit
	}{
		{name: "nothing"},
		{
			name: "own types only", a: Limit{Vector{5}, 0b1}, b: Limit{Vector{0, 7}, 0b10},
			want: Limit{Vector{5, 7}, 0b11},
		},
		{
			name: "both bound", a: Limit{Vector{5, 7}, 0b11}, b: Limit{Vector{6, 6}, 0b11},
			want: Limit{Vector{5, 6}, 0b11},
		},
		{
			name: "zero is tighter than any", a: Limit{Vector{5}, 0b1}, b: Limit{Vector{0}, 0b1},
			want: Limit{Vector{0}, 0b1},
		},
		{
			name: "an entry that is not defined is neither", a: Limit{Vector{1, 2}, 0b10}, b: Limit{Vector{9, 9}, 0b01},
			want: Limit{Vector{9, 2}, 0b11},
		},
		{
			name: "a bound without an entry is zero", a: Limit{nil, 0b1}, b: Limit{Vector{9, 9}, 0b11},
			want: Limit{Vector{0, 9}, 0b11},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			check := func(name string, got, want Limit) {
				t.Helper()
				if got.Defined != want.Defined || !slices.Equal(got.Value, want.Value) {
					t.Errorf("%s(%v, %v) = %v, want %v", name, tt.a, tt.b, got, want)
				}
			}
			check("Tighten", Tighten(Limit{}, tt.a, tt.b), tt.want)
			check("Tighten, the other way round", Tighten(Limit{}, tt.b, tt.a), tt.want)
		})
	}
}
