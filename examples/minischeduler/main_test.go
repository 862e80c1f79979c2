package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/golden"
)

// The history, to be read: testdata has it.
func TestRun(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(&out))
	golden.Compare(t, "testdata/history.golden", out.String())
}

// Every promise of the quarter of an hour, told from the end of it.
func TestRun_Ends(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(&out))
	for _, line := range []string{
		"12:03:00  web (root.prod, cpu=4) fits on n1\n",
		"12:05:00  llm starts: llm-0, llm-1, llm-2\n",
		"12:09:30  etl-5 has gone\n",
		"  batch used cpu=4 max cpu=4\n",
		"  prod  used cpu=4 guaranteed cpu=8\n",
		"  train used cpu=6",
	} {
		require.Contains(t, out.String(), line)
	}
}
