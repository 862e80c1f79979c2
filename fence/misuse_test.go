// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMisuse shows that a caller's bug panics with the name of the mistake.
func TestMisuse(t *testing.T) {
	tree := mustNew(t, node("root", nil, node("a", nil)))
	require.PanicsWithError(t, "queue: no queue 2 in a tree of 2 queues: an ID of another tree?", func() { Root(tree, 2) })
}
