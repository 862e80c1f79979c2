// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/toleration"
)

// overdue is how long after its grace period a pod that was told to stop still counts
// as leaving. After that something keeps it, and it is nobody's victim.
const overdue = 5 * time.Minute

// work is what runs and what waits.
type work struct {
	*cluster
	places   *places
	budgets  map[string][]budget // by namespace
	classes  map[string]bool
	used     map[string]bool // types
	tasks    []taskText
	asks     []waiting
	grants   []grantText
	jobs     map[gangID]*gang
	kindsOf  map[string]map[string]bool // kinds of gangs, by their names
	minimums map[string]int
}

// A waiting ask or job is a request, with what it is ordered by.
type waiting struct {
	request  requestText
	priority int32
	since    time.Time
	key      string
}

func newWork(c *cluster) *work {
	w := &work{cluster: c, classes: map[string]bool{}, used: map[string]bool{"cpu": true, "memory": true, "pods": true},
		tasks: []taskText{}, jobs: map[gangID]*gang{}, kindsOf: map[string]map[string]bool{}, minimums: map[string]int{}}
	for _, p := range c.classes {
		w.classes[p.Name] = true
	}
	for i := range c.slurm.classes {
		w.classes[c.slurm.classes[i].Name] = true
	}
	return w
}

// read sorts the pods into tasks, asks and members of jobs.
func (w *work) read() (err error) {
	if w.budgets, err = w.cluster.selectors(); err != nil {
		return err
	}
	var running, pending []*pod
	for _, p := range w.pods {
		switch {
		case p.over:
		case p.node != "":
			running = append(running, p)
		case !p.end.IsZero():
		case w.evicted(p):
			w.notes.add(p.key, "asks for nothing: its Workload is evicted, and holds its quota still")
		case len(p.spec().SchedulingGates) > 0:
			if w.workloadOf(p) == nil { // Kueue gates pods, and the workload asks
				w.notes.add(p.key, "asks for nothing yet: it has scheduling gates")
			}
		default:
			pending = append(pending, p)
		}
	}
	if w.places, err = w.newPlaces(running, pending); err != nil {
		return err
	}
	w.noteKinds(running)
	w.noteKinds(pending)
	rooms := w.rooms()
	for _, p := range running {
		if rooms[p.node] == nil {
			w.notes.add(p.key, "left out: its node is not among those read")
			continue
		}
		if t := w.run(p); t.State == "" {
			rooms.take(p.node, p.size().amounts)
		}
	}
	nominated := w.nominate(pending, rooms)
	for _, p := range pending {
		w.wait(p, nominated[p])
	}
	w.finishJobs()
	return nil
}

// of returns what tasks and asks have of a pod.
func (w *work) of(p *pod) workText {
	t := workText{
		podText: podText{p.key, w.size(p)}, Queue: w.queueOf(p), Application: w.applicationOf(p),
		Age: w.age(p, p.created), Budgets: w.budgetsOf(p), Ports: w.places.ports[p.key],
	}
	if own := p.spec().Priority; own != nil {
		t.Priority = *own
	}
	if class := p.spec().PriorityClassName; w.classes[class] {
		t.Class = class
		if p.spec().Priority == nil {
			w.notes.add(p.key, "has a priority class and no priority: its priority is 0")
		}
	} else if class != "" {
		w.notes.add(p.key, "its priority class was not read; its priority holds")
	}
	if g := w.groupOf(p); g != nil {
		t.Job = g.called
	}
	if p.annotations[annotationTaskGroup]+p.annotations[annotationTaskGroups] != "" {
		w.notes.add(p.key, "left out: its task group of YuniKorn; it asks by itself")
	}
	if p.annotations[annotationPreemptable] == "false" {
		w.notes.add(p.key, "left out: "+annotationPreemptable+"; it may be stopped")
	}
	return t
}

// run adds a pod that is bound.
func (w *work) run(p *pod) *taskText {
	t := taskText{workText: w.of(p), Node: p.node, ScheduledAge: sinceRun{never: true}}
	if !p.scheduled.IsZero() {
		t.ScheduledAge = sinceRun{span: w.age(p, p.scheduled)}
	}
	if p.ofNode() {
		t.RequiredNode = t.Node
	}
	if p.resize == v1.PodReasonDeferred {
		w.notes.add(t.Key, "left out: its resize is deferred, and nobody makes room for it; it counts as what it is to be")
	}
	if p.annotations[toleration.AnnotationAllowPreemption] == "false" {
		t.AllowPreemption = new(bool)
	}
	w.losses(p, &t)
	if !p.end.IsZero() {
		if w.options.now.Before(p.end.Add(overdue)) {
			t.State = "releasing"
		} else {
			t.RequiredNode = t.Node
			w.notes.add(t.Key, "was to be gone long ago, and is: it counts as running for good")
		}
	} else if w.evicted(p) || w.disrupted(p) {
		t.State = "releasing"
	}
	if g := w.groupOf(p); g != nil {
		g.running(&t)
	}
	w.tasks = append(w.tasks, t)
	return &w.tasks[len(w.tasks)-1]
}

// Annotations of examples/kubernetes that say what is lost if a pod stops.
const (
	annotationCheckpoint = "go-preempt.github.io/last-checkpoint"
	annotationCost       = "go-preempt.github.io/stop-cost"
)

// losses adds what a pod says is lost if it stops. As in the plugin a bad value is none.
func (w *work) losses(p *pod, t *taskText) {
	if text, ok := p.annotations[annotationCheckpoint]; ok {
		if at, err := time.Parse(time.RFC3339, text); err != nil {
			w.notes.add(t.Key, "left out: "+annotationCheckpoint+" is no time such as 2026-01-31T12:00:00Z: "+plain.Name(text))
		} else {
			age := w.age(p, at)
			t.CheckpointAge = &age
		}
	}
	if text, ok := p.annotations[annotationCost]; ok {
		if n, err := strconv.ParseInt(text, 10, 64); err != nil || n < 0 {
			w.notes.add(t.Key, "left out: "+annotationCost+" is no whole number from 0 on: "+plain.Name(text))
		} else {
			t.Cost = n
		}
	}
}

// wait adds a pod that has no node, and the place that it was promised, if there is one.
func (w *work) wait(p *pod, promised string) {
	a := askText{workText: w.of(p), NodeSelector: w.places.selector(p)}
	a.RequiredNode = w.requiredNode(p)
	if own := p.spec().PreemptionPolicy; own != nil {
		may := *own != v1.PreemptNever
		a.AllowPreemptOther = &may
	}
	if promised != "" {
		w.grants = append(w.grants, grantText{a, promised})
	}
	if g := w.groupOf(p); g != nil {
		g.waits(p, &a)
		if len(a.Ports) > 0 {
			w.notes.add(a.Key, "left out: host ports and anti-affinity of a member of a job")
		}
		return
	}
	w.asks = append(w.asks, waiting{requestText{Ask: &a, Then: w.then()}, a.Priority, p.created, a.Key})
}

// then returns what happens after a plan.
func (w *work) then() string {
	if w.options.each {
		return "nothing"
	}
	return ""
}

// requests returns all requests in the order in which a scheduler takes them: by
// priority, and then by age.
func (w *work) requests() []requestText {
	slices.SortFunc(w.asks, func(a, b waiting) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), a.since.Compare(b.since), cmp.Compare(a.key, b.key))
	})
	all := []requestText{}
	for _, a := range w.asks {
		all = append(all, a.request)
	}
	return all
}

// types returns the resource types, sorted.
func (w *work) types() []string {
	w.used["cpu"] = true
	queueTypes(&w.root, w.used)
	return slices.Sorted(maps.Keys(w.used))
}

// queueTypes adds the types that queues bound.
func queueTypes(q *queueText, used map[string]bool) {
	if q.Resources != nil {
		for t := range q.Resources.Guaranteed {
			used[t] = true
		}
		for t := range q.Resources.Max {
			used[t] = true
		}
	}
	for i := range q.Queues {
		queueTypes(&q.Queues[i], used)
	}
}

// size returns what a pod requests, and notes of which types.
func (w *work) size(p *pod) *size {
	s := p.size()
	for t := range s.amounts {
		w.used[t] = true
	}
	return s
}

// withDefaults has containers request what they limit and do not request, as the API does
// when it takes a pod. Templates of Workloads, and manifests, have not been through it.
func withDefaults(spec *v1.PodSpec) {
	requested := map[v1.ResourceName]bool{}
	for _, containers := range [][]v1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			r := &containers[i].Resources
			r.Requests = orLimits(r.Requests, r.Limits, nil)
			for t := range r.Requests {
				requested[t] = true
			}
		}
	}
	if r := spec.Resources; r != nil { // of the pod as a whole
		r.Requests = orLimits(r.Requests, r.Limits, requested)
	}
}

// orLimits adds to requests the limits of types that are neither there nor among others.
func orLimits(requests, limits v1.ResourceList, others map[v1.ResourceName]bool) v1.ResourceList {
	for t, q := range limits {
		if _, ok := requests[t]; ok || others[t] {
			continue
		}
		if requests == nil {
			requests = v1.ResourceList{}
		}
		requests[t] = q
	}
	return requests
}

// capacity returns what a node has for pods.
func capacity(n *v1.Node, types []string) map[string]string {
	c := map[string]string{}
	for _, t := range types {
		q, ok := n.Status.Allocatable[v1.ResourceName(t)]
		if !ok {
			q = resource.Quantity{}
		}
		c[t] = quantity(t, q)
	}
	return c
}

// age returns how long ago something of a pod was.
func (w *work) age(p *pod, at time.Time) span {
	if at.IsZero() {
		return span(time.Hour)
	}
	age := w.options.now.Sub(at)
	if age < 0 {
		w.notes.add(p.key, "is from the future; its age counts as 0")
		age = 0
	}
	return span(age)
}

// ofDaemonSet reports whether a DaemonSet controls a pod.
func (p *pod) ofDaemonSet() bool { return p.owner.kind == "DaemonSet" }

// ofNode reports whether a pod is made again on its node if it stops: that of a DaemonSet,
// and the mirror of a static pod of the kubelet's. To stop it would free nothing.
func (p *pod) ofNode() bool {
	_, mirror := p.annotations[v1.MirrorPodAnnotationKey]
	return mirror || p.ofDaemonSet() || p.owner.kind == "Node"
}

// requiredNode returns the node that a pod of a DaemonSet is for, or "".
func (w *work) requiredNode(p *pod) string {
	if a := p.affinity; p.ofDaemonSet() && a != nil && a.NodeAffinity != nil {
		if r := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; r != nil && len(r.NodeSelectorTerms) > 0 {
			for _, f := range r.NodeSelectorTerms[0].MatchFields {
				if f.Key == metav1.ObjectNameField && f.Operator == v1.NodeSelectorOpIn && len(f.Values) == 1 {
					return f.Values[0]
				}
			}
		}
	}
	return ""
}

// hostPorts returns the ports of its node that a pod wants.
func (w *work) hostPorts(p *pod) (ports []string) {
	for _, containers := range [][]v1.Container{p.spec().InitContainers, p.spec().Containers} {
		for i := range containers {
			for _, port := range containers[i].Ports {
				if port.HostPort == 0 {
					continue
				}
				if port.HostIP != "" && port.HostIP != "0.0.0.0" {
					w.notes.add(p.key, "its host port counts for all addresses of the node")
				}
				ports = append(ports, string(cmp.Or(port.Protocol, v1.ProtocolTCP))+"/"+strconv.Itoa(int(port.HostPort)))
			}
		}
	}
	return ports
}
