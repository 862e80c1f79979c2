// SPDX-License-Identifier: Apache-2.0

package svg

import "strings"

// Nobody knows the font that a browser takes for a text, but the fonts that it
// may take by default are no wider than DejaVu Sans. A table of its widths, in
// four classes and rounded up, keeps texts within their boxes.

// The widths of characters in thousandths of the size of the font.
const (
	slim  = 420
	usual = 650
	broad = 850
	full  = 1000
	giant = 1350 // emoji and what else is up there
)

// advance returns the width of a character.
func advance(r rune) int {
	switch {
	case strings.ContainsRune(" !'(),./:;I[]\\`fijlrt|·", r):
		return slim
	case strings.ContainsRune("%@MWmw", r):
		return full
	case 'a' <= r && r <= 'z', '0' <= r && r <= '9', strings.ContainsRune("-_?*\"$", r):
		return usual
	case r < 0x80:
		return broad
	case r < 0x10000:
		return full
	}
	return giant
}

// Width returns no less than what a text takes in a font of that size, bold or
// not, in pixels.
func Width(text string, size int) int {
	sum := 0
	for _, r := range text {
		sum += advance(r)
	}
	return (sum*size + 999) / 1000
}

// Bold is a size of which Width returns what bold text of a size takes.
func Bold(size int) int { return (size*9 + 7) / 8 }

// Fit returns as much of a text as a width has room for: all of it, or its
// beginning with an ellipsis, or nothing.
func Fit(text string, size, width int) string {
	if Width(text, size) <= width {
		return text
	}
	const ellipsis = "…"
	room := width*1000 - full*size
	end := 0
	for i, r := range text {
		if room -= advance(r) * size; room < 0 {
			end = i
			break
		}
	}
	if end == 0 {
		return ""
	}
	return strings.TrimRight(text[:end], " ") + ellipsis
}

// Wrap returns a text as lines that a width has room for, broken at blanks. A
// word that is too long is cut as by Fit.
func Wrap(text string, size, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		longer := strings.TrimLeft(line+" "+word, " ")
		if line != "" && Width(longer, size) > width {
			lines = append(lines, Fit(line, size, width))
			longer = word
		}
		line = longer
	}
	if line != "" {
		lines = append(lines, Fit(line, size, width))
	}
	return lines
}
