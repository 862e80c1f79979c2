package resources

import (
	"iter"
	"slices"
	"strconv"
)

// MaxTypes is the largest number of types of a [Schema], one for each bit of a
// [Mask].
const MaxTypes = 64

// A Schema gives names to the positions of vectors. It is immutable. The zero
// Schema has no types.
type Schema struct {
	names []string
	index map[string]int
}

// NewSchema returns the Schema of the named types in the order given. More than
// [MaxTypes] names, an empty name and a name given twice are errors; the first
// of them is returned, a [*TypeError] that names the offender.
func NewSchema(names ...string) (*Schema, error) {
	index := make(map[string]int, min(len(names), MaxTypes))
	for i, name := range names {
		_, known := index[name]
		switch {
		case name == "":
			return nil, &TypeError{name, ErrEmptyName}
		case known:
			return nil, &TypeError{name, ErrDuplicateType}
		case i == MaxTypes:
			return nil, &TypeError{name, ErrTooManyTypes}
		}
		index[name] = i
	}
	return &Schema{slices.Clone(names), index}, nil
}

// Len returns the number of types.
func (s *Schema) Len() int { return len(s.names) }

// Name returns the name of type i. A position that the Schema does not have is
// named by its number, as in "#7".
func (s *Schema) Name(i int) string {
	if i < 0 || i >= len(s.names) {
		return "#" + strconv.Itoa(i)
	}
	return s.names[i]
}

// Index returns the position of the named type, and whether there is one.
func (s *Schema) Index(name string) (int, bool) {
	i, ok := s.index[name]
	return i, ok
}

// All returns the types in order, position and name.
func (s *Schema) All() iter.Seq2[int, string] { return slices.All(s.names) }
