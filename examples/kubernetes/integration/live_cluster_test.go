// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const gpu = v1.ResourceName("example.com/gpu")

// A liveCluster is a random cluster: nodes that are full, with labels, taints, cordons,
// GPUs and host ports; gangs that run, budgets, pods that leave; and what waits.
type liveCluster struct {
	r       *rand.Rand
	seed    int
	nodes   []*v1.Node
	pods    []*v1.Pod
	leaving []string
}

func newLiveCluster(seed int) *liveCluster {
	c := &liveCluster{r: rand.New(rand.NewPCG(uint64(seed), 0)), seed: seed}
	nodes := 4 + c.r.IntN(8)
	if seed == 0 {
		nodes = 32
	}
	for i := range nodes {
		n := node(fmt.Sprintf("n%02d", i), "8")
		n.Labels[v1.LabelTopologyZone] = []string{"a", "b", "c"}[i%3]
		switch c.r.IntN(7) {
		case 0:
			n.Spec.Taints = []v1.Taint{{Key: "special", Effect: v1.TaintEffectNoSchedule}}
		case 1:
			n.Spec.Unschedulable = true
		case 2, 3:
			n.Status.Allocatable[gpu] = resource.MustParse("4")
		}
		c.nodes = append(c.nodes, n)
		c.fill(n)
	}
	for i := range 5 {
		c.pods = append(c.pods, c.waiting(i))
	}
	// The members are alike: of three the first two make up the minimum, and which these
	// are is up to the scheduler's queue.
	queue, cpu, zoned := c.queue(), 1+c.r.IntN(4), c.one(3)
	for range 2 + c.r.IntN(2) {
		p := pod(c.name(), queue, "mid", fmt.Sprint(cpu))
		if zoned {
			p.Spec.NodeSelector = map[string]string{v1.LabelTopologyZone: "b"}
		}
		c.pods = append(c.pods, member(c.gang(2), p))
	}
	return c
}

// one is true once in n times.
func (c *liveCluster) one(n int) bool { return c.r.IntN(n) == 0 }

func (c *liveCluster) name() string          { return fmt.Sprintf("p%03d", len(c.pods)) }
func (c *liveCluster) gang(i int) string     { return fmt.Sprintf("live-%d-%d", c.seed, i) }
func (c *liveCluster) of(s ...string) string { return s[c.r.IntN(len(s))] }

// queue returns a leaf, or nothing: then the namespace says it.
func (c *liveCluster) queue() string { return c.of("a", "b", "c.x", "c.y", "") }

// fill has pods on a node until there is less room than anybody asks for.
func (c *liveCluster) fill(n *v1.Node) {
	ports := []int32{8080, 9090}
	gpus := n.Status.Allocatable[gpu]
	left := gpus.Value()
	for free := 8000; free >= 500; {
		size := []int{250, 250, 500, 500, 1000, 2000}[c.r.IntN(6)]
		if size > free {
			continue
		}
		free -= size
		p := on(n.Name, pod(c.name(), c.queue(), c.of("low", "low", "mid", "high", "tolerant", "spared"), fmt.Sprintf("%dm", size)))
		labelled("app", fmt.Sprint(c.r.IntN(4)), p)
		if left > 0 && c.one(2) {
			left--
			withGPUs(1, p)
		}
		if len(ports) > 0 && c.one(5) {
			withPort(ports[0], p)
			ports = ports[1:]
		}
		if c.one(10) {
			optedOut(p)
		}
		switch c.r.IntN(10) {
		case 0:
			ownedBy("DaemonSet", "agent", p)
		case 1, 2:
			ownedBy("ReplicaSet", c.of("r0", "r1", "r2"), p)
		case 3, 4:
			p.Labels[queueLabel], p.Spec.PriorityClassName = "b", "mid"
			member(c.gang(c.r.IntN(2)), p)
		case 5:
			c.leaving = append(c.leaving, p.Name)
		}
		c.pods = append(c.pods, p)
	}
}

// waiting makes a pod that fits nowhere.
func (c *liveCluster) waiting(i int) *v1.Pod {
	p := pod(c.name(), c.queue(), c.of("low", "mid", "high", "high", "polite"), fmt.Sprint(1+c.r.IntN(6)))
	if c.one(2) {
		p.Spec.Tolerations = []v1.Toleration{{Key: "special", Operator: v1.TolerationOpExists}}
	}
	if c.one(4) {
		ownedBy("ReplicaSet", c.of("r0", "r1"), p)
	}
	switch i {
	case 0:
		withPort(8080, p)
	case 1:
		withGPUs(1+c.r.Int64N(3), p)
	case 2:
		keptApart(v1.LabelHostname, fmt.Sprint(c.r.IntN(4)), p)
	case 3:
		p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{
			NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{
				{Key: v1.LabelTopologyZone, Operator: v1.NodeSelectorOpNotIn, Values: []string{"a"}}}}}}}}
	case 4:
		ownedBy("DaemonSet", "other", p)
		p.Spec.Affinity = requireNode(c.nodes[c.r.IntN(len(c.nodes))].Name)
	}
	return p
}

// withGPUs has a pod request GPUs.
func withGPUs(n int64, p *v1.Pod) *v1.Pod {
	r := &p.Spec.Containers[0].Resources
	r.Requests[gpu] = *resource.NewQuantity(n, resource.DecimalSI)
	r.Limits = v1.ResourceList{gpu: r.Requests[gpu]}
	return p
}

// ownedBy gives a pod a controller.
func ownedBy(kind, name string, p *v1.Pod) *v1.Pod {
	controls := true
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: name, UID: types.UID(kind + name), Controller: &controls}}
	return p
}

// queues returns the arguments of the plugin: guarantees for some of the cluster.
func (c *liveCluster) queues() args {
	part := func(of int) args { return args{"cpu": fmt.Sprint(len(c.nodes) * 8 * of / 100)} }
	return args{"defaultQueue": "a", "dryRun": true, "resources": []string{"cpu", "memory", "pods", string(gpu)}, "root": args{"queues": []any{
		args{"name": "a", "guaranteed": part(35)},
		args{"name": "b", "guaranteed": part(15), "max": part(45)},
		args{"name": "c", "queues": []any{args{"name": "x", "guaranteed": part(20)}, args{"name": "y"}}},
	}}}
}

// create puts it all into the API.
func (c *liveCluster) create(t *testing.T, w *world) {
	w.addNodes(t, c.nodes...)
	for i := range 3 {
		g := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: c.gang(i)}, Spec: schedulingv1beta1.PodGroupSpec{PriorityClassName: "mid",
			SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: 2}}}}
		if i != 1 {
			g.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{All: &schedulingv1beta1.AllDisruptionMode{}}
		}
		_, err := w.client.SchedulingV1beta1().PodGroups("default").Create(t.Context(), g, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	for i := range 2 {
		b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("pdb-", i)},
			Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprint(i)}}}}
		b, err := w.client.PolicyV1().PodDisruptionBudgets("default").Create(t.Context(), b, metav1.CreateOptions{})
		require.NoError(t, err)
		b.Status = policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: int32(c.r.IntN(3)), ObservedGeneration: b.Generation}
		_, err = w.client.PolicyV1().PodDisruptionBudgets("default").UpdateStatus(t.Context(), b, metav1.UpdateOptions{})
		require.NoError(t, err)
	}
	w.add(t, c.pods...)
	pods := w.client.CoreV1().Pods("default")
	begin, bound := time.Now(), 0
	for _, p := range c.pods {
		if p.Spec.NodeName == "" {
			continue
		}
		bound++
		at := begin.Add(-time.Duration(c.r.IntN(50)) * time.Minute).UTC().Format(time.RFC3339)
		_, err := pods.Patch(t.Context(), p.Name, types.StrategicMergePatchType, fmt.Appendf(nil,
			`{"status":{"phase":"Running","conditions":[{"type":"PodScheduled","status":"True","lastTransitionTime":%q}]}}`, at), metav1.PatchOptions{}, "status")
		require.NoError(t, err)
	}
	hour := int64(3600)
	for _, name := range c.leaving {
		require.NoError(t, pods.Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: &hour}))
	}
	eventually(t, "all that should run do", func() bool {
		running, leaving := 0, 0
		for _, p := range w.all() {
			if p.Status.Phase == v1.PodRunning && !scheduledAt(p).IsZero() {
				running++
			}
			if p.DeletionTimestamp != nil {
				leaving++
			}
		}
		return running == bound && leaving == len(c.leaving)
	})
}

// scheduledAt returns when a pod was placed, or the zero time.
func scheduledAt(p *v1.Pod) time.Time {
	for _, c := range p.Status.Conditions {
		if c.Type == v1.PodScheduled && c.Status == v1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}
