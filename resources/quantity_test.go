// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestParseQuantity(t *testing.T) {
	tests := []struct {
		typeName, text string
		want           int64
	}{
		// Units.
		{"cpu", "1", 1000},
		{"vcore", "1", 1000},
		{"memory", "1", 1},
		{"nvidia.com/gpu", "1", 1},
		{"CPU", "1", 1}, // names are exact
		{"cpu", "500m", 500},
		{"cpu", "0.25", 250},
		{"cpu", "1.25", 1250},
		{"cpu", "1250m", 1250},
		{"cpu", "1000000n", 1},
		{"cpu", "1000u", 1},
		{"cpu", "0.001", 1},
		{"memory", "1000m", 1},
		{"gpu", "2e0", 2},

		// Suffixes.
		{"memory", "3k", 3e3},
		{"memory", "3M", 3e6},
		{"memory", "3G", 3e9},
		{"memory", "3T", 3e12},
		{"memory", "3P", 3e15},
		{"memory", "3E", 3e18},
		{"memory", "3Ki", 3 << 10},
		{"memory", "3Mi", 3 << 20},
		{"memory", "3Gi", 3 << 30},
		{"memory", "3Ti", 3 << 40},
		{"memory", "3Pi", 3 << 50},
		{"memory", "3Ei", 3 << 60},
		{"cpu", "1Ki", 1024000},
		{"cpu", "3k", 3e6},

		// Exponents.
		{"memory", "1e3", 1000},
		{"memory", "1E3", 1000},
		{"memory", "1e+3", 1000},
		{"memory", "1E", 1e18}, // exa, not an exponent
		{"memory", "5000e-3", 5},
		{"memory", "5000E-3", 5},
		{"memory", "1e0", 1},
		{"memory", "1e-0", 1},
		{"memory", "1e0000000000000000000000000003", 1000},
		{"cpu", "1e-3", 1},

		// Points.
		{"memory", "5.", 5},
		{"memory", "5.Ki", 5 << 10},
		{"memory", "5.0", 5},
		{"memory", ".5k", 500},
		{"memory", "0.5Ki", 512},
		{"memory", "1.5Gi", 1536 << 20},
		{"memory", "1.25Mi", 1280 << 10},
		{"memory", "0.0009765625Ki", 1},
		{"memory", "0.000000000000000000867361737988403547205962240695953369140625Ei", 1}, // 2^-60
		{"memory", "7.999999999999999999132638262011596452794037759304046630859375Ei", most},
		{"memory", "1.0000000000000000000000000000000000000000000000000000000000000000000", 1},

		// Zero and signs.
		{"memory", "0", 0},
		{"memory", "-0", 0},
		{"memory", "+0", 0},
		{"memory", "-0.000Ei", 0},
		{"memory", "0e999999999", 0},
		{"memory", "0e-999999999999999999999999", 0},
		{"memory", "00000000000000000000000000000012", 12},
		{"memory", "+4", 4},
		{"memory", "+.4e1", 4},

		// The end of the range.
		{"memory", "9223372036854775807", most},
		{"memory", "9223372036854775807e0", most},
		{"memory", "9223372036854775.807k", most},
		{"memory", "7Ei", 7 << 60},
		{"memory", "8191Pi", 8191 << 50},
		{"cpu", "9223372036854775", 9223372036854775000},
		{"cpu", "9223372036854775.807", most},
		{"cpu", "9223372036854775807m", most},
		{"memory", "0.00000000000000000009223372036854775807e38", most},
	}
	for _, tt := range tests {
		got, err := ParseQuantity(tt.typeName, tt.text)
		if err != nil || got != tt.want {
			t.Errorf("ParseQuantity(%q, %q) = %d, %v, want %d", tt.typeName, tt.text, got, err, tt.want)
		}
		got, err = slowParseQuantity(tt.typeName, tt.text)
		if err != nil || got != tt.want {
			t.Errorf("slow: ParseQuantity(%q, %q) = %d, %v, want %d", tt.typeName, tt.text, got, err, tt.want)
		}
	}
}

func TestParseQuantityErrors(t *testing.T) {
	tests := []struct {
		kind     error
		typeName string
		texts    []string
	}{
		{errQuantity, "memory", []string{
			"", " ", "many", "some", ".", "+", "-", "-.", "e3", ".e3", "Ki", "m",
			"1.5.0", "1..5", "1.1.M", "1,5", "1_000", "1 core", " 1", "1 ", "1\n", "- 1", "--1", "+-1", "1-", "1+1",
			"4Q", "4ki", "4K", "4gi", "4KI", "4g", "4mi", "4ni", "4i", "4Kii", "4Kim", "4kk", "4Kib", "4KiB", "4B", "4Zi", "4Z", "4µ",
			"1e", "1e+", "1e-", "1e1.5", "1e1k", "1ee3", "1e 3", "1e+-3", "1Ei3", "1eE", "1e3e3", "1E+3Ki",
			"0x10", "Inf", "NaN", "١", "1\x00", "\xff",
			"-1.5.0", // malformed comes before negative
		}},
		{errNegative, "cpu", []string{
			"-4", "-8", "-500m", "-.5", "-1e3", "-5Gi",
			"-0.0000001", "-1e99", "-1e-99", // negative comes before fraction and range
		}},
		{errFraction, "cpu", []string{"100u", "1n", "0.0005", "1.0001", "1e-4", ".1m"}},
		{errFraction, "gpu", []string{
			"500m", "0.5", "1.5", "1e-1", "0.1Ki", "1.5000001Mi", "1e-999999999", "1e-99999999999999999999",
			"0.0000000000000000004336808689942017736029811203479766845703125Ei", // 2^-61
			"0.3Ei", "1.2345678901234567890Ei",
			"100000000000000000000.5", // fraction comes before range
		}},
		{errRange, "memory", []string{
			"8Ei", "8192Pi", "10E", "9223372036854775808", "18446744073709551616", "18446744073709551617", "1e19", "1e20",
			"1e999999999", "1E99999999999999999999", "100000000000000000000000", "9.5Ei", "99999999999999999999Ei",
			"9223372036854775807Ki", "0.0001e99", "16Ei", "17179869184Gi",
		}},
		{errRange, "cpu", []string{"9223372036854776", "9223372036854775.808", "9223372036854775808m", "1e16", "9Pi", "10P"}},
	}
	for _, tt := range tests {
		for _, text := range tt.texts {
			got, err := ParseQuantity(tt.typeName, text)
			if got != 0 || !errors.Is(err, tt.kind) {
				t.Errorf("ParseQuantity(%q, %q) = %d, %v, want %v", tt.typeName, text, got, err, tt.kind)
			}
			if want := fmt.Sprintf("resources: %s: quantity %q: %v", tt.typeName, text, tt.kind); err.Error() != want {
				t.Errorf("ParseQuantity(%q, %q): %v", tt.typeName, text, err)
			}
			if _, err := slowParseQuantity(tt.typeName, text); err != tt.kind {
				t.Errorf("slow: ParseQuantity(%q, %q): %v, want %v", tt.typeName, text, err, tt.kind)
			}
		}
	}
}

func TestQuantityErrorText(t *testing.T) {
	_, err := ParseQuantity("cpu", "1.5.0")
	if got, want := fmt.Sprint(err), `resources: cpu: quantity "1.5.0": malformed`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	_, err = ParseQuantity("memory", "4\n")
	if got, want := fmt.Sprint(err), `resources: memory: quantity "4\n": malformed`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestParseQuantityLong has texts that take a minute or all memory if the cost
// is not linear in their length.
func TestParseQuantityLong(t *testing.T) {
	const n = 1 << 20
	zeros, nines := strings.Repeat("0", n), strings.Repeat("9", n)
	tests := []struct {
		name, text string
		want       int64
		kind       error
	}{
		{"leading zeros", zeros + "7", 7, nil},
		{"trailing zeros", "7." + zeros, 7, nil},
		{"undone by the exponent", "7" + zeros + "e-1048576", 7, nil},
		{"undone by the exponent, behind the point", "." + zeros + "7e1048577", 7, nil},
		{"long exponent", "7e" + zeros + "2", 700, nil},
		{"huge exponent of zero", zeros + "." + zeros + "e" + nines, 0, nil},
		{"huge", nines, 0, errRange},
		{"huge exponent", "1e" + nines, 0, errRange},
		{"tiny exponent", "1e-" + nines, 0, errFraction},
		{"tiny", "." + zeros + "1", 0, errFraction},
		{"tiny, binary", "." + nines + "Ei", 0, errFraction},
		{"malformed", nines + "." + nines + "." + nines, 0, errQuantity},
	}
	for _, tt := range tests {
		got, err := ParseQuantity("memory", tt.text)
		if got != tt.want || !errors.Is(err, tt.kind) {
			t.Errorf("%s: %d, %v", tt.name, got, errors.Unwrap(err))
		}
	}
}

func TestFormatQuantity(t *testing.T) {
	tests := []struct {
		typeName string
		amount   int64
		want     string
	}{
		{"cpu", 0, "0"},
		{"cpu", 5000, "5"},
		{"cpu", 500, "500m"},
		{"cpu", 1500, "1500m"},
		{"cpu", -500, "-500m"},
		{"cpu", -2000, "-2"},
		{"cpu", most, "9223372036854775807m"},
		{"vcore", 1000, "1"},
		{"memory", 0, "0"},
		{"memory", 1000, "1000"},
		{"memory", 1023, "1023"},
		{"memory", 1024, "1Ki"},
		{"memory", 1536, "1536"},
		{"memory", 10 << 30, "10Gi"},
		{"memory", 1025 << 20, "1025Mi"},
		{"memory", 1 << 60, "1Ei"},
		{"memory", 1 << 62, "4Ei"},
		{"memory", 3 << 49, "1536Ti"},
		{"memory", -10 << 20, "-10Mi"},
		{"memory", most, "9223372036854775807"},
		{"memory", lowest, "-9223372036854775807"},
		{"storage", 2 << 40, "2Ti"},
		{"ephemeral-storage", 2 << 50, "2Pi"},
		{"hugepages-2Mi", 4 << 20, "4Mi"},
		{"hugepages", 4 << 20, "4194304"},
		{"gpu", 1024, "1024"},
		{"pods", 1000, "1000"},
		{"", 7, "7"},
	}
	for _, tt := range tests {
		if got := FormatQuantity(tt.typeName, tt.amount); got != tt.want {
			t.Errorf("FormatQuantity(%q, %d) = %q, want %q", tt.typeName, tt.amount, got, tt.want)
		}
	}
}
