// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Every result says what it means, and what stopped it.
func TestDescribe(t *testing.T) {
	f := newFixture(t, queue.Config{Name: "p", Max: both(20, 4), Children: []queue.Config{leaf("a", slots(3)), leaf("b")}})
	f.task("t1", "p.a", 2, optedOut)
	f.task("t2", "p.a", 2, priority(4), originator)
	f.task("u1", "p.b", 4, withDisks(1))
	f.task("u2", "p.b", 3, requiredNode)
	f.grant("g", "p.b", 1)
	text := func(most resources.Limit) string { return f.enforce("p", most).String() }

	require.Equal(t, "nothing is decided\n", (&victims.Decision{}).String())
	require.Equal(t, "root.p uses slots=12 disks=1 with a max of slots=12 (met): nothing is over\n", text(slots(12)))
	require.Equal(t, ""+
		"root.p uses slots=12 disks=1 with a max of slots=10 (met): it is within it, once these have stopped\n"+
		"  to be freed: slots=2\n"+
		"  root.p.b: asked for slots=2, gives slots=4 disks=1\n"+
		"    u1 on n1 (slots=4 disks=1, priority 0)\n"+
		"  granted places count as usage: g\n", text(slots(10)))

	require.Equal(t, ""+
		"root.p uses slots=12 disks=1 with a max of slots=4 (partial): slots=4 stay over, once these have stopped\n"+
		"  to be freed: slots=8\n"+
		"  root.p.a: asked for slots=1, gives none\n"+
		"  root.p.b: asked for slots=7, gives slots=4 disks=1\n"+
		"    u1 on n1 (slots=4 disks=1, priority 0)\n"+
		"  slots=4 stay: needed for the guarantee of root.p.a, slots=3 (guarantee)\n"+
		"  slots=3 stay: bound to a node (required-node)\n"+
		"  slots=1 stay: granted to asks that have not started (granted)\n"+
		"  granted places count as usage: g\n", text(slots(4)))

	f.e.NeverOvershoot = true
	require.Equal(t, ""+
		"root.p uses slots=12 disks=1 with a max of slots=11 (impossible): slots=1 stay over, and nobody can be taken\n"+
		"  to be freed: slots=1\n"+
		"  root.p.a: asked for slots=1, gives none\n"+ // in the second round, what b could not give
		"  root.p.b: asked for slots=1, gives none\n"+
		"  slots=4 stay: needed for the guarantee of root.p.a, slots=3 (guarantee)\n"+
		"  slots=4 stay: each task is more than what is still to be freed (overshoot)\n"+
		"  slots=3 stay: bound to a node (required-node)\n"+
		"  slots=1 stay: granted to asks that have not started (granted)\n"+
		"  granted places count as usage: g\n", text(slots(11)))
}

// Jobs, searches that were cut short, and names that are not plain.
func TestDescribe_Rest(t *testing.T) {
	f := newFixture(t, leaf("a b"))
	f.task("t\n", "a b", 2, originator, optedOut, func(t *victims.Task) { t.Job = "\x1b" })
	f.minimums(map[string]int{"\x1b": 3})
	o := f.enforce("a b", slots(0))
	o.Enforcement.Proven, o.Plan.Steps = false, 17
	require.Equal(t, ""+
		"\"root.a b\" uses slots=2 with a max of slots=0 (met): it is within it, once these have stopped\n"+
		"  to be freed: slots=2\n"+
		"  \"root.a b\": asked for slots=2, gives slots=2\n"+
		"    \"t\\n\" on n1 (slots=2, priority 0, opted out, originator)\n"+
		"  job \"\\x1b\" goes as a whole: minimum 3, running 1\n"+
		"  not proven: a search was cut short, 17 steps were taken\n", o.String())
	for _, r := range o.String() {
		require.True(t, r == '\n' || unicode.IsPrint(r))
	}
}
