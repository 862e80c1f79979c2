// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/victims"
)

// One victim too many of a hard budget is a law broken, and of a soft one an
// overrun that the outcome has to tell.
func TestAudit_Budget(t *testing.T) {
	f := newFixture(t, leaf("a"))
	require.NoError(t, f.c.SetBudget("web", victims.Budget{Left: 2, Hard: true}))
	for _, key := range []string{"a1", "a2"} {
		f.task(key, "a", 1, func(t *victims.Task) { t.Budgets = []string{"web"} })
	}
	o := f.enforce("a", slots(0))
	require.Equal(t, []string{"a1", "a2"}, keys(o))
	auditor := &victims.Auditor{Cluster: f.c}
	require.Empty(t, auditor.Audit(nil, o, o.Plan.At))
	for hard, want := range map[bool]string{true: finding.LawBudget, false: finding.LawOverrun} {
		require.NoError(t, f.c.SetBudget("web", victims.Budget{Left: 1, Hard: hard}))
		found := auditor.Audit(nil, o, o.Plan.At)
		require.Len(t, found, 1)
		require.Equal(t, want, found[0].Law)
		if hard {
			require.Equal(t, []int64{2, 1}, []int64{found[0].Have, found[0].Want}, "two victims of one")
		}
	}
}
