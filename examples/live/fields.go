// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/go-preempt/preempt/internal/judge/scenario"
)

// A reader reads the objects of other systems field by field. It keeps the first mistake
// and goes on; what it makes afterwards means nothing.
type reader struct {
	notes *notes
	err   error
}

// value returns the content of an object, which knows its places.
func (r *reader) value(o *object) scenario.Value {
	where := o.place
	if o.Kind != "" {
		where += ": " + o.Kind + " " + name(o.Metadata.Namespace, o.Metadata.Name)
	}
	v, err := scenario.Read(where, o.raw)
	r.failed(err)
	return v
}

// fail notes that v is wrong, and why. The first note stays.
func (r *reader) fail(v scenario.Value, format string, args ...any) {
	r.failed(v.Wrong(fmt.Errorf(format, args...)))
}

// failed notes an error, if it is one.
func (r *reader) failed(err error) {
	if r.err == nil && err != nil {
		r.err = err
	}
}

// remark notes something about v that a reader of the answer should know.
func (r *reader) remark(v scenario.Value, format string, args ...any) {
	r.notes.say(v.Wrong(fmt.Errorf(format, args...)).Error())
}

// leaveOut notes that v is not in the document, and why.
func (r *reader) leaveOut(v scenario.Value, why string) {
	r.notes.say(v.Wrong(errors.New("left out: " + why)).Error())
}

// isTrue reads a boolean; absent is false.
func (r *reader) isTrue(v scenario.Value) bool {
	b, err := v.Bool()
	r.failed(err)
	return b
}

// said reads a string.
func (r *reader) said(v scenario.Value) string {
	s, err := v.Text()
	r.failed(err)
	return s
}

// oneOf takes a word of a few.
func (r *reader) oneOf(f *fields, name string, words ...string) (string, scenario.Value) {
	v := f.take(name)
	s := r.said(v)
	if v.Absent() {
		return words[0], v
	}
	if !slices.Contains(words, s) {
		r.fail(v, "%w: want %s", scenario.ErrValue, strings.Join(words, ", "))
	}
	return s, v
}

// quantity reads a quantity of at least 0.
func (r *reader) quantity(v scenario.Value) (resource.Quantity, bool) {
	text, err := v.Scalar()
	r.failed(err)
	q, err := resource.ParseQuantity(text)
	switch {
	case err != nil:
		r.fail(v, "%w: no quantity", scenario.ErrValue)
	case q.Sign() < 0:
		r.fail(v, "%w: quantity negative", scenario.ErrValue)
	case q.CmpInt64(mostUnits/8) > 0:
		r.fail(v, "%w: quantity too large", scenario.ErrValue)
	}
	return q, err == nil
}

// fields are those of a JSON object, taken by name. What is not taken is left out.
type fields struct {
	r     *reader
	v     scenario.Value
	all   []scenario.Value
	names []string // as they are compared
	taken []bool
}

// fields opens v. If names are folded, their case does not matter: YuniKorn
// reads any, its users write lower case, and it answers in mixed case itself.
func (r *reader) fields(v scenario.Value, folded bool) *fields {
	all, err := v.Fields()
	r.failed(err)
	f := &fields{r, v, all, make([]string, len(all)), make([]bool, len(all))}
	seen := make(map[string]bool, len(all))
	for i := range all {
		f.names[i] = all[i].Name()
		if folded {
			f.names[i] = strings.ToLower(f.names[i])
		}
		if seen[f.names[i]] {
			r.fail(all[i], "%w: the field is there already, in other letters", scenario.ErrDuplicate)
		}
		seen[f.names[i]] = true
	}
	return f
}

// take returns a field, or an absent value.
func (f *fields) take(name string) scenario.Value {
	for i := range f.all {
		if f.names[i] == name {
			f.taken[i] = true
			return f.all[i]
		}
	}
	return scenario.Value{}
}

// within takes a field that is an object.
func (f *fields) within(name string) *fields { return f.r.fields(f.take(name), false) }

// word takes a string, "" if it is absent.
func (f *fields) word(name string) string {
	s, err := f.take(name).Text()
	f.r.failed(err)
	return s
}

// text takes a string that must be there and must not be empty.
func (f *fields) text(name string) string {
	v := f.take(name)
	s, err := v.Text()
	f.r.failed(err)
	switch {
	case v.Absent():
		f.r.fail(f.v, "%w: %s", scenario.ErrMissing, name)
	case s == "":
		f.r.fail(v, "%w: want a name", scenario.ErrValue)
	}
	return s
}

// items takes a list, or nothing.
func (f *fields) items(name string) []scenario.Value {
	all, err := f.take(name).Items()
	f.r.failed(err)
	return all
}

// rest lists what was not taken, with the reasons for what is known. A field
// that says nothing is passed over.
func (f *fields) rest(reasons map[string]string) {
	for i, v := range f.all {
		if f.taken[i] || v.Blank() {
			continue
		}
		why, ok := reasons[f.names[i]]
		if !ok {
			why = "not known here"
		}
		f.r.leaveOut(v, why)
	}
}
