// SPDX-License-Identifier: Apache-2.0

package say

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/scenario"
)

func TestResult(t *testing.T) {
	for want, r := range map[string]scenario.Result{
		"refused, no-victims":                           {Outcome: "refused", Reason: "no-victims"},
		"plan on n, stops a, b":                         {Outcome: "plan", Node: "n", Victims: []string{"a", "b"}},
		`fits m0 on "n 1", m1 on n2`:                    {Outcome: "fits", Placements: map[string]string{"m1": "n2", "m0": "n 1"}},
		`waits on n, moves a to n2, b to "n 3"`:         {Outcome: "waits", Node: "n", Moves: map[string]string{"b": "n 3", "a": "n2"}},
		"plan, stops a, a, a, a, a, a, a, a and 2 more": {Outcome: "plan", Victims: strings.Split("aaaaaaaaaa", "")},
	} {
		require.Equal(t, want, Result(&r))
	}
}

func TestTable(t *testing.T) {
	var b strings.Builder
	x := NewTable(&b, "> ", "key", "rank", "none", "remarks", "ends")
	x.Row("longer", "0", "", "x", "")
	x.Row("0", "0", "", Counted(1, "task"), "")
	x.Row("b", "", "0", "", "")
	x.End()
	NewTable(&b, "", "key", "remarks").End()
	require.Equal(t, "> key     remarks\n> longer  x\n> 0       1 task\n> b\nkey  remarks\n", b.String())
}
