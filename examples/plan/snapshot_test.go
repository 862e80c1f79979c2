// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// results are the results of a document, without their places in it.
func results(t *testing.T, document string) (all []map[string]any) {
	t.Helper()
	got := call(document, "-json", "-")
	require.Equal(t, decided, got.status, got.stderr)
	var r struct{ Results []map[string]any }
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &r))
	for i := range r.Results {
		delete(r.Results[i], "request")
	}
	return r.Results
}

// What is decided at a request is decided alike as a document of its own.
func TestSnapshot(t *testing.T) {
	every := blocks(t, "jsonc")[0]
	var lines []string
	for line := range strings.Lines(every) {
		before, _, _ := strings.Cut(line, "  //")
		lines = append(lines, before)
	}
	document := strings.Join(lines, "\n")
	want := results(t, document)
	for _, test := range []struct{ request, result int }{{0, 0}, {3, 1}, {6, len(want) - 2}} {
		got := call(document, "-snapshot", "-request", fmt.Sprint(test.request), "-")
		require.Equal(t, decided, got.status, got.stderr)
		require.Equal(t, want[test.result:][:1], results(t, got.stdout), "request %d", test.request)
	}
	first := call(document, "-snapshot", "-")
	require.Equal(t, want[:1], results(t, first.stdout))

	got := call(document, "-snapshot", "-request", "1", "-")
	require.Equal(t, outputs{bad, "", "plan: stdin: no decision to take a snapshot of, at request 1\n"}, got)
	require.Equal(t, bad, call(document, "-snapshot", "-json", "-").status)
	require.Equal(t, bad, call("{", "-snapshot", "-").status)
}
