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
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/go-preempt/preempt/victims"
)

const quotaQueues = `
defaultQueue: other
root: {queues: [{name: other}, {name: batch, max: {cpu: MAX}, properties: {quota.preemption.delay: 1m}}]}
`

// quotaCore has a node of 8 cores, whose pods the informers have, and the mirror perhaps.
func quotaCore(t *testing.T, mirrored bool, pods ...*v1.Pod) *core {
	c := coreOf(t, strings.ReplaceAll(quotaQueues, "MAX", "8"), cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}))
	ofPods, ofNodes := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}), cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	c.lister, c.nodes = corelisters.NewPodLister(ofPods), corelisters.NewNodeLister(ofNodes)
	info := framework.NewNodeInfo()
	info.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Status: v1.NodeStatus{Allocatable: list(8)}})
	require.NoError(t, ofNodes.Add(info.Node()))
	for _, p := range pods {
		require.NoError(t, ofPods.Add(p))
		if mirrored {
			info.AddPod(p)
		}
	}
	c.sync([]fwk.NodeInfo{info})
	return c
}

// quotaPod is a pod of batch that runs.
func quotaPod(name string, cpu int64, priority int32) *v1.Pod {
	p := newPlainPod(name, cpu, priority)
	p.Spec.NodeName, p.Labels = "n1", map[string]string{"go-preempt.github.io/queue": "batch"}
	return p
}

// lower has another max from now on.
func (c *core) lower(t *testing.T, max string) {
	s, err := c.args.withQueues("queues: [{name: other}, {name: batch, max: {cpu: " + max + "}, properties: {quota.preemption.delay: 1m}}]")
	require.NoError(t, err)
	c.changeQueues(&change{setup: s, tell: func(_, reason, _ string) { require.Equal(t, "QueuesChanged", reason) }})
}

// TestTakeBackOverMax: once the delay has passed the pods that matter least go, whether the
// mirror has seen them or not, and no more of them than there are beyond the max.
func TestTakeBackOverMax(t *testing.T) {
	for _, mirrored := range []bool{true, false} {
		t.Run(fmt.Sprint("mirrored ", mirrored), func(t *testing.T) {
			c := quotaCore(t, mirrored, quotaPod("a", 2, 10), quotaPod("b", 2, 0), quotaPod("c", 2, 0), quotaPod("d", 1, 100))
			c.lower(t, "5")
			next, ok := c.timing.Next()
			require.True(t, ok)
			require.WithinDuration(t, time.Now().Add(time.Minute), next, 10*time.Second)

			fresh, err := c.fresh(nil)
			require.NoError(t, err)
			c.timing.Cluster = fresh.cluster
			require.Empty(t, slices.Collect(c.timing.Due(next.Add(-time.Second))))
			due := slices.Collect(c.timing.Due(next))
			require.Len(t, due, 1)
			e := (&Plugin{core: c}).enforce(fresh, due[0], next)
			require.NotNil(t, e)
			require.Len(t, e.victims, 1)
			require.Equal(t, "queue root.batch is over its max: used cpu=7 pods=4, max cpu=5", e.note)
			require.Contains(t, []string{"b", "c"}, e.victims[0].pod.Name)
			id, ok := c.cluster.Lookup(e.victims[0].key)
			require.Equal(t, mirrored, ok && c.cluster.State(id) == victims.Marked)
			c.endQuota("root.batch", next)
			_, ok = c.timing.Next()
			require.False(t, ok, "it is within its max")
		})
	}
}

// TestTakeBackRefused: a victim that stays has the clock start again, and what was marked
// here, or granted, counts on the copy.
func TestTakeBackRefused(t *testing.T) {
	c := quotaCore(t, true, quotaPod("a", 4, 10), quotaPod("b", 2, 0))
	ask, err := c.ask(quotaPod("asks", 2, 0))
	require.NoError(t, err)
	node, _ := c.cluster.LookupNode("n1")
	_, err = c.cluster.GrantPlace(&ask, node, time.Time{})
	require.NoError(t, err)
	c.lower(t, "4")
	next, _ := c.timing.Next()
	run := func(now time.Time) (*core, *eviction) {
		fresh, err := c.fresh(nil)
		require.NoError(t, err)
		c.timing.Cluster = fresh.cluster
		due := slices.Collect(c.timing.Due(now))
		require.Len(t, due, 1)
		return fresh, (&Plugin{core: c}).enforce(fresh, due[0], now)
	}
	fresh, e := run(next) // 8 are used, the grant among them, and that cannot be taken
	names := func(e *eviction) (list []string) {
		for _, v := range e.victims {
			list = append(list, v.pod.Name)
		}
		slices.Sort(list)
		return list
	}
	require.Equal(t, []string{"a"}, names(e))
	for _, v := range e.victims {
		fresh.unmark(v.key)
		c.takeBack([]string{v.key}, nil)
	}
	c.endQuota("root.batch", next)
	again, ok := c.timing.Next()
	require.True(t, ok)
	require.Equal(t, next.Add(time.Minute), again)

	_, e = run(again)
	require.Equal(t, []string{"a"}, names(e))
	marked, err := c.fresh(nil)
	require.NoError(t, err)
	q := marked.queues().leafOf("batch")
	require.Equal(t, int64(4000), marked.queues().tree.Effective(nil, q).At(0), "the mark counts before the API shows it")
}

// TestQuotaArguments: a max that equals the guarantee can be taken back.
func TestQuotaArguments(t *testing.T) {
	args, err := decode(unknown(strings.Replace(quotaQueues, "max: {cpu: MAX}", "guaranteed: {cpu: 8}, max: {cpu: 8}", 1)))
	require.NoError(t, err)
	_, err = args.check()
	require.NoError(t, err)
}

// TestStopCost: of pods that are alike, the cheaper one goes, and then the one that has
// saved its work. Bad annotations count as none.
func TestStopCost(t *testing.T) {
	now := plainStart.Add(100 * time.Hour)
	for name, of := range map[string]struct {
		a, b   map[string]string
		victim string
	}{
		"nothing":                  {nil, nil, "a"},
		"a is dear":                {map[string]string{AnnotationCost: "5"}, map[string]string{AnnotationCost: "4"}, "b"},
		"b is dear":                {map[string]string{AnnotationCost: "4"}, map[string]string{AnnotationCost: "5"}, "a"},
		"a bad cost":               {map[string]string{AnnotationCost: "much"}, map[string]string{AnnotationCost: "-1"}, "a"},
		"b has saved":              {nil, map[string]string{AnnotationCheckpoint: now.Add(-time.Minute).Format(time.RFC3339)}, "b"},
		"a has saved later":        {map[string]string{AnnotationCheckpoint: now.Format(time.RFC3339)}, map[string]string{AnnotationCheckpoint: now.Add(-time.Minute).Format(time.RFC3339)}, "a"},
		"a bad time":               {nil, map[string]string{AnnotationCheckpoint: "yesterday"}, "a"},
		"cost before what is lost": {map[string]string{AnnotationCost: "1", AnnotationCheckpoint: now.Format(time.RFC3339)}, nil, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			p := plainCase{nodes: "n1 3, n2 3", pods: "a n1 3 100, b n2 3 100"}
			w := p.build(t)
			w.pods["a"].Annotations, w.pods["b"].Annotations = of.a, of.b
			for _, n := range w.core.mirror.byName {
				n.generation = -1
			}
			w.core.sync(w.nodes())
			ask, err := w.core.ask(newPlainPod("ask", 3, 1000))
			require.NoError(t, err)
			require.NoError(t, w.core.decide(&ask, now))
			require.Len(t, w.core.decision.Plan.Victims, 1)
			require.Equal(t, of.victim, strings.Split(w.core.decision.Plan.Victims[0].Key, "/")[1])
		})
	}
}

// nodes returns the nodes that the core was brought to.
func (w *plainWorld) nodes() (list []fwk.NodeInfo) {
	for _, s := range w.core.mirror.seats {
		list = append(list, s.info)
	}
	return list
}
