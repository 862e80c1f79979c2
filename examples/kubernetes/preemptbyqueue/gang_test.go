// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A groupInfo is a PodGroup of which no pod has a node.
type groupInfo struct {
	fwk.PodGroupInfo
	group schedulingv1beta1.PodGroup
	pods  []*v1.Pod
}

func (g *groupInfo) GetName() string                          { return g.group.Name }
func (g *groupInfo) GetNamespace() string                     { return g.group.Namespace }
func (g *groupInfo) GetPodGroup() *schedulingv1beta1.PodGroup { return &g.group }
func (g *groupInfo) GetUnscheduledPods() []*v1.Pod            { return g.pods }

// A placedPod is a pod for which the scheduler has a place.
type placedPod struct {
	fwk.ProposedAssignment
	pod  *v1.Pod
	node string
}

func (p placedPod) GetPod() *v1.Pod     { return p.pod }
func (p placedPod) GetNodeName() string { return p.node }

// joins has a pod that waits be one of a PodGroup, by the informer.
func (s *stage) joins(p *v1.Pod, group string) {
	p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &group}
	require.NoError(s.t, s.core.waiting.Add(p))
}

// TestGangHasItsPlaces: a group that has places for its minimum keeps them from cycle to
// cycle, also if they are free before the victims have gone, and nobody stops again. Its
// condition stays, too.
func TestGangHasItsPlaces(t *testing.T) {
	s, g := newGang(t)
	tried := 0
	try := func(context.Context) (*fwk.PodGroupAssignments, *fwk.Status) {
		tried++
		return &fwk.PodGroupAssignments{ProposedAssignments: []fwk.ProposedAssignment{
			placedPod{pod: g.pods[0], node: "n1"}, placedPod{pod: g.pods[1], node: "n2"}}}, nil
	}
	for _, more := range []bool{false, false, true} {
		if more { // the node has room beside the victim now
			n, ok := s.core.cluster.LookupNode("n2")
			require.True(t, ok)
			node := s.core.cluster.NodeView(n)
			node.Capacity = resources.Scale(nil, node.Capacity, 2)
			require.NoError(t, s.core.cluster.UpdateNode(&node))
		}
		result, status := s.plugin.PodGroupPostFilter(t.Context(), nil, g, try)
		require.True(t, status.IsSuccess(), status)
		require.True(t, strings.HasPrefix(status.Message(), "pod group preemption: found a placement for podgroup, preempting 1 victims: job ns/g "), status)
		require.Equal(t, more, s.core.jobDecision.Outcome == victims.Fits)
		require.Len(t, result.NominatingInfos, 2)
		require.Equal(t, []string{"member-0 on n1", "member-1 on n2"}, s.granted())
		require.Equal(t, []int64{8}, s.leaving())
		require.Equal(t, 1, tried)
	}
}

// TestGangMayNot: a group whose policy forbids that stops nobody, whatever its pods may.
func TestGangMayNot(t *testing.T) {
	s, g := newGang(t)
	never := schedulingv1beta1.PreemptNever
	g.group.Spec.PreemptionPolicy = &never
	s.core.groups = (&dump{groups: []*schedulingv1beta1.PodGroup{&g.group}}).known()
	_, status := s.plugin.PodGroupPostFilter(t.Context(), nil, g, func(context.Context) (*fwk.PodGroupAssignments, *fwk.Status) {
		return nil, fwk.NewStatus(fwk.Unschedulable)
	})
	require.False(t, status.IsSuccess(), status)
	require.Contains(t, status.Message(), "must not preempt")
	require.Empty(t, s.leaving())
}

// newGang has a group of two wait, for one of which a pod has to stop.
func newGang(t *testing.T) (*stage, *groupInfo) {
	s := newFragments(t, "defaultQueue: batch\nroot: {queues: [{name: batch}, {name: teamb}, {name: prod, guaranteed: {cpu: 10}}]}", func(s *stage, _ *v1.Pod) {
		s.pods[1].Spec.Containers[0].Resources.Requests["cpu"] = list(8)["cpu"] // all of n2
	})
	g := &groupInfo{group: schedulingv1beta1.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "g", UID: "g"},
		Spec: schedulingv1beta1.PodGroupSpec{SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{
			Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: 2}}},
	}}
	for i, cpu := range []int64{2, 8} {
		p := s.waiting(0).DeepCopy()
		p.Name, p.UID = fmt.Sprint("member-", i), types.UID(fmt.Sprint("member-", i))
		p.Spec.Containers[0].Resources.Requests["cpu"] = list(cpu)["cpu"]
		s.joins(p, g.group.Name)
		g.pods = append(g.pods, p)
	}
	return s, g
}
