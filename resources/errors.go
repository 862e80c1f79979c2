package resources

import (
	"errors"
	"fmt"
)

// The kinds of problems with resource types. They come wrapped in a
// [*TypeError].
var (
	ErrTooManyTypes  = errors.New("more than 64 types") // the 65th name given to NewSchema
	ErrEmptyName     = errors.New("empty name")         // NewSchema("cpu", "")
	ErrDuplicateType = errors.New("named twice")        // NewSchema("cpu", "cpu")
	ErrUnknownType   = errors.New("unknown")            // an amount of a type that the Schema does not have
)

// The kinds of problems with quantities. They come wrapped in a
// [*QuantityError].
var (
	ErrQuantity = errors.New("malformed")                            // "1.5.0", "4 Gi", "4gi", ""
	ErrNegative = errors.New("negative")                             // "-1"
	ErrFraction = errors.New("not a whole number of base units")     // "0.5" devices, "100u" of cpu
	ErrRange    = errors.New("above 9223372036854775807 base units") // "8Ei" of memory
)

// A TypeError is a problem with the name of a resource type.
type TypeError struct {
	Type string
	Err  error // one of the kinds above
}

func (e *TypeError) Error() string { return fmt.Sprintf("resources: type %q: %v", e.Type, e.Err) }

// Unwrap returns the kind of the problem.
func (e *TypeError) Unwrap() error { return e.Err }

// A QuantityError is a problem with the quantity of a resource type.
type QuantityError struct {
	Type string // the resource type
	Text string // the quantity as given
	Err  error  // one of the kinds above
}

func (e *QuantityError) Error() string {
	return fmt.Sprintf("resources: %s: quantity %q: %v", e.Type, e.Text, e.Err)
}

// Unwrap returns the kind of the problem.
func (e *QuantityError) Unwrap() error { return e.Err }
