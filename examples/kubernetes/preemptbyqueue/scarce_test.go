// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"fmt"
	"math/bits"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/victims"
)

// TestScarceArgument: a word or a list, and mistakes are told.
func TestScarceArgument(t *testing.T) {
	const types = "resources: [cpu, nvidia.com/gpu]\n"
	for text, want := range map[string]Scarce{
		"": {"all"}, "scarce: all": {"all"}, "scarce: auto": {"auto"},
		"scarce: [nvidia.com/gpu]": {"nvidia.com/gpu"}, "scarce: [cpu, nvidia.com/gpu]": {"cpu", "nvidia.com/gpu"},
	} {
		args, err := decode(unknown(types + text))
		require.NoError(t, err, text)
		require.Equal(t, want, args.Scarce)
		s, err := args.check()
		require.NoError(t, err, text)
		if want.is(ScarceAll) || want.is(ScarceAuto) {
			require.Nil(t, s.scarce, text)
			continue
		}
		require.Equal(t, len(want), bits.OnesCount64(uint64(*s.scarce)), text)
	}
	for text, says := range map[string]string{
		"scarce: some": `"some"`, "scarce: [memory]": `"memory"`, "scarce: [cpu, cpu]": `"cpu"`, "scarce: []": "empty",
	} {
		args, err := decode(unknown(types + text))
		require.NoError(t, err, text)
		_, err = args.check()
		require.ErrorContains(t, err, "scarce: ", text)
		require.ErrorContains(t, err, says, text)
	}
	_, err := decode(unknown("scarce: {cpu: 1}"))
	require.Error(t, err)
}

// A gpuWorld is two teams of equal guarantees: one of them has all gpus, 4 of them
// borrowed, within its guarantee of cpu. The other one asks for 4.
type gpuWorld struct {
	core  *core
	nodes []fwk.NodeInfo
	ask   *v1.Pod
}

func gpuPod(name, team string, cpu, gpu int64) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name),
			CreationTimestamp: metav1.NewTime(plainStart), Labels: map[string]string{"go-preempt.github.io/queue": team}},
		Spec: v1.PodSpec{Containers: []v1.Container{{Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
			"cpu": *resource.NewQuantity(cpu, resource.DecimalSI), "nvidia.com/gpu": *resource.NewQuantity(gpu, resource.DecimalSI)}}}}},
	}
}

func newGPUWorld(t *testing.T, scarce string) *gpuWorld {
	text := fmt.Sprintf(`{"defaultQueue": "a", "resources": ["cpu", "nvidia.com/gpu"], "scarce": %s, "root": {"queues": [
		{"name": "a", "guaranteed": {"cpu": 64, "nvidia.com/gpu": 4}}, {"name": "b", "guaranteed": {"cpu": 64, "nvidia.com/gpu": 4}}]}}`, scarce)
	w := &gpuWorld{core: coreOf(t, text, cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})), ask: gpuPod("ask", "b", 8, 4)}
	w.core.waiting = cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{byWorkload: workloadOf, byWaiting: waits})
	require.NoError(t, w.core.waiting.Add(w.ask))
	w.addNode("n1", 64, 8, gpuPod("a-0", "a", 8, 4), gpuPod("a-1", "a", 8, 4))
	w.addNode("n2", 64, 0)
	w.core.alone()
	return w
}

func (w *gpuWorld) addNode(name string, cpu, gpu int64, pods ...*v1.Pod) {
	n := framework.NewNodeInfo()
	n.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"pool": name}}, Status: v1.NodeStatus{Allocatable: v1.ResourceList{
		"cpu": *resource.NewQuantity(cpu, resource.DecimalSI), "nvidia.com/gpu": *resource.NewQuantity(gpu, resource.DecimalSI), "pods": resource.MustParse("10")}}})
	for _, p := range pods {
		p.Spec.NodeName = name
		n.AddPod(p)
	}
	w.nodes = append(w.nodes, n)
}

// decide returns what is decided, and in which types guarantees count.
func (w *gpuWorld) decide(t *testing.T) (o victims.Outcome, counting []string) {
	c := w.core
	c.sync(w.nodes)
	ask, err := c.ask(w.ask)
	require.NoError(t, err)
	require.NoError(t, c.decide(&ask, time.Now()))
	for i := range c.cluster.Schema().Len() {
		name := c.cluster.Schema().Name(i)
		if c.counting().Has(i) {
			counting = append(counting, name)
		}
	}
	return c.decision.Outcome, counting
}

// TestScarce: whoever lacks its guarantee of gpu gets it back from a queue that is within
// its guarantee of cpu, if only gpu counts.
func TestScarce(t *testing.T) {
	both := []string{"cpu", "nvidia.com/gpu"}
	for scarce, want := range map[string]struct {
		outcome  victims.Outcome
		counting []string
	}{
		`"all"`:              {victims.Refused, both},
		`"auto"`:             {victims.Preempts, both[1:]},
		`["nvidia.com/gpu"]`: {victims.Preempts, both[1:]},
		`["cpu"]`:            {victims.Refused, both[:1]},
	} {
		outcome, counting := newGPUWorld(t, scarce).decide(t)
		require.Equal(t, want.outcome, outcome, scarce)
		require.Equal(t, want.counting, counting, scarce)
	}
}

// TestScarceChanges: scarce types are found again once it is time, and all that wait are
// tried then. A pool that is full makes its types scarce, whatever other pools have left.
func TestScarceChanges(t *testing.T) {
	w := newGPUWorld(t, `"auto"`)
	tried := make(chan map[string]*v1.Pod, 1)
	w.core.activate = func(pods map[string]*v1.Pod) { tried <- pods }
	w.core.refused.Store(w.ask.UID, waiting{pod: w.ask})
	_, counting := w.decide(t)
	require.Equal(t, []string{"nvidia.com/gpu"}, counting)
	require.Contains(t, <-tried, "ns/ask")

	pinned := gpuPod("pinned", "b", 60, 0) // n1 has 48 cpu left, and n2 64
	pinned.Spec.NodeSelector = map[string]string{"pool": "n1"}
	require.NoError(t, w.core.waiting.Add(pinned))
	_, counting = w.decide(t)
	require.Equal(t, []string{"nvidia.com/gpu"}, counting, "it is not time yet")
	w.core.scarcity.next = time.Time{}
	_, counting = w.decide(t)
	require.Equal(t, []string{"cpu", "nvidia.com/gpu"}, counting)
	require.Contains(t, <-tried, "ns/ask")

	require.NoError(t, w.core.waiting.Delete(pinned))
	w.addNode("n3", 64, 8)
	w.core.scarcity.next = time.Time{}
	_, counting = w.decide(t)
	require.Equal(t, []string{"cpu", "nvidia.com/gpu"}, counting, "nothing is scarce: all types count")
}

// TestPlainQueue: whether there is one queue, in which pods take from lower priorities, is
// said by the queue before the argument.
func TestPlainQueue(t *testing.T) {
	for text, want := range map[string]bool{
		"ownLeaf: met":   true,
		"ownLeaf: never": false,
		"ownLeaf: met\nroot: {properties: {preemption.own-leaf: Never}}":    false,
		"ownLeaf: never\nroot: {properties: {preemption.own-leaf: met}}":    true,
		"defaultQueue: a\nroot: {queues: [{name: a}]}":                      false,
		"ownLeaf: never\nroot: {properties: {preemption.own-leaf: branch}}": true,
	} {
		args, err := decode(unknown(text))
		require.NoError(t, err)
		s, err := args.check()
		require.NoError(t, err, text)
		require.Equal(t, want, s.plain, text)
	}
}

// TestOrphans: a pod whose place went with its node holds no grant any more.
func TestOrphans(t *testing.T) {
	w := newGPUWorld(t, `["nvidia.com/gpu"]`)
	outcome, _ := w.decide(t)
	require.Equal(t, victims.Preempts, outcome)
	c := w.core
	require.NoError(t, c.cluster.Apply(&c.decision))
	c.given(key(w.ask))
	require.True(t, c.granted.has(key(w.ask)))
	// Of the pods that were refused that is tried again which less of this queue helps.
	task, _ := c.cluster.Lookup(key(w.ask))
	leaf := c.cluster.Tree().Path(c.cluster.TaskView(task).Queue)
	woken := make(chan string, 4)
	c.activate = func(pods map[string]*v1.Pod) {
		for name := range pods {
			woken <- name
		}
	}
	for _, name := range []string{"helped", "other"} {
		var d victims.Decision
		if name == "helped" {
			lent.To(&d).HelpLess(leaf)
		}
		pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name)}}
		c.refused.Store(pod.UID, waiting{pod: pod, help: d.Refusal.Help})
	}
	w.nodes = w.nodes[1:]
	c.sync(w.nodes)
	require.Equal(t, "default/helped", <-woken)
	require.Empty(t, woken)
	require.False(t, c.granted.has(key(w.ask)))
	require.False(t, c.placed(key(w.ask)))
	require.Empty(t, c.granted.on("n1"))
}
