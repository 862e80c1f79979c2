// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/go-preempt/preempt/victims"
)

// A stage is a scheduler whose cycles a test begins by hand: two nodes of 8 cores, full of
// pods of 2 cores and with one of 8, and pods of a ReplicaSet that wait.
type stage struct {
	bench
	t      *testing.T
	handle framework.Framework
	plugin *Plugin
	core   *core
}

// ofReplicaSet makes pods of 2 cores that wait, a second apart.
func ofReplicaSet(w *bench, count int) (pods []*v1.Pod) {
	begin := time.Now().Add(-time.Hour).Truncate(time.Second)
	for i := range count {
		p := w.pod("prod", "2", 100)
		p.Name, p.UID = fmt.Sprint("web-", i), types.UID(fmt.Sprint("web-", i))
		p.CreationTimestamp = metav1.NewTime(begin.Add(time.Duration(i) * time.Second))
		p.Spec.SchedulerName = v1.DefaultSchedulerName
		controls := true
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "rs", Controller: &controls}}
		pods = append(pods, p)
	}
	return pods
}

// newStage makes a stage with queues, on which some pods wait.
func newStage(t *testing.T, queues string, change func(pods []*v1.Pod)) *stage {
	s := &stage{t: t, bench: bench{queues: queues}}
	for _, n := range []string{"n1", "n2"} {
		s.nodes = append(s.nodes, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: n, Labels: map[string]string{v1.LabelHostname: n}},
			Status: v1.NodeStatus{Capacity: list(8), Allocatable: list(8)}})
	}
	for range 4 {
		s.add("n1", "batch", "2", 0)
	}
	s.add("n2", "batch", "8", 0)
	waiting := ofReplicaSet(&s.bench, 3)
	if change != nil {
		change(waiting)
	}
	for _, p := range append(slices.Clone(s.pods), waiting...) {
		p.Namespace = "ns"
		for i := range p.Spec.Containers {
			delete(p.Spec.Containers[i].Resources.Requests, "memory")
		}
		s.others = append(s.others, p)
	}
	s.begin()
	return s
}

// begin makes the plugin, for which another pod asks.
func (s *stage) begin() {
	s.ask = s.pod("other", "1", 0)
	h, made := s.bench.handle(s.t, Name)
	s.handle, s.plugin = h, made.(*Plugin)
	s.core = s.plugin.core
}

// waiting returns a pod of the ReplicaSet as the informer has it.
func (s *stage) waiting(i int) *v1.Pod {
	p, err := s.core.lister.Pods("ns").Get(fmt.Sprint("web-", i))
	require.NoError(s.t, err)
	return p
}

// try is the cycle of a pod that fits nowhere, and returns the place that it is nominated
// to.
func (s *stage) try(i int) (place string, status *fwk.Status) {
	pod := s.waiting(i)
	state, statuses := rejected(s.t, s.handle, pod)
	result, status := s.plugin.PostFilter(s.t.Context(), state, pod, statuses)
	if result == nil || result.NominatingInfo == nil {
		return "none", status
	}
	return result.NominatedNodeName, status
}

// granted returns the pods that hold grants, and where.
func (s *stage) granted() (all []string) {
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	for id := range s.core.cluster.Granted() {
		t := s.core.cluster.Task(id)
		require.True(s.t, s.core.granted.has(t.Key), "Filter knows")
		all = append(all, strings.TrimPrefix(t.Name, "ns/")+" on "+s.core.cluster.NodeName(t.Node))
	}
	slices.Sort(all)
	return all
}

// leaving returns the amounts of cpu of the pods that were told to stop.
func (s *stage) leaving() (cpu []int64) {
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	for n := range s.core.cluster.Nodes() {
		for id := range s.core.cluster.TasksOn(n) {
			if s.core.cluster.State(id) == victims.Marked {
				cpu = append(cpu, s.core.cluster.Task(id).Size[0]/1000)
			}
		}
	}
	slices.Sort(cpu)
	return cpu
}

// evicted waits until the API has so few pods left of those that ran.
func (s *stage) evicted(count int) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		pods, err := s.handle.ClientSet().CoreV1().Pods("ns").List(s.t.Context(), metav1.ListOptions{})
		require.NoError(s.t, err)
		running := 0
		for _, p := range pods.Items {
			if p.Spec.NodeName != "" {
				running++
			}
		}
		return running == 5-count
	}, time.Minute, 10*time.Millisecond)
}

const workloadQueues = `
defaultQueue: batch
root: {queues: [{name: batch}, {name: prod, guaranteed: {cpu: 8}}]}
`

// TestTogether: one by one each pod stops a pod of its own size, for that frees least
// beyond its need. Together they stop the large one. The others hold their places before
// they are tried, and then the scheduler is told.
func TestTogether(t *testing.T) {
	s := newStage(t, workloadQueues, func(pods []*v1.Pod) {
		for _, p := range pods {
			p.OwnerReferences = nil
		}
	})
	for i := range 3 {
		_, status := s.try(i)
		require.True(t, status.IsSuccess(), status)
	}
	require.Equal(t, []int64{2, 2, 2}, s.leaving())
	s.evicted(3)

	s = newStage(t, workloadQueues, nil)
	place, status := s.try(1)
	require.True(t, status.IsSuccess(), status)
	require.Equal(t, "n2", place)
	require.Contains(t, status.Message(), "with 2 more of the workload")
	require.Equal(t, []string{"web-0 on n2", "web-1 on n2", "web-2 on n2"}, s.granted())
	require.Equal(t, []int64{8}, s.leaving())
	for _, i := range []int{2, 0, 1} {
		place, status = s.try(i)
		require.False(t, status.IsSuccess())
		require.Contains(t, status.Message(), "in-flight")
		require.Equal(t, "n2", place)
	}
	require.Equal(t, []int64{8}, s.leaving())
	s.evicted(1)
}

// TestTogetherInOrder: prod is guaranteed 8, which the two oldest pods of 4 take. So the one
// that is tried is refused, and the others have their places. An old pod does not wait for
// the delay of a new one.
func TestTogetherInOrder(t *testing.T) {
	four := func(pods []*v1.Pod) {
		for _, p := range pods {
			p.Spec.Containers[0].Resources.Requests["cpu"] = list(4)["cpu"]
		}
	}
	s := newStage(t, workloadQueues, four)
	place, status := s.try(2)
	require.False(t, status.IsSuccess())
	require.Contains(t, status.Message(), "2 pods of the workload are served first: over-guarantee")
	require.Empty(t, place)
	require.Equal(t, []string{"web-0 on n2", "web-1 on n2"}, s.granted())
	require.Equal(t, []int64{8}, s.leaving())
	w, ok := s.core.refused.Load(types.UID("web-2"))
	require.True(t, ok, "it is among those that wait")
	help := w.(waiting).help
	require.True(t, help.IfNode("any"))
	for i := range 3 {
		_, status := s.try(i)
		require.False(t, status.IsSuccess())
	}
	require.Len(t, s.granted(), 2)
	s.evicted(1)

	s = newStage(t, `
defaultQueue: batch
root: {queues: [{name: batch}, {name: prod, guaranteed: {cpu: 12}, properties: {preemption.delay: 10m}}]}
`, func(pods []*v1.Pod) {
		four(pods)
		pods[0].CreationTimestamp = metav1.Now()
	})
	_, status = s.try(1)
	require.True(t, status.IsSuccess(), status)
	require.Equal(t, []string{"web-1 on n2", "web-2 on n2"}, s.granted())
	_, status = s.try(0)
	require.Contains(t, status.Message(), "too-early")
	require.Equal(t, []int64{8}, s.leaving())
}

// TestTogetherByLaw2: team has no more than its guarantee. To stop the pod of 8 for one of 2
// would take that from it, and for all of them it does not.
func TestTogetherByLaw2(t *testing.T) {
	s := newStage(t, `
defaultQueue: team.batch
root: {queues: [{name: team, guaranteed: {cpu: 14}, queues: [{name: batch}, {name: prod, guaranteed: {cpu: 8}}]}]}
`, func(pods []*v1.Pod) {
		for _, p := range pods {
			p.Labels = map[string]string{"go-preempt.github.io/queue": "team.prod"}
			p.Spec.NodeSelector = map[string]string{v1.LabelHostname: "n2"}
		}
		pods[0].OwnerReferences = nil
	})
	_, status := s.try(0)
	require.False(t, status.IsSuccess())
	require.Contains(t, status.Message(), "no-victims")
	_, status = s.try(2)
	require.False(t, status.IsSuccess(), "two of them bring 4, and 6 are needed")
	require.Empty(t, s.granted())
	require.Equal(t, alone{"rs", s.core.cluster.Version()}, s.core.lone)

	s = newStage(t, `
defaultQueue: team.batch
root: {queues: [{name: team, guaranteed: {cpu: 14}, queues: [{name: batch}, {name: prod, guaranteed: {cpu: 8}}]}]}
`, func(pods []*v1.Pod) {
		for _, p := range pods {
			p.Labels = map[string]string{"go-preempt.github.io/queue": "team.prod"}
			p.Spec.NodeSelector = map[string]string{v1.LabelHostname: "n2"}
		}
	})
	place, status := s.try(0)
	require.True(t, status.IsSuccess(), status)
	require.Equal(t, "n2", place)
	require.Equal(t, []string{"web-0 on n2", "web-1 on n2", "web-2 on n2"}, s.granted())
	require.Equal(t, []int64{8}, s.leaving())
}

// TestTogetherWith: who is decided together with a pod, and who is not.
func TestTogetherWith(t *testing.T) {
	for _, p := range []struct {
		name   string
		change func(p *v1.Pod)
	}{
		{"a pod that another scheduler serves", func(p *v1.Pod) { p.Spec.SchedulerName = "other" }},
		{"a pod that is not to be scheduled yet", func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "g"}} }},
		{"a pod of a PodGroup", func(p *v1.Pod) {
			group := "g"
			p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &group}
		}},
		{"a pod that is deleted", func(p *v1.Pod) {
			now := metav1.Now()
			p.DeletionTimestamp, p.Finalizers = &now, []string{"f"}
		}},
		{"a pod of another controller", func(p *v1.Pod) { p.OwnerReferences[0].UID = "other" }},
		{"a pod of no controller", func(p *v1.Pod) { p.OwnerReferences = nil }},
		{"a pod that runs", func(p *v1.Pod) { p.Spec.NodeName = "n1" }},
		{"a pod that fits no node", func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{v1.LabelHostname: "n3"} }},
		{"a pod that must not preempt", func(p *v1.Pod) {
			never := v1.PreemptNever
			p.Spec.PreemptionPolicy = &never
		}},
	} {
		t.Run(p.name, func(t *testing.T) {
			s := newStage(t, workloadQueues, func(pods []*v1.Pod) { p.change(pods[1]) })
			_, status := s.try(0)
			require.True(t, status.IsSuccess(), status)
			got := s.granted()
			require.Len(t, got, 2)
			require.Contains(t, got[0], "web-0")
			require.Contains(t, got[1], "web-2")
		})
	}
}

// TestTogetherRefused: amounts put all three on one node, and a Filter plugin does not. So
// nothing is left of the joint plan, and the pod gets what it gets alone.
func TestTogetherRefused(t *testing.T) {
	s := newStage(t, workloadQueues, func(pods []*v1.Pod) {
		for _, p := range pods {
			p.Labels["app"] = "web"
			p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: v1.LabelHostname,
				WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
		}
	})
	place, status := s.try(0)
	require.True(t, status.IsSuccess(), status)
	require.Equal(t, "n1", place)
	require.Equal(t, []string{"web-0 on n1"}, s.granted())
	require.Equal(t, []int64{2}, s.leaving())
	s.evicted(1)
}

// TestTogetherDeleted: one of the pods is deleted while they are decided. Nobody stops for
// the others, and nothing is left of the plan.
func TestTogetherDeleted(t *testing.T) {
	s := newStage(t, workloadQueues, nil)
	pod, now := s.waiting(0), time.Now()
	state, statuses := rejected(t, s.handle, pod)
	info, err := framework.NewPodInfo(pod)
	require.NoError(t, err)
	nodes, err := s.handle.SnapshotSharedLister().NodeInfos().List()
	require.NoError(t, err)
	c := s.core
	c.mu.Lock()
	c.sync(nodes)
	ask := c.askOf(info)
	c.cycle = &cycle{ctx: t.Context(), core: c, handle: s.handle, state: state, pod: pod, info: info, size: ask.Size, statuses: statuses}
	c.consult()
	require.NoError(t, c.decide(&ask, now))
	w := s.plugin.together(now)
	require.NotNil(t, w)
	require.NoError(t, c.waiting.Delete(w.pods[1])) // as the informer does
	require.True(t, c.gone(w.asks[1].Key))
	_, status := w.carryOut(now)
	c.cycle = nil
	c.mu.Unlock()
	require.False(t, status.IsSuccess())
	require.Empty(t, s.granted())
	require.Empty(t, s.leaving())
	require.Empty(t, c.marked)

	_, status = s.try(2)
	require.True(t, status.IsSuccess(), status)
	require.Equal(t, []string{"web-0 on n2", "web-2 on n2"}, s.granted())
}

// TestTogetherDryRun: what would be decided is told, and nothing has changed.
func TestTogetherDryRun(t *testing.T) {
	s := newStage(t, "dryRun: true"+workloadQueues, nil)
	for i := range 3 {
		_, status := s.try(i)
		require.False(t, status.IsSuccess())
		require.Contains(t, status.Message(), "dry run: with 2 more of the workload")
		require.Empty(t, s.granted())
		require.Empty(t, s.leaving())
	}
}
