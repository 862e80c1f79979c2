// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
)

// When text is coloured.
const (
	colourAuto   = "auto"
	colourAlways = "always"
	colourNever  = "never"
)

var colourWhen = []string{colourAuto, colourAlways, colourNever}

// wantsColour reports whether text that goes to a stream is to have colours.
// Left to itself, it has them on a terminal that knows them, unless the
// environment says that nobody wants them (no-color.org).
func wantsColour(when string, out io.Writer, env func(string) string) bool {
	if when != colourAuto {
		return when == colourAlways
	}
	return isTerminal(out) && env("NO_COLOR") == "" && env("TERM") != "" && env("TERM") != "dumb"
}

// isTerminal reports whether a stream is a character device.
func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// The colours, as terminals have them.
const (
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
	reset  = "\x1b[0m"
)

// painted says how lines are coloured, by their beginnings: of the first one
// that a line has. What a document names cannot begin a line, but may be taken
// for something else than it is; that colours a line and changes no text.
var painted = []struct{ begin, colour string }{
	{"request ", bold},
	{"before, at ", bold},
	{"after, at ", bold},
	{"warning: ", yellow},
	{"  plan: ", green},
	{"  fits", green},
	{"  met", green},
	{"  waits", cyan},
	{"  partial: ", yellow},
	{"  impossible: ", yellow},
	{"  refused ", yellow},
	{"  why", bold},
	{"  queue  ", dim},
	{"  node  ", dim},
	{"    queue  ", dim},
	{"    victim  ", dim},
	{"    cost: ", dim},
	{"    no legal plan ", dim},
}

// narrow is how wide a terminal is that does not say so.
const narrow = 80

// widthOf returns how wide a terminal is, by what its shell says.
func widthOf(env func(string) string) int {
	if n, err := strconv.Atoi(env("COLUMNS")); err == nil && n >= narrow {
		return n
	}
	return narrow
}

// fold breaks a line at blanks so that it is no wider than a terminal, if its words are not;
// what does not fit goes on below, further in.
func fold(line string, width int) string {
	indent := strings.Repeat(" ", len(line)-len(strings.TrimLeft(line, " "))+6)
	var out strings.Builder
	for utf8.RuneCountInString(line) > width {
		at, column := 0, 0
		begun := false // a word is before the blank
		for i, r := range line {
			if r == ' ' && begun && (column <= width || at == 0) {
				at = i
			}
			begun = begun || r != ' '
			column++
		}
		if at == 0 {
			break
		}
		out.WriteString(strings.TrimRight(line[:at], " ") + "\n")
		line = indent + strings.TrimLeft(line[at:], " ")
	}
	return out.String() + line
}

// paint returns a text with colours added, folded to a width.
func paint(text []byte, width int) []byte {
	var out bytes.Buffer
	victims := false // the lines are rows of a table of victims
	first := true    // the line is the title of a document
	for line := range strings.Lines(string(text)) {
		text := strings.TrimSuffix(line, "\n")
		colour := colourOf(text)
		switch {
		case first:
			colour = bold
		case strings.HasPrefix(text, "    victim  "):
			victims = true
		case victims && (colour != "" || !strings.HasPrefix(text, "    ")):
			victims = false
		case victims:
			colour = red
		}
		first = false
		end := line[len(text):]
		for part := range strings.SplitSeq(fold(text, width), "\n") {
			if colour == "" || part == "" {
				out.WriteString(part + "\n")
			} else {
				out.WriteString(colour + part + reset + "\n")
			}
		}
		if end == "" {
			out.Truncate(out.Len() - 1)
		}
	}
	return out.Bytes()
}

// colourOf returns the colour of a line by its beginning, or "".
func colourOf(line string) string {
	for _, p := range painted {
		if strings.HasPrefix(line, p.begin) {
			return p.colour
		}
	}
	return ""
}
