// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// This file finds places in the text of a document, for editors: where a mistake
// is, and how to set one value and leave all other text as it is.

// steps returns the path from the document as a whole downwards.
func (p *Path) steps() (all []*Path) {
	for ; p != nil; p = p.up {
		all = append(all, p)
	}
	slices.Reverse(all)
	return all
}

// inner returns the value that is one step inside v.
func (v *value) inner(step *Path) (*value, bool) {
	for i := range v.items {
		in := &v.items[i]
		if v.kind == list && i == step.item-1 || step.item == 0 && v.kind == object && in.at.name == step.name {
			return in, true
		}
	}
	return v, false
}

// Line returns the line of a document's text that a mistake is on, counted from
// 1. If what it complains about is not there, it is the line where the thing
// begins that lacks it. The cost is linear in the text.
func (e *Error) Line(data []byte) int {
	at := e.Byte
	if !errors.Is(e.Err, ErrSyntax) || at == 0 {
		var ignored findings
		root, wrong := read(data, &ignored)
		if wrong != nil {
			return 1
		}
		at = root.from
		v := &root
		for _, step := range e.Path.steps() {
			in, ok := v.inner(step)
			if !ok {
				break
			}
			v, at = in, in.from
		}
	}
	return 1 + bytes.Count(data[:min(at, len(data))], []byte("\n"))
}

// A Source is the text of a document that was read as JSON, once for all that is
// done with it: [Parse] and a change would read it again.
type Source struct {
	data  []byte
	root  value
	found findings
	wrong *Error // it is no JSON
}

// ReadSource reads a text, which must not change as long as the result is used. What is wrong
// with it is told by what is done with it.
func ReadSource(data []byte) *Source {
	t := &Source{data: data}
	t.root, t.wrong = read(data, &t.found)
	return t
}

// Document is [Parse] for a text that was read.
func (t *Source) Document(file string) (*Document, error) {
	d := newDecoder()
	d.found = findings{slices.Clone(t.found.all), t.found.more}
	return d.decode(file, t.root, t.wrong)
}

// Set returns the text of a document with the value at a place replaced by
// another, as JSON. Fields that are not there are added at the end of their
// object, and objects around them made. All other text stays as it is. An item
// that is not there, a text that is no JSON and a value that is none are errors.
func (t *Source) Set(at *Path, json string) ([]byte, error) {
	if !validJSON(json) {
		return nil, fmt.Errorf("scenario: %q: %w", clip(json), ErrSyntax)
	}
	if t.wrong != nil {
		return nil, t.wrong
	}
	data := t.data
	steps := at.steps()
	v := &t.root
	for len(steps) > 0 {
		in, ok := v.inner(steps[0])
		if !ok {
			return v.add(data, steps, json, at)
		}
		v, steps = in, steps[1:]
	}
	return splice(data, v.from, v.from+len(v.raw), json), nil
}

func validJSON(text string) bool { return json.Valid([]byte(text)) }

// add is Set for a field that v does not have.
func (v *value) add(data []byte, steps []*Path, json string, at *Path) ([]byte, error) {
	if v.kind != object || steps[0].item > 0 {
		return nil, fmt.Errorf("scenario: %v: %w", at, ErrReference)
	}
	for _, step := range slices.Backward(steps[1:]) {
		if step.item > 0 {
			return nil, fmt.Errorf("scenario: %v: %w", at, ErrReference)
		}
		json = "{" + strconv.Quote(step.name) + ": " + json + "}"
	}
	json = strconv.Quote(steps[0].name) + ": " + json
	if len(v.items) == 0 {
		return splice(data, v.from+1, v.from+1, json), nil
	}
	last := &v.items[len(v.items)-1]
	return splice(data, last.from+len(last.raw), last.from+len(last.raw), ", "+json), nil
}

// splice returns data with what is between two places replaced.
func splice(data []byte, from, to int, text string) []byte {
	return slices.Concat(data[:from], []byte(text), data[to:])
}
