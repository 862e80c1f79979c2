package resources

import (
	"strconv"
	"strings"

	"github.com/go-preempt/preempt/internal/sat"
)

// Amount returns the text of an amount of type i, in base units, for people to
// read; for machines there is [Schema.Quantity]. The text is exact
// and has at most three decimals:
//
//   - cpu and vcore in ones, as in "15.5" or "0.25";
//   - memory, storage, ephemeral-storage and hugepages-* in the largest binary
//     unit of which there is at least one and which three decimals can tell
//     exactly, as in "1.5Gi", "512Mi" or "1000";
//   - everything else in plain digits.
//
// [ParseQuantity] returns the same amount for it, unless it is negative: then
// the text is that of -amount after a minus sign.
func (s *Schema) Amount(i int, amount int64) string {
	amount = sat.Clamp(amount)
	if amount < 0 {
		return "-" + s.Amount(i, -amount)
	}
	switch unitOf(s.Name(i)) {
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
