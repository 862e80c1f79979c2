// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"encoding/json"

	"github.com/go-preempt/preempt/resources"
)

// JSON writes a finding as an object, with names instead of numbers: "law" and
// the number of the law, if it has one; each of Who under its What; "queue" and
// "type"; "have" and "want" as texts, with the quantities of the type; "other";
// and the "complaint", which is the end of the line.
func (f *Finding) JSON() ([]byte, error) {
	t, known := f.text()
	o := object{'{'}
	o.add("law", f.Law)
	if t.Number > 0 {
		o.add("number", t.Number)
	}
	for _, s := range f.Who {
		o.add(s.What, s.Name)
	}
	if f.Queue != "" {
		o.add("queue", f.Queue)
	}
	if f.Type != "" {
		o.add("type", f.Type)
	}
	if known && f.measures(t) {
		o.add("have", f.quantity(t, f.Have))
		o.add("want", f.quantity(t, f.Want))
	}
	if f.Other != "" {
		o.add("other", f.Other)
	}
	o.add("complaint", f.complaint())
	return append(o, '}'), nil
}

// quantity returns the text of an amount for machines.
func (f *Finding) quantity(t Text, n int64) string {
	if t.Unit == Resource {
		return resources.FormatQuantity(f.Type, n)
	}
	return f.amount(t, n)
}

// An object is the text of a JSON object that keeps the order of its members,
// up to the closing brace.
type object []byte

// add adds a member; the value is a string or an int, which always have a text.
func (o *object) add(name string, value any) {
	if len(*o) > 1 {
		*o = append(*o, ',')
	}
	for i, v := range []any{name, value} {
		text, _ := json.Marshal(v)
		if i > 0 {
			*o = append(*o, ':')
		}
		*o = append(*o, text...)
	}
}
