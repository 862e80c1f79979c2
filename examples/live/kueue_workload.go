// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-preempt/preempt/toleration"
)

// A workload is Kueue's: pods that are admitted together. v1beta1 and v1beta2 agree on
// what is read here.
type workload struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		PodSets []struct {
			Name            string             `json:"name"`
			Count           int32              `json:"count"`
			MinCount        *int32             `json:"minCount"`
			Template        v1.PodTemplateSpec `json:"template"`
			TopologyRequest *struct {
				Required *string `json:"required"`
			} `json:"topologyRequest"`
		} `json:"podSets"`
		QueueName         string `json:"queueName"`
		Priority          *int32 `json:"priority"`
		PriorityClassName string `json:"priorityClassName"` // of v1beta1
		PriorityClassRef  *struct {
			Name string `json:"name"`
		} `json:"priorityClassRef"`
		Active *bool `json:"active"`
	} `json:"spec"`
	Status struct {
		Conditions []metav1.Condition `json:"conditions"`
		Admission  *struct {
			ClusterQueue      string       `json:"clusterQueue"`
			PodSetAssignments []assignment `json:"podSetAssignments"`
		} `json:"admission"`
		ReclaimablePods []struct {
			Name  string `json:"name"`
			Count int32  `json:"count"`
		} `json:"reclaimablePods"`
	} `json:"status"`

	pods int // of the dump
}

// An assignment is what a podset was admitted with.
type assignment struct {
	Name          string          `json:"name"`
	ResourceUsage v1.ResourceList `json:"resourceUsage"` // of all its pods
	Count         *int32          `json:"count"`         // nil: as many as it has
}

// A workloadPriorityClass is Kueue's: a priority of Workloads that their pods do not have.
type workloadPriorityClass struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Value    int32             `json:"value"`
}

// Labels and annotations of Kueue's pods.
const (
	labelKueueQueue    = "kueue.x-k8s.io/queue-name"
	labelKueueGroup    = "kueue.x-k8s.io/pod-group-name"
	annotationWorkload = "kueue.x-k8s.io/workload"
)

// mostPods is how many pods the workloads may have that nobody has made yet. A number
// in a manifest costs nothing.
const mostPods = 100_000

// everywhere is the node of a dump that has none.
const everywhere = "everywhere"

// condition returns a condition that is true, or nil.
func (w *workload) condition(kind string) *metav1.Condition {
	for i := range w.Status.Conditions {
		if c := &w.Status.Conditions[i]; c.Type == kind && c.Status == metav1.ConditionTrue {
			return c
		}
	}
	return nil
}

// isEvicted reports whether a workload is on its way out and holds its quota still.
func (w *workload) isEvicted() bool {
	return w.Status.Admission != nil && w.condition("Evicted") != nil && w.condition("Finished") == nil
}

// evicted reports whether a pod is on its way out with its workload.
func (c *cluster) evicted(p *pod) bool {
	w := c.workloadOf(p)
	return w != nil && w.isEvicted()
}

// priorityOf returns the priority of a workload; nil: it says none.
func (c *cluster) priorityOf(w *workload) *int32 {
	if w.Spec.Priority != nil {
		return w.Spec.Priority
	}
	class := w.Spec.PriorityClassName
	if r := w.Spec.PriorityClassRef; r != nil {
		class = r.Name
	}
	if value, ok := c.kueue.classes[class]; ok {
		return &value
	}
	return c.classPriority(class, "Workload "+w.key())
}

// podSet returns the name of a podset, and what it was admitted with, or nil.
func (w *workload) podSet(set int) (string, *assignment) {
	own := cmp.Or(w.Spec.PodSets[set].Name, "main") // which is Kueue's default
	if a := w.Status.Admission; a != nil {
		for i := range a.PodSetAssignments {
			if a.PodSetAssignments[i].Name == own {
				return own, &a.PodSetAssignments[i]
			}
		}
	}
	return own, nil
}

// counts returns how many pods a podset was admitted with, or wants, and how many of these
// are done with: what they had is not used any more.
func (w *workload) counts(set int) (all, done int32) {
	own, admitted := w.podSet(set)
	all = w.Spec.PodSets[set].Count
	if admitted != nil && admitted.Count != nil {
		all = *admitted.Count
	}
	for _, r := range w.Status.ReclaimablePods {
		if r.Name == own {
			done = min(max(r.Count, 0), all)
		}
	}
	return all, done
}

// running returns how many pods use quota of a workload that is admitted.
func (w *workload) running() (pods int) {
	for i := range w.Spec.PodSets {
		all, done := w.counts(i)
		pods += int(all - done)
	}
	return pods
}

// key returns namespace/name.
func (w *workload) key() string { return name(w.Metadata.Namespace, w.Metadata.Name) }

// workloadOf returns the workload that a pod is in, or nil: the one that it names, or
// that of its owner.
func (c *cluster) workloadOf(p *pod) *workload {
	if len(c.kueue.workloads) == 0 {
		return nil
	}
	if c.kueue.byOwner == nil {
		c.kueue.byOwner = map[string]*workload{}
		for _, w := range c.kueue.workloads {
			c.kueue.byOwner[name(w.Metadata.Namespace, "Workload/"+w.Metadata.Name)] = w
			for _, o := range w.Metadata.OwnerReferences {
				c.kueue.byOwner[name(w.Metadata.Namespace, o.Kind+"/"+o.Name)] = w
			}
		}
	}
	names := []string{"Workload/" + p.annotations[annotationWorkload], "Workload/" + p.labels.Get(labelKueueGroup), "Pod/" + p.name,
		"JobSet/" + p.labels.Get(labelJobSet), "LeaderWorkerSet/" + p.labels.Get(labelLeaderWorker)}
	if p.owner != (owner{}) {
		names = append(names, p.owner.String())
	}
	for _, n := range names {
		if w := c.kueue.byOwner[name(p.namespace, n)]; w != nil {
			return w
		}
	}
	return nil
}

// kueueLeaf returns the leaf of a pod: that of its workload's ClusterQueue, or of the
// LocalQueue that it names.
func (c *cluster) kueueLeaf(p *pod) string {
	local := p.labels.Get(labelKueueQueue)
	if w := c.workloadOf(p); w != nil {
		if a := w.Status.Admission; a != nil {
			return c.kueue.path(a.ClusterQueue)
		}
		local = w.Spec.QueueName
	}
	if local == "" {
		return ""
	}
	l, ok := c.kueue.locals[name(p.namespace, local)]
	if !ok {
		c.notes.add(p.key, "its LocalQueue "+local+" was not read: its queue is the default one")
		return ""
	}
	return c.kueue.path(l.queue)
}

// path returns where a ClusterQueue is. One that was not read has no leaf.
func (k *kueue) path(clusterQueue string) string {
	if path, ok := k.paths[clusterQueue]; ok {
		return path
	}
	return clusterQueue
}

// addWorkloads puts the pods of workloads in that nobody has made yet. Kueue lets a
// workload wait before it has pods. Without nodes workloads stand for their pods: what
// they use of their quotas they say themselves.
func (c *cluster) addWorkloads() error {
	k := &c.kueue
	alone := len(c.nodes) == 0
	if alone {
		c.pods = slices.DeleteFunc(c.pods, func(p *pod) bool { return c.workloadOf(p) != nil })
	}
	waits := map[*workload]bool{} // pods that wait and are not gated stand for themselves
	for _, p := range c.pods {
		w := c.workloadOf(p)
		if w == nil || p.over {
			continue
		}
		w.pods++
		waits[w] = waits[w] || p.node == "" && len(p.spec().SchedulingGates) == 0
	}
	slices.SortFunc(k.workloads, func(a, b *workload) int {
		return cmp.Or(a.Metadata.CreationTimestamp.Compare(b.Metadata.CreationTimestamp.Time), strings.Compare(a.key(), b.key()))
	})
	made := 0
	for _, w := range k.workloads {
		if c.standsForPods(w, alone, waits[w]) {
			if err := c.addPods(w, &made); err != nil {
				return err
			}
		}
	}
	if alone && made > 0 {
		c.putEverywhere()
	}
	return nil
}

// standsForPods reports whether pods are to be made of a workload.
func (c *cluster) standsForPods(w *workload, alone, podsWait bool) bool {
	admitted := w.Status.Admission != nil
	switch {
	case w.condition("Finished") != nil:
	case admitted && w.pods > 0:
		if w.pods < w.running() {
			c.notes.add("Workload "+w.key(), "left out: some of the pods that it was admitted with are not there; what they have of its quota does not count")
		}
	case podsWait:
	case admitted && !alone:
		c.notes.add("Workload "+w.key(), "left out: it is admitted, and none of its pods are there")
	case !admitted && w.Spec.Active != nil && !*w.Spec.Active:
		c.notes.add("Workload "+w.key(), "asks for nothing: it is not active")
	case !admitted && c.kueue.holds(w):
		c.notes.add("Workload "+w.key(), "asks for nothing: its queue is stopped")
	default:
		return true
	}
	return false
}

// addPods puts the pods of a workload in. made counts those of all workloads.
func (c *cluster) addPods(w *workload, made *int) error {
	for i := range w.Spec.PodSets {
		set := &w.Spec.PodSets[i]
		field := fmt.Sprintf("spec.podSets[%d].count", i)
		all, done := w.counts(i)
		if all < 0 {
			return c.from[w].wrong(field, fmt.Errorf("%d, want 0 or more", all))
		}
		if *made += int(all); *made > mostPods {
			return c.from[w].wrong(field, fmt.Errorf("more than %d pods in all workloads", mostPods))
		}
		if set.MinCount != nil && w.Status.Admission == nil {
			c.notes.add("Workload "+w.key(), "left out: minCount; it needs all of its pods")
		}
		if t := set.TopologyRequest; t != nil && t.Required != nil {
			c.notes.add("Workload "+w.key(), "left out: a required topology; it may need other nodes")
		}
		withDefaults(&set.Template.Spec)
		for n := range int(all - done) {
			c.addPod(w, i, n)
		}
	}
	return nil
}

// holds reports whether a workload's queue admits nobody.
func (k *kueue) holds(w *workload) bool {
	l := k.locals[name(w.Metadata.Namespace, w.Spec.QueueName)]
	return l.stopped || k.stopped[l.queue]
}

// addPod puts a pod of a workload in.
func (c *cluster) addPod(w *workload, set, n int) {
	s := &w.Spec.PodSets[set]
	podSet, admitted := w.podSet(set)
	p := &v1.Pod{ObjectMeta: *s.Template.ObjectMeta.DeepCopy(), Spec: *s.Template.Spec.DeepCopy()}
	p.Namespace, p.Name = w.Metadata.Namespace, fmt.Sprintf("%s/%s/%d", w.Metadata.Name, podSet, n)
	p.CreationTimestamp = w.Metadata.CreationTimestamp
	p.Spec.NodeName, p.Spec.SchedulingGates = "", nil
	p.Annotations = map[string]string{annotationWorkload: w.Metadata.Name}
	if v, ok := s.Template.Annotations[toleration.AnnotationAllowPreemption]; ok {
		p.Annotations[toleration.AnnotationAllowPreemption] = v
	}
	if priority := c.priorityOf(w); priority != nil {
		p.Spec.Priority = priority
	}
	if admitted != nil && len(admitted.ResourceUsage) > 0 {
		all, _ := w.counts(set)
		p.Spec.InitContainers, p.Spec.Overhead, p.Spec.Resources = nil, nil, nil
		p.Spec.Containers = []v1.Container{{Resources: v1.ResourceRequirements{Requests: portion(admitted.ResourceUsage, int64(all), int64(n))}}}
	}
	if w.Status.Admission != nil {
		p.Spec.NodeName = everywhere
		if q := w.condition("QuotaReserved"); q != nil {
			p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionTrue, LastTransitionTime: q.LastTransitionTime}}
		}
	}
	made := newPod(p, newShape(p))
	made.workload = c.from[w]
	c.pods = append(c.pods, made)
}

// portion returns what pod n of a podset has of its usage. If that does not divide, the
// first ones have the rest.
func portion(usage v1.ResourceList, pods, n int64) v1.ResourceList {
	one := v1.ResourceList{}
	for t, q := range usage {
		all := units(string(t), q)
		amount := all / pods
		if n < all%pods {
			amount++
		}
		if t == v1.ResourceCPU {
			one[t] = *resource.NewMilliQuantity(amount, resource.DecimalSI)
		} else {
			one[t] = *resource.NewQuantity(amount, resource.DecimalSI)
		}
	}
	return one
}

// putEverywhere puts a node in on which everything fits, so that quotas alone decide, as
// they do for Kueue.
func (c *cluster) putEverywhere() {
	all := v1.ResourceList{}
	for _, p := range c.pods {
		for t, q := range p.requests() {
			sum := all[t]
			sum.Add(q)
			all[t] = sum
		}
		pods := all[v1.ResourcePods]
		pods.Add(*resource.NewQuantity(1, resource.DecimalSI))
		all[v1.ResourcePods] = pods
		p.spec().NodeSelector, p.affinity = nil, nil
	}
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: everywhere}, Status: v1.NodeStatus{Allocatable: all}}
	c.nodes = append(c.nodes, n)
	c.notes.say("there are no nodes: all is on one that has room for everybody, and quotas alone decide")
}
