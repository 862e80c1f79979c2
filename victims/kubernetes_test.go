// SPDX-License-Identifier: Apache-2.0

package victims_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A plainPod is a pod of the twin of kube-scheduler's preference.
type plainPod struct {
	key      string
	cpu      int64
	priority int32
	budget   string
}

// preference is what it compares of the victims on a node: the smaller wins.
type preference [4]int64

// preferenceOf returns it of some pods, given what budgets have left.
func preferenceOf(pods []plainPod, left map[string]int64) (p preference) {
	drawn := make(map[string]int64)
	for i, pod := range pods {
		if drawn[pod.budget]++; pod.budget != "" && drawn[pod.budget] > left[pod.budget] {
			p[0]++
		}
		if v := int64(pod.priority); i == 0 || v > p[1] {
			p[1] = v
		}
		p[2]++
		p[3] += int64(pod.priority)
	}
	return p
}

// TestKubernetes looks at all sets of pods of all nodes that kube-scheduler might preempt: of lower priority, each of
// which is needed.
func TestKubernetes(t *testing.T) { law.Check3000(t, propertyKubernetes) }

func propertyKubernetes(t *rapid.T) {
	c := plainCluster("n1", "n2", "n3")
	left := map[string]int64{"a": rapid.Int64Range(0, 2).Draw(t, "left of a"), "b": rapid.Int64Range(0, 2).Draw(t, "left of b")}
	for name, n := range left {
		require.NoError(t, c.SetBudget(name, victims.Budget{Left: n}))
	}
	nodes := make(map[string][]plainPod)
	for i := range rapid.IntRange(3, 10).Draw(t, "pods") {
		node := rapid.SampledFrom([]string{"n1", "n2", "n3"}).Draw(t, "node")
		pod := plainPod{
			key: fmt.Sprint("p", i), cpu: 500 * rapid.Int64Range(1, 4).Draw(t, "cpu"), priority: rapid.Int32Range(0, 4).Draw(t, "priority"),
			budget: rapid.SampledFrom([]string{"", "", "a", "b"}).Draw(t, "budget"),
		}
		task := victims.Task{Key: pod.key, Application: pod.key, Queue: 1, NodeName: node, Size: resources.Vector{pod.cpu}, Priority: pod.priority}
		if pod.budget != "" {
			task.Budgets = []string{pod.budget}
		}
		_, err := c.AddTask(&task)
		require.NoError(t, err)
		nodes[node] = append(nodes[node], pod)
	}
	cpu, priority := 500*rapid.Int64Range(1, 8).Draw(t, "asked"), rapid.Int32Range(0, 4).Draw(t, "its priority")
	var best *preference
	fits := false
	for _, pods := range nodes {
		free := int64(4000)
		for _, pod := range pods {
			free -= pod.cpu
		}
		fits = fits || free >= cpu
		for set := range 1 << len(pods) {
			var gone []plainPod
			freed, least := int64(0), int64(4000)
			for i, pod := range pods {
				if set>>i&1 == 1 {
					gone = append(gone, pod)
					freed, least = freed+pod.cpu, min(least, pod.cpu)
				}
			}
			if len(gone) == 0 || free+freed < cpu || free+freed-least >= cpu ||
				slices.ContainsFunc(gone, func(pod plainPod) bool { return pod.priority >= priority }) {
				continue
			}
			if p := preferenceOf(gone, left); best == nil || slices.Compare(p[:], best[:]) < 0 {
				best = &p
			}
		}
	}
	fits = fits || len(nodes) < 3
	ask := podAsk("ask", cpu, priority)
	var d victims.Decision
	require.NoError(t, (&jobs.Planner{Cluster: c, Options: victims.Kubernetes()}).Decide(&d, &ask, exampleNow))
	switch {
	case fits:
		require.Equal(t, victims.Fits, d.Outcome)
	case best == nil:
		require.Equal(t, victims.Refused, d.Outcome)
	default:
		require.Equal(t, victims.Preempts, d.Outcome, d)
		cost := &d.Plan.Cost
		require.Equal(t, *best, preference{cost.Overrun, cost.MaxPriority, int64(cost.Victims), cost.SumPriorities}, d)
		require.Equal(t, victims.ProofCost, d.Plan.Proof)
	}
}
