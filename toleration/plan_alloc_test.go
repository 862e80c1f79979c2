// SPDX-License-Identifier: Apache-2.0

package toleration_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/toleration"
	"github.com/go-preempt/preempt/victims"
)

// A planner with an exemption function allocates no more than without: nothing,
// once it is warm. That holds for plans, for refusals, and for the search for
// the instant at which to try again.
func TestPlanner_NoAllocs(t *testing.T) {
	for _, w := range (workload.W{Nodes: 20, Tasks: 10, Tree: workload.Tree2x10}).Kinds() {
		cluster := w.Build()
		policies := make([]toleration.Policy, 1000) // by row
		exempt := func(e *victims.Question) (time.Time, bool) {
			return policies[e.Task].Until(e.Cluster.Scheduled(e.Task), e.Ask.Priority)
		}
		for _, test := range []struct {
			name   string
			exempt func(*victims.Question) (time.Time, bool)
			policy func(id victims.TaskID) toleration.Policy
		}{
			{"without", nil, func(victims.TaskID) toleration.Policy { return toleration.Policy{} }},
			{"nobody", exempt, func(victims.TaskID) toleration.Policy { return toleration.Policy{} }},
			{"some", exempt, func(id victims.TaskID) toleration.Policy {
				return toleration.Policy{MinimumPreemptablePriority: 100, Seconds: -int64(id % 2)}
			}},
			{"all for ever", exempt, func(victims.TaskID) toleration.Policy {
				return toleration.Policy{MinimumPreemptablePriority: 100, Seconds: -1}
			}},
			{"all for a time", exempt, func(id victims.TaskID) toleration.Policy {
				return toleration.Policy{MinimumPreemptablePriority: 100, Seconds: 1e8 + int64(id)}
			}},
		} {
			t.Run(w.String()+"/"+test.name, func(t *testing.T) {
				for id := range cluster.Tasks() {
					policies[id] = test.policy(id)
				}
				s := w.Subject(cluster, 4)
				s.Planner.Exempt = test.exempt
				n := testing.AllocsPerRun(10, s.Decide)
				require.Zero(t, n)
				wantPlan := !w.Protected && test.name != "all for ever" && test.name != "all for a time"
				require.Equal(t, wantPlan, s.Decision.Outcome == victims.Preempts)
				wantRetry := !w.Protected && test.name == "all for a time"
				require.Equal(t, wantRetry, !s.Decision.Refusal.RetryAt.IsZero())
			})
		}
	}
}
