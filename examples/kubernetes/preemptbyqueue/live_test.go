// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/util"

	"github.com/go-preempt/preempt/victims"
)

// liveQueues are those of the plugin and, as a file, of examples/live.
const liveQueues = `{"queues": [
	{"name": "a", "guaranteed": {"cpu": 12}},
	{"name": "b", "guaranteed": {"cpu": 6}, "max": {"cpu": 40}},
	{"name": "c", "queues": [{"name": "x", "guaranteed": {"cpu": 4}}, {"name": "y"}]}]}`

// A dump is what kubectl would answer.
type dump struct {
	nodes     []*v1.Node
	pods      []*v1.Pod
	groups    []*schedulingv1beta1.PodGroup
	budgets   []*policyv1.PodDisruptionBudget
	workloads map[string]bool // groups that are Workloads of Kueue in the dump: their pods go whole or not at all
}

var liveNow = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)

// withPort gives a pod a host port.
func withPort(p *v1.Pod) {
	p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80, HostPort: 8080, Protocol: v1.ProtocolTCP}}
}

// randomDump makes a cluster: full nodes, gangs that run, budgets, host ports, and pods and
// gangs that wait.
func randomDump(r *rand.Rand) *dump {
	d := &dump{workloads: map[string]bool{"g0": r.IntN(2) == 0, "g2": r.IntN(2) == 0}}
	for i := range 2 {
		d.budgets = append(d.budgets, &policyv1.PodDisruptionBudget{
			TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint("pdb-", i), Generation: 1},
			Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprint(i)}}},
			Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: int32(r.IntN(3)), ExpectedPods: 9, ObservedGeneration: 1},
		})
	}
	for i := range 3 {
		g := &schedulingv1beta1.PodGroup{
			TypeMeta:   metav1.TypeMeta{APIVersion: "scheduling.k8s.io/v1beta1", Kind: "PodGroup"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint("g", i)},
			Spec:       schedulingv1beta1.PodGroupSpec{SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: 2}}},
		}
		if of := int32(2 * r.IntN(2)); d.workloads[g.Name] || r.IntN(6) > 0 { // its pods have the one between
			g.Spec.Priority = &of
		}
		if i != 1 {
			g.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{All: &schedulingv1beta1.AllDisruptionMode{}}
		}
		d.groups = append(d.groups, g)
	}
	made := 0
	pod := func(node string, cpu int64) *v1.Pod {
		made++
		priority := int32(r.IntN(3))
		p := &v1.Pod{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprintf("p%03d", made), UID: types.UID(fmt.Sprint(made)),
				CreationTimestamp: metav1.NewTime(liveNow.Add(-time.Duration(1+r.IntN(5)) * time.Hour)),
				Labels:            map[string]string{"app": fmt.Sprint(r.IntN(4)), "go-preempt.github.io/queue": []string{"a", "b", "c.x", "c.y"}[r.IntN(4)]}},
			Spec: v1.PodSpec{NodeName: node, Priority: &priority, Containers: []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{
				Requests: v1.ResourceList{"cpu": *resource.NewQuantity(cpu, resource.DecimalSI), "memory": resource.MustParse("1Gi")}}}}},
		}
		if node != "" {
			p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionTrue,
				LastTransitionTime: metav1.NewTime(p.CreationTimestamp.Add(time.Duration(r.IntN(50)) * time.Minute))}}
			if r.IntN(5) == 0 {
				p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &d.groups[r.IntN(2)].Name}
				p.Labels["go-preempt.github.io/queue"], *p.Spec.Priority = "b", 1
			}
			switch r.IntN(14) {
			case 2, 3: // the mirror of a static pod
				p.Annotations = map[string]string{v1.MirrorPodAnnotationKey: "hash"}
			case 4, 5: // it shrinks, and has all of what it had
				p.Status.ContainerStatuses = []v1.ContainerStatus{{Name: "c", AllocatedResources: p.Spec.Containers[0].Resources.Requests}}
				p.Spec.Containers[0].Resources.Requests = v1.ResourceList{"cpu": resource.MustParse("500m"), "memory": resource.MustParse("1Gi")}
			case 0: // a DaemonSet's: nobody's victim but for its own node
				controls := true
				p.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: "d", Controller: &controls}}
			case 1: // leaving, or overdue; the plugin reads the clock, so it is clear which
				end := metav1.NewTime(liveNow.AddDate([]int{-1, 200}[r.IntN(2)], 0, 0))
				p.DeletionTimestamp = &end
			}
		}
		if of := &p.Spec.Containers[0].Resources; r.IntN(5) == 0 {
			of.Requests, of.Limits = nil, of.Requests
		}
		d.pods = append(d.pods, p)
		return p
	}
	for i := range 3 + r.IntN(3) {
		list := v1.ResourceList{"cpu": resource.MustParse("8"), "memory": resource.MustParse("64Gi"), "pods": resource.MustParse("110")}
		n := &v1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i)}, Status: v1.NodeStatus{Capacity: list, Allocatable: list}}
		if i == 2 {
			n.Spec.Taints = []v1.Taint{{Key: "special", Effect: v1.TaintEffectNoSchedule}}
		}
		d.nodes = append(d.nodes, n)
		for free := int64(8); free > 1; {
			cpu := 1 + r.Int64N(min(4, free))
			if p := pod(n.Name, cpu); free == 8 && r.IntN(2) == 0 {
				withPort(p)
			}
			free -= cpu
		}
	}
	for range 3 {
		p := pod("", 1+r.Int64N(7))
		if r.IntN(3) == 0 {
			withPort(p)
		}
		if r.IntN(2) == 0 {
			p.Spec.Tolerations = []v1.Toleration{{Key: "special", Operator: v1.TolerationOpExists}}
		}
	}
	runs := d.pods[:len(d.pods)-3]
	if leaves := runs[r.IntN(len(runs))]; r.IntN(2) == 0 { // and somebody has promised its place
		end := metav1.NewTime(liveNow.AddDate(200, 0, 0))
		leaves.DeletionTimestamp = &end
		p := pod("", 1)
		p.Spec.Tolerations = []v1.Toleration{{Key: "special", Operator: v1.TolerationOpExists}}
		p.Spec.Containers[0].Resources = leaves.Spec.Containers[0].Resources
		p.Status.NominatedNodeName = leaves.Spec.NodeName
	}
	if r.IntN(2) == 0 { // the eviction API has let a pod go
		d.budgets[0].Status.DisruptedPods = map[string]metav1.Time{runs[r.IntN(len(runs))].Name: metav1.NewTime(liveNow.AddDate(200, 0, 0))}
	}
	queue, priority, alone := []string{"a", "b", "c.x"}[r.IntN(3)], int32(r.IntN(3)), r.IntN(2) == 0
	if d.workloads["g2"] {
		priority = 1
	}
	for range 2 {
		p := pod("", 1+r.Int64N(5))
		p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &d.groups[2].Name}
		p.Labels["go-preempt.github.io/queue"], *p.Spec.Priority = queue, priority
		if of := &p.Spec.Containers[0].Resources; alone && of.Requests != nil {
			of.Requests, of.Limits = nil, of.Requests
		}
	}
	return d
}

// A thing is an object of a dump, or part of one.
type thing = map[string]any

// workload returns the Workload of a group, whose pods may run or wait. A Workload that waits has
// none yet.
func (d *dump) workload(g *schedulingv1beta1.PodGroup) thing {
	var sets []thing
	since, running := liveNow, 0
	for _, p := range d.pods {
		if s := p.Spec.SchedulingGroup; s == nil || *s.PodGroupName != g.Name {
			continue
		}
		if p.CreationTimestamp.Time.Before(since) {
			since = p.CreationTimestamp.Time
		}
		if p.Spec.NodeName != "" {
			running++
		}
		spec := p.Spec.DeepCopy()
		spec.NodeName, spec.SchedulingGroup = "", nil
		sets = append(sets, thing{"name": p.Name, "count": 1, "template": thing{"metadata": thing{"labels": p.Labels}, "spec": spec}})
	}
	w := thing{"podSets": sets}
	if g.Spec.Priority != nil && running > 0 {
		w["priorityClassRef"] = thing{"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": fmt.Sprint("class-", *g.Spec.Priority)}
	} else if g.Spec.Priority != nil {
		w["priority"] = *g.Spec.Priority
	}
	o := thing{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "spec": w,
		"metadata": thing{"namespace": g.Namespace, "name": g.Name, "creationTimestamp": metav1.NewTime(since)}}
	if running > 0 {
		o["status"] = thing{"admission": thing{"clusterQueue": "any"}}
	}
	return o
}

// text returns the dump as kubectl prints it.
func (d *dump) text(t *testing.T) []byte {
	var items []any
	for _, o := range d.nodes {
		items = append(items, o)
	}
	for _, o := range d.pods {
		if s := o.Spec.SchedulingGroup; s != nil && d.workloads[*s.PodGroupName] {
			if o.Spec.NodeName == "" {
				continue // the Workload has it
			}
			o = o.DeepCopy()
			o.Spec.SchedulingGroup = nil
			metav1.SetMetaDataAnnotation(&o.ObjectMeta, "kueue.x-k8s.io/workload", *s.PodGroupName)
		}
		items = append(items, o)
	}
	for _, o := range d.groups {
		if d.workloads[o.Name] {
			items = append(items, d.workload(o))
		} else {
			items = append(items, o)
		}
	}
	for value := range 3 {
		items = append(items, thing{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass", "metadata": thing{"name": fmt.Sprint("class-", value)}, "value": value})
	}
	for _, o := range d.budgets {
		items = append(items, o)
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	require.NoError(t, err)
	return text
}

// decisions returns what the plugin decides about all that wait, each by itself: outcome
// and victims, by the name of a pod or PodGroup.
func (d *dump) decisions(t *testing.T) map[string]string {
	budgets := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, b := range d.budgets {
		require.NoError(t, budgets.Add(b))
	}
	c := coreOf(t, `{"defaultQueue": "a", "root": `+liveQueues+`}`, budgets)
	c.groups = d.known()
	infos := map[string]*framework.NodeInfo{}
	var nodes []fwk.NodeInfo
	for _, n := range d.nodes {
		info := framework.NewNodeInfo()
		info.SetNode(n)
		infos[n.Name] = info
		nodes = append(nodes, info)
	}
	var waiting, members []*v1.Pod
	for _, p := range d.pods {
		p = p.DeepCopy()
		corev1.SetDefaults_Pod(p) // as the API does
		switch {
		case p.Spec.NodeName != "":
			infos[p.Spec.NodeName].AddPod(p)
		case p.Spec.SchedulingGroup != nil:
			members = append(members, p)
		default:
			waiting = append(waiting, p)
		}
	}
	for _, p := range append(waiting, members...) {
		c.note(p, true)
	}
	c.sync(nodes)
	c.alone()
	c.needEach(t, func(job string) int {
		for _, g := range d.groups {
			if job == g.Namespace+"/"+g.Name && g.Spec.DisruptionMode != nil {
				return math.MaxInt32
			}
		}
		return 0
	})
	// The scheduler's Filter plugins say this of taints.
	tolerates := func(p *v1.Pod, n victims.NodeID) bool {
		return len(infos[c.cluster.NodeName(n)].Node().Spec.Taints) == 0 || len(p.Spec.Tolerations) > 0
	}
	all := map[string]string{}
	for _, p := range waiting {
		c.planner.Filter = func(q *victims.Question) bool { return tolerates(p, q.Node) }
		c.planner.Blockers = func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
			for _, pi := range infos[c.cluster.NodeName(q.Node)].GetPods() {
				if id, ok := c.cluster.Lookup(key(pi.GetPod())); ok && conflict(portsOf(pi.GetPod()), util.GetHostPorts(p)) {
					dst = append(dst, id)
				}
			}
			return dst
		}
		c.auditor.Filter, c.auditor.Blockers = c.planner.Filter, c.planner.Blockers
		ask, err := c.ask(p)
		require.NoError(t, err)
		decide := c.decide
		if c.placed(ask.Key) { // there is no scheduler to ask whether that place is of use
			decide = func(ask *victims.Ask, now time.Time) error { return c.planner.Decide(&c.decision, ask, now) }
		}
		require.NoError(t, decide(&ask, liveNow))
		var keys []string
		for _, v := range c.decision.Plan.Victims {
			keys = append(keys, v.Key)
		}
		all[name(p)] = decided(c.decision.Outcome, keys)
	}
	c.jobPlanner.Filter = func(q *victims.Question) bool { return tolerates(members[0], q.Node) }
	job := victims.Ask{Key: "ns/g2", MinMembers: 2}
	for _, p := range members {
		ask, err := c.ask(p)
		require.NoError(t, err)
		job.Queue, job.Priority, job.Application = ask.Queue, ask.Priority, ask.Application
		if job.PendingSince.IsZero() || ask.PendingSince.Before(job.PendingSince) {
			job.PendingSince = ask.PendingSince
		}
		job.Members = append(job.Members, victims.Member{Key: ask.Key, Size: ask.Size})
	}
	require.NoError(t, c.jobPlanner.Decide(&c.jobDecision, &job, liveNow))
	var keys []string
	for _, v := range c.jobDecision.Plan.Victims {
		keys = append(keys, v.Key)
	}
	all[job.Key] = decided(c.jobDecision.Outcome, keys)
	return all
}

// known returns the groups of the dump as the scheduler has them.
func (d *dump) known() *groups {
	return &groups{pods: func(ns, name string) (*schedulingv1beta1.PodGroup, error) {
		for _, g := range d.groups {
			if g.Namespace == ns && g.Name == name {
				return g, nil
			}
		}
		return nil, apierrors.NewNotFound(schedulingv1beta1.Resource("podgroups"), name)
	}}
}

// liveFeatures are what a dump would have if something in it were not looked at.
var liveFeatures = map[string]func(*dump){
	"priorities of groups": func(d *dump) {
		for _, g := range d.groups {
			if !d.workloads[g.Name] {
				g.Spec.Priority = nil
			}
		}
	},
	"priorities of Workloads": func(d *dump) {
		for _, g := range d.groups {
			if d.workloads[g.Name] {
				g.Spec.Priority = nil
			}
		}
	},
	"podsets with limits alone": func(d *dump) {
		for _, p := range d.pods {
			if s := p.Spec.SchedulingGroup; s != nil && d.workloads[*s.PodGroupName] && p.Spec.NodeName == "" {
				p.Spec.Containers[0].Resources.Limits = nil
			}
		}
	},
	"static pods": func(d *dump) {
		for _, p := range d.pods {
			p.Annotations = nil
		}
	},
	"resizes": func(d *dump) {
		for _, p := range d.pods {
			p.Status.ContainerStatuses = nil
		}
	},
	"nominations": func(d *dump) {
		for _, p := range d.pods {
			p.Status.NominatedNodeName = ""
		}
	},
	"evictions": func(d *dump) { d.budgets[0].Status.DisruptedPods = nil },
	"limits alone": func(d *dump) {
		for _, p := range d.pods {
			p.Spec.Containers[0].Resources.Limits = nil
		}
	},
}

// decided tells a decision in a line: the outcome, and the names of victims.
func decided(o victims.Outcome, keys []string) string {
	var names []string
	for _, k := range keys { // namespace/name/uid
		names = append(names, k[:strings.LastIndexByte(k, '/')])
	}
	slices.Sort(names)
	return fmt.Sprint(o, " ", names)
}

// TestLive: what examples/live makes of a dump is decided as the plugin decides the same
// cluster.
func TestLive(t *testing.T) {
	dir := t.TempDir()
	build := func(what, from string) string {
		out := filepath.Join(dir, what)
		cmd := exec.Command("go", "build", "-o", out, ".")
		cmd.Dir = filepath.FromSlash(from)
		text, err := cmd.CombinedOutput()
		require.NoError(t, err, string(text))
		return out
	}
	live, plan := build("live", "../../live"), build("plan", "../../plan")
	queues := filepath.Join(dir, "queues.yaml")
	require.NoError(t, os.WriteFile(queues, []byte(liveQueues), 0o600))
	documents := t.TempDir()
	var decisions []map[string]string // of the plugin
	decide := map[string]int{}        // how many dumps are decided otherwise without a feature
	for seed := range uint64(200) {
		d := randomDump(rand.New(rand.NewPCG(seed, 1)))
		text := command(t, d.text(t), live, "-document", "-each", "-queues", queues, "-default-queue", "a", "-now", liveNow.Format(time.RFC3339))
		require.NoError(t, os.WriteFile(filepath.Join(documents, fmt.Sprintf("%03d.json", seed)), text, 0o600))
		decisions = append(decisions, d.decisions(t))
		for feature, without := range liveFeatures { // in any order: each is by itself
			other := randomDump(rand.New(rand.NewPCG(seed, 1)))
			if without(other); !maps.Equal(other.decisions(t), decisions[seed]) {
				decide[feature]++
			}
		}
	}
	reports, outcomes := json.NewDecoder(bytes.NewReader(command(t, nil, plan, "-json", documents))), map[string]int{}
	for seed, want := range decisions {
		var report struct {
			Results []struct {
				Key, Outcome string
				Victims      []string
			}
		}
		require.NoError(t, reports.Decode(&report))
		got := map[string]string{}
		for _, r := range report.Results {
			got[r.Key] = fmt.Sprint(r.Outcome, " ", r.Victims)
			outcomes[r.Outcome]++
		}
		require.Equal(t, want, got, "seed %d", seed)
	}
	t.Log(outcomes, decide)
	for feature := range liveFeatures {
		require.GreaterOrEqual(t, decide[feature], 20, feature)
	}
	require.Greater(t, outcomes["plan"], 100)
	require.Greater(t, outcomes["refused"], 100)
}

// command runs a program on a text, and returns what it prints.
func command(t *testing.T, stdin []byte, program string, args ...string) []byte {
	cmd := exec.Command(program, args...)
	var out, problems bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &out, &problems
	require.NoError(t, cmd.Run(), problems.String())
	return out.Bytes()
}
