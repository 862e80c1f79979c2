// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/scenario"
)

// An outside solver proposes the best plan that it knows of a gang, or an ask. Ours is never dearer.
func TestOutside_NotDearer(t *testing.T) {
	files, err := filepath.Glob("testdata/outside/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			d, err := scenario.Parse(file, text)
			require.NoError(t, err)
			run, err := d.RunJudged()
			require.NoError(t, err)
			judged := 0
			for i := range run.Steps {
				if j := run.Steps[i].Judged; j != nil {
					judged++
					require.NotEqual(t, "cheaper", j.Verdict.String(), "%v, and ours %v", j.Cost, j.Least)
				}
			}
			require.Positive(t, judged)
		})
	}
}
