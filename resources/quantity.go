// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/go-preempt/preempt/internal/sat"
)

// MaxTypes is the largest number of types of a Schema.
const MaxTypes = 64

// A Schema names the positions of vectors, and so their units. It is immutable.
type Schema struct {
	names []string
	index map[string]int
}

// NewSchema returns the Schema of the named types, in order. The error names the first name that is empty,
// given twice, or beyond [MaxTypes].
func NewSchema(names ...string) (*Schema, error) {
	index := make(map[string]int, min(len(names), MaxTypes))
	for i, name := range names {
		_, known := index[name]
		switch {
		case name == "":
			return nil, &typeError{name, errEmptyName}
		case known:
			return nil, &typeError{name, errDuplicateType}
		case i == MaxTypes:
			return nil, &typeError{name, errTooManyTypes}
		}
		index[name] = i
	}
	return &Schema{slices.Clone(names), index}, nil
}

// Len returns the number of types.
func (s *Schema) Len() int { return len(s.names) }

// Name returns the name of type i, or "#7" for an unknown position.
func (s *Schema) Name(i int) string {
	if i < 0 || i >= len(s.names) {
		return "#" + strconv.Itoa(i)
	}
	return s.names[i]
}

// Index returns the position of the named type, if there is one.
func (s *Schema) Index(name string) (int, bool) {
	i, ok := s.index[name]
	return i, ok
}

// A unit says how amounts of a type are counted and printed.
type unit uint8

const (
	ones   unit = iota // devices and everything unknown
	millis             // cpu: base units are thousandths
	bytes              // memory: printed with binary suffixes
)

func unitOf(typeName string) unit {
	switch typeName {
	case "cpu", "vcore":
		return millis
	case "memory", "storage", "ephemeral-storage":
		return bytes
	}
	if strings.HasPrefix(typeName, "hugepages-") {
		return bytes
	}
	return ones
}

// suffixes are those of the grammar: a suffix stands for 10^ten * 2^two. The
// binary ones are in ascending order, 2^10 apart.
var suffixes = [...]struct {
	text string
	ten  int64
	two  int
}{
	{"", 0, 0}, {"Ki", 0, 10}, {"Mi", 0, 20}, {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60},
	{"n", -9, 0}, {"u", -6, 0}, {"m", -3, 0}, {"k", 3, 0}, {"M", 6, 0}, {"G", 9, 0}, {"T", 12, 0}, {"P", 15, 0}, {"E", 18, 0},
}

// ParseQuantity returns the amount of a text, in base units of the type. The grammar is that of Kubernetes
// quantities: a decimal number and a suffix, as in "100m", "1.5Gi" or "2e3".
//
// Nothing is rounded or capped. Errors name type and text, and the first that holds: malformed, negative, not a whole
// number of base units, out of range; errors.Unwrap gives that alone.
func ParseQuantity(typeName, text string) (int64, error) {
	amount, err := parse(text, unitOf(typeName))
	if err != nil {
		return 0, fmt.Errorf("resources: %s: quantity %q: %w", typeName, text, err)
	}
	return amount, nil
}

func parse(text string, u unit) (int64, error) {
	s, negative := strings.CutPrefix(text, "-")
	if !negative {
		s, _ = strings.CutPrefix(s, "+")
	}
	whole, s := cutDigits(s)
	var fraction string
	if rest, ok := strings.CutPrefix(s, "."); ok {
		fraction, s = cutDigits(rest)
	}
	ten, two, ok := power(s)
	if !ok || whole == "" && fraction == "" {
		return 0, errQuantity
	}

	// The text is 0.digits * 10^point * 2^two.
	digits := whole + fraction
	point := int64(len(whole)) + ten
	if u == millis {
		point += 3
	}
	trimmed := strings.TrimLeft(digits, "0")
	point -= int64(len(digits) - len(trimmed))
	digits = strings.TrimRight(trimmed, "0")

	switch {
	case digits == "":
		return 0, nil
	case negative:
		return 0, errNegative
	}
	return evaluate(digits, point, two)
}

// cutDigits returns the decimal digits at the start of s, and the rest.
func cutDigits(s string) (digits, rest string) {
	i := 0
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	return s[:i], s[i:]
}

// power returns what the suffix multiplies by, 10^ten * 2^two, and whether it
// is one.
func power(suffix string) (ten int64, two int, ok bool) {
	for _, known := range suffixes {
		if suffix == known.text {
			return known.ten, known.two, true
		}
	}
	if suffix[0] != 'e' && suffix[0] != 'E' {
		return 0, 0, false
	}
	s, negative := strings.CutPrefix(suffix[1:], "-")
	if !negative {
		s, _ = strings.CutPrefix(s, "+")
	}
	digits, rest := cutDigits(s)
	if digits == "" || rest != "" {
		return 0, 0, false
	}
	// No text is long enough to make up for an exponent as large as this.
	const huge = 1 << 59
	for _, d := range []byte(digits) {
		ten = min(ten*10+int64(d-'0'), huge)
	}
	if negative {
		ten = -ten
	}
	return ten, 0, true
}

// evaluate returns 0.digits * 10^point * 2^two. The digits neither begin nor
// end with a zero, and there is at least one; two is at most 60.
func evaluate(digits string, point int64, two int) (int64, error) {
	at := func(i int64) uint64 {
		if i < 0 || i >= int64(len(digits)) {
			return 0
		}
		return uint64(digits[i] - '0')
	}

	// The digits behind the point are a sum of digit * 2^two / 10^p over the
	// places p = 1, 2, … It is whole only if there are at most two places: the
	// last digit is not zero, so 2 or 5 does not divide the digits. If 5 does
	// not, no place at all can be divided out; if 2 does not, each place needs
	// a 2 from 2^two.
	places := int64(len(digits)) - point
	if places > int64(two) {
		return 0, errFraction
	}
	// Horner's rule, from the last place on. If the sum is whole, so is every
	// quotient on the way, for it is five times the next one less a whole
	// number. No quotient reaches 2^two.
	var fraction uint64
	for p := places; p >= 1; p-- {
		fraction += at(point+p-1) << (two - int(p))
		if fraction%5 != 0 {
			return 0, errFraction
		}
		fraction /= 5
	}

	if point > 19 { // 10^19 > 2^63, and the first digit is not zero
		return 0, errRange
	}
	var whole uint64
	for i := range point {
		whole = whole*10 + at(i)
	}
	if whole > math.MaxInt64>>two {
		return 0, errRange
	}
	return int64(whole<<two + fraction), nil
}

// FormatQuantity returns the text of an amount in base units of a type:
//
//   - cpu and vcore as "5", or in thousandths as "500m";
//   - memory, storage, ephemeral-storage and hugepages-* with the largest binary suffix that divides the
//     amount, as "10Gi";
//   - everything else in plain digits.
//
// [ParseQuantity] reads the same amount, unless it is negative.
func FormatQuantity(typeName string, amount int64) string {
	amount = sat.Clamp(amount)
	if amount == 0 {
		return "0"
	}
	var suffix string
	switch unitOf(typeName) {
	case millis:
		if amount%1000 != 0 {
			suffix = "m"
		} else {
			amount /= 1000
		}
	case bytes:
		// The binary suffixes are the first ones of the table, 2^10 apart.
		k := bits.TrailingZeros64(uint64(amount)) / 10
		amount >>= 10 * k
		suffix = suffixes[k].text
	}
	return strconv.FormatInt(amount, 10) + suffix
}

// forPeople returns an amount of a type, exact and with at most three decimals: "15.5"
// cpu, "1.5Gi" of memory. ParseQuantity reads it.
func forPeople(typeName string, amount int64) string {
	amount = sat.Clamp(amount)
	if amount < 0 {
		return "-" + forPeople(typeName, -amount)
	}
	switch unitOf(typeName) {
	case millis:
		return decimal(amount/1000, amount%1000)
	case bytes:
		return binary(amount)
	}
	return strconv.FormatInt(amount, 10)
}

// decimal returns a number of so many ones and thousandths.
func decimal(whole, thousandths int64) string {
	text := strconv.FormatInt(whole, 10)
	if thousandths == 0 {
		return text
	}
	digits := strconv.FormatInt(1000+thousandths, 10)[1:]
	return text + "." + strings.TrimRight(digits, "0")
}

// binary returns an amount of bytes. Three decimals can tell the eighths of a
// unit and nothing finer, for 1000 is eight times an odd number.
func binary(amount int64) string {
	const largest = 6 // Ei, 2^60
	for k := largest; k > 0; k-- {
		if whole := amount >> (10 * k); whole > 0 {
			rest := amount - whole<<(10*k)
			eighth := int64(1) << (10*k - 3)
			if rest%eighth == 0 {
				return decimal(whole, rest/eighth*125) + suffixes[k].text
			}
		}
	}
	return strconv.FormatInt(amount, 10)
}

// nothing is how a Vector of zeros and a Limit without bounds print.
const nothing = "none"

// Mask returns the set of the named types. The error names unknown ones.
func (s *Schema) Mask(names ...string) (Mask, error) {
	var m Mask
	var problems []error
	for _, name := range names {
		i, ok := s.Index(name)
		if !ok {
			problems = append(problems, &typeError{name, errUnknownType})
			continue
		}
		m |= 1 << i
	}
	if len(problems) > 0 {
		return 0, errors.Join(problems...)
	}
	return m, nil
}

// Parse returns the amounts of a text such as "cpu=500m gpu=1 memory=10Gi": types and quantities, as
// [ParseQuantity] reads them, in any order, apart by blanks. Other types are zero; so are all for "" and
// "none". Problems are joined in the order of the text. It reads what [Schema.Format] writes, unless an amount
// is negative or a name has a blank or "=".
func (s *Schema) Parse(text string) (Vector, error) {
	v, _, err := s.parseText(text)
	return v, err
}

// ParseLimit is [Schema.Parse] for a [Limit]: other types are not bounded. It reads what [Schema.FormatLimit]
// writes.
func (s *Schema) ParseLimit(text string) (Limit, error) {
	v, named, err := s.parseText(text)
	if named == 0 {
		return Limit{}, err
	}
	return Limit{v, named}, nil
}

// parseText returns the amounts of a text, and the types that it names; nothing with an
// error.
func (s *Schema) parseText(text string) (Vector, Mask, error) {
	v := make(Vector, s.Len())
	if strings.TrimSpace(text) == nothing {
		return v, 0, nil
	}
	var named Mask
	var problems []error
	for _, term := range strings.Fields(text) {
		name, quantity, ok := strings.Cut(term, "=")
		if !ok {
			problems = append(problems, fmt.Errorf("resources: %q: %w", term, errTerm))
			continue
		}
		i, amount, err := s.read(name, quantity)
		if err == nil && named.Has(i) {
			err = &typeError{name, errDuplicateType}
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		v[i], named = amount, named|1<<i
	}
	if len(problems) > 0 {
		return nil, 0, errors.Join(problems...)
	}
	return v, named, nil
}

// read returns the position of a type and an amount of it.
func (s *Schema) read(name, quantity string) (i int, amount int64, err error) {
	i, ok := s.Index(name)
	if !ok {
		return 0, 0, &typeError{name, errUnknownType}
	}
	amount, err = ParseQuantity(name, quantity)
	return i, amount, err
}

// Vector returns amounts by type names, as of a Kubernetes ResourceList; other types are zero. Problems are
// joined in the order of names.
func (s *Schema) Vector(amounts map[string]string) (Vector, error) {
	v := make(Vector, s.Len())
	if _, err := s.parse(v, amounts); err != nil {
		return nil, err
	}
	return v, nil
}

// Limit is [Schema.Vector] for a [Limit]: other types are not bounded.
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
		i, amount, err := s.read(name, amounts[name])
		if err != nil {
			problems = append(problems, err)
			continue
		}
		v[i], named = amount, named|1<<i
	}
	return named, errors.Join(problems...)
}

// Format returns the text of v for people, as in "cpu=0.5 memory=10Gi": types in order,
// zeros left out, or "none".
func (s *Schema) Format(v Vector) string {
	var t terms
	for i, amount := range v {
		if amount != 0 {
			t.add(s.Name(i), amount)
		}
	}
	return t.String()
}

// FormatLimit returns the text of l, as in "cpu=0.5 gpu=0", or "none".
func (s *Schema) FormatLimit(l Limit) string {
	var t terms
	for i := range l.Defined.All() {
		bound, _ := l.Bound(i)
		t.add(s.Name(i), bound)
	}
	return t.String()
}

// terms collects the parts of a formatted Vector or Limit.
type terms struct{ b strings.Builder }

func (t *terms) add(name string, amount int64) {
	if t.b.Len() > 0 {
		t.b.WriteByte(' ')
	}
	t.b.WriteString(name)
	t.b.WriteByte('=')
	t.b.WriteString(forPeople(name, amount))
}

func (t *terms) String() string {
	if t.b.Len() == 0 {
		return nothing
	}
	return t.b.String()
}

// The kinds of problems with resource types.
var (
	errTooManyTypes  = errors.New("more than 64 types") // the 65th name given to NewSchema
	errEmptyName     = errors.New("empty name")         // NewSchema("cpu", "")
	errDuplicateType = errors.New("named twice")        // NewSchema("cpu", "cpu")
	errUnknownType   = errors.New("unknown")            // an amount of a type that the Schema does not have

	errTerm = errors.New("want a type and a quantity, as in cpu=500m") // Parse("cpu")
)

// The kinds of problems with quantities.
var (
	errQuantity = errors.New("malformed")                            // "1.5.0", "4 Gi", "4gi", ""
	errNegative = errors.New("negative")                             // "-1"
	errFraction = errors.New("not a whole number of base units")     // "0.5" devices, "100u" of cpu
	errRange    = errors.New("above 9223372036854775807 base units") // "8Ei" of memory
)

// A typeError is a problem with the name of a resource type.
type typeError struct {
	Type string
	Err  error // one of the kinds above
}

func (e *typeError) Error() string { return fmt.Sprintf("resources: type %q: %v", e.Type, e.Err) }

// Unwrap returns the kind of the problem.
func (e *typeError) Unwrap() error { return e.Err }
