// SPDX-License-Identifier: Apache-2.0

// Package object has objects for encoding/json whose members keep their order.
package object

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// An Object is the text of an object. It shares nothing with the values that it was made of.
// The zero Object is none.
type Object string

// Of returns the object of names and values, in turn. A member whose name ends with "?" is left out if
// it says nothing: if its value is zero or has no elements. Values must be such that json.Marshal takes them.
func Of(members ...any) Object {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // that is for who writes the whole
	write := func(before byte, value any) {
		b.WriteByte(before)
		_ = e.Encode(value)
		b.Truncate(b.Len() - 1) // the end of the line
	}
	for ; len(members) > 0; members = members[2:] {
		name, optional := strings.CutSuffix(members[0].(string), "?")
		if optional && saysNothing(members[1]) {
			continue
		}
		before := byte(',')
		if b.Len() == 0 {
			before = '{'
		}
		write(before, name)
		write(':', members[1])
	}
	if b.Len() == 0 {
		b.WriteByte('{')
	}
	return Object(b.String() + "}")
}

func saysNothing(value any) bool {
	if at, ok := value.(time.Time); ok {
		return at.IsZero()
	}
	v := reflect.ValueOf(value)
	switch v.Kind() {
	case reflect.Invalid: // nil
		return true
	case reflect.Map, reflect.Slice:
		return v.Len() == 0
	}
	return v.IsZero()
}

// MarshalJSON returns the text.
func (o Object) MarshalJSON() ([]byte, error) { return []byte(o), nil }
