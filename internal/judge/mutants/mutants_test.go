// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// writeModule writes a module of one package and returns its directory.
func writeModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":        "module m\n\ngo 1.24\n",
		".git/config":   "not to be copied\n",
		"p/p.go":        "package p\n\nfunc Less(a, b int) bool {\n\treturn a < b\n}\n\nfunc Same(a, b int) bool {\n\treturn a == b\n}\n",
		"p/p_test.go":   "package p\n\nimport \"testing\"\n\nfunc Test(t *testing.T) {\n\tif !Less(1, 2) {\n\t\tt.Fatal()\n\t}\n}\n",
		"q/testdata/in": "text\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	return dir
}

func TestJudge(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles a module many times")
	}
	dir := writeModule(t)
	before, err := os.ReadFile(filepath.Join(dir, "p", "p.go"))
	require.NoError(t, err)
	for _, test := range []struct {
		list string
		want verdict
	}{
		{"p/p.go: more\n-return a < b\n+return a > b", killed},
		{"p/p.go: no larger, which no test sees\n-return a < b\n+return a <= b", survived},
		{"p/p.go: not there\n-return a\n+return b", stale},
		{"p/p.go: there twice\n-}\n+{", stale},
		{"p/none.go: no file\n-return a < b\n+return a", stale},
		{"p/p.go: of another type\n-return a < b\n+return a", broken},
	} {
		mutants, err := parse(test.list)
		require.NoError(t, err)
		require.Len(t, mutants, 1)
		got, output, err := judge(dir, &mutants[0])
		require.NoError(t, err)
		require.Equal(t, test.want, got, "%s: %s", test.list, output)
		after, err := os.ReadFile(filepath.Join(dir, "p", "p.go"))
		require.NoError(t, err)
		require.Equal(t, string(before), string(after), "the mutant is taken back")
	}
}

func TestCopyModule(t *testing.T) {
	to := t.TempDir()
	require.NoError(t, copyModule(to, writeModule(t)))
	for _, name := range []string{"go.mod", "p/p.go", "q/testdata/in"} {
		require.FileExists(t, filepath.Join(to, filepath.FromSlash(name)))
	}
	require.NoDirExists(t, filepath.Join(to, ".git"))
}

func TestApply(t *testing.T) {
	text := "func a() {\n\tx++\n}\n\nfunc b() {\n\tx++\n\tx++\n}\n"
	for _, test := range []struct {
		m    mutant
		want string
	}{
		{mutant{old: "x++", new: "x--"}, ""},
		{mutant{old: "func a() {", new: "func c() {"}, "func c() {\n\tx++\n}\n\nfunc b() {\n\tx++\n\tx++\n}\n"},
		{mutant{after: "func b(", old: "x++", new: "x--"}, "func a() {\n\tx++\n}\n\nfunc b() {\nx--\n\tx++\n}\n"},
		{mutant{after: "func c(", old: "x++", new: "x--"}, ""},
	} {
		got, ok := test.m.apply(text)
		require.Equal(t, test.want != "", ok)
		require.Equal(t, test.want, got)
	}
}

// The list can be read, and each mutant of it has a name of its own.
func TestList(t *testing.T) {
	mutants, err := parse(list)
	require.NoError(t, err)
	require.NotEmpty(t, mutants)
	names := make(map[string]bool)
	for _, m := range mutants {
		require.False(t, names[m.file+m.name], "%s: %s", m.file, m.name)
		names[m.file+m.name] = true
	}
	for _, text := range []string{"p/p.go: no lines", "-a\n+b", "p/p.go: nothing changes\n-a\n+a", "p/p.go\n-a\n+b"} {
		_, err := parse(text)
		require.ErrorContains(t, err, "paragraph 1", text)
	}
}

// No mutant of the list is stale: its line is in the module, and only once.
func TestList_IsNotStale(t *testing.T) {
	mutants, err := parse(list)
	require.NoError(t, err)
	for i := range mutants {
		m := &mutants[i]
		text, err := os.ReadFile(filepath.Join("..", "..", "..", filepath.FromSlash(m.file)))
		require.NoError(t, err)
		_, ok := m.apply(string(text))
		require.True(t, ok, "%s: %s", m.file, m.name)
	}
}
