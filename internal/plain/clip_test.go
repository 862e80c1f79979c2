// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"strings"
	"testing"
)

func TestClip(t *testing.T) {
	for _, test := range []struct {
		in   string
		most int
		want string
	}{
		{"", 0, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc…"},
		{"größe", 2, "gr…"},
		{"größe", 3, "gr…"}, // the third byte is the first half of ö
		{"größe", 4, "grö…"},
		{"\xff\xff\xff", 2, "\xff\xff…"},
	} {
		if got := Clip(test.in, test.most); got != test.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", test.in, test.most, got, test.want)
		}
	}
}

func TestSummary(t *testing.T) {
	if full := strings.Repeat("x", 1024); Summary(full) != full {
		t.Error("1 KB was cut")
	}
	if got := Summary(strings.Repeat("x", 1025)); got != strings.Repeat("x", 1021)+"…" {
		t.Errorf("%d bytes", len(got))
	}
}
