// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"

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
		QueueName string `json:"queueName"`
		Priority  *int32 `json:"priority"`
		Active    *bool  `json:"active"`
	} `json:"spec"`
	Status struct {
		Conditions []metav1.Condition `json:"conditions"`
		Admission  *struct {
			ClusterQueue string `json:"clusterQueue"`
		} `json:"admission"`
	} `json:"status"`

	pods int // of the dump
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

// key returns namespace/name.
func (w *workload) key() string { return name(w.Metadata.Namespace, w.Metadata.Name) }

// workloadOf returns the workload that a pod is in, or nil: the one that it names, or
// that of its owner.
func (c *cluster) workloadOf(p *v1.Pod) *workload {
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
	names := []string{"Workload/" + p.Annotations[annotationWorkload], "Workload/" + p.Labels[labelKueueGroup], "Pod/" + p.Name,
		"JobSet/" + p.Labels[labelJobSet], "LeaderWorkerSet/" + p.Labels[labelLeaderWorker]}
	if o := metav1.GetControllerOf(p); o != nil {
		names = append(names, o.Kind+"/"+o.Name)
	}
	for _, n := range names {
		if w := c.kueue.byOwner[name(p.Namespace, n)]; w != nil {
			return w
		}
	}
	return nil
}

// kueueLeaf returns the leaf of a pod: that of its workload's ClusterQueue, or of the
// LocalQueue that it names.
func (c *cluster) kueueLeaf(p *v1.Pod) string {
	local := p.Labels[labelKueueQueue]
	if w := c.workloadOf(p); w != nil {
		if a := w.Status.Admission; a != nil {
			return c.kueue.path(a.ClusterQueue)
		}
		local = w.Spec.QueueName
	}
	if local == "" {
		return ""
	}
	l, ok := c.kueue.locals[name(p.Namespace, local)]
	if !ok {
		c.notes.add(key(p), "its LocalQueue "+local+" was not read: its queue is the default one")
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
// workload wait before it has pods.
func (c *cluster) addWorkloads() error {
	k := &c.kueue
	alone := len(c.nodes) == 0
	waits := map[*workload]bool{} // pods that wait and are not gated stand for themselves
	for _, p := range c.pods {
		w := c.workloadOf(p)
		if w == nil || p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed {
			continue
		}
		w.pods++
		waits[w] = waits[w] || p.Spec.NodeName == "" && len(p.Spec.SchedulingGates) == 0
	}
	slices.SortFunc(k.workloads, func(a, b *workload) int {
		return a.Metadata.CreationTimestamp.Compare(b.Metadata.CreationTimestamp.Time)
	})
	made := 0
	for _, w := range k.workloads {
		admitted := w.Status.Admission != nil && w.condition("Evicted") == nil
		switch {
		case w.condition("Finished") != nil:
			continue
		case admitted && w.pods > 0, waits[w]:
			continue
		case admitted && !alone:
			c.notes.add("Workload "+w.key(), "left out: it is admitted, and none of its pods are there")
			continue
		case !admitted && w.Spec.Active != nil && !*w.Spec.Active:
			c.notes.add("Workload "+w.key(), "asks for nothing: it is not active")
			continue
		case !admitted && k.holds(w):
			c.notes.add("Workload "+w.key(), "asks for nothing: its queue is stopped")
			continue
		}
		for i := range w.Spec.PodSets {
			set := &w.Spec.PodSets[i]
			field := fmt.Sprintf("spec.podSets[%d].count", i)
			if set.Count < 0 {
				return c.from[w].wrong(field, fmt.Errorf("%d, want 0 or more", set.Count))
			}
			if made += int(set.Count); made > mostPods {
				return c.from[w].wrong(field, fmt.Errorf("more than %d pods in all workloads", mostPods))
			}
			if set.MinCount != nil {
				c.notes.add("Workload "+w.key(), "left out: minCount; it needs all of its pods")
			}
			if t := set.TopologyRequest; t != nil && t.Required != nil {
				c.notes.add("Workload "+w.key(), "left out: a required topology; it may need other nodes")
			}
			for n := range int(set.Count) {
				c.addPod(w, i, n, admitted)
			}
		}
	}
	if alone && made > 0 {
		c.putEverywhere()
	}
	return nil
}

// holds reports whether a workload's queue admits nobody.
func (k *kueue) holds(w *workload) bool {
	l := k.locals[name(w.Metadata.Namespace, w.Spec.QueueName)]
	return l.stopped || k.stopped[l.queue]
}

// addPod puts a pod of a workload in.
func (c *cluster) addPod(w *workload, set, n int, runs bool) {
	s := &w.Spec.PodSets[set]
	podSet := s.Name
	if podSet == "" {
		podSet = "main" // Kueue's default
	}
	p := &v1.Pod{ObjectMeta: *s.Template.ObjectMeta.DeepCopy(), Spec: *s.Template.Spec.DeepCopy()}
	p.Namespace, p.Name = w.Metadata.Namespace, fmt.Sprintf("%s/%s/%d", w.Metadata.Name, podSet, n)
	p.CreationTimestamp = w.Metadata.CreationTimestamp
	p.Spec.NodeName, p.Spec.SchedulingGates = "", nil
	p.Annotations = map[string]string{annotationWorkload: w.Metadata.Name}
	if v, ok := s.Template.Annotations[toleration.AnnotationAllowPreemption]; ok {
		p.Annotations[toleration.AnnotationAllowPreemption] = v
	}
	if w.Spec.Priority != nil {
		p.Spec.Priority = w.Spec.Priority
	}
	if runs {
		p.Spec.NodeName = everywhere
		if q := w.condition("QuotaReserved"); q != nil {
			p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionTrue, LastTransitionTime: q.LastTransitionTime}}
		}
	}
	c.from[p] = c.from[w]
	c.pods = append(c.pods, p)
}

// putEverywhere puts a node in on which everything fits, so that quotas alone decide, as
// they do for Kueue.
func (c *cluster) putEverywhere() {
	all := v1.ResourceList{}
	for _, p := range c.pods {
		for t, q := range resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{}) {
			sum := all[t]
			sum.Add(q)
			all[t] = sum
		}
		pods := all[v1.ResourcePods]
		pods.Add(*resource.NewQuantity(1, resource.DecimalSI))
		all[v1.ResourcePods] = pods
		p.Spec.NodeSelector, p.Spec.Affinity = nil, nil
	}
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: everywhere}, Status: v1.NodeStatus{Allocatable: all}}
	c.nodes = append(c.nodes, n)
	c.notes.say("there are no nodes: all is on one that has room for everybody, and quotas alone decide")
}
