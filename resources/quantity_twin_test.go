// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var typeNames = []string{"cpu", "vcore", "memory", "storage", "ephemeral-storage", "hugepages-1Gi", "gpu", ""}

// quantityRoundTrip: any amount comes back from its text, and a negative one
// from the text after the sign.
func quantityRoundTrip(t *rapid.T) {
	typeName := rapid.SampledFrom(typeNames).Draw(t, "type")
	amount := rapid.OneOf(
		anyAmount(),
		rapid.Custom(func(t *rapid.T) int64 { // those that print with a suffix
			return rapid.Int64Range(-5000, 5000).Draw(t, "n") << rapid.IntRange(0, 50).Draw(t, "shift")
		}),
	).Draw(t, "amount")
	text := FormatQuantity(typeName, amount)
	digits, negative := strings.CutPrefix(text, "-")
	if negative != (amount < 0) {
		t.Fatalf("FormatQuantity(%q, %d) = %q", typeName, amount, text)
	}
	want := max(amount, -amount, -(amount + 1)) // lowest reads as -most, which is -(lowest + 1)
	if got, err := ParseQuantity(typeName, digits); err != nil || got != want {
		t.Fatalf("FormatQuantity(%q, %d) = %q, which parses as %d, %v", typeName, amount, text, got, err)
	}
}

func TestQuantityRoundTrip(t *testing.T) { rapid.Check(t, quantityRoundTrip) }

// quantityText draws texts that are quantities, or nearly.
func quantityText() *rapid.Generator[string] {
	digits := rapid.OneOf(
		rapid.StringMatching(`[0-9]{0,3}`),
		rapid.StringMatching(`[0-9]{0,25}`),
		rapid.StringMatching(`0{0,20}[0-9]{0,3}0{0,20}`),
		rapid.SampledFrom([]string{"5", "25", "125", "9223372036854775807", "9223372036854775808"}),
		// What binary suffixes turn into whole numbers: k halvings.
		rapid.Custom(func(t *rapid.T) string {
			k := rapid.IntRange(0, 62).Draw(t, "halvings")
			half := slowRat("1")
			for range k {
				half.Mul(half, slowRat("1/2"))
			}
			return strings.TrimPrefix(half.FloatString(k), "0.")
		}),
	)
	suffix := rapid.OneOf(
		rapid.SampledFrom([]string{"", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}),
		rapid.StringMatching(`[eE][+-]?[0-9]{0,3}`),
		rapid.StringMatching(`[eE][+-]?[0-9]{18,20}`),
		rapid.StringMatching(`[numkKMGTPEie.+-]{0,3}`),
	)
	return rapid.Custom(func(t *rapid.T) string {
		sign := rapid.SampledFrom([]string{"", "", "", "+", "-"}).Draw(t, "sign")
		point := rapid.SampledFrom([]string{"", ".", "."}).Draw(t, "point")
		return sign + digits.Draw(t, "whole") + point + digits.Draw(t, "fraction") + suffix.Draw(t, "suffix")
	})
}

// quantityTwin holds the parser to its slow twin.
func quantityTwin(t *rapid.T) {
	checkQuantity(t, rapid.SampledFrom(typeNames).Draw(t, "type"), quantityText().Draw(t, "text"))
}

func TestQuantityTwin(t *testing.T) { rapid.Check(t, quantityTwin) }

func FuzzQuantityTwin(f *testing.F) { f.Fuzz(rapid.MakeFuzz(quantityTwin)) }

// FuzzParseQuantity gives the parser any text.
func FuzzParseQuantity(f *testing.F) {
	for _, text := range []string{
		"", "0", "1", "500m", "10Gi", "1.5", "1e3", "1E", "5.", ".5Ki", "-1", "+1", "8Ei", "1e999999999", "1e-999999999",
		"0.000000000000000000867361737988403547205962240695953369140625Ei", "9223372036854775.807", "1.5.0", "٣",
	} {
		f.Add("cpu", text)
		f.Add("memory", text)
	}
	f.Fuzz(func(t *testing.T, typeName, text string) { checkQuantity(t, typeName, text) })
}

// checkQuantity parses text both ways, and prints and parses what it yields.
func checkQuantity(t rapid.TB, typeName, text string) {
	got, err := ParseQuantity(typeName, text)
	want, kind := slowParseQuantity(typeName, text)
	if got != want || !errors.Is(err, kind) {
		t.Fatalf("ParseQuantity(%q, %q) = %d, %v, want %d, %v", typeName, text, got, err, want, kind)
	}
	if err != nil {
		return
	}
	printed := FormatQuantity(typeName, got)
	if again, err := ParseQuantity(typeName, printed); err != nil || again != got {
		t.Fatalf("%q prints as %q, which parses as %d, %v, want %d", text, printed, again, err, got)
	}
	if len(printed) > 20 {
		t.Fatalf("%q prints as %q", text, printed)
	}
}
