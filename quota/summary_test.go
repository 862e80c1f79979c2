// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/golden"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// The texts that programs get, to be read: testdata/report.golden.
func TestReport_Golden(t *testing.T) {
	f := newFixture(t, queue.Config{Name: "p", Max: both(20, 4), Children: []queue.Config{leaf("a", slots(3)), leaf("b")}})
	f.task("t1", "p.a", 2, optedOut)
	f.task("t2", "p.a", 2, priority(4), originator)
	f.task("u1", "p.b", 4, withDisks(1))
	f.task("u2", "p.b", 3, requiredNode)
	f.grant("g", "p.b", 1)
	var b strings.Builder
	for _, most := range []int64{12, 10, 4} {
		report := f.enforce("p", slots(most))
		text, err := json.Marshal(report)
		require.NoError(t, err)
		var indented bytes.Buffer
		require.NoError(t, json.Indent(&indented, text, "", " "))
		b.WriteString(indented.String() + "\n")
	}
	golden.Compare(t, "testdata/report.golden", b.String())
	require.Equal(t, "nothing is decided", (&victims.Decision{}).Summary())
}

// Victims say what they are by themselves, so that nothing changes when they have
// gone.
func TestReport_AfterTheVictims(t *testing.T) {
	f := newFixture(t, queue.Config{Name: "p", Children: []queue.Config{leaf("a")}})
	f.task("t1", "p.a", 2, optedOut, priority(4))
	f.task("t2", "p.a", 3)
	o := f.enforce("p", slots(0))
	require.Len(t, o.Plan.Victims, 2)
	report, text := marshalled(t, o), o.String()
	require.NoError(t, f.c.RemoveTask("t1"))
	require.NoError(t, f.c.RemoveTask("t2"))
	require.Equal(t, report, marshalled(t, o))
	require.Equal(t, text, o.String())
}

func marshalled(t *testing.T, d *victims.Decision) string {
	text, err := json.Marshal(d)
	require.NoError(t, err)
	return string(text)
}
