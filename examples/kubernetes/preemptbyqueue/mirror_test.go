// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corelisters "k8s.io/client-go/listers/core/v1"
	policylisters "k8s.io/client-go/listers/policy/v1"
	schedulinglisters "k8s.io/client-go/listers/scheduling/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

const testQueues = `
defaultQueue: other
root: {queues: [{name: other}, {name: batch}, {name: prod, guaranteed: {cpu: 8}}]}
`

// testCore makes a core without a scheduler, in whose API there is nothing.
func testCore(t require.TestingT) *core {
	return coreOf(t, testQueues, cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}))
}

// coreOf makes a core without a scheduler, in whose API there are disruption budgets.
func coreOf(t require.TestingT, text string, budgets cache.Indexer) *core {
	args, err := decode(unknown(text))
	require.NoError(t, err)
	s, err := args.check()
	require.NoError(t, err)
	empty := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	l := &lookup{
		args: args, namespaces: corelisters.NewNamespaceLister(empty),
		classes: schedulinglisters.NewPriorityClassLister(empty), budgets: policylisters.NewPodDisruptionBudgetLister(budgets),
	}
	l.stale.Store(true)
	require.Empty(t, l.read())
	l.staleEvicted.Store(true)
	return bareCore(s, l, klog.Background())
}

// a history is what a scheduler's cache went through, and a core that followed it.
type history struct {
	core  *core
	nodes []*framework.NodeInfo
	made  int
	// marked are victims that were told to leave, waiting those that hold grants.
	marked  map[string]bool
	waiting map[string]*v1.Pod
}

func list(cpu int64) v1.ResourceList {
	return v1.ResourceList{"cpu": *resource.NewQuantity(cpu, resource.DecimalSI), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("10")}
}

func (h *history) snapshot() (nodes []fwk.NodeInfo) {
	for _, n := range h.nodes {
		nodes = append(nodes, n)
	}
	return nodes
}

func (h *history) node(t *rapid.T) *framework.NodeInfo {
	if len(h.nodes) == 0 {
		t.Skip("no node")
	}
	return rapid.SampledFrom(h.nodes).Draw(t, "node")
}

func (h *history) pod(t *rapid.T) (*framework.NodeInfo, *v1.Pod) {
	n := h.node(t)
	if len(n.GetPods()) == 0 {
		t.Skip("no pod")
	}
	return n, rapid.SampledFrom(n.GetPods()).Draw(t, "pod").GetPod()
}

func (h *history) newPod(t *rapid.T) *v1.Pod {
	h.made++
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: fmt.Sprintf("p%d", rapid.IntRange(0, 5).Draw(t, "name")), UID: types.UID(fmt.Sprint(h.made)),
			Labels: map[string]string{"go-preempt.github.io/queue": rapid.SampledFrom([]string{"batch", "prod", "nowhere", ""}).Draw(t, "queue")},
		},
		Spec: v1.PodSpec{Containers: []v1.Container{{Resources: v1.ResourceRequirements{Requests: list(rapid.Int64Range(0, 4).Draw(t, "cpu"))}}}},
	}
}

// addNode adds a node, perhaps again under the name of one that went.
func (h *history) addNode(t *rapid.T) {
	name := fmt.Sprintf("n%d", rapid.IntRange(0, 4).Draw(t, "name"))
	if slices.ContainsFunc(h.nodes, func(n *framework.NodeInfo) bool { return n.Node().Name == name }) {
		t.Skip("it is there")
	}
	n := framework.NewNodeInfo()
	n.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeStatus{Allocatable: list(rapid.Int64Range(0, 9).Draw(t, "cpu"))}})
	h.nodes = slices.Insert(h.nodes, rapid.IntRange(0, len(h.nodes)).Draw(t, "place"), n)
}

func (h *history) removeNode(t *rapid.T) {
	gone := h.node(t)
	h.nodes = slices.DeleteFunc(h.nodes, func(n *framework.NodeInfo) bool { return n == gone })
	for k := range h.waiting { // in any order: grants are found one by one
		id, ok := h.core.cluster.LookupGrant(k)
		if !ok || h.core.cluster.NodeName(h.core.cluster.NodeOf(id)) == gone.Node().Name {
			delete(h.waiting, k)
		}
	}
	h.core.sync(h.snapshot()) // or a node of the same name would be this one
}

func (h *history) resizeNode(t *rapid.T) {
	n := h.node(t)
	node := n.Node().DeepCopy()
	node.Status.Allocatable = list(rapid.Int64Range(0, 9).Draw(t, "cpu"))
	n.SetNode(node)
}

func (h *history) addPod(t *rapid.T) { h.node(t).AddPod(h.newPod(t)) }

func (h *history) removePod(t *rapid.T) {
	n, p := h.pod(t)
	require.NoError(t, n.RemovePod(klog.Background(), p))
}

// terminate deletes a pod: just now, or so long ago that it seems to stay for good.
func (h *history) terminate(t *rapid.T) {
	n, p := h.pod(t)
	if p.DeletionTimestamp != nil {
		t.Skip("it is deleted")
	}
	deleted := p.DeepCopy()
	at := metav1.NewTime(time.Now().Add(rapid.SampledFrom([]time.Duration{0, -time.Hour}).Draw(t, "since")))
	deleted.DeletionTimestamp = &at
	require.NoError(t, n.RemovePod(klog.Background(), p))
	n.AddPod(deleted)
}

// mark tells a task to leave, as a plan does.
func (h *history) mark(t *rapid.T) {
	_, p := h.pod(t)
	id, ok := h.core.cluster.Lookup(key(p))
	if !ok || h.core.cluster.State(id) != victims.Running || p.DeletionTimestamp != nil {
		t.Skip("no victim")
	}
	require.NoError(t, h.core.cluster.SetState(key(p), victims.Marked))
	h.marked[key(p)] = true
}

// grant gives a new pod a place, where it may turn up later.
func (h *history) grant(t *rapid.T) {
	id, ok := h.core.cluster.LookupNode(h.node(t).Node().Name)
	if !ok || h.core.cluster.Closed(id) {
		t.Skip("not mirrored yet")
	}
	pod := h.newPod(t)
	ask, err := h.core.ask(pod)
	require.NoError(t, err)
	_, err = h.core.cluster.GrantPlace(&ask, id, time.Time{})
	require.NoError(t, err)
	h.core.given(ask.Key)
	h.waiting[ask.Key] = pod
}

// start has a pod with a grant turn up, where it was granted or elsewhere.
func (h *history) start(t *rapid.T) {
	if len(h.waiting) == 0 {
		t.Skip("no grant")
	}
	k := rapid.SampledFrom(slices.Sorted(maps.Keys(h.waiting))).Draw(t, "grant")
	h.node(t).AddPod(h.waiting[k])
	delete(h.waiting, k)
	h.core.sync(h.snapshot()) // or it would not be known to have started
}

// decide decides a new pod and applies the plan, which the audit must have let through.
func (h *history) decide(t *rapid.T) {
	h.core.sync(h.snapshot())
	pod := h.newPod(t)
	pod.Labels["go-preempt.github.io/queue"] = "prod"
	pod.Spec.Containers[0].Resources.Requests = list(rapid.Int64Range(1, 8).Draw(t, "asked"))
	ask, err := h.core.ask(pod)
	require.NoError(t, err)
	require.NoError(t, h.core.decide(&ask, time.Now()))
	d := &h.core.decision
	if d.Outcome == victims.Refused {
		require.NotEqual(t, victims.Unlawful, d.Refusal.Reason)
		return
	}
	require.NoError(t, h.core.cluster.Apply(d))
	h.core.given(ask.Key)
	for i := range d.Plan.Victims {
		h.marked[d.Plan.Victims[i].Key] = true
	}
	h.waiting[ask.Key] = pod
}

// look has the core see all or some of what happened, and compares it if it was all.
func (h *history) look(t *rapid.T) {
	if rapid.Bool().Draw(t, "a part") {
		h.core.catchUp(h.snapshot(), rapid.IntRange(0, 2).Draw(t, "most"))
		return
	}
	h.check(t)
}

// check brings the core to the present, and compares it with one that sees the
// present as the first thing.
func (h *history) check(t *rapid.T) {
	fresh := testCore(t)
	h.core.sync(h.snapshot())
	fresh.sync(h.snapshot())
	for k := range h.marked { // in any order: each is a task of its own
		id, ok := fresh.cluster.Lookup(k)
		if ok && fresh.cluster.State(id) == victims.Running && !fresh.cluster.TaskView(id).RequiredNode {
			require.NoError(t, fresh.cluster.SetState(k, victims.Marked))
		}
	}
	require.Equal(t, picture(t, fresh), picture(t, h.core))
	for _, n := range h.nodes {
		require.Zero(t, h.core.drift(n.Node().Name, n))
	}
	require.Equal(t, slices.Sorted(maps.Keys(h.waiting)), slices.Sorted(maps.Keys(h.core.granted.byKey)))
	for k := range h.waiting { // in any order: each is by itself
		id, ok := h.core.cluster.LookupGrant(k)
		require.True(t, ok)
		on := h.core.granted.on(h.core.cluster.NodeName(h.core.cluster.NodeOf(id)))
		require.True(t, slices.ContainsFunc(on, func(g grant) bool { return g.key == k }))
	}
}

// A pictured node is a node with its tasks and without its grants.
type pictured struct {
	Name                   string
	Capacity, Free, Coming resources.Vector
	Tasks                  []victims.Task
}

// picture returns all that a planner sees, in an order that does not depend on how it
// came about.
func picture(t require.TestingT, from *core) (nodes []pictured) {
	c := from.cluster.Clone()
	for k := range from.granted.byKey { // in any order: all of them go
		require.NoError(t, c.Drop(k))
	}
	for id := range c.Nodes() {
		n := pictured{Name: c.NodeName(id), Capacity: c.Node(id).Capacity, Free: c.Free(nil, id), Coming: c.ComingFree(nil, id)}
		for task := range c.TasksOn(id) {
			row := c.Task(task)
			row.Node = 0
			n.Tasks = append(n.Tasks, row)
		}
		slices.SortFunc(n.Tasks, func(a, b victims.Task) int { return cmp.Compare(a.Key, b.Key) })
		nodes = append(nodes, n)
	}
	slices.SortFunc(nodes, func(a, b pictured) int { return cmp.Compare(a.Name, b.Name) })
	return nodes
}

// TestMirror: a core that followed a history sees what one sees that comes last, and
// the audit passes all that it decides on the way.
func TestMirror(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		core := testCore(t)
		core.alone()
		h := &history{core: core, marked: map[string]bool{}, waiting: map[string]*v1.Pod{}}
		t.Repeat(map[string]func(*rapid.T){
			"add node": h.addNode, "remove node": h.removeNode, "resize node": h.resizeNode,
			"add pod": h.addPod, "remove pod": h.removePod, "terminate": h.terminate,
			"mark": h.mark, "grant": h.grant, "start": h.start, "decide": h.decide, "": h.look,
		})
	})
}

// TestCatchUp: nodes are mirrored a few at a time, and none before the queues are known
// and as they should be.
func TestCatchUp(t *testing.T) {
	c := testCore(t)
	var nodes []fwk.NodeInfo
	for i := range 20 {
		n := framework.NewNodeInfo()
		n.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i)}, Status: v1.NodeStatus{Allocatable: list(4)}})
		nodes = append(nodes, n)
	}
	c.ready = func() bool { return false }
	c.catchUp(nodes, catchUpChanged)
	require.Zero(t, c.cluster.NodeLen())
	c.ready = func() bool { return true }
	c.next = &change{}
	c.catchUp(nodes, catchUpChanged)
	require.Zero(t, c.cluster.NodeLen())
	c.next = nil
	for _, want := range []int{catchUpChanged, 2 * catchUpChanged, 20, 20} {
		c.catchUp(nodes, catchUpChanged)
		require.Equal(t, want, c.cluster.NodeLen())
	}
}

// TestKeys: isKey is key without making one.
func TestKeys(t *testing.T) {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", UID: "u1"}}
	require.Equal(t, "ns/web/u1", key(p))
	require.True(t, isKey("ns/web/u1", p))
	for _, k := range []string{"", "ns", "ns/web", "ns/web/u2", "ns/web/u11", "ns/wex/u1", "nt/web/u1", "ns/web-u1", "ns-web/u1", "n/sweb/u1"} {
		require.False(t, isKey(k, p), k)
	}
}
