// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/go-preempt/preempt/victims"
)

// A plain case is a cluster without queues, for which DefaultPreemption has an answer.
// Nodes are "name cpu", pods "name node cpu priority" and then, if they matter, the hour
// of the start, "job=" for a PodGroup that goes as a whole, and "budget" for a pod of a
// disruption budget with nothing left. An ask of several pods is a gang.
type plainCase struct {
	name, nodes, pods string
	priority          int32 // of the ask
	asks              []int64
	theirs            string // the victims of DefaultPreemption, or "" if it has none
}

// Cases that Kubernetes tests its preemption with, as far as they are about amounts.
var plainCases = []plainCase{
	{"nothing fits anywhere", "n1 5, n2 5", "a n1 3 100, b n2 3 100", 1000, []int64{6}, ""},
	{"both nodes would do", "n1 3, n2 3", "a n1 3 100, b n2 3 100", 1000, []int64{3}, "a"},
	{"the others matter more", "n1 3, n2 3", "a n1 3 1000, b n2 3 1000", 0, []int64{3}, ""},
	{"equals stay", "n1 3", "a n1 3 100", 100, []int64{3}, ""},
	{"the smaller one may stay", "n1 5, n2 3", "a n1 1 0, b n1 3 100, c n2 3 100", 1000, []int64{3}, "b"},
	{"several priorities", "n1 5, n2 3", "a n1 1 100, b n1 1 0, c n1 2 100, d n1 1 1000, e n2 3 1000", 1000, []int64{3}, "b c"},
	{"of equals the later start goes", "n1 5, n2 3", "a n1 1 0 5, b n1 1 0 4, c n1 2 100 3, d n1 1 1000 2, e n2 3 1000 1", 1000, []int64{3}, "a c"},
	{"one is enough", "n1 3", "a n1 3 0", 1000, []int64{3}, "a"},
	{"the lowest of three", "n1 3", "a n1 1 1000, b n1 1 100, c n1 1 0", 1000, []int64{1}, "c"},
	{"the budget comes before priority", "n1 4", "a n1 2 0 0 budget, b n1 2 100", 1000, []int64{2}, "b"},
	{"the budget has to be overrun", "n1 4", "a n1 2 0 0 budget, b n1 2 100 0 budget", 1000, []int64{2}, "a"},
	{"no more than what is needed goes", "n1 4", "a n1 1 0, b n1 1 0, c n1 2 0", 1000, []int64{2}, "a b"},
	{"the node of the least highest priority", "n1 5, n2 5, n3 5",
		"a n1 2 100, b n1 3 100, c n2 2 100, d n2 2 0, e n3 2 0, f n3 2 0", 1000, []int64{5}, "e f"},
	{"the node of the least sum", "n1 5, n2 5, n3 5",
		"a n1 2 100, b n1 3 100, c n2 3 100, d n2 2 0, e n3 2 100, f n3 2 100", 1000, []int64{5}, "c d"},
	{"the node of the fewest", "n1 5, n2 5, n3 5",
		"a n1 1 100, b n1 1 -100, c n1 1 100, d n1 1 -100, e n2 3 100, f n2 2 -100, g n3 2 100, h n3 1 -100, i n3 1 0", 1000, []int64{5}, "e f"},
	{"fewer with a larger sum", "n1 5, n2 5, n3 5",
		"a n1 1 100, b n1 1 -100, c n1 1 -100, d n2 3 100, e n2 2 -100, f n3 2 100, g n3 1 -100, h n3 1 0", 1000, []int64{5}, "d e"},
	{"all criteria at once", "n1 5, n2 5, n3 5, n4 5",
		"a n1 1 100, b n1 1 0, c n1 1 0, d n2 3 1000, e n3 2 100, f n3 1 0, g n3 1 0, h n3 1 0, i n4 2 100, j n4 1 100, k n4 1 100, l n4 1 -100",
		10000, []int64{5}, "a b c"},
	{"the node of the newest", "n1 5, n2 5, n3 5",
		"a n1 2 100 2, b n1 2 100 2, c n2 2 100 3, d n2 2 100 3, e n3 2 100 1, f n3 2 100 1", 1000, []int64{5}, "c d"},
	{"a group goes whole", "n1 4", "a n1 1 0 0 job=g, b n1 2 0 0 job=g", 1000, []int64{3}, "a b"},
	{"a pod before a group", "n1 3", "a n1 1 0, b n1 1 0 0 job=g, c n1 1 0 0 job=g", 1000, []int64{1}, "a"},
	{"a group of lower priority before a pod", "n1 4", "a n1 2 1000, b n1 2 0 0 job=g", 10000, []int64{2}, "b"},
	{"a pod of lower priority before a group", "n1 4", "a n1 2 0, b n1 2 1000 0 job=g", 10000, []int64{2}, "a"},

	{"gang: one of lower priority", "n1 1", "a n1 1 0", 1000, []int64{1}, "a"},
	{"gang: the lower of two", "n1 2", "a n1 1 100, b n1 1 0", 1000, []int64{1, 0}, "b"},
	{"gang: as few as there can be", "n1 2, n2 2", "a n1 2 0, b n2 1 0, c n2 1 0", 1000, []int64{2, 0}, "a"},
	{"gang: not for a budget", "n1 2", "a n1 1 0 0 budget, b n1 1 0", 1000, []int64{1, 0}, "b"},
	{"gang: a budget before priority", "n1 2", "a n1 1 0 0 budget, b n1 1 100", 1000, []int64{1, 0}, "b"},
	{"gang: a group on two nodes", "n1 1, n2 1", "a n1 1 0 0 job=g, b n2 1 0 0 job=g", 1000, []int64{1, 1}, "a b"},
	{"gang: a group goes whole for one place", "n1 1, n2 1", "a n1 1 0 0 job=g, b n2 1 0 0 job=g", 1000, []int64{1, 0}, "a b"},
	{"gang: a pod before a group", "n1 1, n2 1, n3 1", "a n1 1 0, b n2 1 0 0 job=g, c n3 1 0 0 job=g", 1000, []int64{1, 0}, "a"},
	{"gang: higher and equal stay", "n1 1, n2 1", "a n1 1 1000, b n2 1 10000", 1000, []int64{1, 0}, ""},
	{"gang: an empty node that is too small", "n1 1", "", 1000, []int64{2, 0}, ""},
	{"gang: room first, then the least", "n1 2, n2 1, n3 2, n4 2, n5 2",
		"a n1 1 0 2, b n2 1 0 1, c n3 1 0 0, d n4 1 100, e n5 1 1000", 1000, []int64{1, 1, 1}, ""},
}

// TestPlain: without queues the plugin stops nobody that costs more than who
// DefaultPreemption stops, by Kubernetes' own order of costs.
func TestPlain(t *testing.T) {
	for _, p := range plainCases {
		t.Run(p.name, func(t *testing.T) {
			w := p.build(t)
			ours, found := w.decide(t, &p)
			theirs := strings.Fields(p.theirs)
			if p.theirs == "" {
				require.Empty(t, ours)
				return
			}
			require.True(t, found)
			require.LessOrEqual(t, slices.Compare(w.cost(ours), w.cost(theirs)), 0, "%q against %q", ours, theirs)
		})
	}
}

// A plainWorld is a case that was built.
type plainWorld struct {
	core *core
	pods map[string]*v1.Pod
}

func (p *plainCase) build(t *testing.T) *plainWorld {
	w := &plainWorld{core: plainCore(t), pods: map[string]*v1.Pod{}}
	infos := map[string]*framework.NodeInfo{}
	var nodes []fwk.NodeInfo
	for _, text := range strings.Split(p.nodes, ", ") {
		var name string
		var cpu int64
		_, err := fmt.Sscan(text, &name, &cpu)
		require.NoError(t, err)
		n := framework.NewNodeInfo()
		n.SetNode(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeStatus{Allocatable: list(cpu)}})
		infos[name] = n
		nodes = append(nodes, n)
	}
	for _, text := range strings.Split(p.pods, ", ") {
		if text != "" {
			pod := plainPod(t, strings.Fields(text))
			w.pods[pod.Name] = pod
			infos[pod.Spec.NodeName].AddPod(pod)
		}
	}
	w.core.sync(nodes)
	w.core.needEach(t, func(string) int { return math.MaxInt32 })
	return w
}

// needEach tells the cluster how many members each job needs.
func (c *core) needEach(t *testing.T, minimum func(job string) int) {
	for id := range c.cluster.Tasks() {
		if job := c.cluster.Job(id); job != "" {
			require.NoError(t, c.cluster.SetMinMembers(job, minimum(job)))
		}
	}
}

// plainPod reads the words of a pod.
func plainPod(t *testing.T, words []string) *v1.Pod {
	var cpu, hour int64
	var priority int32
	_, err := fmt.Sscan(strings.Join(words[2:4], " "), &cpu, &priority)
	require.NoError(t, err)
	pod := newPlainPod(words[0], cpu, priority)
	pod.Spec.NodeName = words[1]
	if len(words) > 4 {
		_, err := fmt.Sscan(words[4], &hour)
		require.NoError(t, err)
	}
	pod.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionTrue,
		LastTransitionTime: metav1.NewTime(plainStart.Add(time.Duration(hour) * time.Hour))}}
	for _, word := range words[min(5, len(words)):] {
		if name, ok := strings.CutPrefix(word, "job="); ok {
			pod.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &name}
		} else {
			pod.Labels = map[string]string{"budget": "yes"}
		}
	}
	return pod
}

var plainStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newPlainPod(name string, cpu int64, priority int32) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name)},
		Spec: v1.PodSpec{Priority: &priority, Containers: []v1.Container{{
			Resources: v1.ResourceRequirements{Requests: v1.ResourceList{"cpu": list(cpu)["cpu"]}}}}},
	}
}

// plainCore has one queue, and a budget with nothing left. Its planners ask no scheduler.
func plainCore(t *testing.T) *core {
	budgets := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	require.NoError(t, budgets.Add(&policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "b"},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"budget": "yes"}}},
	}))
	c := coreOf(t, "{}", budgets)
	c.alone()
	return c
}

// alone has the planners of a core ask no scheduler.
func (c *core) alone() {
	c.planner.Filter, c.planner.Blockers, c.planner.Predicate = nil, nil, nil
	c.auditor.Filter, c.auditor.Blockers, c.auditor.Predicate = nil, nil, nil
	c.jobPlanner.Filter, c.jobPlanner.Exempt = nil, nil
}

// decide returns the victims of the plugin, and whether it has a plan.
func (w *plainWorld) decide(t *testing.T, p *plainCase) (names []string, found bool) {
	now := plainStart.Add(100 * time.Hour)
	if len(p.asks) == 1 && !strings.HasPrefix(p.name, "gang") {
		ask, err := w.core.ask(newPlainPod("ask", p.asks[0], p.priority))
		require.NoError(t, err)
		require.NoError(t, w.core.decide(&ask, now))
		for _, v := range w.core.decision.Plan.Victims {
			names = append(names, strings.Split(v.Key, "/")[1])
		}
		return names, w.core.decision.Outcome != victims.Refused
	}
	job := victims.Ask{Key: "ns/asks", Priority: p.priority}
	for i, cpu := range p.asks {
		if cpu > 0 {
			ask, err := w.core.ask(newPlainPod(fmt.Sprint("ask-", i), cpu, p.priority))
			require.NoError(t, err)
			job.Members = append(job.Members, victims.Member{Key: ask.Key, Size: ask.Size})
		}
	}
	require.NoError(t, w.core.jobPlanner.Decide(&w.core.jobDecision, &job, now))
	for _, v := range w.core.jobDecision.Plan.Victims {
		names = append(names, strings.Split(v.Key, "/")[1])
	}
	return names, w.core.jobDecision.Outcome != victims.Refused
}

// cost is what victims cost in Kubernetes: budgets overrun, the highest priority, how
// many there are, the sum of priorities.
func (w *plainWorld) cost(names []string) []int64 {
	overrun, highest, sum := int64(0), int64(math.MinInt32), int64(0)
	for _, name := range names {
		pod := w.pods[name]
		if pod.Labels["budget"] != "" {
			overrun++
		}
		highest, sum = max(highest, int64(priority(pod))), sum+int64(priority(pod))
	}
	return []int64{overrun, highest, int64(len(names)), sum}
}
