// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientsetfake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

const moveQueues = `
moves: true
defaultQueue: batch
root: {queues: [{name: batch}, {name: teamb, guaranteed: {cpu: 3}}, {name: prod, guaranteed: {cpu: 8}}]}
`

// newFragments makes a stage on which a pod of 8 cores, web-0, waits. On each of two nodes of
// 8 cores runs a small pod of teamb that may move: teamb-0 of 1 core, and teamb-1 of 2, which
// has more work to lose.
func newFragments(t *testing.T, queues string, change func(s *stage, large *v1.Pod)) *stage {
	s := &stage{t: t, bench: bench{queues: queues}}
	for _, n := range []string{"n1", "n2"} {
		s.nodes = append(s.nodes, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: n, Labels: map[string]string{v1.LabelHostname: n, v1.LabelTopologyZone: "z"}},
			Status: v1.NodeStatus{Capacity: list(8), Allocatable: list(8)}})
	}
	s.add("n1", "teamb", "1", 0)
	s.add("n2", "teamb", "2", 0)
	large := ofReplicaSet(&s.bench, 1)[0]
	large.Spec.Containers[0].Resources.Requests["cpu"] = list(8)["cpu"]
	for i, p := range s.pods {
		since := metav1.NewTime(large.CreationTimestamp.Add(-time.Duration(i) * time.Hour))
		p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionTrue, LastTransitionTime: since}}
		p.Labels["app"], p.Spec.SchedulerName = "small", v1.DefaultSchedulerName
		p.OwnerReferences = append([]metav1.OwnerReference(nil), large.OwnerReferences...)
		p.OwnerReferences[0].UID = types.UID(p.Name)
		p.Annotations = map[string]string{AnnotationMovable: "true"}
	}
	if change != nil {
		change(s, large)
	}
	for _, n := range s.nodes {
		s.others = append(s.others, n)
	}
	for _, p := range append([]*v1.Pod{large}, s.pods...) {
		s.others = append(s.others, p)
	}
	s.begin()
	return s
}

// smalls has a change made to each small pod.
func smalls(change func(p *v1.Pod)) func(s *stage, large *v1.Pod) {
	return func(s *stage, _ *v1.Pod) {
		for _, p := range s.pods {
			change(p)
		}
	}
}

// moved returns a stage on which teamb-0 was told to move.
func moved(t *testing.T) *stage {
	s := newFragments(t, moveQueues, nil)
	place, status := s.try(0)
	require.True(t, status.IsSuccess(), status)
	require.Equal(t, "n1", place)
	require.Equal(t, []string{"teamb-0 on n2", "web-0 on n1"}, s.granted())
	require.Equal(t, []int64{1}, s.leaving())
	return s
}

// successorOf makes the pod that the controller of a small pod makes in its stead.
func (s *stage) successorOf(i int) *v1.Pod {
	p := s.pods[i].DeepCopy()
	p.Name, p.UID = p.Name+"-again", p.UID+"-again"
	p.Spec.NodeName = ""
	return p
}

// comes has a pod come to PreFilter, and returns the nodes that Filter plugins have for it.
func (s *stage) comes(p *v1.Pod) (nodes []string) {
	state := framework.NewCycleState()
	_, status, _ := s.handle.RunPreFilterPlugins(s.t.Context(), state, p)
	require.True(s.t, status.IsSuccess(), status)
	infos, err := s.handle.SnapshotSharedLister().NodeInfos().List()
	require.NoError(s.t, err)
	for _, info := range infos {
		if s.handle.RunFilterPluginsWithNominatedPods(s.t.Context(), state, p, info).IsSuccess() {
			nodes = append(nodes, info.Node().Name)
		}
	}
	return nodes
}

// open counts the grants for successors that are to come.
func (s *stage) open() int {
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	require.Equal(s.t, len(s.core.movers.left), int(s.core.movers.count.Load()))
	return len(s.core.movers.left)
}

// TestMove: no guarantee lets anybody stop. One small pod moves, and its successor gets the
// place of it, to which nobody else is let.
func TestMove(t *testing.T) {
	s := moved(t)
	require.Equal(t, 1, s.open())
	client := s.handle.ClientSet().(*clientsetfake.Clientset)
	require.Eventually(t, func() bool { return s.core.gone(key(s.pods[0])) }, time.Minute, 10*time.Millisecond)
	told := ""
	for _, a := range client.Actions() {
		if patch, ok := a.(clienttesting.PatchAction); ok {
			told += patch.GetName() + " " + string(patch.GetPatch())
		}
	}
	require.Contains(t, told, "teamb-0 ")
	require.Contains(t, told, "moves to node n2, preempted by ns/web-0 of queue root.prod, guaranteed 8, had 0")
	place, status := s.try(0)
	require.False(t, status.IsSuccess())
	require.Contains(t, status.Message(), "in-flight")
	require.Equal(t, "n1", place)

	stranger := s.pod("batch", "6", 0)
	require.Empty(t, s.comes(stranger), "n2 has 5 cores beside those who are there and the one who is to come")
	next := s.successorOf(0)
	require.Equal(t, []string{"n2"}, s.comes(next))
	require.Equal(t, []string{"teamb-0-again on n2", "web-0 on n1"}, s.granted())
	require.Zero(t, s.open())
	require.Empty(t, s.comes(stranger))
	require.True(t, s.plugin.Reserve(t.Context(), framework.NewCycleState(), next, "n2").IsSuccess())
	require.Equal(t, []string{"web-0 on n1"}, s.granted())
}

// TestMoveInsteadOfStop: teamb has no guarantee, and its pod could be stopped.
func TestMoveInsteadOfStop(t *testing.T) {
	queues := strings.Replace(moveQueues, ", guaranteed: {cpu: 3}", "", 1)
	s := newFragments(t, queues, nil)
	_, status := s.try(0)
	require.True(t, status.IsSuccess(), status)
	require.Regexp(t, "^ns/web-0/.* once these have moved: ns/teamb-0/.* to n2", status.Message())
	require.Equal(t, []string{"teamb-0 on n2", "web-0 on n1"}, s.granted())

	s = newFragments(t, strings.Replace(queues, "moves: true", "", 1), nil)
	_, status = s.try(0)
	require.True(t, status.IsSuccess(), status)
	require.Equal(t, []string{"web-0 on n1"}, s.granted())
	require.Equal(t, []int64{1}, s.leaving())
}

// TestMoveBeside: another pod stops, so that there is room for both.
func TestMoveBeside(t *testing.T) {
	s := newFragments(t, moveQueues, func(s *stage, _ *v1.Pod) { s.add("n1", "batch", "7", 0) })
	_, status := s.try(0)
	require.True(t, status.IsSuccess(), status)
	require.Equal(t, []string{"teamb-0 on n2", "web-0 on n1"}, s.granted())
	require.Equal(t, []int64{1, 7}, s.leaving())
	require.Eventually(t, func() bool { return s.core.gone(key(s.pods[0])) && s.core.gone(key(s.pods[2])) }, time.Minute, 10*time.Millisecond)
	require.Equal(t, 1, s.open())
}

// TestMoveFromItself: no pod keeps its own successor away.
func TestMoveFromItself(t *testing.T) {
	s := newFragments(t, moveQueues, func(s *stage, _ *v1.Pod) {
		s.pods, s.nodes[1].Status.Allocatable = s.pods[:1], list(4)
		s.pods[0].Spec.Affinity = apartFrom("small", v1.LabelTopologyZone)
	})
	_, status := s.try(0)
	require.True(t, status.IsSuccess(), status)
	require.Equal(t, []string{"teamb-0 on n2", "web-0 on n1"}, s.granted())
}

// TestMoveOther: amounts let either small pod of n1 move. Filter plugins want the one to move
// that costs more, so that pods are spread.
func TestMoveOther(t *testing.T) {
	s := newFragments(t, moveQueues, func(s *stage, large *v1.Pod) {
		s.nodes[1].Status.Allocatable = list(4)
		s.pods[1].Spec.NodeName = "n1"
		for _, p := range s.pods {
			p.Status.Conditions = nil
		}
		s.pods[0].Spec.Containers[0].Resources.Requests["cpu"] = list(2)["cpu"]
		s.pods[1].Spec.Containers[0].Resources.Requests["cpu"] = list(1)["cpu"]
		large.Spec.Containers[0].Resources.Requests["cpu"] = list(6)["cpu"]
		large.Labels["spread"], s.pods[0].Labels["spread"] = "yes", "yes"
		large.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: v1.LabelHostname,
			WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"spread": "yes"}}}}
	})
	_, status := s.try(0)
	require.True(t, status.IsSuccess(), status)
	require.Equal(t, []string{"teamb-0 on n2", "web-0 on n1"}, s.granted())
}

// TestMoveNot: who does not move, so that the large pod waits.
func TestMoveNot(t *testing.T) {
	for _, p := range []struct {
		name   string
		queues string
		change func(s *stage, large *v1.Pod)
	}{
		{"without the option", strings.Replace(moveQueues, "moves: true", "", 1), nil},
		{"without queues", "moves: true", func(s *stage, large *v1.Pod) { large.Spec.Priority = s.pods[0].Spec.Priority }},
		{"dry run", "dryRun: true" + moveQueues, nil},
		{"a pod that does not ask for it", moveQueues, smalls(func(p *v1.Pod) { p.Annotations[AnnotationMovable] = "yes" })},
		{"a pod that nobody makes again", moveQueues, smalls(func(p *v1.Pod) { p.OwnerReferences = nil })},
		{"a pod of a DaemonSet", moveQueues, smalls(func(p *v1.Pod) { p.OwnerReferences[0].Kind = "DaemonSet" })},
		{"a pod of a PodGroup", moveQueues, smalls(func(p *v1.Pod) {
			group := "g"
			p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &group}
		})},
		{"a pod with a claim", moveQueues, func(s *stage, large *v1.Pod) {
			smalls(func(p *v1.Pod) {
				p.Spec.Volumes = []v1.Volume{{Name: "v", VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}}}
			})(s, large)
			bound := map[string]string{"pv.kubernetes.io/bind-completed": "true"}
			s.others = append(s.others, &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "v"}}, &v1.PersistentVolumeClaim{
				ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", Annotations: bound}, Spec: v1.PersistentVolumeClaimSpec{VolumeName: "v"}})
		}},
		{"a pod that is new", moveQueues, smalls(func(p *v1.Pod) { p.CreationTimestamp = metav1.Now() })},
		{"a pod that matters more", moveQueues, smalls(func(p *v1.Pod) { *p.Spec.Priority = 101 })},
		{"a pod of another scheduler", moveQueues, smalls(func(p *v1.Pod) { p.Spec.SchedulerName = "other" })},
		{"a pod that fits its node only", moveQueues, smalls(func(p *v1.Pod) {
			p.Spec.NodeSelector = map[string]string{v1.LabelHostname: p.Spec.NodeName}
		})},
		{"pods that keep apart", moveQueues, smalls(func(p *v1.Pod) { p.Spec.Affinity = apartFrom("small", v1.LabelHostname) })},
		{"a pod that the large one keeps apart from wherever it goes", moveQueues, func(s *stage, large *v1.Pod) {
			s.pods, s.nodes[1].Status.Allocatable = s.pods[:1], list(4)
			large.Spec.Affinity = apartFrom("small", v1.LabelTopologyZone)
		}},
		{"a pod of a budget with nothing left", moveQueues, func(s *stage, _ *v1.Pod) {
			s.others = append(s.others, &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "b"},
				Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "small"}}}})
		}},
	} {
		t.Run(p.name, func(t *testing.T) {
			s := newFragments(t, p.queues, p.change)
			_, status := s.try(0)
			require.False(t, status.IsSuccess())
			require.Empty(t, s.granted())
			require.Empty(t, s.leaving())
			require.Zero(t, s.open())
			young := p.name == "a pod that is new"
			require.Equal(t, young, !s.core.decision.Refusal.RetryAt.IsZero())
			require.Equal(t, p.name == "dry run", strings.Contains(status.Message(), "once these have moved: ns/teamb-0/"))
		})
	}
}

// apartFrom is required anti-affinity to pods of an app.
func apartFrom(app, domain string) *v1.Affinity {
	return &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{
		TopologyKey: domain, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}}}}
}

// TestInherit: who gets no place of a pod that moves.
func TestInherit(t *testing.T) {
	s := moved(t)
	for name, change := range map[string]func(p *v1.Pod){
		"another controller": func(p *v1.Pod) { p.OwnerReferences[0].UID = "other" },
		"no controller":      func(p *v1.Pod) { p.OwnerReferences = nil },
		"another namespace":  func(p *v1.Pod) { p.Namespace = "other" },
		"another queue":      func(p *v1.Pod) { p.Labels["go-preempt.github.io/queue"] = "batch" },
		"another size":       func(p *v1.Pod) { p.Spec.Containers[0].Resources.Requests["cpu"] = list(2)["cpu"] },
	} { // in any order: none of them changes anything
		p := s.successorOf(0)
		change(p)
		s.comes(p)
		require.Equal(t, []string{"teamb-0 on n2", "web-0 on n1"}, s.granted(), name)
	}
	require.Equal(t, 1, s.open())
	s.comes(s.successorOf(0))
	another := s.successorOf(0)
	another.UID = "third"
	s.comes(another)
	require.Equal(t, []string{"teamb-0-again on n2", "web-0 on n1"}, s.granted(), "one place is for one pod")
}

// TestMoveEnds: nothing is left of a move that comes to nothing.
func TestMoveEnds(t *testing.T) {
	t.Run("no successor comes", func(t *testing.T) {
		s := moved(t)
		grace := s.core.args.GrantDeadline.Duration
		s.core.mu.Lock()
		clear(s.core.marked) // the pod has gone
		s.core.mu.Unlock()
		s.core.swept(time.Now().Add(grace - time.Minute))
		require.Equal(t, 1, s.open())
		s.core.swept(time.Now().Add(grace))
		require.Zero(t, s.open())
		require.Equal(t, []string{"web-0 on n1"}, s.granted())
	})
	t.Run("its node goes", func(t *testing.T) {
		s := moved(t)
		require.NoError(t, s.handle.ClientSet().CoreV1().Nodes().Delete(t.Context(), "n2", metav1.DeleteOptions{}))
		require.Eventually(t, func() bool { return s.open() == 0 }, time.Minute, 10*time.Millisecond)
		require.Equal(t, []string{"web-0 on n1"}, s.granted())
	})
	t.Run("the API does not delete the pod", func(t *testing.T) {
		s := newFragments(t, moveQueues, nil)
		s.handle.ClientSet().(*clientsetfake.Clientset).PrependReactor("delete", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(v1.Resource("pods"), "teamb-0", nil)
		})
		_, status := s.try(0)
		require.True(t, status.IsSuccess(), status)
		require.Eventually(t, func() bool { return len(s.granted()) == 0 }, time.Minute, 10*time.Millisecond)
		require.Zero(t, s.open())
		require.Empty(t, s.leaving())
	})
	t.Run("the large pod is deleted within its cycle", func(t *testing.T) {
		s := newFragments(t, moveQueues, nil)
		pod := s.waiting(0)
		state, statuses := rejected(t, s.handle, pod)
		require.NoError(t, s.core.waiting.Delete(pod)) // as the informer does
		_, status := s.plugin.PostFilter(t.Context(), state, pod, statuses)
		require.False(t, status.IsSuccess())
		require.Empty(t, s.granted())
		require.Empty(t, s.leaving())
		require.Empty(t, s.core.marked)
		require.Zero(t, s.open())
	})
	t.Run("the large pod is deleted later", func(t *testing.T) {
		s := moved(t)
		s.core.deleted(s.waiting(0))
		require.Equal(t, []string{"teamb-0 on n2"}, s.granted(), "who moves has a place all the same")
		s.comes(s.successorOf(0))
		require.Zero(t, s.open())
	})
}
