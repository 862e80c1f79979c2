// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestComposite tells stories of composite pod groups, which are alpha: the API server and
// the scheduler have more feature gates on than those of the other tests. RBAC is on: the
// scheduler has the rights of config/second.
func TestComposite(t *testing.T) {
	w := newWorld(t, "RBAC", "--feature-gates=TopologyAwareWorkloadScheduling=true,CompositePodGroup=true",
		"--runtime-config=scheduling.k8s.io/v1alpha3=true")
	w.apply(t, "../config/second", "../config/only")
	for _, s := range []struct {
		name string
		tell func(*testing.T, *world)
	}{
		{"a composite group goes as a whole", wholeComposite},
		{"a composite group that a guarantee protects in part", protectedComposite},
		{"a composite group preempts nobody", preemptingComposite},
	} {
		t.Run(s.name, func(t *testing.T) {
			w.story(t)
			s.tell(t, w)
			require.Zero(t, metric(t, "preempt_by_queue_audit_violations_total"))
			require.Zero(t, metric(t, "preempt_by_queue_drift_total"))
		})
	}
}

// addComposite creates a composite pod group that can be disrupted only as a whole, with
// PodGroups in it, each of which alone could lose any pod.
func (w *world) addComposite(t *testing.T, name string, groups ...string) {
	_, err := w.client.SchedulingV1alpha3().CompositePodGroups("default").Create(t.Context(), &schedulingv1alpha3.CompositePodGroup{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: schedulingv1alpha3.CompositePodGroupSpec{
			WorkloadRef:       &schedulingv1alpha3.WorkloadReference{WorkloadName: "w", TemplateName: "t"},
			PriorityClassName: "mid",
			SchedulingPolicy:  schedulingv1alpha3.CompositePodGroupSchedulingPolicy{Basic: &schedulingv1alpha3.CompositeBasicSchedulingPolicy{}},
			DisruptionMode:    &schedulingv1alpha3.CompositeDisruptionMode{All: &schedulingv1alpha3.AllCompositeDisruptionMode{}},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	for _, g := range groups {
		_, err := w.client.SchedulingV1beta1().PodGroups("default").Create(t.Context(), &schedulingv1beta1.PodGroup{
			ObjectMeta: metav1.ObjectMeta{Name: g},
			Spec: schedulingv1beta1.PodGroupSpec{
				WorkloadRef:                 &schedulingv1beta1.WorkloadReference{WorkloadName: "w", TemplateName: "t"},
				ParentCompositePodGroupName: &name,
				PriorityClassName:           "mid",
				SchedulingPolicy:            schedulingv1beta1.PodGroupSchedulingPolicy{Basic: &schedulingv1beta1.BasicSchedulingPolicy{}},
			},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
}

// wholeComposite: one pod would do, but both PodGroups go with it. A pod that is in no
// group goes first.
func wholeComposite(t *testing.T, w *world) {
	w.addComposite(t, "whole", "whole-a", "whole-b")
	w.addNodes(t, node("n1", "4"), node("n2", "4"), node("n3", "4"))
	w.run(t, member("whole-a", on("n1", pod("a", "batch", "mid", "4"))), member("whole-b", on("n2", pod("b", "batch", "mid", "4"))),
		on("n3", pod("single", "batch", "mid", "4")))
	w.scheduleSecond(t, queues(map[string]string{"prod": "8"}))
	w.run(t, pod("web-0", "prod", "high", "4"))
	w.settle(t)
	require.Equal(t, []string{"batch/single"}, w.gonePods())
	w.run(t, pod("web-1", "prod", "high", "4"))
	w.settle(t)
	require.Equal(t, []string{"batch/a", "batch/b", "batch/single"}, w.gonePods())
}

// protectedComposite: one of its pods is within the guarantee of teamb. So no pod of it goes.
func protectedComposite(t *testing.T, w *world) {
	w.addComposite(t, "shared", "shared-a", "shared-b")
	w.addNodes(t, node("n1", "4"), node("n2", "4"))
	w.run(t, member("shared-a", on("n1", pod("a", "batch", "mid", "4"))), member("shared-b", on("n2", pod("b", "teamb", "mid", "4"))))
	w.scheduleSecond(t, queues(map[string]string{"prod": "4", "teamb": "4"}))
	w.add(t, pod("web", "prod", "high", "4"))
	w.settle(t)
	require.NotEmpty(t, refusal(w.get(t, "web")))
	require.Empty(t, w.gonePods())
}

// preemptingComposite: it is told so.
func preemptingComposite(t *testing.T, w *world) {
	w.addComposite(t, "asks", "asks-a")
	w.addNodes(t, node("n1", "4"))
	w.run(t, on("n1", pod("etl", "batch", "low", "4")))
	w.scheduleSecond(t, queues(map[string]string{"prod": "4"}))
	w.add(t, member("asks-a", pod("web", "prod", "mid", "4")))
	w.settle(t)
	require.Empty(t, w.gonePods())
	var g *schedulingv1beta1.PodGroup
	eventually(t, "the PodGroup says why", func() bool {
		var err error
		g, err = w.client.SchedulingV1beta1().PodGroups("default").Get(t.Context(), "asks-a", metav1.GetOptions{})
		require.NoError(t, err)
		return len(g.Status.Conditions) > 0
	})
	require.Contains(t, g.Status.Conditions[0].Message, "no preemption for composite pod groups")
	require.Equal(t, v1.PodPending, w.get(t, "web").Status.Phase)
}
