// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/go-preempt/preempt/victims"
)

// runsAndAsks has a pod of one PodGroup run on a full node and one of another ask, both of
// pod priority 0, and returns what is decided.
func runsAndAsks(t *testing.T, runs, asks string, groups *groups) (victims.Outcome, *core) {
	c := plainCore(t)
	c.groups = groups
	member := func(group string) *v1.Pod {
		p := newPlainPod(group+"-0", 4, 0)
		p.Namespace, p.Spec.SchedulingGroup = "ns", &v1.PodSchedulingGroup{PodGroupName: &group}
		return p
	}
	info := framework.NewNodeInfo()
	info.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Status: v1.NodeStatus{Allocatable: list(4)}})
	running := member(runs)
	running.Spec.NodeName = "n1"
	info.AddPod(running)
	c.sync([]fwk.NodeInfo{info})
	c.alone()
	ask, err := c.ask(member(asks))
	require.NoError(t, err)
	require.NoError(t, c.decide(&ask, plainStart.AddDate(1, 0, 0)))
	return c.decision.Outcome, c
}

// TestMemberPriority: a pod that runs has the priority of its highest group, with which it
// asked. So of two groups one may stop the other, and never both each other.
func TestMemberPriority(t *testing.T) {
	of := map[string]int32{"low": 3, "high": 9}
	flat := &groups{pods: func(ns, name string) (*schedulingv1beta1.PodGroup, error) {
		g := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
		priority := of[name]
		g.Spec.Priority = &priority
		return g, nil
	}}
	flat.composites = func(string, string) (*schedulingv1alpha3.CompositePodGroup, error) { return nil, fmt.Errorf("none") }
	above := &groups{
		pods: func(ns, name string) (*schedulingv1beta1.PodGroup, error) {
			g := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
			same := int32(5)
			g.Spec.Priority, g.Spec.ParentCompositePodGroupName = &same, &name
			return g, nil
		},
		composites: func(_, name string) (*schedulingv1alpha3.CompositePodGroup, error) {
			g, priority := &schedulingv1alpha3.CompositePodGroup{}, of[name]
			g.Spec.Priority = &priority
			return g, nil
		},
	}
	for name, groups := range map[string]*groups{"PodGroup": flat, "CompositePodGroup": above} {
		outcome, _ := runsAndAsks(t, "low", "high", groups)
		require.Equal(t, victims.Preempts, outcome, name)
		outcome, c := runsAndAsks(t, "high", "low", groups)
		require.Equal(t, victims.Refused, outcome, name)
		for id := range c.cluster.JobTasks("ns/high") {
			require.Equal(t, int32(9), c.cluster.TaskView(id).Priority, name)
		}
	}
}

// TestOfNode: who is made again on its node is bound to it, and nobody's victim.
func TestOfNode(t *testing.T) {
	controls := true
	owner := func(kind string) *v1.Pod {
		return &v1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Kind: kind, Name: "x", Controller: &controls}}}}
	}
	mirror := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1.MirrorPodAnnotationKey: "hash"}}}
	require.True(t, ofNode(mirror))
	require.True(t, ofNode(owner("Node")))
	require.True(t, ofNode(owner("DaemonSet")))
	require.False(t, ofNode(owner("ReplicaSet")))
	require.False(t, ofNode(&v1.Pod{}))
}
