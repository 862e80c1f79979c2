// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Who moves is drawn twice, where it runs and where it will, with a line between.
func TestSVG_Moves(t *testing.T) {
	for _, test := range []struct {
		file, verdict string
		titles        []string
	}{
		{"v01-a-node-for-four-devices", "plan: move b11, b12 and run on n1", []string{
			"b11: root.b, gpu=1, priority 0, moves to n3", "b11 moves here from n1, gpu=1",
			"b12: root.b, gpu=2, priority 0, moves to n2", "b12 moves here from n1, gpu=2"}},
		{"v02-a-rack-for-a-job", "plan: move b2, which makes room for 2 members", []string{
			"b2: root.b, gpu=2, priority 0, moves to n1", "b2 moves here from n3, gpu=2"}},
	} {
		data, err := os.ReadFile("../../internal/judge/scenario/testdata/scenarios/" + test.file + ".json")
		require.NoError(t, err)
		s, err := newScene(runOf(t, string(data)), firstPlan)
		require.NoError(t, err)
		require.Equal(t, test.verdict, s.verdict)
		text := drawSVG(s)
		checkPicture(t, s, text)
		require.Subset(t, readPicture(t, text).titles, test.titles)
		require.Equal(t, len(s.moves)+1, strings.Count(string(text), `<path class="moving"`), "a line each, and the legend's")
	}
}
