// SPDX-License-Identifier: Apache-2.0

package perf

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// figures are what was measured of a workload, once.
type figures struct {
	Workload, Nodes string
	Durations       []time.Duration // of the calls of PostFilter
	Rate            float64         // pods bound, or refused if none was, in a second
	Victims         int             // pods of batch that were stopped
	Wasted          int             // those for which there is still room on their nodes
}

// measure waits until nothing is on its way, and works the figures out.
func measure(b *testing.B, name string, watch *stopwatch, client kubernetes.Interface) (f figures) {
	f.Workload, f.Nodes = split(name)
	watch.mu.Lock()
	f.times(watch)
	watch.mu.Unlock()
	f.pods(b, client)
	return f
}

// times works out what the stopwatch says.
func (f *figures) times(watch *stopwatch) {
	f.Durations = slices.Sorted(slices.Values(watch.durations))
	done := watch.bound
	if len(done) == 0 {
		done = watch.refused
	}
	last := watch.first
	for _, at := range done { // in any order: the last counts
		if at.After(last) {
			last = at
		}
	}
	if took := last.Sub(watch.first); took > 0 {
		f.Rate = float64(len(done)) / took.Seconds()
	}
}

// quantile returns the smallest of some sorted durations that is no less than so many
// of a hundred of them.
func quantile(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*percent+99)/100-1]
}

// pods counts who was stopped, and who of them could be back. All pods of batch are
// alike, and nobody creates them again.
func (f *figures) pods(b *testing.B, client kubernetes.Interface) {
	var pods []v1.Pod
	calm := 0
	going := func(p v1.Pod) bool {
		if p.Spec.NodeName == "" { // what churn was about to delete when it ended stays
			return p.Status.NominatedNodeName != "" && p.DeletionTimestamp == nil
		}
		return p.DeletionTimestamp != nil
	}
	ended := assert.Eventually(b, func() bool {
		list, err := client.CoreV1().Pods("").List(context.Background(), metav1.ListOptions{ResourceVersion: "0"})
		require.NoError(b, err)
		pods = list.Items
		if calm++; slices.ContainsFunc(pods, going) {
			calm = 0
		}
		return calm == 20 // nominations are told with a delay
		// After five minutes kube-scheduler looks again at what it has parked.
	}, 6*time.Minute, 100*time.Millisecond, "pods are on their way")
	if !ended {
		for _, p := range pods {
			if going(p) {
				b.Logf("on its way: %s on %q, nominated to %q, deleted %v, conditions %v",
					p.Name, p.Spec.NodeName, p.Status.NominatedNodeName, p.DeletionTimestamp, p.Status.Conditions)
			}
		}
		b.FailNow()
	}
	nodes, err := client.CoreV1().Nodes().List(context.Background(), metav1.ListOptions{ResourceVersion: "0"})
	require.NoError(b, err)
	free, were, size := map[string]int64{}, map[string]int{}, int64(900)
	for _, n := range nodes.Items {
		free[n.Name] = n.Status.Allocatable.Cpu().MilliValue()
		were[n.Name] = f.batchOn()
	}
	for _, p := range pods {
		free[p.Spec.NodeName] -= p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
		if p.Labels["go-preempt.github.io/queue"] == "batch" {
			were[p.Spec.NodeName]--
		}
	}
	for _, n := range nodes.Items {
		stopped := were[n.Name]
		f.Victims += stopped
		f.Wasted += min(stopped, int(max(0, free[n.Name])/size))
	}
}

// batchOn is how many pods of batch there were on each node.
func (f *figures) batchOn() int {
	if f.Workload == "Refused" {
		return 1
	}
	return 4
}

// report tells the benchmark.
func (f *figures) report(b *testing.B) {
	b.ReportMetric(float64(len(f.Durations)), "postfilters")
	b.ReportMetric(quantile(f.Durations, 50).Seconds()*1000, "postfilter-p50-ms")
	b.ReportMetric(quantile(f.Durations, 99).Seconds()*1000, "postfilter-p99-ms")
	b.ReportMetric(f.Rate, "pods/s")
	b.ReportMetric(float64(f.Victims), "victims")
	b.ReportMetric(float64(f.Wasted), "wasted-victims")
}
