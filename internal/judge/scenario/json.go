// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// maxNesting bounds how deep objects and lists may lie in each other, so that
// no document can exhaust the stack. A tree of queues takes two levels each.
const maxNesting = 1000

// A kind is what JSON calls the type of a value.
type kind uint8

const (
	null kind = 1 + iota
	boolean
	number
	text
	list
	object
)

var kinds = [...]string{"nothing", "null", "a boolean", "a number", "a string", "a list", "an object"}

func (k kind) String() string { return kinds[k] }

// A value is a JSON value and its place. The zero value stands for one that is
// absent.
type value struct {
	kind  kind
	yes   bool // of a boolean
	at    *Path
	raw   []byte  // as it stands in the document
	from  int     // the byte at which raw begins
	text  string  // of a string, decoded; of a number, its literal
	items []value // of a list; of an object its fields, named by their places
	count int     // of them
	again bool    // items are read again when they are asked for, and not kept
}

// wrong returns the error that v is not as it should be.
func (v value) wrong(err error) *Error {
	raw := v.raw
	var line bytes.Buffer
	if json.Compact(&line, raw) == nil { // it is, unless absent or cut off
		raw = line.Bytes()
	}
	return &Error{Path: v.at, Value: clip(string(raw)), Err: err}
}

// read returns the one value that data consists of. Numbers keep their
// literals, strings are valid UTF-8. If a name occurs twice in an object, the
// first field stays; that, and half a character in a string, go to found. An
// error is what makes the text no value at all.
func read(data []byte, found *findings) (value, *Error) {
	return (&reader{data: data, found: found}).document()
}

// readLong is read, but the items of lists that are fields of the document are
// read again whenever they are asked for, and not kept: there may be a million.
func readLong(data []byte, found *findings) (value, *Error) {
	return (&reader{data: data, found: found, long: true}).document()
}

// A reader builds values of a text that is valid JSON, or begins as such.
type reader struct {
	data  []byte
	next  int   // the byte to be read next
	end   int   // what is valid ends here
	base  int   // the byte of the document at which data begins
	at    *Path // the place of the last value begun
	found *findings
	long  bool
	brief bool        // what is read will be read again: its items are not kept
	stack []value     // items of the lists and objects that are open
	words [512]string // read before, by hash: most names and references repeat
}

// errCut ends the reading of a text that is cut off, or valid only up to a byte.
var errCut = &Error{Err: ErrSyntax}

// document reads the only value of the text.
func (r *reader) document() (value, *Error) {
	if bytes.HasPrefix(r.data, []byte("\xef\xbb\xbf")) { // a byte-order mark; positions stay
		r.data = append([]byte("   "), r.data[3:]...)
	}
	if err := checkUTF8(r.data); err != nil {
		return value{}, err
	}
	r.end = len(r.data)
	var syntax error
	if !json.Valid(r.data) {
		syntax = json.Unmarshal(r.data, new(json.RawMessage))
		e, ok := syntax.(*json.SyntaxError)
		if cut := ok && strings.HasPrefix(e.Error(), "unexpected end"); ok && !cut {
			r.end = min(max(int(e.Offset)-1, 0), r.end) // Offset counts the offending byte
		}
	}
	root, err := r.value(nil, 0)
	if syntax != nil {
		// The reader has come as far as the mistake allowed: that is the place.
		return value{}, syntaxError(r.data, syntax, r.at)
	}
	return root, err
}

// value reads the next value, which lies at the given place, inside depth
// objects and lists.
func (r *reader) value(at *Path, depth int) (value, *Error) {
	r.at = at
	r.skip(" \t\r\n,:")
	begin := r.next
	if begin == r.end {
		return value{}, errCut
	}
	v := value{at: at, from: r.base + begin, kind: number}
	switch r.data[begin] {
	case 'n':
		v.kind = null
	case 't', 'f':
		v.kind, v.yes = boolean, r.data[begin] == 't'
	case '"':
		v.kind = text
	case '[':
		v.kind = list
	case '{':
		v.kind = object
	}
	if v.kind >= list {
		r.next++
		if depth == maxNesting {
			v.raw = r.data[begin:r.next]
			return value{}, v.wrong(fmt.Errorf("%w: nested deeper than %d levels", ErrValue, maxNesting))
		}
		if err := r.inside(&v, depth+1); err != nil {
			return value{}, err
		}
	} else if !r.scalar(v.kind == text) {
		return value{}, errCut
	}
	v.raw = r.data[begin:r.next]
	switch v.kind {
	case number:
		v.text = r.word(v.raw)
	case text:
		v.text = r.word(v.raw[1 : len(v.raw)-1])
		if bytes.IndexByte(v.raw, '\\') >= 0 {
			v.text = unquoted(v.raw)
			if err := checkSurrogates(v); err != nil {
				r.found.add(err)
			}
		}
	}
	return v, nil
}

// unquoted returns what a string that is valid says. It is apart, for it has its text on the heap.
func unquoted(raw []byte) (text string) {
	_ = json.Unmarshal(raw, &text)
	return text
}

// skip passes over any of some bytes.
func (r *reader) skip(any string) {
	for r.next < r.end && strings.IndexByte(any, r.data[r.next]) >= 0 {
		r.next++
	}
}

// scalar passes over a string, or over another value without others in it, and
// reports whether it is whole.
func (r *reader) scalar(quoted bool) bool {
	if begin := r.next; !quoted {
		for r.next < r.end && strings.IndexByte(" \t\r\n,:]}", r.data[r.next]) < 0 {
			r.next++
		}
		return r.next < r.end || json.Valid(r.data[begin:r.next])
	}
	for r.next++; r.next < r.end; r.next++ {
		switch r.data[r.next] {
		case '"':
			r.next++
			return true
		case '\\':
			r.next++
		}
	}
	r.next = r.end
	return false
}

// word returns what b says, the same string if it was read not long ago.
func (r *reader) word(b []byte) string {
	hash := uint32(2166136261)
	for _, c := range b {
		hash = (hash ^ uint32(c)) * 16777619
	}
	w := &r.words[(hash^hash>>16)%uint32(len(r.words))]
	if *w != string(b) {
		*w = string(b)
	}
	return *w
}

// more reports whether the list or object goes on: also if with a mistake.
func (r *reader) more() bool {
	r.skip(" \t\r\n")
	return r.next < len(r.data) && r.data[r.next] != ']' && r.data[r.next] != '}'
}

// inside reads the items of the list, or the fields of the object, that has
// just been opened, and what closes it.
func (r *reader) inside(v *value, depth int) *Error {
	v.again = r.long && depth == 2 && v.kind == list
	r.brief = r.brief || v.again
	begin := len(r.stack)
	var names map[string]bool // of an object with many fields
	for r.more() {
		at := v.at.Item(v.count)
		if v.kind == object {
			name, err := r.value(v.at, depth)
			if err != nil {
				return err
			}
			at = v.at.Field(name.text)
		}
		item, err := r.value(at, depth)
		if err != nil {
			return err
		}
		if v.kind == object && has(r.stack[begin:], at.name, &names) {
			r.found.add(item.wrong(fmt.Errorf("%w: the field is there already", ErrDuplicate)))
			continue
		}
		v.count++
		if !v.again {
			r.stack = append(r.stack, item)
		}
	}
	if !r.brief {
		v.items = slices.Clone(r.stack[begin:])
	}
	r.brief = r.brief && !v.again
	r.stack = r.stack[:begin]
	r.at = v.at
	if r.next == r.end {
		return errCut
	}
	r.next++
	return nil
}

// few is how many fields are looked through one by one.
const few = 16

// has reports whether a name is among those of fields. Those of many are kept.
func has(fields []value, name string, names *map[string]bool) bool {
	if len(fields) < few {
		return slices.ContainsFunc(fields, func(f value) bool { return f.at.name == name })
	}
	if *names == nil {
		*names = make(map[string]bool)
		for _, f := range fields {
			(*names)[f.at.name] = true
		}
	}
	had := (*names)[name]
	(*names)[name] = true
	return had
}

// length returns how many items a list has.
func (v value) length() int {
	if v.kind != list {
		return 0
	}
	return v.count
}

// each returns the items of a list.
func (v value) each() iter.Seq[value] {
	if !v.again {
		return slices.Values(v.items)
	}
	return func(yield func(value) bool) {
		// What is wrong with the items was found when they were read first.
		r := reader{data: v.raw, next: 1, end: len(v.raw), base: v.from, found: new(findings)}
		for i := 0; r.more(); i++ {
			item, err := r.value(v.at.Item(i), 2)
			if err != nil || !yield(item) {
				return
			}
		}
	}
}
