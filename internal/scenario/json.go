package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	if err := checkUTF8(data); err != nil {
		return value{}, err
	}
	// The whole text is validated first: the token reader below stops at the
	// first value and need not see what follows it.
	syntax := json.Unmarshal(data, new(json.RawMessage))
	r := reader{data: data, dec: json.NewDecoder(bytes.NewReader(data)), found: found}
	r.dec.UseNumber()
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
}

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
	for r.dec.More() {
		at := v.at.Item(len(v.items))
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
		v.items = append(v.items, item)
	}
	r.at = v.at
	if _, err := r.dec.Token(); err != nil {
		return &Error{Path: v.at, Err: fmt.Errorf("%w: %w", ErrSyntax, err)}
	}
	return nil
}
