// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// fillDeep gives every slice below a value an element, exported or not.
func fillDeep(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Field(i)
			fillDeep(reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem())
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillDeep(v.Index(0))
	case reflect.Int64:
		v.SetInt(7)
	case reflect.String:
		v.SetString("x")
	}
}

// arrays notes the paths of all arrays below a value, by where they are.
func arrays(v reflect.Value, path string, at map[uintptr]string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			arrays(v.Field(i), path+"."+v.Type().Field(i).Name, at)
		}
	case reflect.Slice:
		if v.Len() > 0 {
			at[v.Pointer()] = path
		}
		for i := range v.Len() {
			arrays(v.Index(i), path+"[]", at)
		}
	}
}

// A clone has all of a decision, and shares no slice with it.
func TestDecision_Clone(t *testing.T) {
	var d Decision
	fillDeep(reflect.ValueOf(&d).Elem())
	d.sizes = nil // memory of the others
	c := d.Clone()
	require.Equal(t, d, c)
	mine, others := map[uintptr]string{}, map[uintptr]string{}
	arrays(reflect.ValueOf(d), "", mine)
	arrays(reflect.ValueOf(c), "", others)
	require.Greater(t, len(mine), 30)
	for at, path := range others {
		require.NotContains(t, mine, at, path)
	}
}
