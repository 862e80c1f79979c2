// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/victims"
)

// Whatever follows an outcome has words.
func TestFollows_Complete(t *testing.T) {
	for _, o := range []victims.Outcome{victims.Fits, victims.Waits, victims.Preempts} {
		for _, then := range []scenario.Then{scenario.ThenFinish, scenario.ThenLeave, scenario.ThenNothing} {
			require.NotEmpty(t, follows[o][then], "%v, %v", o, then)
		}
	}
}

func TestPage_Indented(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"", ""},
		{"a\n", "> a\n"},
		{"a\n  b\n", "> a\n>   b\n"},
	} {
		var b bytes.Buffer
		page{w: &b}.indented("> ", test.in)
		require.Equal(t, test.want, b.String())
	}
}
