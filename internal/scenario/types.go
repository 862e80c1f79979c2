package scenario

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-preempt/preempt/resources"
)

// types are the resource types of a document. A document that does not list
// them is decoded twice: at first schema is nil, and amounts only tell which
// types there are.
type types struct {
	schema *resources.Schema
	named  map[string]bool // while schema is nil
}

// typeList reads the types that a document lists, in its order.
func (d *decoder) typeList(v value) []string {
	var all []string
	name := d.unique(make(seen))
	for i, item := range d.list(v) {
		if i == resources.MaxTypes {
			d.fail(item, "%w: one more than %d resource types", ErrValue, resources.MaxTypes)
		}
		all = append(all, name(item))
	}
	return all
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
		if q, ok := errors.AsType[*resources.QuantityError](err); ok {
			err = q.Err // type and text are named by the place and the value
		}
		d.fail(v, "%w: quantity %w", ErrValue, err)
		return
	}
	if d.types.schema == nil {
		d.nameType(v)
		return
	}
	i, ok := d.types.schema.Index(name)
	if !ok {
		d.fail(v, "%w: no resource type of this name", ErrReference)
		return
	}
	l.Value[i] = n
	l.Defined = l.Defined.With(i)
}

// nameType notes the type that the field v is named for.
func (d *decoder) nameType(v value) {
	if !d.types.named[v.at.name] && len(d.types.named) == resources.MaxTypes {
		d.fail(v, "%w: one more than %d resource types", ErrValue, resources.MaxTypes)
		return
	}
	d.types.named[v.at.name] = true
}

// vector reads quantities by type, as an amount of every type.
func (d *decoder) vector(v value) resources.Vector {
	return d.limit(v).Value
}

// schemaOf returns the schema of the types that are listed under types or, if
// that is absent, of those that the rest of the document names, sorted.
// Expectations do not count, for they must not change what is decided.
func schemaOf(root value) (*resources.Schema, *Error) {
	d := newDecoder(nil)
	listed := fieldsOf{d, root}.find("types")
	var names []string
	if listed.kind != 0 {
		names = d.typeList(listed)
	} else {
		d.document(root)
		names = slices.Sorted(maps.Keys(d.types.named))
	}
	if d.err != nil {
		return nil, d.err
	}
	s, err := resources.NewSchema(names...)
	if err != nil { // it would object to what has been looked at above
		return nil, listed.wrong(fmt.Errorf("%w: %w", ErrValue, err))
	}
	return s, nil
}
