package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
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
	again bool    // the items of a list are not kept: each reads them again
}

// each returns the items of a list.
func (v value) each() iter.Seq2[int, value] {
	if !v.again {
		return slices.All(v.items)
	}
	return func(yield func(int, value) bool) {
		var told findings // by who read the list first
		r := newReader(v.raw, &told)
		if _, err := r.dec.Token(); err != nil {
			return
		}
		for i := 0; r.dec.More(); i++ {
			item, err := r.value(v.at.Item(i), 2)
			if err != nil || !yield(i, item) {
				return
			}
		}
	}
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
func read(data []byte, found *findings) (value, *Error) { return newReader(data, found).read() }

// readOnce is read for who walks through the document as a whole: the lists
// that are its fields, all that may be long, are read again item by item.
func readOnce(data []byte, found *findings) (value, *Error) {
	r := newReader(data, found)
	r.again = true
	return r.read()
}

func (r *reader) read() (value, *Error) {
	data := r.data
	if err := checkUTF8(data); err != nil {
		return value{}, err
	}
	// The whole text is validated first: the token reader below stops at the
	// first value and need not see what follows it.
	syntax := json.Unmarshal(data, new(ignored))
	root, err := r.value(nil, 0)
	if syntax != nil {
		// The reader has come as far as the mistake allowed: that is the place.
		return value{}, syntaxError(data, syntax, r.at)
	}
	return root, err
}

// A reader builds values from tokens.
type reader struct {
	data  []byte
	dec   *json.Decoder
	at    *Path // the place of the last value begun
	found *findings
	again bool // lists that are fields of the document do not keep their items
}

func newReader(data []byte, found *findings) *reader {
	r := &reader{data: data, dec: json.NewDecoder(bytes.NewReader(data)), found: found}
	r.dec.UseNumber()
	return r
}

// ignored takes any value and keeps no copy of it.
type ignored struct{}

func (*ignored) UnmarshalJSON([]byte) error { return nil }

// value reads the next value, which lies at the given place, inside depth
// objects and lists.
func (r *reader) value(at *Path, depth int) (value, *Error) {
	r.at = at
	start := r.dec.InputOffset()
	tok, err := r.dec.Token()
	if err != nil {
		return value{}, &Error{Path: at, Err: fmt.Errorf("%w: %w", ErrSyntax, err)}
	}
	// What lies between two tokens: white space, a comma or a colon.
	end := r.dec.InputOffset()
	v := value{at: at, raw: bytes.TrimLeft(r.data[start:end], " \t\r\n,:")}
	v.from = int(end) - len(v.raw)
	switch tok := tok.(type) {
	case nil:
		v.kind = null
	case bool:
		v.kind, v.yes = boolean, tok
	case json.Number:
		v.kind, v.text = number, tok.String()
	case string:
		v.kind, v.text = text, tok
		if err := checkSurrogates(v); err != nil {
			r.found.add(err)
		}
	case json.Delim:
		begin := end - 1
		v.kind = object
		if tok == '[' {
			v.kind = list
		}
		if depth == maxNesting {
			return value{}, v.wrong(fmt.Errorf("%w: nested deeper than %d levels", ErrValue, maxNesting))
		}
		if err := r.inside(&v, depth+1); err != nil {
			return value{}, err
		}
		v.raw = r.data[begin:r.dec.InputOffset()]
	}
	return v, nil
}

// inside reads the items of the list, or the fields of the object, that has
// just been opened, and what closes it.
func (r *reader) inside(v *value, depth int) *Error {
	names := make(map[string]bool) // of an object
	v.again = r.again && v.kind == list && depth == 2
	for i := 0; r.dec.More(); i++ {
		at := v.at.Item(i)
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
		if v.kind == object {
			if names[at.name] {
				r.found.add(item.wrong(fmt.Errorf("%w: the field is there already", ErrDuplicate)))
				continue
			}
			names[at.name] = true
		}
		if !v.again {
			v.items = append(v.items, item)
		}
	}
	r.at = v.at
	if _, err := r.dec.Token(); err != nil {
		return &Error{Path: v.at, Err: fmt.Errorf("%w: %w", ErrSyntax, err)}
	}
	return nil
}
