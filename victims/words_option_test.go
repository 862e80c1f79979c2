// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/victims"
)

func TestOwnLeafString(t *testing.T) {
	require.Equal(t, "never", victims.OwnNever.String())
	require.Equal(t, "met", victims.OwnMet.String())
	require.Equal(t, "branch", victims.OwnBranch.String())
	require.Equal(t, "OwnLeaf(3)", victims.OwnLeaf(3).String())
}
