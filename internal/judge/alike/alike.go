// SPDX-License-Identifier: Apache-2.0

// Package alike copies what two structs have alike, so that a new field of tasks and asks needs no line
// where documents and random worlds become clusters.
package alike

import "reflect"

// Copier returns a function that sets each field of dst that src has by the same name and type. Slices and
// maps are shared.
func Copier[D, S any]() func(dst *D, src *S) {
	d, s := reflect.TypeFor[D](), reflect.TypeFor[S]()
	var pairs [][2]int
	for i := range d.NumField() {
		to := d.Field(i)
		from, has := s.FieldByName(to.Name)
		if has && to.IsExported() && len(from.Index) == 1 && from.Type == to.Type {
			pairs = append(pairs, [2]int{i, from.Index[0]})
		}
	}
	return func(dst *D, src *S) {
		to, from := reflect.ValueOf(dst).Elem(), reflect.ValueOf(src).Elem()
		for _, p := range pairs {
			to.Field(p[0]).Set(from.Field(p[1]))
		}
	}
}

// Lacks returns the exported fields that both A and B have and D has not.
func Lacks[D, A, B any]() (names []string) {
	d, a, b := reflect.TypeFor[D](), reflect.TypeFor[A](), reflect.TypeFor[B]()
	for i := range a.NumField() {
		name := a.Field(i).Name
		_, both := b.FieldByName(name)
		if _, has := d.FieldByName(name); both && !has && a.Field(i).IsExported() {
			names = append(names, name)
		}
	}
	return names
}
