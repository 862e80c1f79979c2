// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAmount(t *testing.T) {
	for _, tt := range []struct {
		typeName string
		amount   int64
		want     string
	}{
		{"cpu", 0, "0"},
		{"cpu", 15500, "15.5"},
		{"cpu", 80500, "80.5"},
		{"cpu", 5000, "5"},
		{"cpu", 1, "0.001"},
		{"cpu", 250, "0.25"},
		{"cpu", 1010, "1.01"},
		{"vcore", -1500, "-1.5"},
		{"cpu", math.MaxInt64, "9223372036854775.807"},
		{"cpu", math.MinInt64, "-9223372036854775.807"},
		{"memory", 0, "0"},
		{"memory", 1, "1"},
		{"memory", 1000, "1000"},
		{"memory", 1023, "1023"},
		{"memory", 1024, "1Ki"},
		{"memory", 1152, "1.125Ki"},
		{"memory", 1153, "1153"},
		{"memory", 1536 << 20, "1.5Gi"},
		{"memory", 512 << 20, "512Mi"},
		{"memory", 128 << 30, "128Gi"},
		{"memory", 1025 << 20, "1025Mi"},
		{"memory", 1<<30 + 1<<20, "1025Mi"},
		{"memory", 3 << 59, "1.5Ei"},
		{"memory", -(7 << 37), "-896Gi"},
		{"memory", math.MaxInt64, "9223372036854775807"},
		{"storage", 5 << 39, "2.5Ti"},
		{"hugepages-2Mi", 3 << 20, "3Mi"},
		{"gpu", 1500, "1500"},
		{"pods", -1, "-1"},
	} {
		if got := forPeople(tt.typeName, tt.amount); got != tt.want {
			t.Errorf("Amount of %s %d = %q, want %q", tt.typeName, tt.amount, got, tt.want)
		}
	}
}

// An amount is told exactly and in at most three decimals, the last of which is
// no zero.
func propertyAmount(t *rapid.T) {
	typeName := rapid.SampledFrom([]string{"cpu", "memory", "gpu"}).Draw(t, "type")
	n := rapid.Int64Range(0, math.MaxInt64>>10).Draw(t, "amount") << rapid.IntRange(0, 10).Draw(t, "shift")
	text := forPeople(typeName, n)
	if got, err := ParseQuantity(typeName, text); err != nil || got != n {
		t.Fatalf("%s %d is told as %q, which is %d, %v", typeName, n, text, got, err)
	}
	if _, decimals, ok := strings.Cut(strings.TrimRight(text, "KMGTPEi"), "."); ok && (len(decimals) > 3 || strings.HasSuffix(decimals, "0")) {
		t.Fatalf("%s %d is told as %q", typeName, n, text)
	}
	if negative := forPeople(typeName, -n); n > 0 && negative != "-"+text {
		t.Fatalf("%s %d is told as %q", typeName, -n, negative)
	}
}

func TestAmount_Property(t *testing.T) { rapid.Check(t, propertyAmount) }
func FuzzAmount_Property(f *testing.F) { f.Fuzz(rapid.MakeFuzz(propertyAmount)) }
