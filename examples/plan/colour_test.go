// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Colours come and go with what is asked for; a pipe or a file has none of
// itself.
func TestWantsColour(t *testing.T) {
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer device.Close() // a character device, as a terminal is
	file, err := os.Create(t.TempDir() + "/out")
	require.NoError(t, err)
	defer file.Close()
	for _, test := range []struct {
		when, noColor, term   string
		device, file, nothing bool // what becomes of it there
	}{
		{colourAuto, "", "xterm", true, false, false},
		{colourAuto, "1", "xterm", false, false, false},
		{colourAuto, "", "dumb", false, false, false},
		{colourAuto, "", "", false, false, false},
		{colourAlways, "1", "dumb", true, true, true},
		{colourNever, "", "xterm", false, false, false},
	} {
		env := func(name string) string {
			return map[string]string{"NO_COLOR": test.noColor, "TERM": test.term}[name]
		}
		require.Equal(t, test.device, wantsColour(test.when, device, env), "%+v", test)
		require.Equal(t, test.file, wantsColour(test.when, file, env), "%+v", test)
		require.Equal(t, test.nothing, wantsColour(test.when, new(bytes.Buffer), env), "%+v", test)
	}
}

func TestPaint(t *testing.T) {
	const text = `a title
a note

request 3: x asks
  plan: on n, once these victims have gone
    victim  queue
    v       root.a
    w       root.b
    cost: 2 victims
  refused (too-early): no
    1 leaving already
0 passed, 2 failed`
	const want = bold + `a title` + reset + `
a note

` + bold + `request 3: x asks` + reset + `
` + green + `  plan: on n, once these victims have gone` + reset + `
` + dim + `    victim  queue` + reset + `
` + red + `    v       root.a` + reset + `
` + red + `    w       root.b` + reset + `
` + dim + `    cost: 2 victims` + reset + `
` + yellow + `  refused (too-early): no` + reset + `
    1 leaving already
0 passed, 2 failed`
	require.Equal(t, want, string(paint([]byte(text), 80)))
	require.Empty(t, paint(nil, 80))
}

// What is wider than a terminal goes on below, in its colour, broken at blanks.
func TestPaint_Folds(t *testing.T) {
	const text = "title\n    cost: one, two, three, four\n  a-very-long-word-that-is-wider b\n  ü ü ü ü ü ü ü ü ü\n  x"
	const want = bold + "title" + reset + "\n" + dim + "    cost: one, two," + reset + "\n" + dim + "          three," + reset + "\n" +
		dim + "          four" + reset + "\n  a-very-long-word-that-is-wider\n        b\n  ü ü ü ü ü ü ü ü ü\n  x"
	require.Equal(t, want, string(paint([]byte(text), 20)))
	for columns, want := range map[string]int{"": 80, "x": 80, "5": 80, "80": 80, "132": 132} {
		require.Equal(t, want, widthOf(func(string) string { return columns }))
	}
}

// Colours change no words, only -color asks for them here, and lines fit a terminal.
func TestRun_Colour(t *testing.T) {
	escapes := regexp.MustCompile("\x1b\\[[0-9]+m")
	for _, args := range [][]string{nil, {"-explain"}, {"-check"}, {"-json"}, {"-dot"}, {"testdata/refusals.json"}, {"testdata/steps.json"}} {
		plain := call("", args...)
		require.NotContains(t, plain.stdout, "\x1b")
		require.Equal(t, plain, call("", append([]string{"-color", "never"}, args...)...))
		coloured := call("", append([]string{"-color=always"}, args...)...)
		text := escapes.ReplaceAllString(coloured.stdout, "")
		require.Equal(t, strings.Fields(plain.stdout), strings.Fields(text))
		forPeople := len(args) == 0 || args[0] == "-explain" || !strings.HasPrefix(args[0], "-")
		for line := range strings.Lines(text) {
			require.True(t, !forPeople || len(line) <= 81, line)
		}
		require.Equal(t, forPeople, strings.Contains(coloured.stdout, "\x1b"), args)
	}
	out := call("", "-color", "blue")
	require.Equal(t, outputs{bad, "", "plan: -color \"blue\": want auto, always or never\n"}, out)
}
