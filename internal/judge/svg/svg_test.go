// SPDX-License-Identifier: Apache-2.0

package svg

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

func ExampleDocument() {
	var c Canvas
	c.Titled("a & b", func() {
		c.Rect("box", Box{X: 10, Y: 20, W: 30, H: 40}, 2)
		c.Text("", 12, 34, "a < b")
	})
	c.Path("line", "M0 0L9 9")
	d := Document{Width: 100, Height: 80, Title: "two shapes", Description: "and a line", Rules: []string{".line { stroke: red; }"}}
	fmt.Printf("%s", d.Bytes(&c))
	// Output:
	// <svg xmlns="http://www.w3.org/2000/svg" width="100" height="80" viewBox="0 0 100 80" role="img">
	// <title>two shapes</title>
	// <desc>and a line</desc>
	// <style>
	// .line { stroke: red; }
	// </style>
	// <rect width="100" height="80" fill="#ffffff"/>
	// <g><title>a &amp; b</title>
	// <rect class="box" x="10" y="20" width="30" height="40" rx="2"/>
	// <text x="12" y="34">a &lt; b</text>
	// </g>
	// <path class="line" d="M0 0L9 9"/>
	// </svg>
}

func TestBox(t *testing.T) {
	b := Box{X: 10, Y: 20, W: 31, H: 41}
	got := [...]int{b.Right(), b.Bottom(), b.MidX(), b.MidY()}
	if want := [...]int{41, 61, 25, 40}; got != want {
		t.Errorf("right, bottom and middle are %v, want %v", got, want)
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		text        string
		size, width int
		want        string
	}{
		{"", 10, 0, ""},
		{"abc", 10, 20, "abc"},   // 19.5 of 20
		{"abc", 10, 19, "a…"},    // 10 for the ellipsis, 6.5 for each letter
		{"abc", 10, 16, ""},      // no room for a letter beside the ellipsis
		{"ab cd", 10, 28, "ab…"}, // no blank before it: 13 + 4.2 + 10
		{"日本語", 10, 30, "日本語"},
		{"日本語", 10, 29, "日…"},
	} {
		if got := Fit(c.text, c.size, c.width); got != c.want {
			t.Errorf("Fit(%q, %d, %d) = %q, want %q", c.text, c.size, c.width, got, c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 50, ""},
		{"  aa   bb ", 100, "aa bb"},
		{"aa bb cc", 31, "aa bb|cc"}, // 26 + 4.2 for two
		{"aaaaaaaaaa bb", 30, "aaa…|bb"},
	} {
		if got := strings.Join(Wrap(c.text, 10, c.width), "|"); got != c.want {
			t.Errorf("Wrap(%q, 10, %d) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

// Whatever a text is, it is a text of the document and nothing else of it, and
// what is cut fits.
func FuzzText(f *testing.F) {
	f.Add("plain", 12, 30)
	f.Add(`<script>"'&]]>--></text>`, 11, 90)
	f.Add("\x00\xff\ufffe\u202e\r\n", 19, 5)
	f.Fuzz(func(t *testing.T, s string, size, width int) {
		size, width = 1+size&63, width&4095
		cut := Fit(s, size, width)
		if Width(cut, size) > width {
			t.Errorf("Fit(%q, %d, %d) = %q, which takes %d", s, size, width, cut, Width(cut, size))
		}
		if cut != s && cut != "" && !strings.HasPrefix(s, strings.TrimSuffix(cut, "…")) {
			t.Errorf("Fit(%q, %d, %d) = %q", s, size, width, cut)
		}
		for _, line := range Wrap(s, size, width) {
			if Width(line, size) > width || strings.ContainsAny(line, "\n\t") {
				t.Errorf("Wrap(%q, %d, %d) has a line %q", s, size, width, line)
			}
		}
		var c Canvas
		c.Titled(s, func() { c.Text(s, 1, 2, s) })
		d := Document{Width: 10, Height: 10, Title: s, Description: s, Rules: []string{s}}
		got := read(t, d.Bytes(&c))
		if want := "svg title desc style rect g title text "; got.elements != want {
			t.Errorf("elements are %q, want %q", got.elements, want)
		}
		if utf8.ValidString(s) && !strings.ContainsFunc(s, lost) && strings.Count(got.text, s) < 5 {
			t.Errorf("%q is not among the texts %q", s, got.text)
		}
	})
}

// lost reports whether XML cannot hold a character, or changes it.
func lost(r rune) bool {
	return r < ' ' || r == utf8.RuneError || r == 0xfffe || r == 0xffff
}

type contents struct{ elements, text string }

// read reads a document as XML.
func read(t *testing.T, data []byte) (c contents) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return c
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, data)
		}
		switch token := token.(type) {
		case xml.StartElement:
			c.elements += token.Name.Local + " "
		case xml.CharData:
			c.text += string(token)
		}
	}
}
