// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestQuick: this library breaks none of its promises in the quick report, and
// all comes to rest. The report has all its parts, and goes into a page.
func TestQuick(t *testing.T) {
	r, err := collect(&options{quick: true, worlds: 30})
	require.NoError(t, err)
	for _, s := range r.sheets {
		require.Zero(t, s.Broken(0), s.title)
	}
	require.Equal(t, r.rests.Each[0].Told, r.rests.Each[0].Quiet)
	require.Zero(t, r.rests.Each[0].Wasted)

	file := filepath.Join(t.TempDir(), "page.md")
	var page string
	for _, part := range partNames() {
		page += "<!-- peers " + part + " -->\nold\n<!-- /peers " + part + " -->\n"
	}
	require.NoError(t, os.WriteFile(file, []byte(page), 0o600))
	texts, err := readPages([]string{file})
	require.NoError(t, err)
	require.NoError(t, writePages([]string{file}, texts, r))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, partNames(), r.done)
	for _, part := range r.done {
		require.Contains(t, string(text), r.page(part))
	}
	for _, title := range []string{"### The examination", "### Random worlds", "### Storms", "### Speed", "Made on "} {
		require.Contains(t, string(text), title)
	}
	require.NotContains(t, string(text), "old\n<")
}

// TestShow: a document that shows a fault, with the answer beside the request.
func TestShow(t *testing.T) {
	var b strings.Builder
	require.NoError(t, run(&options{worlds: 10, show: "yunikorn:guarantee"}, nil, &b))
	require.Contains(t, b.String(), `"proposed"`)
	require.Error(t, run(&options{show: "ours:guarantee"}, nil, &b))
	require.ErrorContains(t, run(&options{show: "nobody:guarantee"}, nil, &b), "nobody")
}

// TestSplice: what is between the lines of a mark is replaced, and a page
// without a mark is refused.
func TestSplice(t *testing.T) {
	page := "a\n<!-- peers speed -->\nold\n<!-- /peers speed -->\nb\n"
	text := splice(page, "peers speed", "new\n")
	require.Equal(t, "a\n<!-- peers speed -->\n\nnew\n\n<!-- /peers speed -->\nb\n", text)
	require.Equal(t, text, splice(text, "peers speed", "new\n"))
	require.Equal(t, text, splice(text, "peers storms", "else\n"))
	file := filepath.Join(t.TempDir(), "page.md")
	require.NoError(t, os.WriteFile(file, []byte("no marks"), 0o600))
	_, err := readPages([]string{file})
	require.ErrorIs(t, err, errNoMark)
}

// TestNumbers: numbers for people.
func TestNumbers(t *testing.T) {
	require.Equal(t, "41,234", number(41234.4))
	require.Equal(t, "1,000,000", number(1e6))
	require.Equal(t, "12", number(12.4))
	require.Equal(t, "1.5", number(1.54))
	require.Equal(t, "0.012", number(0.0123))
	require.Equal(t, "", number(0))
	require.Equal(t, "1.5 MB", volume(1_500_000))
	require.Equal(t, "12 B", volume(12))
}
