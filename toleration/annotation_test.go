// SPDX-License-Identifier: Apache-2.0

package toleration

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// policyOf returns the policy of a class "a".
func policyOf(value int32, annotations map[string]string) (Policy, error) {
	class, err := Parse(PriorityClass{Name: "a", Value: value, Annotations: annotations})
	return class.Policy, err
}

func TestParse_Annotations(t *testing.T) {
	const min, sec = AnnotationMinimum, AnnotationSeconds
	for _, test := range []struct {
		name        string
		value       int32
		annotations map[string]string
		want        Policy
	}{
		{"none", 8000, nil, Policy{8001, 0}},
		{"minimum alone", 8000, map[string]string{min: "10000"}, Policy{10_000, 0}},
		{"seconds alone", 8000, map[string]string{sec: "600"}, Policy{8001, 600}},
		{"both", 8000, map[string]string{min: "10000", sec: "600"}, Policy{10_000, 600}},
		{"minimum below the value", 8000, map[string]string{min: "7999"}, Policy{7999, 0}},
		{"negative minimum", -10, map[string]string{min: "-5", sec: "1"}, Policy{-5, 1}},
		{"the value is the highest", math.MaxInt32, map[string]string{sec: "-1"}, Policy{math.MaxInt32, -1}},
		{"one below", math.MaxInt32 - 1, nil, Policy{math.MaxInt32, 0}},
		{"the value is the lowest", math.MinInt32, nil, Policy{math.MinInt32 + 1, 0}},
		{"zero", 8000, map[string]string{min: "0", sec: "0"}, Policy{0, 0}},
		{"minus zero", 8000, map[string]string{min: "-0", sec: "-0"}, Policy{0, 0}},
		{"plus, and zeros in front", 8000, map[string]string{min: "+09", sec: "+0600"}, Policy{9, 600}},
		{"the ends", 0, map[string]string{min: "2147483647", sec: "9223372036854775807"},
			Policy{math.MaxInt32, math.MaxInt64}},
		{"the other ends", 0, map[string]string{min: "-2147483648", sec: "-9223372036854775808"},
			Policy{math.MinInt32, math.MinInt64}},
		{"others", 8000, map[string]string{"toleration-seconds": "x", "example.com/toleration-seconds": "y",
			annotationPrefix + "seconds": "z", annotationPrefix: "", AnnotationAllowPreemption: "true"}, Policy{8001, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := maps.Clone(test.annotations)
			got, err := policyOf(test.value, test.annotations)
			require.NoError(t, err)
			require.Equal(t, test.want, got)
			require.Equal(t, before, test.annotations)
		})
	}
}

// malformed has texts that are no numbers, whatever the number of bits.
var malformed = []string{
	"", " ", "\t", " 600", "600 ", "6 00", "600\n", // empty and blanks
	"1.5", "600.0", "1,5", "1/2", // fractions
	"1e3", "1E3", "6e+2", // exponents
	"0x10", "0b1", "0o7", "1_000", // Go's other ways
	"10m", "600s", "5k", // units
	"+", "-", "--1", "+-1", "1-", "a", "NaN", "true", "null", "６００", "٦", "\x00", "\xff",
}

func TestParse_Malformed(t *testing.T) {
	long := strings.Repeat("9", 1000)
	type row struct {
		text string
		kind error
	}
	var numbers []row
	for _, text := range malformed {
		numbers = append(numbers, row{text, errNumber})
	}
	for key, rows := range map[string][]row{
		AnnotationMinimum: append(numbers[:len(numbers):len(numbers)],
			row{"2147483648", errRange}, row{"-2147483649", errRange}, row{"4294967296", errRange}, row{long, errRange}),
		AnnotationSeconds: append(numbers[:len(numbers):len(numbers)],
			row{"9223372036854775808", errRange}, row{"-9223372036854775809", errRange}, row{"-" + long, errRange}),
	} {
		for _, r := range rows {
			// The other one is fine and does not help.
			annotations := map[string]string{AnnotationMinimum: "9000", AnnotationSeconds: "600"}
			annotations[key] = r.text
			got, err := policyOf(8000, annotations)
			require.ErrorIs(t, err, r.kind, "%s: %q", key, r.text)
			require.Zero(t, got)
			require.ErrorContains(t, err, fmt.Sprintf("annotation %s: %q: ", key, r.text))
		}
	}
}

// Of two malformed annotations the minimum is always the one that is named.
func TestParse_BothMalformed(t *testing.T) {
	for range 20 {
		_, err := policyOf(0, map[string]string{AnnotationSeconds: "soon", AnnotationMinimum: "high"})
		require.EqualError(t, err,
			`toleration: class "a": annotation preemption-toleration.scheduling.x-k8s.io/minimum-preemptable-priority: "high": not a whole number`)
	}
}

func TestParse_Range(t *testing.T) {
	_, err := policyOf(0, map[string]string{AnnotationMinimum: "3000000000"})
	require.ErrorContains(t, err, `: "3000000000": out of range: want -2147483648 to 2147483647`)
	_, err = policyOf(0, map[string]string{AnnotationSeconds: "9223372036854775808"})
	require.ErrorContains(t, err, `: out of range: want -9223372036854775808 to 9223372036854775807`)
}

// An annotation that cannot be printed is quoted.
func TestParse_Plain(t *testing.T) {
	_, err := policyOf(0, map[string]string{AnnotationSeconds: "\x1b[31m\n"})
	require.ErrorContains(t, err, `toleration-seconds: "\x1b[31m\n": not a whole number`)
}
