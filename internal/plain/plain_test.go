// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode"
)

func TestName(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"web-1", "web-1"},
		{"größe", "größe"},
		{"", `""`},
		{"two words", `"two words"`},
		{`say "x"`, `"say \"x\""`},
		{`a\b`, `"a\\b"`},
		{"a\tb", `"a\tb"`},
		{"\x1b[31m", `"\x1b[31m"`},
		{"a\u00a0b", `"a\u00a0b"`},
		{"a\u202eb", `"a\u202eb"`},
		{"\xff", `"\xff"`},
	} {
		if got := Name(test.in); got != test.want {
			t.Errorf("Name(%q) = %s, want %s", test.in, got, test.want)
		}
	}
}

func TestNames(t *testing.T) {
	for _, test := range []struct {
		in   []string
		want string
	}{
		{nil, ""},
		{[]string{"a"}, "a"},
		{[]string{"a", "b c", "d"}, `a, "b c", d`},
	} {
		if got := Names(test.in); got != test.want {
			t.Errorf("Names(%q) = %s, want %s", test.in, got, test.want)
		}
	}
}

func TestLine(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"", ""},
		{"größe of it", "größe of it"},
		{"a\nb\tc", "a b c"},
		{"\x1b[31m", " [31m"},
		{"a\u009b\u202e\u00a0b", "a   b"},
	} {
		if got := Line(test.in); got != test.want {
			t.Errorf("Line(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

// Nothing of a name or a line does anything to a terminal.
func FuzzPrintable(f *testing.F) {
	f.Add("plain")
	f.Add("a \x1b[31m\n\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		for _, got := range []string{Name(s), Line(s)} {
			if i := strings.IndexFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
				t.Errorf("%q is printed as %q", s, got)
			}
		}
		if again := Line(s); again != Line(again) {
			t.Errorf("Line(%q) = %q is not the end of it", s, again)
		}
	})
}

func TestDuration(t *testing.T) {
	const s, m, h, d = time.Second, time.Minute, time.Hour, 24 * time.Hour
	for _, test := range []struct {
		in   time.Duration
		want string
	}{
		{0, "0s"},
		{1, "1ns"},
		{m - 1, "59.999999999s"},
		{m, "1m"},
		{m + 20*s + 600*time.Millisecond, "1m21s"},
		{10 * m, "10m"},
		{h - 1, "1h"},
		{3*h + 20*m, "3h20m"},
		{3*h + 20*s, "3h0m20s"},
		{10 * h, "10h"},
		{2*d - 2*s, "47h59m58s"},
		{2 * d, "2d"},
		{3*d - 1, "3d"},
		{330*d + 19*h + 19*m + 6*s, "330d19h"},
		{math.MaxInt64 - 1, "106751d23h"},
		{math.MaxInt64, "centuries"},
		{-3 * h, "-3h"},
	} {
		if got := Duration(test.in); got != test.want {
			t.Errorf("Duration(%d) = %s, want %s", test.in, got, test.want)
		}
	}
}
