// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// A scheduler has one pod that waits for Permit, and one in PreBind.
type scheduler struct {
	framework.Framework
	client    clientset.Interface
	informers informers.SharedInformerFactory
	stopped   []string // how the pods of the memory were stopped
}

func (s *scheduler) ClientSet() clientset.Interface                         { return s.client }
func (s *scheduler) SharedInformerFactory() informers.SharedInformerFactory { return s.informers }

func (s *scheduler) GetWaitingPod(uid types.UID) fwk.WaitingPod {
	if uid != "waits" {
		return nil
	}
	return &inPermit{scheduler: s}
}

func (s *scheduler) GetPodInPreBind(uid types.UID) fwk.PodInPreBind {
	if uid != "binds" {
		return nil
	}
	return &inPreBind{scheduler: s}
}

type inPermit struct {
	fwk.WaitingPod
	scheduler *scheduler
}

func (p *inPermit) Preempt(_, _ string) bool {
	p.scheduler.stopped = append(p.scheduler.stopped, "waits")
	return true
}

type inPreBind struct {
	fwk.PodInPreBind
	scheduler *scheduler
}

func (p *inPreBind) CancelPod(string) bool {
	p.scheduler.stopped = append(p.scheduler.stopped, "binds")
	return true
}

// TestHold: each way to stop a victim of a pod is held back first, and nothing else is.
func TestHold(t *testing.T) {
	ctx := context.Background()
	web := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "web"}}
	victim := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "batch", Name: "job"}}
	s := &scheduler{client: fake.NewClientset(web, victim)}
	s.informers = informers.NewSharedInformerFactory(s.client, 0)
	require.NoError(t, s.informers.Core().V1().Pods().Informer().GetIndexer().Add(web))
	patched := func() bool {
		pod, err := s.client.CoreV1().Pods("batch").Get(ctx, "job", metav1.GetOptions{})
		require.NoError(t, err)
		return len(pod.Status.Conditions) > 0
	}
	var held []string
	h := &handle{s, func(p *v1.Pod) {
		require.False(t, patched())
		require.Empty(t, s.stopped)
		held = append(held, p.Name)
	}}
	patch := func(text, of string) {
		_, err := h.ClientSet().CoreV1().Pods("batch").Patch(ctx, "job", types.StrategicMergePatchType, []byte(text), metav1.PatchOptions{}, of)
		require.NoError(t, err)
	}
	condition := func(kind, why string) string {
		return `{"status":{"conditions":[{"type":"` + kind + `","status":"True","message":"a: ` + why + `"}]}}`
	}

	require.Nil(t, h.GetWaitingPod("other"))
	require.Nil(t, h.GetPodInPreBind("other"))
	patch(`{"metadata":{"labels":{"a":"b"}}}`, "")
	require.Empty(t, held)
	patch(condition("DisruptionTarget", "preempted by prod/web of queue prod, guaranteed 12 cpu, had 0 cpu"), "status")
	require.Equal(t, []string{"web"}, held)
	require.True(t, patched())
	patch(condition("DisruptionTarget", "preempted by prod/group of queue prod, by priority"), "status")
	require.Equal(t, []string{"web"}, held, "a PodGroup")
	require.Panics(t, func() { patch(condition("DisruptionTarget", "evicted"), "status") })

	held = nil
	h.hold = func(p *v1.Pod) { held = append(held, p.Name); require.Len(t, s.stopped, len(held)-1) }
	const why = "preempted by prod/web of queue root, by priority"
	require.True(t, h.GetWaitingPod("waits").Preempt("", why))
	require.True(t, h.GetPodInPreBind("binds").CancelPod(why))
	require.Equal(t, []string{"web", "web"}, held)
	require.Equal(t, []string{"waits", "binds"}, s.stopped)
}
