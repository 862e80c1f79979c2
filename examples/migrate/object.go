// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/internal/scenario"
	"github.com/go-preempt/preempt/toleration"
)

// A migration is a document in the making. It keeps the first mistake and goes
// on; what it makes afterwards means nothing.
type migration struct {
	doc     document
	remarks []error
	err     error

	types   map[string]bool           // that the document names
	queues  map[string]scenario.Value // by their dotted names
	classes toleration.Classes
	objects map[string]scenario.Value // of classes, by name
}

// fail notes that v is wrong, and why. The first note stays.
func (m *migration) fail(v scenario.Value, format string, args ...any) {
	m.failed(v.Wrong(fmt.Errorf(format, args...)))
}

// failed notes an error, if it is one.
func (m *migration) failed(err error) {
	if m.err == nil && err != nil {
		m.err = err
	}
}

// remark notes something about v that whoever migrates should know.
func (m *migration) remark(v scenario.Value, format string, args ...any) {
	m.remarks = append(m.remarks, v.Wrong(fmt.Errorf(format, args...)))
}

// leaveOut notes that v is not in the document, and why.
func (m *migration) leaveOut(v scenario.Value, why string) {
	m.remarks = append(m.remarks, v.Wrong(errors.New("left out: "+why)))
}

// isTrue reads a boolean; absent is false.
func (m *migration) isTrue(v scenario.Value) bool {
	b, err := v.Bool()
	m.failed(err)
	return b
}

// An object is a JSON object, from which fields are taken by name. What is not
// taken is left out.
type object struct {
	m      *migration
	v      scenario.Value
	fields []scenario.Value
	names  []string // of the fields, as they are compared
	taken  []bool
}

// object opens v. If names are folded, their case does not matter: YuniKorn
// reads any, its users write lower case, and it answers in mixed case itself.
func (m *migration) object(v scenario.Value, folded bool) *object {
	fields, err := v.Fields()
	m.failed(err)
	o := &object{m, v, fields, make([]string, len(fields)), make([]bool, len(fields))}
	seen := make(map[string]bool, len(fields))
	for i, f := range fields {
		o.names[i] = f.Name()
		if folded {
			o.names[i] = strings.ToLower(f.Name())
		}
		if seen[o.names[i]] {
			m.fail(f, "%w: the field is there already, in other letters", scenario.ErrDuplicate)
		}
		seen[o.names[i]] = true
	}
	return o
}

// take returns a field, or an absent value.
func (o *object) take(name string) scenario.Value {
	for i, f := range o.fields {
		if o.names[i] == name {
			o.taken[i] = true
			return f
		}
	}
	return scenario.Value{}
}

// text takes a field that must be there and must not be empty.
func (o *object) text(name string) string {
	v := o.take(name)
	s, err := v.Text()
	o.m.failed(err)
	switch {
	case v.Absent():
		o.m.fail(o.v, "%w: %s", scenario.ErrMissing, name)
	case s == "":
		o.m.fail(v, "%w: want a name", scenario.ErrValue)
	}
	return s
}

// items takes a list, or nothing.
func (o *object) items(name string) []scenario.Value {
	all, err := o.take(name).Items()
	o.m.failed(err)
	return all
}

// rest lists what was not taken, with the reasons for what is known. A field
// that says nothing is passed over.
func (o *object) rest(reasons map[string]string) {
	for i, f := range o.fields {
		if o.taken[i] || f.Blank() {
			continue
		}
		why, ok := reasons[o.names[i]]
		if !ok {
			why = "not known here"
		}
		o.m.leaveOut(f, why)
	}
}
