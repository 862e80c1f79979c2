// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Documents that are known to have a plan which is cheaper than ours. All are listed with
// what is wrong with ours, and skipped for that. One of which ours is no dearer passes.
func TestRunJudged_KnownCheaper(t *testing.T) {
	if testing.Short() {
		t.Skip("jobs of many members")
	}
	dir := filepath.Join("testdata", "cheaper")
	list, err := os.ReadFile(filepath.Join(dir, "list.txt"))
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	why := make(map[string]string)
	for line := range strings.Lines(string(list)) {
		if file, text, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			why[file] = text
		}
	}
	require.Len(t, files, len(why), "each file is listed")
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			reason, ok := why[filepath.Base(file)]
			require.True(t, ok, "not listed")
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			doc, err := Parse(file, text)
			require.NoError(t, err)
			run, err := doc.RunJudged()
			require.NoError(t, err)
			judged := 0
			for i := range run.Steps {
				j := run.Steps[i].Judged
				if j == nil {
					continue
				}
				if judged++; j.Verdict == Cheaper || j.Verdict == Lawful {
					t.Skipf("%s: proposed %v, ours %v", reason, j.Cost, j.Least)
				}
				require.Contains(t, []Verdict{Same, Dearer}, j.Verdict)
			}
			require.Positive(t, judged)
		})
	}
}
