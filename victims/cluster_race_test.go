// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"errors"
	"flag"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/workload"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// TestReadsTogether decides with several planners over one cluster at the same
// time, right after a change, while others read and clone it. The race detector
// sees whether a decision writes what another one reads; without it the answers
// must be the same as one by one. DESIGN.md, Identity.
func TestReadsTogether(t *testing.T) {
	w := workload.W{Nodes: 40, Tasks: 8, Tree: workload.Tree4x100}
	cluster := w.Build()
	decide := func(k int64) (*victims.Decision, error) {
		p := &jobs.Planner{Cluster: cluster}
		ask := w.Ask(cluster, k)
		d := new(victims.Decision)
		return d, errors.Join(p.Decide(d, &ask, workload.Now), d.Count())
	}
	for round := range 3 {
		// A change leaves digests to be made anew by whoever decides first.
		for n := range cluster.Nodes() {
			for id := range cluster.TasksOn(n) {
				require.NoError(t, cluster.SetCost(cluster.Key(id), int64(round)))
				break
			}
		}
		var group sync.WaitGroup
		got, errs := make([]*victims.Decision, 4), make([]error, 4)
		for i := range got {
			group.Go(func() { got[i], errs[i] = decide(int64(1 + i%2)) })
		}
		group.Go(func() { cluster.Clone().TaskLen() })
		group.Go(func() {
			p := &jobs.Planner{Cluster: cluster}
			ask := w.Ask(cluster, 2)
			var e victims.Explanation
			if err := p.Explain(&e, &ask, workload.Now); err != nil {
				panic(err)
			}
		})
		group.Go(func() {
			for id := range cluster.Tasks() {
				_ = cluster.Task(id)
			}
			_ = fmt.Sprint(cluster.Tree(), cluster.Capacity(), cluster.Version())
		})
		group.Wait()
		for i := range got {
			require.NoError(t, errs[i])
			want, err := decide(int64(1 + i%2))
			require.NoError(t, err)
			if diff := cmp.Diff(want, got[i], cmpopts.IgnoreUnexported(victims.Decision{}, victims.Help{}), cmp.AllowUnexported(victims.Refusal{}, victims.Protector{}), cmpopts.EquateComparable(victims.Version{}), cmp.Comparer(func(a, b victims.Cost) bool { return a.Compare(&b) == 0 })); diff != "" {
				t.Fatalf("alone (-) and together (+):\n%s", diff)
			}
		}
	}
}

var misuse = flag.Bool("cluster.misuse", false, "change a cluster from two goroutines at once")

// TestChangesTogether does what must not be done. The race detector says so, and
// the test has to fail:
//
//	go test -race -run ChangesTogether ./victims -cluster.misuse
func TestChangesTogether(t *testing.T) {
	if !*misuse {
		t.Skip("set -cluster.misuse, under the race detector, to see it fail")
	}
	cluster := workload.W{Nodes: 4, Tasks: 2, Tree: workload.Tree4x100}.Build()
	var group sync.WaitGroup
	for i := range 2 {
		group.Go(func() {
			if err := cluster.SetBudget("shared", victims.Budget{Left: int64(i)}); err != nil {
				panic(err)
			}
		})
	}
	group.Wait()
	if b, ok := cluster.Budget("shared"); !ok || b.Left > 1 {
		t.Errorf("the budget is %v, %t", b, ok)
	}
}
