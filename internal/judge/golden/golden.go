// SPDX-License-Identifier: Apache-2.0

// Package golden compares what a program says with files that are there to be
// read. Tests that import it have a flag, -update, that writes the files anew:
// read the difference before you keep it.
package golden

import (
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write golden files anew")

// Compare holds a text to what a file has.
func Compare(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "%s; -update writes it anew", file)
}
