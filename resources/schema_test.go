// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"errors"
	"fmt"
	"testing"
)

// numbered returns n names.
func numbered(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("t%d", i)
	}
	return names
}

func mustSchema(t testing.TB, names ...string) *Schema {
	t.Helper()
	s, err := NewSchema(names...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSchema(t *testing.T) {
	names := []string{"memory", "cpu", "nvidia.com/gpu"}
	s := mustSchema(t, names...)
	names[0] = "changed by the caller"
	if got := s.Len(); got != 3 {
		t.Errorf("Len = %d, want 3", got)
	}
	for i, want := range []string{"memory", "cpu", "nvidia.com/gpu"} {
		if got := s.Name(i); got != want {
			t.Errorf("Name(%d) = %q, want %q", i, got, want)
		}
		if got, ok := s.Index(want); got != i || !ok {
			t.Errorf("Index(%q) = %d, %t, want %d", want, got, ok, i)
		}
	}
	for _, name := range []string{"", "CPU", "gpu", "#0"} {
		if i, ok := s.Index(name); ok {
			t.Errorf("Index(%q) = %d", name, i)
		}
	}
	if got := s.Name(3); got != "#3" {
		t.Errorf("Name(3) = %q", got)
	}
	if got := s.Name(-1); got != "#-1" {
		t.Errorf("Name(-1) = %q", got)
	}
}

func TestSchemaWithoutTypes(t *testing.T) {
	for _, s := range []*Schema{{}, mustSchema(t)} {
		if s.Len() != 0 || s.Name(0) != "#0" {
			t.Errorf("Len = %d, Name(0) = %q", s.Len(), s.Name(0))
		}
		if _, ok := s.Index("cpu"); ok {
			t.Error("it has cpu")
		}
		if v, err := s.Vector(nil); err != nil || len(v) != 0 {
			t.Errorf("Vector = %v, %v", v, err)
		}
		if _, err := s.Vector(map[string]string{"cpu": "1"}); !errors.Is(err, errUnknownType) {
			t.Errorf("Vector: %v", err)
		}
	}
}

func TestNewSchemaErrors(t *testing.T) {
	if s := mustSchema(t, numbered(64)...); s.Len() != MaxTypes {
		t.Errorf("Len = %d", s.Len())
	}
	tests := []struct {
		names    []string
		kind     error
		offender string
		message  string
	}{
		{[]string{""}, errEmptyName, "", `resources: type "": empty name`},
		{[]string{"cpu", ""}, errEmptyName, "", `resources: type "": empty name`},
		{[]string{"cpu", "memory", "cpu"}, errDuplicateType, "cpu", `resources: type "cpu": named twice`},
		{numbered(65), errTooManyTypes, "t64", `resources: type "t64": more than 64 types`},
		{numbered(1000), errTooManyTypes, "t64", `resources: type "t64": more than 64 types`},
		{[]string{"a", "a", ""}, errDuplicateType, "a", `resources: type "a": named twice`}, // the first problem
	}
	for _, tt := range tests {
		s, err := NewSchema(tt.names...)
		if s != nil {
			t.Errorf("%v: a schema and an error", tt.names)
		}
		if !errors.Is(err, tt.kind) {
			t.Errorf("%v: %v, want %v", tt.names, err, tt.kind)
		}
		var detail *typeError
		if !errors.As(err, &detail) || detail.Type != tt.offender {
			t.Errorf("%v: %v does not name %q", tt.names, err, tt.offender)
		}
		if got := fmt.Sprint(err); got != tt.message {
			t.Errorf("%v: %s, want %s", tt.names, got, tt.message)
		}
	}
}
