// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPath_String(t *testing.T) {
	for _, test := range []struct {
		path *Path
		want string
	}{
		{nil, ""},
		{at("tasks"), "tasks"},
		{at("tasks", 3, "resources", "cpu"), "tasks[3].resources.cpu"},
		{at("queues", "queues", 2, "properties"), "queues.queues[2].properties"},
		{at("expect", 0, "target", "root.a", "cpu"), `expect[0].target["root.a"].cpu`},
		{at("nodes", 0, "capacity", "nvidia.com/gpu"), `nodes[0].capacity["nvidia.com/gpu"]`},
		{at("jobMinimums", "j-9_x"), "jobMinimums.j-9_x"},
		{at("jobMinimums", ""), `jobMinimums[""]`},
		{at("a\nb"), `["a\nb"]`},
		{at("größe"), `["größe"]`},
		{at(1, 2, "x"), "[1][2].x"},
		{at("a", strings.Repeat("x", 120)), "a." + strings.Repeat("x", 120)},
		{at("a", strings.Repeat("x", 121)), `a["` + strings.Repeat("x", 120) + `…"]`},
	} {
		require.Equal(t, test.want, test.path.String())
	}
}

func TestClip(t *testing.T) {
	for _, test := range []struct {
		s, want string
	}{
		{"", ""},
		{strings.Repeat("x", 120), strings.Repeat("x", 120)},
		{strings.Repeat("x", 121), strings.Repeat("x", 120) + "…"},
		{strings.Repeat("ü", 60), strings.Repeat("ü", 60)},
		{"x" + strings.Repeat("ü", 60), "x" + strings.Repeat("ü", 59) + "…"},
	} {
		require.Equal(t, test.want, clip(test.s))
	}
}

func TestError_LeavesOutWhatIsEmpty(t *testing.T) {
	why := errors.New("no")
	for _, test := range []struct {
		err  Error
		want string
	}{
		{Error{Err: why}, "no"},
		{Error{File: "f", Err: why}, "f: no"},
		{Error{File: "f", Path: at("p"), Err: why}, "f: p: no"},
		{Error{File: "f", Path: at("p"), Value: "5", Err: why}, "f: p: 5: no"},
		{Error{Path: at("p"), Value: "5", Err: why}, "p: 5: no"},
	} {
		require.EqualError(t, &test.err, test.want)
	}
}
