// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// addGang creates a PodGroup that can be disrupted only as a whole, and needs so many
// pods; with 0 it is a basic one, which needs none. A controller that does not run here would have to let it go, so that each story
// has one of another name.
func (w *world) addGang(t *testing.T, name string, minCount int32) {
	policy := schedulingv1beta1.PodGroupSchedulingPolicy{Basic: &schedulingv1beta1.BasicSchedulingPolicy{}}
	if minCount > 0 {
		policy = schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: minCount}}
	}
	groups := w.client.SchedulingV1beta1().PodGroups("default")
	_, err := groups.Create(t.Context(), &schedulingv1beta1.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: schedulingv1beta1.PodGroupSpec{
			PriorityClassName: "mid",
			SchedulingPolicy:  policy,
			DisruptionMode:    &schedulingv1beta1.DisruptionMode{All: &schedulingv1beta1.AllDisruptionMode{}},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// member makes a pod a member of a PodGroup.
func member(gang string, p *v1.Pod) *v1.Pod {
	p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &gang}
	return p
}

// wholeGang: a PodGroup that can be disrupted only as a whole. One of its pods would
// do for the first pod that asks, but then a pod that is in no group is cheaper. For
// the second one both of its pods go, on two nodes.
func wholeGang(t *testing.T, w *world) {
	w.addGang(t, "gang", 2)
	w.addNodes(t, node("n1", "4"), node("n2", "4"), node("n3", "4"))
	w.run(t, member("gang", on("n1", pod("g-0", "batch", "mid", "4"))), member("gang", on("n2", pod("g-1", "batch", "mid", "4"))),
		on("n3", pod("single", "batch", "mid", "4")))
	w.schedule(t, queues(map[string]string{"prod": "8"}))
	w.run(t, pod("web-0", "prod", "high", "4"))
	w.settle(t)
	require.Equal(t, []string{"batch/single"}, w.gonePods())
	w.run(t, pod("web-1", "prod", "high", "4"))
	w.settle(t)
	require.Equal(t, []string{"batch/g-0", "batch/g-1", "batch/single"}, w.gonePods())
}

// preemptingGang: both pods of a gang get their places by one plan, and teamb keeps
// its guarantee.
func preemptingGang(t *testing.T, w *world) {
	w.addGang(t, "pair", 2)
	w.addNodes(t, node("n1", "4"), node("n2", "4"), node("n3", "4"))
	w.run(t, on("n1", pod("etl-0", "batch", "low", "4")), on("n2", pod("etl-1", "batch", "low", "4")),
		on("n3", pod("b", "teamb", "low", "4")))
	w.controllers()
	w.schedule(t, queues(map[string]string{"prod": "8", "teamb": "4"}))
	w.run(t, member("pair", pod("web-0", "prod", "mid", "4")), member("pair", pod("web-1", "prod", "mid", "4")))
	w.settle(t)
	require.Equal(t, []string{"batch/etl-0", "batch/etl-1"}, w.gonePods())
}

// hopelessGang: only two of three places can be had, and so nobody goes.
func hopelessGang(t *testing.T, w *world) {
	w.addGang(t, "trio", 3)
	w.addNodes(t, node("n1", "4"), node("n2", "4"), node("n3", "4"))
	w.run(t, on("n1", pod("etl-0", "batch", "low", "4")), on("n2", pod("etl-1", "batch", "low", "4")),
		on("n3", pod("b", "teamb", "low", "4")))
	w.schedule(t, queues(map[string]string{"prod": "12", "teamb": "4"}))
	for _, name := range []string{"web-0", "web-1", "web-2"} {
		w.add(t, member("trio", pod(name, "prod", "mid", "4")))
	}
	w.settle(t)
	require.Empty(t, w.gonePods())
	require.Zero(t, w.running("prod"))
}

// gangWithoutGuarantee: a queue without a guarantee takes from nobody else, whatever the
// priority of its gang, and there is not enough of its own.
func gangWithoutGuarantee(t *testing.T, w *world) {
	w.addGang(t, "quartet", 2)
	w.addNodes(t, node("n1", "4"), node("n2", "4"))
	w.run(t, on("n1", pod("etl", "batch", "low", "4")), on("n2", pod("b", "teamb", "low", "4")))
	w.schedule(t, queues(nil))
	w.add(t, member("quartet", pod("big-0", "batch", "mid", "4")), member("quartet", pod("big-1", "batch", "mid", "4")))
	w.settle(t)
	require.Empty(t, w.gonePods())
}

// gangAmongEquals: a gang takes back what its queue is guaranteed from pods of its own
// priority, as a single pod does, and not if priorities are strict. teamb has its
// guarantee and keeps it.
func gangAmongEquals(t *testing.T, w *world) {
	w.addGang(t, "equals", 2)
	w.addNodes(t, node("n1", "4"), node("n2", "4"), node("n3", "4"))
	w.run(t, on("n1", pod("etl-0", "batch", "mid", "4")), on("n2", pod("b", "teamb", "mid", "4")),
		on("n3", pod("etl-1", "batch", "mid", "4")))
	w.controllers()
	a := queues(map[string]string{"prod": "8", "teamb": "4"})
	stop := w.schedule(t, a.with("strictPriority", true))
	w.add(t, member("equals", pod("web-0", "prod", "mid", "4")), member("equals", pod("web-1", "prod", "mid", "4")))
	w.settle(t)
	require.Empty(t, w.gonePods())
	stop()
	w.schedule(t, a)
	eventually(t, "prod runs", func() bool { return w.running("prod") == 2 })
	w.settle(t)
	require.Equal(t, []string{"batch/etl-0", "batch/etl-1"}, w.gonePods())
	require.True(t, w.event(t, "Preempted", "of queue root.prod, guaranteed 8"))
}

// gangOverGuarantee: its first pod alone is all that prod is guaranteed. So a gang of two
// takes nobody, of lower priority either: that is as if its pods had asked one by one.
func gangOverGuarantee(t *testing.T, w *world) {
	before := metric(t, "preempt_by_queue_decisions_total", "over-guarantee")
	w.addGang(t, "greedy", 2)
	w.addNodes(t, node("n1", "4"), node("n2", "4"))
	w.run(t, on("n1", pod("etl-0", "batch", "low", "4")), on("n2", pod("etl-1", "batch", "low", "4")))
	w.schedule(t, queues(map[string]string{"prod": "4"}))
	w.add(t, member("greedy", pod("web-0", "prod", "mid", "4")), member("greedy", pod("web-1", "prod", "mid", "4")))
	w.settle(t)
	require.Empty(t, w.gonePods())
	require.Greater(t, metric(t, "preempt_by_queue_decisions_total", "over-guarantee"), before)
}

// gangIsWoken: teamb has its guarantee and no more, and then a pod on another node. Now it
// can give, and a gang of one that was refused is told.
func gangIsWoken(t *testing.T, w *world) {
	w.addGang(t, "solo", 1)
	w.addNodes(t, node("n1", "8"), node("n2", "4"))
	w.run(t, on("n1", pod("b-0", "teamb", "mid", "4")), on("n1", pod("b-1", "teamb", "mid", "4")))
	w.schedule(t, queues(map[string]string{"prod": "8", "teamb": "8"}))
	web := member("solo", pod("web", "prod", "mid", "4"))
	web.Spec.NodeSelector = map[string]string{v1.LabelHostname: "n1"}
	w.add(t, web)
	w.settle(t)
	require.Empty(t, w.gonePods())
	w.add(t, on("n2", pod("b-2", "teamb", "mid", "4")))
	eventually(t, "prod runs", func() bool { return w.running("prod") == 1 })
	w.settle(t)
	require.Len(t, w.gonePods(), 1)
	require.Equal(t, 2, w.running("teamb"))
}

// gangAfterDelay: a gang may preempt once it is pending for the delay of its queue, and is
// tried again then, though nothing happens.
func gangAfterDelay(t *testing.T, w *world) {
	w.addGang(t, "patient", 2)
	w.addNodes(t, node("n1", "8"))
	w.run(t, on("n1", pod("etl", "batch", "mid", "8")))
	before := metric(t, "preempt_by_queue_decisions_total", "too-early")
	w.schedule(t, args{"defaultQueue": "batch", "root": args{"queues": []any{args{"name": "batch"},
		args{"name": "prod", "guaranteed": args{"cpu": "8"}, "properties": args{"preemption.delay": "3s"}}}}})
	w.run(t, member("patient", pod("web-0", "prod", "mid", "4")), member("patient", pod("web-1", "prod", "mid", "4")))
	w.settle(t)
	require.Equal(t, []string{"batch/etl"}, w.gonePods())
	require.Greater(t, metric(t, "preempt_by_queue_decisions_total", "too-early"), before)
}

// gangForGang: a gang of two takes the places of a gang of three, all of whose pods go
// at once, and not that of a team within its guarantee.
func gangForGang(t *testing.T, w *world) {
	w.addGang(t, "guests", 3)
	w.addGang(t, "hosts", 2)
	var pods []*v1.Pod
	for i := range 3 {
		n := fmt.Sprint("n", i)
		w.addNodes(t, node(n, "4"))
		pods = append(pods, member("guests", on(n, pod(fmt.Sprint("g-", i), "batch", "low", "4"))))
	}
	w.addNodes(t, node("n3", "4"))
	w.run(t, append(pods, on("n3", pod("b", "teamb", "low", "4")))...)
	w.schedule(t, queues(map[string]string{"prod": "8", "teamb": "4"}))
	w.run(t, member("hosts", pod("web-0", "prod", "mid", "4")), member("hosts", pod("web-1", "prod", "mid", "4")))
	w.settle(t)
	require.Equal(t, []string{"batch/g-0", "batch/g-1", "batch/g-2"}, w.gonePods())
}

// restOfGang: once the minimum runs, each other pod takes what prod is still guaranteed,
// from pods of its own priority, too. The last one would be beyond it. A pod that is for
// another node is not in the way of those after it.
func restOfGang(t *testing.T, w *world) {
	w.addGang(t, "quintet", 2)
	var pods []*v1.Pod
	for i := range 4 {
		n := fmt.Sprint("n", i)
		w.addNodes(t, node(n, "4"))
		pods = append(pods, on(n, pod(fmt.Sprint("etl-", i), "batch", "mid", "4")))
	}
	w.addNodes(t, node("n4", "4"))
	w.run(t, append(pods, on("n4", pod("b", "teamb", "low", "4")))...)
	w.schedule(t, queues(map[string]string{"prod": "12", "teamb": "4"}))
	w.run(t, member("quintet", pod("web-0", "prod", "mid", "4")), member("quintet", pod("web-1", "prod", "mid", "4")))
	w.settle(t)
	require.Len(t, w.gonePods(), 2)
	stuck := member("quintet", pod("web-2", "prod", "mid", "4"))
	stuck.Spec.NodeSelector = map[string]string{v1.LabelHostname: "n4"}
	w.add(t, stuck, member("quintet", pod("web-3", "prod", "mid", "4")), member("quintet", pod("web-4", "prod", "mid", "4")))
	eventually(t, "prod runs", func() bool { return w.running("prod") == 3 })
	w.settle(t)
	require.Equal(t, 3, w.evictedOf("batch"))
	require.Equal(t, 1, w.running("teamb"))
	require.Equal(t, 3, w.running("prod"))
}

// basicGroup: a basic group has no minimum. Its pods take what prod is guaranteed, while
// the first victim is still leaving.
func basicGroup(t *testing.T, w *world) {
	w.addGang(t, "crowd", 0)
	w.addNodes(t, node("n1", "8"), node("n2", "4"))
	w.run(t, on("n1", pod("etl-0", "batch", "low", "4")), on("n1", pod("etl-1", "batch", "mid", "4")), on("n2", pod("b", "teamb", "low", "4")))
	w.schedule(t, queues(map[string]string{"prod": "8", "teamb": "4"}))
	w.hold()
	for _, name := range []string{"web-0", "web-1", "web-2"} {
		w.add(t, member("crowd", pod(name, "prod", "mid", "4")))
	}
	eventually(t, "two are told to go", func() bool { return w.running("batch") == 0 })
	w.release()
	eventually(t, "prod runs", func() bool { return w.running("prod") == 2 })
	w.settle(t)
	require.Equal(t, []string{"batch/etl-0", "batch/etl-1"}, w.gonePods())
	require.Equal(t, 2, w.running("prod"))
}

// gangForPorts: there is room for both pods, but the port that each of them needs is held on
// every node. teamb keeps its guarantee, and who does not hold the port stays.
func gangForPorts(t *testing.T, w *world) {
	w.addGang(t, "servers", 2)
	w.addNodes(t, node("n1", "4"), node("n2", "4"), node("n3", "4"))
	w.run(t, on("n1", withPort(80, pod("b", "teamb", "low", "1"))), on("n2", withPort(80, pod("a-0", "batch", "mid", "1"))),
		on("n3", withPort(80, pod("a-1", "batch", "mid", "1"))), on("n3", pod("etl", "batch", "low", "1")))
	w.schedule(t, queues(map[string]string{"prod": "4", "teamb": "1"}))
	w.run(t, member("servers", withPort(80, pod("web-0", "prod", "mid", "1"))), member("servers", withPort(80, pod("web-1", "prod", "mid", "1"))))
	w.settle(t)
	require.Equal(t, []string{"batch/a-0", "batch/a-1"}, w.gonePods())
}

// gangForTooManyPorts: one of the two ports can be had. So nobody goes, and all that was
// planned for the first pod is taken back: a pod that asks by itself gets it.
func gangForTooManyPorts(t *testing.T, w *world) {
	w.addGang(t, "listeners", 2)
	w.addNodes(t, node("n1", "4"), node("n2", "4"))
	w.run(t, on("n1", withPort(80, pod("b", "teamb", "low", "1"))), on("n2", withPort(80, pod("a", "batch", "mid", "1"))))
	w.schedule(t, queues(map[string]string{"prod": "4", "teamb": "1"}))
	w.add(t, member("listeners", withPort(80, pod("web-0", "prod", "mid", "1"))), member("listeners", withPort(80, pod("web-1", "prod", "mid", "1"))))
	w.settle(t)
	require.Empty(t, w.gonePods())
	w.run(t, withPort(80, pod("single", "prod", "mid", "1")))
	w.settle(t)
	require.Equal(t, []string{"batch/a"}, w.gonePods())
	require.Equal(t, "n2", w.get(t, "single").Spec.NodeName)
}

// gangApart: its pods keep away from noise, which amounts do not know, and so goes on both
// nodes, in the place of who is of lower priority.
func gangApart(t *testing.T, w *world) {
	w.addGang(t, "quiet", 2)
	w.addNodes(t, node("n1", "4"), node("n2", "4"))
	w.run(t, on("n1", labelled("app", "noise", pod("a-0", "batch", "mid", "1"))), on("n1", pod("etl", "batch", "low", "1")),
		on("n2", labelled("app", "noise", pod("a-1", "batch", "mid", "1"))))
	w.schedule(t, queues(map[string]string{"prod": "8"}))
	w.run(t, member("quiet", keptApart(v1.LabelHostname, "noise", pod("web-0", "prod", "mid", "3"))),
		member("quiet", keptApart(v1.LabelHostname, "noise", pod("web-1", "prod", "mid", "3"))))
	w.settle(t)
	require.Equal(t, []string{"batch/a-0", "batch/a-1"}, w.gonePods())
}
