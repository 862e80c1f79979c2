// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/victims"
)

func TestMomentString(t *testing.T) {
	require.Equal(t, "present", victims.Present.String())
	require.Equal(t, "coming", victims.Coming.String())
	require.Equal(t, "Moment(0)", victims.Moment(0).String())
	require.Equal(t, "Moment(9)", victims.Moment(9).String())
}

func TestOwnLeafString(t *testing.T) {
	require.Equal(t, "never", victims.OwnNever.String())
	require.Equal(t, "met", victims.OwnMet.String())
	require.Equal(t, "any", victims.OwnAny.String())
	require.Equal(t, "OwnLeaf(3)", victims.OwnLeaf(3).String())
}
