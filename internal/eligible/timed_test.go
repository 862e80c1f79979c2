// SPDX-License-Identifier: Apache-2.0

package eligible

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

type exemptForEver struct{}

func (exemptForEver) Exempts(int32) (until time.Time, exempt bool) { return time.Time{}, true }

// A task counts at the first rule that keeps it: of those that quotas have a word for, if one asks, and without the
// one that an explanation waives.
func TestTimed_Keeps(t *testing.T) {
	schema, err := resources.NewSchema("gpu")
	require.NoError(t, err)
	tree, err := queue.New(schema, queue.Config{Name: "root", Policies: queue.Policies{MinRuntime: new(time.Hour)}})
	require.NoError(t, err)
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	var x Timed
	keeps := func(t Stay) string { return x.Keeps(t).String() }
	x.Reset(tree, now)
	require.Empty(t, keeps(Stay{}))
	young := Stay{Scheduled: now.Add(-time.Minute)}
	both := Stay{Scheduled: young.Scheduled, Refused: now.Add(1)}
	require.Equal(t, []string{"exempt", "refused"}, []string{keeps(young), keeps(both)})
	x.Waived = func(rule rulebook.Rule, _ Stay) bool { return rule == rulebook.RuleRefused }
	require.Equal(t, []string{"exempt", "exempt"}, []string{keeps(young), keeps(both)})

	x.Reset(tree, now)
	x.OfQuota, x.Exempts = true, exemptForEver{}
	require.Equal(t, []string{"", "refused"}, []string{keeps(young), keeps(both)})
	x.Horizon = both.Refused
	require.Empty(t, keeps(both))
}
