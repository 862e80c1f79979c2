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

// output returns what the program prints.
func output(t *testing.T) string {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	stdout := os.Stdout
	os.Stdout = w
	defer func() { os.Stdout = stdout }()
	main() // less than a pipe holds
	require.NoError(t, w.Close())
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(text)
}

// TestReadme_Words: README.md is read in a few minutes.
func TestReadme_Words(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	require.LessOrEqual(t, len(strings.Fields(string(page))), 1100)
}

// TestReadme: README.md begins with this program as it stands, so that it can be
// pasted, and with what it prints.
func TestReadme(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```(\\w*)\n(.*?)```").FindAllStringSubmatch(string(page), 2)
	require.Len(t, blocks, 2)
	program, err := os.ReadFile("main.go")
	require.NoError(t, err)
	require.Equal(t, "go", blocks[0][1])
	_, body, _ := strings.Cut(string(program), "\n\n") // below the line of the licence
	require.Equal(t, body, blocks[0][2], "the first block of README.md is examples/first/main.go")
	require.Equal(t, "text", blocks[1][1])
	require.Equal(t, output(t), blocks[1][2], "the second block of README.md is what it prints")
}
