// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"cmp"
	"context"
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	clientsetfake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// benchQueues are those of perf/queue.yaml. Nobody is evicted, for each round is as
// the one before.
const benchQueues = `
dryRun: true
defaultQueue: small
root: {queues: [{name: batch}, {name: small}, {name: system}, {name: prod, guaranteed: {cpu: "100000"}}]}
`

// BenchmarkPostFilter is one call of PostFilter in a full cluster, without the API and
// all that goes on beside it: of this plugin, and of DefaultPreemption. Both evict
// nobody.
func BenchmarkPostFilter(b *testing.B) {
	for _, work := range []string{"basic", "deployment", "refused", "selector", "huge"} {
		for _, nodes := range []int{500, 1000, 5000} {
			for _, plugin := range []string{"DefaultPreemption", Name} {
				b.Run(fmt.Sprintf("%s/nodes=%d/%s", work, nodes, plugin), func(b *testing.B) {
					newBench(b, work, nodes).run(b, plugin)
				})
			}
		}
	}
}

// A bench is a pod that fits nowhere in a cluster that is full.
type bench struct {
	queues string // arguments of the plugin; none: benchQueues
	nodes  []*v1.Node
	pods   []*v1.Pod
	ask    *v1.Pod
	others []runtime.Object // that the API has
}

// newBench makes what the workload of perf of that name makes. A huge pod, of which
// MixedChurn has some, is larger than any node. Of a deployment, which is else as basic,
// there are as many pods as are decided together.
func newBench(b *testing.B, work string, nodes int) *bench {
	w := &bench{}
	amounts := v1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("32Gi"), "pods": resource.MustParse("110")}
	for i := range nodes {
		n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("node-", i)}, Status: v1.NodeStatus{Capacity: amounts, Allocatable: amounts}}
		if i%100 == 0 {
			n.Labels = map[string]string{"zone": "z"}
		}
		w.nodes = append(w.nodes, n)
		running := 4
		if work == "refused" {
			running = 1
			w.add(n.Name, "system", "2700m", 9999999)
		}
		for range running {
			w.add(n.Name, "batch", "900m", 0)
		}
	}
	w.ask = w.pod("prod", map[string]string{"basic": "3970m", "deployment": "3970m", "refused": "2", "selector": "1", "huge": "9"}[work], 100)
	switch work {
	case "deployment":
		all := ofReplicaSet(w, mostTogether)
		for _, p := range all {
			p.Spec.Containers = w.ask.Spec.Containers
			w.others = append(w.others, p)
		}
		w.ask, w.others = all[0], w.others[1:]
	case "selector":
		w.ask.Spec.NodeSelector = map[string]string{"zone": "z"}
	}
	return w
}

func (w *bench) pod(queue, cpu string, priority int32) *v1.Pod {
	name := fmt.Sprint(queue, "-", len(w.pods))
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), Labels: map[string]string{"go-preempt.github.io/queue": queue}},
		Spec: v1.PodSpec{Priority: &priority, Containers: []v1.Container{{Resources: v1.ResourceRequirements{
			Requests: v1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("500Mi")}}}}},
	}
}

// add has a pod run on a node.
func (w *bench) add(node, queue, cpu string, priority int32) {
	p := w.pod(queue, cpu, priority)
	p.Spec.NodeName = node
	w.pods = append(w.pods, p)
}

// run calls PostFilter of a plugin again and again.
func (w *bench) run(b *testing.B, plugin string) {
	call := w.attempt(b, plugin)
	first := call()
	b.ReportAllocs()
	before, status := cpuTime(b), first
	for b.Loop() {
		status = call()
	}
	b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
	require.Equal(b, first.Code(), status.Code())
}

// attempt makes a scheduler, in which the pod is refused by all nodes, and returns a call
// of PostFilter of a plugin.
func (w *bench) attempt(b *testing.B, plugin string) (call func() *fwk.Status) {
	h, made := w.handle(b, plugin)
	state, statuses := rejected(b, h, w.ask)
	return func() *fwk.Status {
		_, status := made.PostFilter(b.Context(), state, w.ask, statuses)
		return status
	}
}

// rejected asks the Filter plugins about all nodes, which refuse a pod.
func rejected(t testing.TB, h framework.Framework, pod *v1.Pod) (fwk.CycleState, fwk.NodeToStatusReader) {
	ctx, state := t.Context(), framework.NewCycleState()
	_, status, _ := h.RunPreFilterPlugins(ctx, state, pod)
	require.True(t, status.IsSuccess(), status)
	statuses := framework.NewDefaultNodeToStatus()
	infos, err := h.SnapshotSharedLister().NodeInfos().List()
	require.NoError(t, err)
	for _, info := range infos {
		status := h.RunFilterPluginsWithNominatedPods(ctx, state, pod, info)
		require.True(t, status.IsRejected())
		statuses.Set(info.Node().Name, status)
	}
	return state, statuses
}

// cpuTime is what the process has taken of all cores. On a busy machine it tells more
// than the clock does.
func cpuTime(b *testing.B) int64 {
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return usage.Utime.Nano() + usage.Stime.Nano()
}

// handle makes a scheduler that sees the cluster, and returns a plugin of it.
func (w *bench) handle(b testing.TB, plugin string) (framework.Framework, fwk.PostFilterPlugin) {
	conf, err := latest.Default()
	require.NoError(b, err)
	profile := &conf.Profiles[0]
	enabled := &profile.Plugins.MultiPoint.Enabled
	if plugin == Name {
		for i := range *enabled {
			if (*enabled)[i].Name == defaultpreemption.Name {
				(*enabled)[i].Name = Name
			}
		}
		profile.PluginConfig = append(profile.PluginConfig, config.PluginConfig{Name: Name, Args: unknown(cmp.Or(w.queues, benchQueues))})
	}
	client := clientsetfake.NewClientset(append(w.others, w.ask)...)
	factory := informers.NewSharedInformerFactory(client, 0)
	var made fwk.Plugin
	byQueue := Factory()
	s, err := scheduler.New(b.Context(), client, factory, nil,
		func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
		scheduler.WithProfiles(*profile), scheduler.WithNodeInfoSnapshot(cache.NewSnapshot(w.pods, w.nodes)),
		scheduler.WithFrameworkOutOfTreeRegistry(frameworkruntime.Registry{
			Name: func(ctx context.Context, args runtime.Object, h fwk.Handle) (p fwk.Plugin, err error) {
				made, err = byQueue(ctx, args, h)
				return made, err
			}}))
	require.NoError(b, err)
	factory.Start(b.Context().Done())
	factory.WaitForCacheSync(b.Context().Done())
	h := s.Profiles[profile.SchedulerName]
	if plugin == Name {
		return h, made.(*Plugin)
	}
	d, err := defaultpreemption.New(b.Context(), &config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 10, MinCandidateNodesAbsolute: 100},
		h, feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate))
	require.NoError(b, err)
	d.Executor.PreemptPod = func(context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *v1.Pod, string) (bool, error) {
		return false, nil
	}
	return h, d
}
