// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/victims"
)

// A gang takes of the room of its queue on other nodes, too: with it tasks may go too far that by themselves, all of
// the node, keep law 2. There is another set, which costs more.
func TestDecide_GangElsewhere(t *testing.T) {
	f := newFixture(t, queue.Config{Children: []queue.Config{
		{Name: "a", Guaranteed: slots(6)}, {Name: "c"}, {Name: "b", Guaranteed: slots(100)},
	}})
	f.node("n1", 12)
	f.node("n2", 6)
	inGang := func(t *victims.Task) { t.Job = "g" }
	f.task("m1", "a", "n1", 4, inGang)
	f.task("m2", "a", "n2", 6, inGang)
	require.NoError(t, f.c.SetMinMembers("g", 2))
	f.task("s1", "a", "n1", 4)
	f.task("t1", "c", "n1", 4, func(t *victims.Task) { t.OptedOut = true })
	d := f.decide(&jobs.Planner{}, f.ask("x", "b", 8))
	require.Equal(t, victims.Preempts, d.Outcome, d)
	require.Equal(t, []string{"s1", "t1"}, keysOf(d))
}
