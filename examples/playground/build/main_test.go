// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The page is small enough, has everything in it, and fetches nothing.
func TestBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles a program for another platform")
	}
	t.Chdir("../../..")
	page, err := build()
	require.NoError(t, err)
	require.LessOrEqual(t, len(compressed(page)), most)
	text := string(page)
	for _, part := range []string{"<title>", "async function start()", "globalThis.Go = class", `id="wasm">H4sI`, "A gang goes as a whole"} {
		require.Contains(t, text, part)
	}
	require.NotRegexp(t, regexp.MustCompile(`(src|href)=|@import|url\(|\bfetch\(`), text)
	require.Equal(t, strings.Count(text, "<script"), strings.Count(text, "</script>"))
}

// Outside of the module's root nothing is built, and it is said what is missing.
func TestBuild_Elsewhere(t *testing.T) {
	t.Chdir(t.TempDir())
	_, err := build()
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "page.html")
}
