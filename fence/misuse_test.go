// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMisuse shows that a caller's bug panics with the name of the mistake.
func TestMisuse(t *testing.T) {
	tree := mustNew(t, node("root", nil, node("a", nil)))
	var v View
	require.PanicsWithError(t, "fence: a View is used before Reset", func() { v.Inside(0) })
	require.PanicsWithError(t, "fence: a View is used before Reset", func() { v.Rank(0, 1) })
	v.Reset(tree, 1)
	require.PanicsWithError(t, "fence: no queue 2 in a View of 2 queues: an ID of another tree?", func() { v.Rank(2, 1) })
	require.PanicsWithError(t, "queue: no queue 2 in a tree of 2 queues: an ID of another tree?", func() { Root(tree, 2) })
}
