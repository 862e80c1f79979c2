// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mostWords is how many words the page may have, code and output included.
const mostWords = 900

// TestPage: the code of docs/ten-minutes.md, put together, is the main function of this
// program, and its texts are what that prints. Nobody reads it in ten minutes if
// it gets longer.
func TestPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "ten-minutes.md"))
	require.NoError(t, err)
	blocks := make(map[string][]string)
	for _, m := range regexp.MustCompile("(?s)```(\\w*)\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		blocks[m[1]] = append(blocks[m[1]], m[2])
	}
	require.Len(t, blocks, 2, "go and text, and no other blocks")

	program, err := os.ReadFile("main.go")
	require.NoError(t, err)
	_, body, _ := strings.Cut(string(program), "\nfunc main() {\n")
	body, _, found := strings.Cut(body, "\n}\n")
	require.True(t, found)
	body = regexp.MustCompile(`(?m)^\t`).ReplaceAllString(body, "")
	require.Equal(t, body+"\n", strings.Join(blocks["go"], "\n"))
	require.Equal(t, output(t), strings.Join(blocks["text"], ""))

	require.LessOrEqual(t, len(strings.Fields(string(page))), mostWords, "words")
}

// output returns what the program prints.
func output(t *testing.T) string {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	stdout := os.Stdout
	os.Stdout = w
	defer func() { os.Stdout = stdout }()
	main() // prints less than a pipe holds
	require.NoError(t, w.Close())
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(text)
}
