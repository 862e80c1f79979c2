// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestCluster tells stories against one API server, one after another.
func TestCluster(t *testing.T) {
	w := newWorld(t, "AlwaysAllow")
	stories, told := []struct {
		name string
		tell func(*testing.T, *world)
	}{
		{"DefaultPreemption goes by priority alone", defaultPreemption},
		{"three full nodes", threeFullNodes},
		{"host port", hostPort},
		{"required anti-affinity", antiAffinity},
		{"required anti-affinity by zone", zoneAntiAffinity},
		{"a claim that one pod may use", oneUser},
		{"a claim that a guarantee protects", oneUserOfGuarantee},
		{"a Filter plugin that nobody knows", foreignFilter},
		{"a Filter plugin that nobody knows, and amounts", foreignFilterAndAmounts},
		{"a selector that fits few nodes", selector},
		{"soft disruption budget", softBudget},
		{"hard disruption budget", hardBudget},
		{"dry run", dryRun},
		{"equal priority", equalPriority},
		{"a higher priority within a queue", withinQueue},
		{"max of a queue", maxOfQueue},
		{"restart while victims terminate", restart},
		{"a finalizer that never ends", finalizer},
		{"an eviction that the API refuses", refusedEviction},
		{"a pod of a DaemonSet", daemonSet},
		{"two profiles", twoProfiles},
		{"a granted place is kept", keptPlace},
		{"a granted place is taken over", takenPlace},
		{"a granted place is partly free", usedPlace},
		{"queues in a ConfigMap", configMap},
		{"a gang goes as a whole", wholeGang},
		{"a gang preempts", preemptingGang},
		{"a gang that cannot have all its places", hopelessGang},
		{"a gang of a queue without a guarantee", gangWithoutGuarantee},
		{"a gang among equals", gangAmongEquals},
		{"a gang that exceeds the guarantee", gangOverGuarantee},
		{"a gang that is woken", gangIsWoken},
		{"a gang that waits for the delay", gangAfterDelay},
		{"a gang for a gang", gangForGang},
		{"the rest of a gang", restOfGang},
		{"a basic group", basicGroup},
		{"a gang for ports", gangForPorts},
		{"a gang for too many ports", gangForTooManyPorts},
		{"a gang that keeps apart", gangApart},
		{"a gang that a Reserve plugin refuses a place", gangForReserve},
		{"a deployment", deployment},
		{"pods without a controller", singles},
		{"a deployment over the guarantee", deploymentOverGuarantee},
		{"a class that tolerates", tolerance},
		{"a class that tolerates for a while", briefTolerance},
		{"pods that opted out", spared},
		{"what it costs to stop a pod", stopCost},
		{"a class that must not preempt", politePod},
		{"a disruption budget with more left", budgetGrows},
		{"a queue that comes to be over its guarantee", othersGrow},
		{"pods that are alike", batching},
		{"debug pages", debugPages},
	}, 0
	if testing.Short() {
		stories = stories[:2] // those of the README's table
	}
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			told++
			w.story(t)
			s.tell(t, w)
			require.Zero(t, metric(t, "preempt_by_queue_audit_violations_total"))
			require.Zero(t, metric(t, "preempt_by_queue_drift_total"))
			require.Zero(t, metric(t, "preempt_by_queue_pods_not_mirrored_total"))
		})
	}
	if told < len(stories) || testing.Short() {
		return
	}
	for _, name := range []string{"decisions_total", "victims_total", "plans_total", "predicate_calls_total", "decide_duration_seconds",
		"sync_duration_seconds", "grant_duration_seconds", "queue_under_guarantee_seconds_total", "eviction_failures_total"} {
		require.NotZero(t, metric(t, "preempt_by_queue_"+name), name)
	}
}

// fillThreeNodes fills three nodes of 8 cores: teamb runs 8 cores at priority 0,
// batch runs 16 at priority 10.
func fillThreeNodes(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "8"), node("n2", "8"), node("n3", "8"))
	pods := []*v1.Pod{on("n1", pod("big", "batch", "mid", "4"))}
	for i, n := range []string{"n1", "n1", "n2", "n3"} {
		pods = append(pods, on(n, pod(fmt.Sprint("b-", i), "teamb", "low", "2")))
	}
	for i := range 12 {
		pods = append(pods, on([]string{"n2", "n3"}[i%2], pod(fmt.Sprint("etl-", i), "batch", "mid", "1")))
	}
	w.run(t, pods...)
	w.controllers()
}

// prodAsks has prod ask for 12 cores at priority 100.
func prodAsks(t *testing.T, w *world) {
	for i := range 3 {
		w.add(t, pod(fmt.Sprint("web-", i), "prod", "high", "4"))
	}
	eventually(t, "prod runs", func() bool { return w.running("prod") == 3 })
	w.settle(t)
}

// defaultPreemption is what the plugin is for: teamb is of the lowest priority, and
// loses everything.
func defaultPreemption(t *testing.T, w *world) {
	fillThreeNodes(t, w)
	w.scheduleProfiles(t, "")
	prodAsks(t, w)
	require.Zero(t, w.running("teamb"))
}

// threeFullNodes: teamb is within its guarantee, and batch has none. Pods that were
// evicted are created again at once, and do not come back.
func threeFullNodes(t *testing.T, w *world) {
	fillThreeNodes(t, w)
	before := metric(t, "preempt_by_queue_plans_total")
	w.schedule(t, queues(map[string]string{"prod": "12", "teamb": "8"}))
	prodAsks(t, w)
	require.Equal(t, 4, w.running("teamb"))
	require.Zero(t, w.evictedOf("teamb"), w.gonePods())
	require.Zero(t, w.evictedOf("prod"), w.gonePods())
	// A node of 8 has 2 cores of teamb on n2 and n3, so 4 etl go there for a web; on
	// n1 it is the big one. Each web is one plan, and no plan comes twice.
	require.Equal(t, 9, w.evictedOf("batch"), w.gonePods())
	require.Equal(t, 4, w.running("batch"))
	require.LessOrEqual(t, metric(t, "preempt_by_queue_plans_total")-before, 12.0/4+8.0/2, "the bound of storm freedom")
	require.True(t, w.event(t, "Preempted", "of queue root.prod, guaranteed 12"))
}

// event reports whether there is an event of a reason with a text in its note.
func (w *world) event(t *testing.T, reason, note string) bool {
	events, err := w.client.EventsV1().Events("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for _, e := range events.Items {
		if e.Reason == reason && strings.Contains(e.Note, note) {
			return true
		}
	}
	return false
}

// hostPort: the one who holds the port goes, and nobody else, though there is room.
func hostPort(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "8"))
	w.run(t, on("n1", withPort(8080, pod("holder", "batch", "mid", "1"))), on("n1", pod("other", "batch", "low", "1")))
	w.schedule(t, queues(map[string]string{"prod": "4"}))
	w.run(t, withPort(8080, pod("web", "prod", "high", "1")))
	w.settle(t)
	require.Equal(t, []string{"batch/holder"}, w.gonePods())
}

// antiAffinity: pods that must not be on the same node as the asking one go.
func antiAffinity(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "8"))
	w.run(t, on("n1", labelled("app", "noisy", pod("noisy", "batch", "mid", "1"))), on("n1", pod("other", "batch", "low", "1")))
	w.schedule(t, queues(map[string]string{"prod": "4"}))
	web := pod("web", "prod", "high", "1")
	web.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{
			TopologyKey:   v1.LabelHostname,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "noisy"}},
		}},
	}}
	w.run(t, web)
	w.settle(t)
	require.Equal(t, []string{"batch/noisy"}, w.gonePods())
}

// selector: the filter plugins are asked about nodes again only if the selector
// allows them.
func selector(t *testing.T, w *world) {
	var pods []*v1.Pod
	for i := range 200 {
		n := node(fmt.Sprintf("n%03d", i), "4")
		if i >= 197 {
			n.Labels["zone"] = "z"
		}
		w.addNodes(t, n)
		pods = append(pods, on(n.Name, pod("etl-"+n.Name, "batch", "mid", "4")))
	}
	w.run(t, pods...)
	w.schedule(t, queues(map[string]string{"prod": "8"}))
	before := metric(t, "preempt_by_queue_predicate_calls_total")
	web := pod("web", "prod", "high", "4")
	web.Spec.NodeSelector = map[string]string{"zone": "z"}
	w.run(t, web)
	w.settle(t)
	require.Len(t, w.gonePods(), 1)
	require.Contains(t, []string{"n197", "n198", "n199"}, w.get(t, "web").Spec.NodeName)
	require.LessOrEqual(t, metric(t, "preempt_by_queue_predicate_calls_total")-before, 3.0)
}

// equalPriority: the guarantee counts among equals, too, unless priorities are strict.
func equalPriority(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "4"))
	w.run(t, on("n1", pod("etl", "batch", "mid", "4")))
	a := queues(map[string]string{"prod": "4"})
	stop := w.schedule(t, a.with("strictPriority", true))
	w.add(t, pod("web", "prod", "mid", "4"))
	w.settle(t)
	require.Empty(t, w.gonePods())
	stop()
	w.schedule(t, a)
	eventually(t, "prod runs", func() bool { return w.running("prod") == 1 })
	require.Equal(t, []string{"batch/etl"}, w.gonePods())
}

// withinQueue: a queue without a guarantee makes room for its own, as
// DefaultPreemption does.
func withinQueue(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "4"))
	w.run(t, on("n1", pod("etl", "batch", "mid", "2")), on("n1", pod("b", "teamb", "low", "2")))
	w.schedule(t, queues(nil))
	w.add(t, pod("urgent", "batch", "high", "2"))
	eventually(t, "urgent runs", func() bool { return w.get(t, "urgent").Spec.NodeName != "" })
	require.Equal(t, []string{"batch/etl"}, w.gonePods())
}

// maxOfQueue: a queue at its max gets nothing more, with room in plenty; and a pod
// of higher priority takes from its own queue.
func maxOfQueue(t *testing.T, w *world) {
	w.addNodes(t, node("n1", "16"))
	w.schedule(t, args{"defaultQueue": "batch", "root": args{"queues": []any{args{"name": "batch", "max": args{"cpu": "4"}}}}})
	w.run(t, pod("etl-0", "batch", "mid", "2"), pod("etl-1", "batch", "mid", "2"))
	w.add(t, pod("etl-2", "batch", "mid", "2"))
	w.settle(t)
	require.Contains(t, refusal(w.get(t, "etl-2")), "queue root.batch is at its max of cpu")
	w.add(t, pod("urgent", "batch", "high", "2"))
	eventually(t, "urgent runs", func() bool { return w.get(t, "urgent").Spec.NodeName != "" })
	w.settle(t)
	require.Len(t, w.gonePods(), 1)
	require.Equal(t, 2, w.running("batch"))
}
