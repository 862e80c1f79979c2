// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/law"
	"github.com/go-preempt/preempt/internal/world"
	"github.com/go-preempt/preempt/victims"
)

// An ask that is not worth another try is refused still, whatever has happened.
func propertyWorth(t *rapid.T) {
	shape := world.Small
	if rapid.IntRange(0, 9).Draw(t, "crowded") == 9 {
		shape = world.Crowded
	}
	switch rapid.IntRange(0, 3).Draw(t, "features") {
	case 0:
		shape = shape.With(world.Everything | world.WithNearby)
	case 1:
		shape = shape.With(world.WithBudgets | world.WithGrants)
	}
	k := world.Cases(shape).Draw(t, "case")
	c := build(t, &k.World)
	p, ask := world.CasePlanner(c, k), askOf(t, c, &k.Ask)
	var before, after victims.Decision
	require.NoError(t, p.Decide(&before, &ask, k.Options.Now))
	if before.Outcome != victims.Refused {
		return
	}
	var help victims.Help
	help.CopyFrom(&before.Refusal.Help)
	m := &meanwhile{t: t, c: c, k: k, help: &help, now: k.Options.Now, until: before.Refusal.RetryAt, any: true}
	for range 6 {
		m.next()
		if help.Worth(c, m.now) {
			continue
		}
		require.NoError(t, p.Decide(&after, &ask, m.now))
		if after.Outcome != victims.Refused {
			t.Fatalf("%v after %q\n%s%s%v", after.Outcome, m.done, before.Describe(c), help.Describe(c), &k.World)
		}
	}
}

func TestWorth_NeverTooFew(t *testing.T) { law.Check3000(t, propertyWorth) }

func FuzzWorth(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(rapid.MakeFuzz(propertyWorth))
}
