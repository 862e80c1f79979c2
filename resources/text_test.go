// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSchemaVector(t *testing.T) {
	s := mustSchema(t, "cpu", "memory", "gpu")
	tests := []struct {
		amounts map[string]string
		want    Vector
	}{
		{nil, Vector{0, 0, 0}},
		{map[string]string{}, Vector{0, 0, 0}},
		{map[string]string{"memory": "10Gi", "cpu": "500m"}, Vector{500, 10 << 30, 0}},
		{map[string]string{"gpu": "0", "cpu": "2"}, Vector{2000, 0, 0}},
	}
	for _, tt := range tests {
		got, err := s.Vector(tt.amounts)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("Vector(%v) = %v, %v, want %v", tt.amounts, got, err, tt.want)
		}
	}
}

func TestSchemaLimit(t *testing.T) {
	s := mustSchema(t, "cpu", "memory", "gpu")
	tests := []struct {
		bounds map[string]string
		want   Limit
	}{
		{nil, Limit{}},
		{map[string]string{}, Limit{}},
		{map[string]string{"gpu": "0"}, Limit{Vector{0, 0, 0}, 0b100}},
		{map[string]string{"memory": "1k", "cpu": "1"}, Limit{Vector{1000, 1000, 0}, 0b011}},
	}
	for _, tt := range tests {
		got, err := s.Limit(tt.bounds)
		if err != nil || got.Defined != tt.want.Defined || !slices.Equal(got.Value, tt.want.Value) {
			t.Errorf("Limit(%v) = %v, %v, want %v", tt.bounds, got, err, tt.want)
		}
	}
}

func TestSchemaTextErrors(t *testing.T) {
	s := mustSchema(t, "cpu", "memory", "gpu", "pods")
	amounts := map[string]string{
		"pods": "7", "memory": "8Ei", "disk": "1", "gpu": "500m", "cpu": "-1", "apples": "many", "": "1",
	}
	want := strings.Join([]string{
		`resources: type "": unknown`,
		`resources: type "apples": unknown`,
		`resources: cpu: quantity "-1": negative`,
		`resources: type "disk": unknown`,
		`resources: gpu: quantity "500m": not a whole number of base units`,
		`resources: memory: quantity "8Ei": above 9223372036854775807 base units`,
	}, "\n")
	kinds := []error{errUnknownType, errNegative, errFraction, errRange}
	for range 20 { // the order of a map differs from run to run
		v, verr := s.Vector(amounts)
		l, lerr := s.Limit(amounts)
		if v != nil || l.Value != nil || l.Defined != 0 {
			t.Fatalf("%v and %v, and errors", v, l)
		}
		for _, err := range []error{verr, lerr} {
			if got := fmt.Sprint(err); got != want {
				t.Fatalf("got\n%s\nwant\n%s", got, want)
			}
			for _, kind := range kinds {
				if !errors.Is(err, kind) {
					t.Errorf("not found in the error: %v", kind)
				}
			}
		}
	}
}

func TestParse(t *testing.T) {
	s := mustSchema(t, "cpu", "memory", "gpu")
	tests := []struct {
		text string
		want Limit
	}{
		{"", Limit{}},
		{" \t\n", Limit{}},
		{"none", Limit{}},
		{" none ", Limit{}},
		{"cpu=500m memory=10Gi", Limit{Vector{500, 10 << 30, 0}, 0b011}},
		{"  gpu=0\n cpu=8", Limit{Vector{8000, 0, 0}, 0b101}},
		{"cpu=15.5 memory=1.5Gi", Limit{Vector{15500, 3 << 29, 0}, 0b011}},
	}
	for _, tt := range tests {
		l, err := s.ParseLimit(tt.text)
		require.NoError(t, err, tt.text)
		require.Equal(t, tt.want, l, tt.text)
		v, err := s.Parse(tt.text)
		require.NoError(t, err, tt.text)
		require.Len(t, v, 3)
		require.True(t, Equal(tt.want.Value, v), "Parse(%q) = %v", tt.text, v)
	}
}

func TestParse_Errors(t *testing.T) {
	s := mustSchema(t, "cpu", "memory", "gpu")
	for _, tt := range []struct{ text, want string }{
		{"cpu", `resources: "cpu": want a type and a quantity, as in cpu=500m`},
		{"none cpu=1", `resources: "none": want a type and a quantity, as in cpu=500m`},
		{"cpu=1,gpu=2", `resources: cpu: quantity "1,gpu=2": malformed`},
		{"cpu = 1", "resources: \"cpu\": want a type and a quantity, as in cpu=500m\nresources: type \"\": unknown\n" +
			`resources: "1": want a type and a quantity, as in cpu=500m`},
		{"gpus=1 gpu=1 gpu=1", "resources: type \"gpus\": unknown\n" + `resources: type "gpu": named twice`},
		{"gpu=500m cpu=-1", "resources: gpu: quantity \"500m\": not a whole number of base units\n" + `resources: cpu: quantity "-1": negative`},
		{"cpu=", `resources: cpu: quantity "": malformed`},
	} {
		v, err := s.Parse(tt.text)
		require.EqualError(t, err, tt.want)
		require.Nil(t, v)
		l, err := s.ParseLimit(tt.text)
		require.EqualError(t, err, tt.want)
		require.Zero(t, l)
	}
}

func TestSchema_Mask(t *testing.T) {
	s := mustSchema(t, "cpu", "memory", "gpu")
	for _, tt := range []struct {
		names []string
		want  Mask
	}{
		{nil, 0},
		{[]string{"gpu"}, 0b100},
		{[]string{"gpu", "cpu", "gpu"}, 0b101},
	} {
		m, err := s.Mask(tt.names...)
		require.NoError(t, err)
		require.Equal(t, tt.want, m)
	}
	m, err := s.Mask("cpus", "gpu", "")
	require.EqualError(t, err, "resources: type \"cpus\": unknown\n"+`resources: type "": unknown`)
	require.Zero(t, m)
	m, err = mustSchema(t, numbered(64)...).Mask("t63")
	require.NoError(t, err)
	require.Equal(t, Mask(1<<63), m)
}

func TestFormat(t *testing.T) {
	s := mustSchema(t, "cpu", "memory", "gpu")
	tests := []struct {
		v    Vector
		want string
	}{
		{nil, "none"},
		{Vector{0, 0, 0}, "none"},
		{Vector{500, 10 << 30}, "cpu=0.5 memory=10Gi"},
		{Vector{0, 1000, 2}, "memory=1000 gpu=2"},
		{Vector{-1500, 0, -1}, "cpu=-1.5 gpu=-1"},
		{Vector{0, 0, 0, 0, 7}, "#4=7"}, // a type that the schema does not have
	}
	for _, tt := range tests {
		if got := s.Format(tt.v); got != tt.want {
			t.Errorf("Format(%v) = %q, want %q", tt.v, got, tt.want)
		}
	}
}

func TestFormatLimit(t *testing.T) {
	s := mustSchema(t, "cpu", "memory", "gpu")
	tests := []struct {
		l    Limit
		want string
	}{
		{Limit{}, "none"},
		{Limit{Value: Vector{1, 2, 3}}, "none"},
		{Limit{Vector{500, 7, 0}, 0b101}, "cpu=0.5 gpu=0"},
		{Limit{nil, 0b110}, "memory=0 gpu=0"},
		{Limit{Vector{-2000}, 0b1}, "cpu=-2"},
		{Limit{nil, 1 << 63}, "#63=0"},
	}
	for _, tt := range tests {
		if got := s.FormatLimit(tt.l); got != tt.want {
			t.Errorf("FormatLimit(%v) = %q, want %q", tt.l, got, tt.want)
		}
	}
}

// textRoundTrip: what is written, is read as the same.
func textRoundTrip(t *rapid.T) {
	s, err := NewSchema("cpu", "memory", "vcore", "gpu", "hugepages-2Mi")
	if err != nil {
		t.Fatal(err)
	}
	amounts := make(map[string]string)
	var want Limit
	want.Value = make(Vector, s.Len())
	for i := range s.Len() {
		name := s.Name(i)
		if rapid.Bool().Draw(t, "defined") {
			amount := max(anyAmount().Draw(t, name), 0)
			want.Value[i], want.Defined = amount, want.Defined|1<<i
			amounts[name] = forPeople(name, amount)
		}
	}
	v, err := s.Vector(amounts)
	if err != nil || !slices.Equal(v, want.Value) {
		t.Fatalf("Vector(%v) = %v, %v, want %v", amounts, v, err, want.Value)
	}
	l, err := s.Limit(amounts)
	if err != nil || !l.Equal(want) {
		t.Fatalf("Limit(%v) = %v, %v, want %v", amounts, l, err, want)
	}
	if got, want := s.FormatLimit(l) == "none", l.Defined == 0; got != want {
		t.Fatalf("FormatLimit(%v) = %q", l, s.FormatLimit(l))
	}
	if got, err := s.Parse(s.Format(v)); err != nil || !slices.Equal(got, v) {
		t.Fatalf("Parse(%q) = %v, %v, want %v", s.Format(v), got, err, v)
	}
	if got, err := s.ParseLimit(s.FormatLimit(l)); err != nil || !got.Equal(l) {
		t.Fatalf("ParseLimit(%q) = %v, %v, want %v", s.FormatLimit(l), got, err, l)
	}
}

func TestTextRoundTrip(t *testing.T) { rapid.Check(t, textRoundTrip) }
