package resources

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// nothing is how a Vector of zeros and a Limit without bounds print.
const nothing = "none"

// Vector returns the amounts as a Vector of full length. Types that are not
// named are zero. All problems are reported at once, joined in the order of
// the names: a [*TypeError] for a type that the Schema does not have, a
// [*QuantityError] for a text that [ParseQuantity] refuses.
func (s *Schema) Vector(amounts map[string]string) (Vector, error) {
	v := make(Vector, s.Len())
	if _, err := s.parse(v, amounts); err != nil {
		return nil, err
	}
	return v, nil
}

// Limit returns the bounds as a Limit whose Value has full length. Types that
// are not named have no bound; without any the result is the zero Limit.
// Problems are reported as by [Schema.Vector].
func (s *Schema) Limit(bounds map[string]string) (Limit, error) {
	if len(bounds) == 0 {
		return Limit{}, nil
	}
	v := make(Vector, s.Len())
	defined, err := s.parse(v, bounds)
	if err != nil {
		return Limit{}, err
	}
	return Limit{v, defined}, nil
}

// parse sets the amounts in v and returns their types.
func (s *Schema) parse(v Vector, amounts map[string]string) (Mask, error) {
	var named Mask
	var problems []error
	// Sorted, for the order of the problems.
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		i, ok := s.Index(name)
		if !ok {
			problems = append(problems, &TypeError{name, ErrUnknownType})
			continue
		}
		amount, err := ParseQuantity(name, amounts[name])
		if err != nil {
			problems = append(problems, err)
			continue
		}
		v[i] = amount
		named = named.With(i)
	}
	return named, errors.Join(problems...)
}

// Quantity returns the text of an amount of type i for machines, as
// [FormatQuantity] does. For people there is [Schema.Amount].
func (s *Schema) Quantity(i int, amount int64) string {
	return FormatQuantity(s.Name(i), amount)
}

// Quantities returns the amounts of v by the names of their types, zeros left
// out: texts for machines, from which [Schema.Vector] makes v again. It is never
// nil.
func (s *Schema) Quantities(v Vector) map[string]string {
	all := make(map[string]string)
	for i, name := range s.names {
		if i < len(v) && v[i] != 0 {
			all[name] = s.Quantity(i, v[i])
		}
	}
	return all
}

// Bounds returns the bounds of l by the names of their types, as
// [Schema.Quantities] does, those of zero included. [Schema.Limit] makes l again.
func (s *Schema) Bounds(l Limit) map[string]string {
	all := make(map[string]string)
	for i, name := range s.names {
		if v, ok := l.Bound(i); ok {
			all[name] = s.Quantity(i, v)
		}
	}
	return all
}

// Format returns the text of v, as in "cpu=0.5 memory=10Gi": types in order,
// each amount as by [Schema.Amount], zero amounts left out, "none" if nothing is
// left. Negative amounts have a minus sign.
func (s *Schema) Format(v Vector) string {
	var t terms
	for i, amount := range v {
		if amount != 0 {
			t.add(s.Name(i), s.Amount(i, amount))
		}
	}
	return t.String()
}

// FormatLimit returns the text of l, as in "cpu=0.5 gpu=0": the types that l
// bounds, in order, and "none" if it bounds nothing.
func (s *Schema) FormatLimit(l Limit) string {
	var t terms
	for i := range l.Defined.All() {
		bound, _ := l.Bound(i)
		t.add(s.Name(i), s.Amount(i, bound))
	}
	return t.String()
}

// terms collects the parts of a formatted Vector or Limit.
type terms struct{ b strings.Builder }

func (t *terms) add(name, amount string) {
	if t.b.Len() > 0 {
		t.b.WriteByte(' ')
	}
	t.b.WriteString(name)
	t.b.WriteByte('=')
	t.b.WriteString(amount)
}

func (t *terms) String() string {
	if t.b.Len() == 0 {
		return nothing
	}
	return t.b.String()
}
