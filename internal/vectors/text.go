// SPDX-License-Identifier: Apache-2.0

// Package vectors is what the library does with amounts and users need not: it writes them
// one by one and for machines, and divides them.
package vectors

import (
	"strings"

	"github.com/go-preempt/preempt/resources"
)

// Text returns an amount of type i for people, as [resources.Schema.Format] writes it: "15.5"
// cpu, "1.5Gi" of memory.
func Text(s *resources.Schema, i int, amount int64) string {
	var v [resources.MaxTypes]int64
	v[i] = amount
	text := s.FormatLimit(resources.Limit{Value: v[:i+1], Defined: 1 << i})
	return strings.TrimPrefix(text, s.Name(i)+"=")
}

// Quantities returns the amounts of v by type names, zeros left out, for machines. It is
// never nil. [resources.Schema.Vector] makes v again.
func Quantities(s *resources.Schema, v resources.Vector) map[string]string {
	all := make(map[string]string)
	for i := range s.Len() {
		if a := v.At(i); a != 0 {
			all[s.Name(i)] = resources.FormatQuantity(s.Name(i), a)
		}
	}
	return all
}

// Bounds returns the bounds of l by type names, zeros included, for machines.
// [resources.Schema.Limit] makes l again.
func Bounds(s *resources.Schema, l resources.Limit) map[string]string {
	all := make(map[string]string)
	for i := range s.Len() {
		if bound, ok := l.Bound(i); ok {
			all[s.Name(i)] = resources.FormatQuantity(s.Name(i), bound)
		}
	}
	return all
}
