package resources

import (
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/go-preempt/preempt/internal/sat"
)

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

// ParseQuantity returns the amount that text stands for, in base units of the
// type: thousandths of cpu and vcore, ones of everything else.
//
// The grammar is that of Kubernetes quantities:
//
//	quantity = [ "+" | "-" ] number [ suffix ]
//	number   = digits | digits "." [ digits ] | "." digits
//	suffix   = "n" | "u" | "m" | "k" | "M" | "G" | "T" | "P" | "E"
//	         | "Ki" | "Mi" | "Gi" | "Ti" | "Pi" | "Ei"
//	         | ( "e" | "E" ) [ "+" | "-" ] digits
//
// So "1E" is 10^18 and "1E3" is 1000. There are no blanks.
//
// Kubernetes rounds up and caps; this function does not. The result is exactly
// what the text says, or there is an error. It is a [*QuantityError] of
// the first kind that holds: [ErrQuantity] for a text that is not of the
// grammar, [ErrNegative], [ErrFraction], [ErrRange]. "-0" is zero.
//
// The cost is linear in the length of text, however large the exponent.
func ParseQuantity(typeName, text string) (int64, error) {
	amount, err := parse(text, unitOf(typeName))
	if err != nil {
		return 0, &QuantityError{typeName, text, err}
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
		return 0, ErrQuantity
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
		return 0, ErrNegative
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
		return 0, ErrFraction
	}
	// Horner's rule, from the last place on. If the sum is whole, so is every
	// quotient on the way, for it is five times the next one less a whole
	// number. No quotient reaches 2^two.
	var fraction uint64
	for p := places; p >= 1; p-- {
		fraction += at(point+p-1) << (two - int(p))
		if fraction%5 != 0 {
			return 0, ErrFraction
		}
		fraction /= 5
	}

	if point > 19 { // 10^19 > 2^63, and the first digit is not zero
		return 0, ErrRange
	}
	var whole uint64
	for i := range point {
		whole = whole*10 + at(i)
	}
	if whole > math.MaxInt64>>two {
		return 0, ErrRange
	}
	return int64(whole<<two + fraction), nil
}

// FormatQuantity returns the text of an amount of the type, in base units:
//
//   - cpu and vcore as a whole number if they are one, as in "5", else in
//     thousandths, as in "500m";
//   - memory, storage, ephemeral-storage and hugepages-* with the largest
//     binary suffix that divides the amount, as in "10Gi" or "1000";
//   - everything else in plain digits.
//
// [ParseQuantity] returns the same amount for it, unless it is negative: then
// the text is that of -amount after a minus sign.
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
