// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"github.com/go-preempt/preempt/internal/object"
	"github.com/go-preempt/preempt/resources"
)

// JSON writes a finding as an object, with names instead of numbers: "law" and
// the number of the law, if it has one; each of Who under its What; "queue" and
// "type"; "have" and "want" as texts, with the quantities of the type; "other";
// and the "complaint", which is the end of the line.
func (f *Finding) JSON() object.Object {
	t, known := f.text()
	members := []any{"law", f.Law, "number?", t.Number}
	for _, s := range f.Who {
		members = append(members, s.What, s.Name)
	}
	members = append(members, "queue?", f.Queue, "type?", f.Type)
	if known && f.measures(t) {
		members = append(members, "have", f.quantity(t, f.Have), "want", f.quantity(t, f.Want))
	}
	return object.Of(append(members, "other?", f.Other, "complaint", f.complaint())...)
}

// quantity returns the text of an amount for machines.
func (f *Finding) quantity(t Text, n int64) string {
	if t.Unit == Resource {
		return resources.FormatQuantity(f.Type, n)
	}
	return f.amount(t, n)
}
