// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/world"
	"github.com/go-preempt/preempt/victims"
)

// A job that is not worth another try is refused still, whatever has happened.
func propertyWorth(t *rapid.T) {
	shape := world.Small
	if rapid.IntRange(0, 3).Draw(t, "features") == 0 {
		shape = shape.With(everything)
	}
	c := world.JobCases(shape).Draw(t, "case")
	c.SetOwnLeaf("")
	c.ByPriority = rapid.IntRange(0, 9).Draw(t, "by priority") == 0
	h := newHarness(t, c)
	if rapid.IntRange(0, 9).Draw(t, "quotas") > 0 {
		h.planner.Admit = nil
	}
	m := &meanwhile{harness: h, t: t, now: c.Options.Now, any: true}
	before := m.decide()
	if before.Outcome != victims.Refused {
		return
	}
	var help victims.Help
	help.CopyFrom(&before.Refusal.Help)
	m.help, m.until = &help, before.Refusal.RetryAt
	for range 6 {
		m.next()
		if help.MayHaveChanged(h.cluster, m.now) {
			continue
		}
		if after := m.decide(); after.Outcome != victims.Refused {
			t.Fatalf("%v after %q\n%s%v", after.Outcome, m.done, before.String(), c)
		}
	}
}

func TestWorth_NeverTooFew(t *testing.T) { law.Check3000(t, propertyWorth) }

func FuzzWorth(f *testing.F) { f.Fuzz(rapid.MakeFuzz(propertyWorth)) }
