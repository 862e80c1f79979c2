// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"
	"slices"
	"testing"
)

// The verbs run on as many types as clusters have: cpu, memory, storage and a
// device.
const benchTypes = 4

func benchVectors() (x, y Vector, l Limit) {
	for i := range benchTypes {
		x = append(x, int64(1000+i))
		y = append(y, int64(2000+i))
	}
	return x, y, Limit{Vector{1500, 1500, 1500, 1500}, 0b1011}
}

func benchName() string { return fmt.Sprintf("types=%d", benchTypes) }

func BenchmarkVector(b *testing.B) {
	x, y, _ := benchVectors()
	dst := make(Vector, benchTypes)
	for _, verb := range []struct {
		name string
		f    func(dst, x, y Vector) Vector
	}{
		{"Add", Add},
		{"Sub", Sub},
		{"Min", Min},
		{"Max", Max},
		{"Scale", func(dst, x, _ Vector) Vector { return Scale(dst, x, 3) }},
	} {
		b.Run(verb.name+"/"+benchName(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				dst = verb.f(dst, x, y)
			}
		})
	}
}

func BenchmarkTest(b *testing.B) {
	x, y, l := benchVectors()
	z := slices.Clone(x)
	for _, test := range []struct {
		name string
		f    func() bool
	}{
		{"Fits", func() bool { return Fits(x, y) }},
		{"Equal", func() bool { return Equal(x, z) }},
		{"IsZero", func() bool { return IsZero(x[:0]) }},
		{"Positive", func() bool { return Positive(x) != 0 }},
		{"Admits", func() bool { return Admits(l, x) }},
		{"DominantShare", func() bool { return DominantShare(x, y).Amount > 0 }},
	} {
		b.Run(test.name+"/"+benchName(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !test.f() {
					b.Fatal("false")
				}
			}
		})
	}
}

func BenchmarkLimit(b *testing.B) {
	x, _, l := benchVectors()
	own := Limit{Vector{1, 2, 3, 4}, 0b0110}
	dst := Limit{Value: make(Vector, benchTypes)}
	for _, verb := range []struct {
		name string
		f    func(dst Limit) Limit
	}{
		{"Over", func(dst Limit) Limit { return Limit{Value: Over(dst.Value, x, l)} }},
		{"Short", func(dst Limit) Limit { return Limit{Value: Short(dst.Value, l, x)} }},
		{"SubOnlyExisting", func(dst Limit) Limit { return SubOnlyExisting(dst, l, x) }},
		{"AddOnlyExisting", func(dst Limit) Limit { return AddOnlyExisting(dst, l, x) }},
		{"Tighten", func(dst Limit) Limit { return Tighten(dst, own, l) }},
	} {
		b.Run(verb.name+"/"+benchName(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				dst = verb.f(dst)
			}
		})
	}
}

// What is read from a manifest: the amounts of a task, the bounds of a queue.
func BenchmarkSchema(b *testing.B) {
	s, err := NewSchema("cpu", "memory", "ephemeral-storage", "nvidia.com/gpu")
	if err != nil {
		b.Fatal(err)
	}
	texts := map[string]string{"cpu": "500m", "memory": "1.5Gi", "ephemeral-storage": "10Gi", "nvidia.com/gpu": "1"}
	b.Run("Vector/"+benchName(), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Vector(texts); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Limit/"+benchName(), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Limit(texts); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Format/"+benchName(), func(b *testing.B) {
		v, _ := s.Vector(texts)
		b.ReportAllocs()
		for b.Loop() {
			s.Format(v)
		}
	})
}

func BenchmarkQuantity(b *testing.B) {
	for _, text := range []string{"4", "500m", "1.5Gi", "1e3"} {
		b.Run("Parse/text="+text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseQuantity("cpu", text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("Format", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			FormatQuantity("memory", 10<<30)
		}
	})
}

// mapTwin is the design that was not taken: amounts by name. It needs no
// Schema, and in exchange every verb hashes every name, adding allocates, and
// a missing name means zero to one reader and no bound to the next.
type mapTwin map[string]int64

func (x mapTwin) add(y mapTwin) mapTwin {
	sum := make(mapTwin, len(x))
	for name, a := range x {
		sum[name] = a + y[name]
	}
	for name, a := range y {
		if _, ok := x[name]; !ok {
			sum[name] = a
		}
	}
	return sum
}

func (x mapTwin) fits(y mapTwin) bool {
	for name, a := range x {
		if a > y[name] {
			return false
		}
	}
	return true
}

func BenchmarkMapTwin(b *testing.B) {
	names := []string{"cpu", "memory", "ephemeral-storage", "nvidia.com/gpu"}
	vx, vy, _ := benchVectors()
	x, y := mapTwin{}, mapTwin{}
	for i, name := range names {
		x[name], y[name] = vx[i], vy[i]
	}
	b.Run("Add/"+benchName(), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			x.add(y)
		}
	})
	b.Run("Fits/"+benchName(), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !x.fits(y) {
				b.Fatal("false")
			}
		}
	})
}
