// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// blocks returns the blocks of README.md in a language.
func blocks(t *testing.T, language string) (all []string) {
	t.Helper()
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```" + language + "\n(.*?)```")
	for _, m := range block.FindAllStringSubmatch(string(text), -1) {
		all = append(all, m[1])
	}
	return all
}

// The documents that README.md shows are decided as it says.
func TestReadme_Documents(t *testing.T) {
	small := blocks(t, "json")
	require.Len(t, small, 2, "a document and its result")
	require.Equal(t, outputs{decided, small[1], ""}, call(small[0], "-json", "-"))

	every := blocks(t, "jsonc")
	require.Len(t, every, 1)
	bare := regexp.MustCompile(`(?m)\s*//.*$`).ReplaceAllString(every[0], "")
	require.Equal(t, outputs{decided, "1 passed, 0 failed\n", ""}, call(bare, "-check", "-"))
}

// The line for a CI in README.md works as pasted, after the line that installs the
// program: nothing differs on the main branch, and a policy that changes a decision
// stops the build.
func TestReadme_CI(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the program")
	}
	for _, tool := range []string{"git", "sh", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	var script string
	for _, block := range blocks(t, "sh") {
		if strings.Contains(block, "-expect-same") {
			script = block
		}
	}
	install, line, ok := strings.Cut(script, "\n")
	require.True(t, ok)
	require.Equal(t, "go install github.com/go-preempt/preempt/examples/plan@latest", install)

	dir, programs := t.TempDir(), t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(programs, "plan"), ".")
	text, err := build.CombinedOutput()
	require.NoError(t, err, string(text))
	do := func(script string) (string, error) {
		c := exec.Command("sh", "-e", "-c", script)
		c.Dir = dir
		c.Env = append(os.Environ(), "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"),
			"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	must := func(script string) {
		out, err := do(script)
		require.NoError(t, err, out)
	}
	require.NoError(t, os.CopyFS(dir, os.DirFS(againstFolder)))
	must("git init -q && git add . && git -c user.name=ci -c user.email=ci@example.org commit -qm policy && git update-ref refs/remotes/origin/main HEAD")
	out, err := do(line)
	require.NoError(t, err, out)
	require.Equal(t, "in all: 0 changes in 2 decisions of 2 documents\n", out)

	changed, err := os.ReadFile(filepath.Join(dir, "policy.json"))
	require.NoError(t, err)
	worse := strings.Replace(string(changed), `"guaranteed": {"cpu": "4"}`, `"guaranteed": {"cpu": "8"}`, 1)
	require.NotEqual(t, string(changed), worse)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "policy.json"), []byte(worse), 0o644))
	out, err = do(line)
	exit, ok := errors.AsType[*exec.ExitError](err)
	require.True(t, ok, "%v %s", err, out)
	require.Equal(t, differs, exit.ExitCode())
	require.Contains(t, out, "root.batch")
}
