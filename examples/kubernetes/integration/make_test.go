// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const queueLabel = "go-preempt.github.io/queue"

// node makes a node of some cores.
func node(name, cpu string) *v1.Node {
	list := v1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("64Gi"), "pods": resource.MustParse("110")}
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name}},
		Status: v1.NodeStatus{Capacity: list, Allocatable: list,
			Conditions: []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}}},
	}
}

// pod makes a pod of a queue and a priority class.
func pod(name, queue, class, cpu string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Labels: map[string]string{queueLabel: queue}},
		Spec: v1.PodSpec{
			PriorityClassName: class,
			Containers: []v1.Container{{Name: "c", Image: "i", Resources: v1.ResourceRequirements{
				Requests: v1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("128Mi")}}}},
		},
	}
}

// on binds a pod to a node before it is created, so that no scheduler is asked.
func on(node string, p *v1.Pod) *v1.Pod {
	p.Spec.NodeName = node
	return p
}

// withPort gives a pod a host port.
func withPort(port int32, p *v1.Pod) *v1.Pod {
	p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: port, HostPort: port, Protocol: v1.ProtocolTCP}}
	return p
}

// labelled gives a pod a label.
func labelled(name, value string, p *v1.Pod) *v1.Pod {
	p.Labels[name] = value
	return p
}

// addNodes creates nodes.
func (w *world) addNodes(t *testing.T, nodes ...*v1.Node) {
	for _, n := range nodes {
		_, err := w.client.CoreV1().Nodes().Create(t.Context(), n, metav1.CreateOptions{})
		require.NoError(t, err)
	}
}

// add creates pods.
func (w *world) add(t *testing.T, pods ...*v1.Pod) {
	for _, p := range pods {
		_, err := w.client.CoreV1().Pods(p.Namespace).Create(t.Context(), p, metav1.CreateOptions{})
		require.NoError(t, err)
	}
}

// run creates pods and waits until they run.
func (w *world) run(t *testing.T, pods ...*v1.Pod) {
	t.Helper()
	before := map[string]int{}
	for _, p := range pods {
		if _, ok := before[p.Labels[queueLabel]]; !ok {
			before[p.Labels[queueLabel]] = w.running(p.Labels[queueLabel])
		}
		before[p.Labels[queueLabel]]++
	}
	w.add(t, pods...)
	for queue, n := range before {
		eventually(t, queue+" runs", func() bool { return w.running(queue) == n })
	}
}

// get returns a pod as the API has it.
func (w *world) get(t *testing.T, name string) *v1.Pod {
	p, err := w.client.CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	return p
}

// story makes the world serve one test, and empties it afterwards.
func (w *world) story(t *testing.T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	parent := w.t
	w.t, w.respawn, w.made, w.evicted = t, false, 0, nil
	t.Cleanup(func() {
		w.release()
		w.mu.Lock()
		w.respawn, w.t = false, parent
		w.mu.Unlock()
		ctx, zero := context.Background(), int64(0)
		now := metav1.DeleteOptions{GracePeriodSeconds: &zero}
		require.NoError(t, w.client.PolicyV1().PodDisruptionBudgets("default").DeleteCollection(ctx, now, metav1.ListOptions{}))
		require.NoError(t, w.client.CoreV1().Pods("default").DeleteCollection(ctx, now, metav1.ListOptions{}))
		eventually(t, "no pods are left", w.empty)
		require.NoError(t, w.client.CoreV1().Nodes().DeleteCollection(ctx, now, metav1.ListOptions{}))
	})
}

// controllers has pods that are evicted created again.
func (w *world) controllers() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.respawn = true
}

// requireNode is the affinity that the DaemonSet controller gives its pods.
func requireNode(name string) *v1.Affinity {
	return &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{
		NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: []v1.NodeSelectorRequirement{
			{Key: metav1.ObjectNameField, Operator: v1.NodeSelectorOpIn, Values: []string{name}}}}},
	}}}
}
