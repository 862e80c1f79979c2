// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/go-preempt/preempt/bench/solvers/linear"
)

// output runs a mode and returns the lines it prints.
func output(t *testing.T, args ...string) []string {
	t.Helper()
	var b bytes.Buffer
	if err := run(args, &b); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(b.String()), "\n")
}

// TestSaved: some draws are those of which CBC's answers are kept, and have the levels that
// it found. A planner that proves its plan can have no others.
func TestSaved(t *testing.T) {
	saved := []struct{ name, proof, levels string }{
		{"gpu#5300 nodes=8/tasks=39/members=8/size=4/unlike=false/prios=1/opted=0/gangs=70%/spare=false/domain=false/racks=2/byprio=false", "cost", "[0 0 0 -1 0 2 0 12 -12 0]"},
		{"gpu#5301 nodes=8/tasks=29/members=8/size=2/unlike=false/prios=1/opted=0/gangs=70%/spare=false/domain=false/racks=2/byprio=true", "cost", "[0 0 0 -1 0 1 0 4 -4 0]"},
		{"gpu#5302 nodes=8/tasks=16/members=8/size=4/unlike=false/prios=1/opted=10/gangs=70%/spare=true/domain=true/racks=2/byprio=true", "", "refused"},
		{"gpu#5303 nodes=8/tasks=29/members=8/size=4/unlike=false/prios=10/opted=10/gangs=0%/spare=true/domain=false/racks=2/byprio=true", "cost", "[0 0 0 -2 8 0 0 12 -69 51]"},
		{"gpu#5304 nodes=16/tasks=30/members=8/size=8/unlike=true/prios=3/opted=0/gangs=30%/spare=true/domain=false/racks=2/byprio=false", "levels", "[0 0 0 -2 1 0 0 3 -6 3]"},
	}
	lines := output(t, "-mode", "planjob", "-family", "gpu", "-nodes", "8", "-members", "8", "-from", "5300", "-n", "5")
	if len(lines) != len(saved) {
		t.Fatalf("%d lines, and not %d:\n%s", len(lines), len(saved), strings.Join(lines, "\n"))
	}
	for i, want := range saved {
		part := strings.Split(lines[i], "|")
		if part[1] != want.name {
			t.Errorf("drawn is %s, and not %s", part[1], want.name)
		}
		if !slices.Contains(part, want.levels) {
			t.Errorf("%s: the levels must be %s:\n%s", want.name, want.levels, lines[i])
		}
		if want.proof != "" && part[3] == "none" {
			t.Errorf("%s: was proven (%s):\n%s", want.name, want.proof, lines[i])
		}
	}
}

// TestSeveralForSeveral: a gang that wants most of a cluster has the plan that CBC found. Running gangs
// make room for it in threes and fours, and no exchange of one or two of them finds it.
func TestSeveralForSeveral(t *testing.T) {
	line := output(t, "-mode", "planjob", "-family", "gpu", "-nodes", "50", "-from", "5058", "-n", "1")[0]
	if !strings.Contains(line, "|plan|") || !strings.Contains(line, "|[0 0 0 -1 0 10 0 57 -57 0]|") {
		t.Error(line)
	}
}

// TestModes: modes without a solver print what they are to print, and the others say what
// they need.
func TestModes(t *testing.T) {
	for _, c := range []struct{ args, last string }{
		{"-mode auditjob -family plain|gpu -n 4", "wrong 0"},
		{"-mode audit -nodes 6 -tasks 6 -n 2", "wrong 0"},
		{"-mode seed -family random -n 1", "random#0 nodes=50/tasks=30"},
		{"-mode inturn -family ^prio -nodes 10 -n 4", "prio     10 nodes"},
		{"-mode sizes -steps 1000 4", "asks in turn"},
		{"-mode bigaudit -least 100 -most 200 -jobs -time 200ms", "0 unlawful, 0 not applied"},
	} {
		lines := output(t, strings.Fields(c.args)...)
		if last := lines[len(lines)-1]; !strings.Contains(last, c.last) {
			t.Errorf("%s: %q is not in the last line:\n%s", c.args, c.last, last)
		}
	}
	for _, args := range []string{"-mode job", "-mode check"} {
		if err := run(append(strings.Fields(args), "-n", "0"), io.Discard); (err == nil) != linear.Present {
			t.Errorf("%s: %v", args, err)
		}
	}
	if run([]string{"-mode", "nothing"}, io.Discard) == nil {
		t.Error("there is no mode nothing")
	}
}
