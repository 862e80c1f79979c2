// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/alike"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/victims"
)

// The oracle knows all levels, and its losses have all that a cost has of victims.
func TestLevels_All(t *testing.T) {
	var off []string
	for _, l := range levels {
		if l.off {
			off = append(off, l.word)
		}
	}
	const file = "internal/judge/oracle/cost.go"
	require.Equal(t, rulebook.AllWords(), append(slices.Clip(byDefault), off...), "%s: levels", file)
	for _, name := range alike.Lacks[Losses, victims.Cost, rulebook.Cost]() {
		require.Contains(t, []string{"NodePenalty", "Node", "LostTime", "LostType", "LostAmount"}, name, "%s: Losses", file)
	}
}
