// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
)

// A decoder turns values into the parts of a document. It notes mistakes and
// goes on; what it returns after one means nothing. Absent values read as zero
// and are no mistake: required is what complains.
type decoder struct {
	found findings
	types types
	known names
	scout bool       // only which types are named is of interest: nothing is kept
	long  *longTasks // where the tasks of the document are found again; nil: they are kept
}

// names are what references may name, and where each was named first.
type names struct {
	queues  *branch // the root is the one below it
	nodes   seen
	classes seen
	budgets map[string]bool
	tasks   seen
	values  map[string]int32 // of classes
	never   map[string]bool  // classes whose asks must not preempt others
	jobs    map[string]bool

	// Which of them may be incomplete, since there is a mistake in what names
	// them. A reference that finds nothing there is no second mistake.
	doubt struct{ queues, nodes, classes, budgets, tasks, requests bool }
}

// doubtAll puts everything in doubt that has a name.
func (n *names) doubtAll() {
	d := &n.doubt
	d.queues, d.nodes, d.classes, d.budgets, d.tasks, d.requests = true, true, true, true, true, true
}

// seen are names that must differ, and where each is.
type seen map[string]*Path

// newDecoder returns a decoder for a document. Until it has a schema it only
// finds out which types are named.
func newDecoder() *decoder {
	return &decoder{
		types: types{named: make(map[string]bool)},
		known: names{
			queues:  newBranch(nil),
			nodes:   make(seen),
			classes: make(seen),
			budgets: make(map[string]bool),
			tasks:   make(seen),
			values:  make(map[string]int32),
			never:   make(map[string]bool),
			jobs:    make(map[string]bool),
		},
	}
}

// fail notes that v is wrong, and why. An absent value of no place belongs to
// something that is wrong itself.
func (d *decoder) fail(v value, format string, args ...any) {
	if !d.scout && (v.kind != 0 || v.at != nil) && d.found.tells(v.at) {
		d.found.all = append(d.found.all, v.wrong(fmt.Errorf(format, args...)))
	}
}

// refer notes that v refers to what is not there, unless it is in doubt what is
// there.
func (d *decoder) refer(v value, doubt bool, what string) {
	if !doubt {
		d.fail(v, "%w: %s", ErrReference, what)
	}
}

// naming returns what reads things that others refer to, and sets doubt if
// some of their names may be lost.
func naming[T any](d *decoder, doubt *bool, read func(value) T) func(value) T {
	return func(v value) T {
		before := len(d.found.all)
		t := read(v)
		for _, e := range d.found.all[before:] {
			if *doubt = *doubt || e.losesNames(); *doubt {
				break
			}
		}
		return t
	}
}

// losesNames reports whether a mistake may hide a name from the decoder. A bad
// amount does not.
func (e *Error) losesNames() bool {
	if e.Path != nil && e.Path.name == "name" {
		return true
	}
	return !errors.Is(e, ErrValue) && !errors.Is(e, ErrReference)
}

// want reports whether v is of the kind; another kind is a mistake, an absent
// value is not.
func (d *decoder) want(v value, k kind) bool {
	if v.kind != k && v.kind != 0 {
		d.fail(v, "%w: want %s, found %s", ErrKind, k, v.kind)
	}
	return v.kind == k
}

// A fieldsOf is an object whose fields are known, but for a mistake.
type fieldsOf struct {
	d       *decoder
	v       value
	strange bool // it has a field that is not known
}

// object returns the fields of v, which may have the given ones and no others.
func (d *decoder) object(v value, known ...string) fieldsOf {
	if !d.want(v, object) {
		return fieldsOf{d: d}
	}
	o := fieldsOf{d: d, v: v}
	for _, f := range v.items {
		if !slices.Contains(known, f.at.name) {
			d.fail(f, "%w: want one of %s", ErrField, join(known))
			o.strange = true
		}
	}
	return o
}

// find returns the named field, or an absent value.
func (o fieldsOf) find(name string) value {
	for _, f := range o.v.items {
		if f.at.name == name {
			return f
		}
	}
	return value{}
}

// required reads a field that must be there.
func required[T any](o fieldsOf, name string, read func(value) T) T {
	v := o.find(name)
	if v.kind == 0 && o.v.kind == object {
		v.at = o.v.at.Field(name)
		o.d.fail(v, "%w: a required field", ErrMissing)
	}
	return read(v)
}

// optional reads a field, or returns what its absence means.
func optional[T any](o fieldsOf, name string, read func(value) T, absent T) T {
	v := o.find(name)
	if v.kind == 0 {
		return absent
	}
	return read(v)
}

// pointer reads a field whose absence means something of its own: nil.
func pointer[T any](o fieldsOf, name string, read func(value) T) *T {
	v := o.find(name)
	if v.kind == 0 {
		return nil
	}
	t := read(v)
	return &t
}

// atMostOne complains about a second one of fields that exclude each other,
// and returns which of them, counted from 1, is there first in the document;
// 0 if none is.
func (d *decoder) atMostOne(o fieldsOf, names ...string) int {
	found := 0
	for _, f := range o.v.items {
		i := 1 + slices.Index(names, f.at.name)
		switch {
		case i == 0:
		case found == 0:
			found = i
		default:
			d.fail(f, "%w: there is %s already, and at most one of %s may be", ErrValue, names[found-1], join(names))
		}
	}
	return found
}

// list returns the items of a list.
func (d *decoder) list(v value) iter.Seq[value] {
	if !d.want(v, list) {
		v = value{}
	}
	return v.each()
}

// each reads the items of a list; a list without items is nil.
func each[T any](d *decoder, read func(value) T) func(value) []T {
	return func(v value) []T {
		var all []T
		if v.again && v.count > 0 && !d.scout {
			all = make([]T, 0, v.count)
		}
		for item := range d.list(v) {
			t := read(item)
			if v.again && len(d.found.all) > 0 { // there will be no document
				all = nil
			} else if !d.scout {
				all = append(all, t)
			}
		}
		return all
	}
}

// fields reads an object whose fields have any names. The first argument of
// read is the name, as if it were a value.
func fields[T any](d *decoder, v value, read func(name, v value) T) map[string]T {
	if !d.want(v, object) {
		return nil
	}
	all := make(map[string]T, len(v.items))
	for _, f := range v.items {
		all[f.at.name] = read(nameOf(f), f)
	}
	return all
}

// nameOf returns the name of a field as if it were a value.
func nameOf(f value) value {
	return value{kind: text, at: f.at, raw: []byte(strconv.Quote(f.at.name)), text: f.at.name}
}
