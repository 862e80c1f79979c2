// SPDX-License-Identifier: Apache-2.0

package scenario

import "fmt"

// A Value is a JSON value and its place, for readers of other documents that
// are to be as strict as [Parse]. The zero Value is absent, and null counts as
// absent everywhere. Values are immutable and do not alias what was read.
type Value struct {
	file string
	v    value
}

// Read returns the one JSON value that data consists of. No name occurs twice
// in an object, strings are valid UTF-8, numbers keep their literals, and
// nesting is bounded. The name of the file is for messages only.
//
// The error joins an *[Error] of [ErrSyntax], [ErrDuplicate] or [ErrValue] for
// each mistake. The cost is linear in the bytes.
func Read(file string, data []byte) (Value, error) {
	var found findings
	v, wrong := read(data, &found)
	if wrong != nil {
		found.add(wrong)
	}
	if err := found.err(file); err != nil {
		return Value{}, err
	}
	return Value{file, v}, nil
}

// Absent reports whether nothing is there.
func (v Value) Absent() bool { return v.v.kind == 0 || v.v.kind == null }

// Blank reports whether v says nothing: it is absent, or an empty string, list
// or object, or an object of such.
func (v Value) Blank() bool {
	switch v.v.kind {
	case text:
		return v.v.text == ""
	case list:
		return len(v.v.items) == 0
	case object:
		for _, f := range v.v.items {
			if !(Value{v.file, f}).Blank() {
				return false
			}
		}
		return true
	}
	return v.Absent()
}

// Name returns the name of the field of an object that v is, or "".
func (v Value) Name() string {
	if v.v.at == nil {
		return ""
	}
	return v.v.at.name
}

// File and Place return where v is: the name given to [Read], and the path in
// it, "" for the whole.
func (v Value) File() string  { return v.file }
func (v Value) Place() string { return v.v.at.String() }

// Fields returns the fields of an object, in the order of the document.
func (v Value) Fields() ([]Value, error) { return v.inside(object) }

// Items returns the items of a list.
func (v Value) Items() ([]Value, error) { return v.inside(list) }

func (v Value) inside(k kind) ([]Value, error) {
	return readAs(v, func(d *decoder, in value) (all []Value) {
		if !d.want(in, k) {
			return nil
		}
		for _, item := range in.items {
			all = append(all, Value{v.file, item})
		}
		return all
	})
}

// Text returns a string, "" where it is absent.
func (v Value) Text() (string, error) { return readAs(v, (*decoder).text) }

// Bool returns a boolean, false if it is absent.
func (v Value) Bool() (bool, error) { return readAs(v, (*decoder).boolean) }

// Int32 returns a number, 0 where it is absent. It is written in digits only.
func (v Value) Int32() (int32, error) {
	if v.Absent() {
		return 0, nil
	}
	return readAs(v, (*decoder).priority)
}

// Scalar returns the text of a string, a number or a boolean, as it was before
// a converter took it for more than text; "" where it is absent.
func (v Value) Scalar() (string, error) {
	switch v.v.kind {
	case number:
		return v.v.text, nil
	case boolean:
		return fmt.Sprint(v.v.yes), nil
	}
	return v.Text()
}

// Wrong returns the error that v is not as it should be, and why.
func (v Value) Wrong(err error) *Error {
	e := v.v.wrong(err)
	e.File = v.file
	return e
}

// readAs reads v as a document's decoder does.
func readAs[T any](v Value, read func(*decoder, value) T) (t T, err error) {
	in := v.v
	if v.Absent() {
		in.kind = 0
	}
	var d decoder
	t = read(&d, in)
	if err := d.found.err(v.file); err != nil {
		var none T
		return none, err
	}
	return t, nil
}
