// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/go-preempt/preempt/victims"
)

// nodesOf makes a node of four cores for each name, and puts pods on them.
func nodesOf(names []string, pods ...*v1.Pod) (nodes []fwk.NodeInfo) {
	for _, name := range names {
		info := framework.NewNodeInfo()
		info.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeStatus{Allocatable: list(4)}})
		for _, p := range pods {
			if p.Spec.NodeName == name {
				info.AddPod(p)
			}
		}
		nodes = append(nodes, info)
	}
	return nodes
}

// nominatedTo makes a pod that waits and is nominated to a node.
func nominatedTo(node, name string, cpu int64, priority int32) *v1.Pod {
	p := newPlainPod(name, cpu, priority)
	p.Status.NominatedNodeName = node
	return p
}

// TestNominations: a place is promised once, the highest priority first, as long as whoever
// promised it stands by that.
func TestNominations(t *testing.T) {
	c, nodes := plainCore(t), nodesOf([]string{"n1", "n2"})
	low, high, small := nominatedTo("n1", "low", 3, 1), nominatedTo("n1", "high", 3, 2), nominatedTo("n1", "small", 1, 0)
	for _, p := range []*v1.Pod{low, high, small, nominatedTo("n3", "nowhere", 1, 9)} {
		c.note(p, true)
	}
	holds := func() (names []string) {
		c.sync(nodes)
		for id := range c.cluster.Granted() {
			k := c.cluster.Key(id)
			require.True(t, c.granted.has(k), "Filter knows it")
			names = append(names, c.cluster.Task(id).Name)
		}
		return names
	}
	require.Equal(t, []string{"ns/high", "ns/small"}, holds())

	moved := high.DeepCopy()
	moved.Status.NominatedNodeName = "n2"
	c.note(moved, true)
	require.ElementsMatch(t, []string{"ns/high", "ns/small", "ns/low"}, holds())
	id, _ := c.cluster.LookupGrant(key(high))
	require.Equal(t, "n2", c.cluster.NodeName(c.cluster.NodeOf(id)))

	none := moved.DeepCopy()
	none.Status.NominatedNodeName = ""
	c.note(none, true)
	c.note(low, false)
	require.Equal(t, []string{"ns/small"}, holds())

	bound := small.DeepCopy()
	bound.Spec.NodeName = "n1"
	c.note(bound, true)
	nodes = nodesOf([]string{"n1", "n2"}, bound)
	require.Empty(t, holds())
	require.Empty(t, c.nominations.granted)
}

// TestNominationsByPlans: what a plan has promised is not promised once more when its pod is
// seen with it, also if the place was given away since.
func TestNominationsByPlans(t *testing.T) {
	c := plainCore(t)
	c.sync(nodesOf([]string{"n1"}))
	n, _ := c.cluster.LookupNode("n1")
	ours := nominatedTo("n1", "ours", 4, 1)
	ask, err := c.ask(ours)
	require.NoError(t, err)
	_, err = c.cluster.GrantPlace(&ask, n, time.Time{})
	require.NoError(t, err)
	c.given(ask.Key)
	c.note(ours, true)
	c.drop(ask.Key, dropped)
	c.sync(nodesOf([]string{"n1"}))
	require.False(t, c.placed(ask.Key))
}

// TestEvicted: a pod that a budget has let go leaves, for as long as its budget says so.
func TestEvicted(t *testing.T) {
	p := newPlainPod("db", 4, 0)
	p.Spec.NodeName = "n1"
	budgets := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	pods := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	require.NoError(t, pods.Add(p))
	c, nodes := coreOf(t, "{}", budgets), nodesOf([]string{"n1"}, p)
	c.lister = corelisters.NewPodLister(pods)
	state := func() victims.State {
		c.sync(nodes)
		id, ok := c.cluster.Lookup(key(p))
		require.True(t, ok)
		return c.cluster.State(id)
	}
	require.Equal(t, victims.Running, state())
	before := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "b"}}
	let := func(pods map[string]metav1.Time) {
		b := before.DeepCopy()
		b.Status.DisruptedPods = pods
		require.NoError(t, budgets.Add(b))
		if evictsOthers(before, b) { // as the informer
			c.lookup.staleEvicted.Store(true)
		}
		before = b
	}
	let(map[string]metav1.Time{"db": metav1.Now()})
	require.Equal(t, victims.Releasing, state())
	apiNodes := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	require.NoError(t, apiNodes.Add(nodes[0].Node()))
	c.nodes = corelisters.NewNodeLister(apiNodes)
	fresh, err := c.fresh(nil)
	require.NoError(t, err)
	there, ok := fresh.cluster.Lookup(key(p))
	require.True(t, ok)
	require.Equal(t, victims.Releasing, fresh.cluster.State(there), "for a max that is lowered, too")
	let(nil)
	require.Equal(t, victims.Running, state())
	let(map[string]metav1.Time{"db": metav1.NewTime(time.Now().Add(-time.Hour))})
	require.Equal(t, victims.Running, state(), "nobody has told it to stop since")
	id, _ := c.cluster.Lookup(key(p))
	require.False(t, c.cluster.Task(id).RequiredNode)
}
