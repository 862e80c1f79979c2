// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"errors"
	"maps"
	"slices"

	"github.com/go-preempt/preempt/resources"
)

// types are the resource types of a document. A document that does not list
// them is decoded twice: at first schema is nil, and amounts only tell which
// types there are.
type types struct {
	schema *resources.Schema
	named  map[string]bool // while schema is nil, at most resources.MaxTypes
	listed bool
	doubt  bool // there is a mistake in the list
}

// typeList reads the types that a document lists, in its order.
func (d *decoder) typeList(v value) []string {
	var all []string
	before := len(d.found.all)
	name := d.unique(make(seen))
	i := 0
	for item := range d.list(v) {
		if i++; i > resources.MaxTypes {
			d.tooMany(item)
			break
		}
		if s := name(item); s != "" && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	d.types.listed, d.types.doubt = true, len(d.found.all) > before
	return all
}

// tooMany notes that v names one type too many.
func (d *decoder) tooMany(v value) {
	d.fail(v, "%w: one more than %d resource types", ErrValue, resources.MaxTypes)
}

// limit reads quantities by type, as a bound on these types.
func (d *decoder) limit(v value) resources.Limit {
	if !d.want(v, object) {
		return resources.Limit{}
	}
	var l resources.Limit
	if s := d.types.schema; s != nil {
		l.Value = make(resources.Vector, s.Len())
	}
	for _, f := range v.items {
		d.amount(&l, f)
	}
	return l
}

// amount adds one type and its quantity to a limit.
func (d *decoder) amount(l *resources.Limit, v value) {
	name := v.at.name
	if name == "" {
		d.fail(v, "%w: a resource type needs a name", ErrValue)
		return
	}
	if !d.want(v, text) {
		return
	}
	n, err := resources.ParseQuantity(name, v.text)
	if err != nil {
		d.fail(v, "%w: quantity %w", ErrValue, errors.Unwrap(err)) // type and text are named by the place and the value
		return
	}
	t := &d.types
	if t.schema == nil {
		if len(t.named) < resources.MaxTypes {
			t.named[name] = true
		}
		return
	}
	i, ok := t.schema.Index(name)
	switch {
	case ok:
		l.Value[i] = n
		l.Defined |= 1 << i
	case !t.listed && t.schema.Len() == resources.MaxTypes:
		d.tooMany(v)
	default:
		d.refer(v, t.doubt, "no resource type of this name")
	}
}

// vector reads quantities by type, as an amount of every type.
func (d *decoder) vector(v value) resources.Vector {
	return d.limit(v).Value
}

// schemaOf makes the schema: of the types that are listed under types or, if
// that is absent, of those that the rest of the document names, sorted.
// Expectations do not count, for they must not change what is decided.
func (d *decoder) schemaOf(root value) {
	var names []string
	if listed := (fieldsOf{d: d, v: root}).find("types"); listed.kind != 0 {
		names = d.typeList(listed)
	} else {
		scout := newDecoder() // its mistakes will be found again
		scout.scout = true
		scout.document(root)
		names = slices.Sorted(maps.Keys(scout.types.named))
	}
	s, err := resources.NewSchema(names...)
	if err != nil { // it would object to what has been looked at above
		d.fail(root, "%w: %w", ErrValue, err)
		s, _ = resources.NewSchema()
	}
	d.types.schema = s
}
