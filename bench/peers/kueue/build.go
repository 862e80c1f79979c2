// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-logr/logr"
	"github.com/go-preempt/preempt/internal/judge/exam"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	res "github.com/go-preempt/preempt/resources"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	kres "sigs.k8s.io/kueue/pkg/resources"
)

// nothing is a client of a cluster in which there is nothing.
type nothing struct{ client.Client }

// List finds nothing.
func (nothing) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

const (
	flavor        = "default"
	keyAnnotation = "key"
)

func queueRef(name string) kueue.ClusterQueueReference { return kueue.ClusterQueueReference(name) }

// build makes cohorts, ClusterQueues and workloads.
func (w *world) build() error {
	if _, ok := w.doc.Schema.Index(string(corev1.ResourcePods)); ok || len(w.doc.Root.Children) == 0 {
		return fmt.Errorf("%w: pods as amounts, or a root that is a leaf", exam.ErrCannot)
	}
	w.cache.AddOrUpdateResourceFlavor(logr.Discard(), &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: flavor}})
	if _, err := w.addCohort(&w.doc.Root, w.doc.Root.Name, ""); err != nil {
		return err
	}
	for i := range w.doc.Tasks {
		t := &w.doc.Tasks[i]
		if t.RequiredNode != "" {
			return fmt.Errorf("%w: a task that requires its node", exam.ErrCannot)
		}
		w.cache.AddOrUpdateWorkload(logr.Discard(), w.running(t, i))
	}
	var err error
	w.snapshot, err = w.cache.Snapshot(quiet())
	return err
}

// addCohort makes a cohort of a queue with children, and what is below. It
// returns the quota of the whole of it.
func (w *world) addCohort(q *scenario.Queue, path, parent string) (res.Vector, error) {
	if len(q.Children) == 0 {
		return w.addLeaf(q, path, parent)
	}
	name := nameOf(path)
	sum := make(res.Vector, w.doc.Schema.Len())
	for i := range q.Children {
		part, err := w.addCohort(&q.Children[i], path+"."+q.Children[i].Name, name)
		if err != nil {
			return nil, err
		}
		sum = res.Add(sum, sum, part)
	}
	whole := make(res.Vector, w.doc.Schema.Len())
	for t := range whole {
		if whole[t] = sum[t]; q.Guaranteed.Defined.Has(t) {
			whole[t] = q.Guaranteed.Value[t]
		}
		if parent == "" { // the cluster
			whole[t] = w.doc.Nodes[0].Capacity[t]
		}
		if whole[t] < sum[t] {
			return nil, fmt.Errorf("%w: guarantees beyond that of the queue above, or the capacity", exam.ErrCannot)
		}
	}
	if parent == "" && (q.Max.Defined != 0 || q.Guaranteed.Defined != 0) {
		return nil, fmt.Errorf("%w: bounds of the root", exam.ErrCannot)
	}
	groups, err := w.groups(res.Sub(nil, whole, sum), whole, q.Max)
	if err != nil {
		return nil, err
	}
	return whole, w.cache.AddOrUpdateCohort(&kueue.Cohort{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       kueue.CohortSpec{ParentName: kueue.CohortReference(parent), ResourceGroups: groups},
	})
}

// addLeaf makes a ClusterQueue.
func (w *world) addLeaf(q *scenario.Queue, path, parent string) (res.Vector, error) {
	nominal := make(res.Vector, w.doc.Schema.Len())
	for t := range nominal {
		if q.Guaranteed.Defined.Has(t) {
			nominal[t] = q.Guaranteed.Value[t]
		}
	}
	groups, err := w.groups(nominal, nominal, q.Max)
	if err != nil {
		return nil, err
	}
	name := nameOf(path)
	w.leaves[path] = name
	return nominal, w.cache.AddClusterQueue(quiet(), &kueue.ClusterQueue{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: kueue.ClusterQueueSpec{
			CohortName: kueue.CohortReference(parent), ResourceGroups: groups, NamespaceSelector: &metav1.LabelSelector{},
			QueueingStrategy: kueue.BestEffortFIFO,
			Preemption: &kueue.ClusterQueuePreemption{
				ReclaimWithinCohort: w.reclaim, WithinClusterQueue: kueue.PreemptionPolicyNever,
				BorrowWithinCohort: &kueue.BorrowWithinCohort{Policy: kueue.BorrowWithinCohortPolicyNever},
			},
		},
	})
}

// groups returns the quotas of a queue: its own, and how much more than the
// whole of it, up to a max, it may borrow.
func (w *world) groups(own, whole res.Vector, most res.Limit) ([]kueue.ResourceGroup, error) {
	g := kueue.ResourceGroup{Flavors: []kueue.FlavorQuotas{{Name: flavor}}}
	for t := range w.doc.Schema.Len() {
		name := w.doc.Schema.Name(t)
		quota := kueue.ResourceQuota{Name: typeOf(name), NominalQuota: quantity(name, own[t])}
		if most.Defined.Has(t) {
			if most.Value[t] < whole[t] {
				return nil, fmt.Errorf("%w: a max below what is guaranteed below", exam.ErrCannot)
			}
			limit := quantity(name, most.Value[t]-whole[t])
			quota.BorrowingLimit = &limit
		}
		g.CoveredResources = append(g.CoveredResources, quota.Name)
		g.Flavors[0].Resources = append(g.Flavors[0].Resources, quota)
	}
	return []kueue.ResourceGroup{g}, nil
}

// nameOf returns the path as a name of Kubernetes' objects.
func nameOf(path string) string { return strings.ReplaceAll(path, ".", "-of-") + "-q" }

// typeOf returns what a type is called in Kubernetes.
func typeOf(name string) corev1.ResourceName {
	switch t := corev1.ResourceName(name); t {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods:
		return t
	}
	return corev1.ResourceName("peers.example/" + name)
}

func quantity(name string, amount int64) resource.Quantity {
	if name == string(corev1.ResourceCPU) {
		return *resource.NewMilliQuantity(amount, resource.DecimalSI)
	}
	return *resource.NewQuantity(amount, resource.DecimalSI)
}

// workload makes a workload of one pod.
func (w *world) workload(key string, size res.Vector, priority int32) *kueue.Workload {
	list := make(corev1.ResourceList)
	for name, amount := range exam.ByType(w.doc.Schema, size) {
		list[typeOf(name)] = quantity(name, amount)
	}
	return &kueue.Workload{
		ObjectMeta: metav1.ObjectMeta{
			Name: "w-" + key, Namespace: "default", UID: types.UID("uid-" + key),
			CreationTimestamp: metav1.NewTime(w.now), Annotations: map[string]string{keyAnnotation: key},
		},
		Spec: kueue.WorkloadSpec{
			Priority: &priority,
			PodSets: []kueue.PodSet{{Name: kueue.DefaultPodSetName, Count: 1, Template: corev1.PodTemplateSpec{
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: list}}}},
			}}},
		},
	}
}

// pending makes a workload of an ask.
func (w *world) pending(a *scenario.Ask) *kueue.Workload {
	p := w.workload(a.Key, a.Resources, a.Priority)
	p.CreationTimestamp = metav1.NewTime(w.now.Add(-a.Age))
	return p
}

// running makes a workload that holds quota of a task.
func (w *world) running(t *scenario.Task, i int) *kueue.Workload {
	p := w.workload(t.Key, t.Resources, t.Priority)
	p.CreationTimestamp = metav1.NewTime(w.now.Add(-t.Age))
	p.UID = types.UID(strconv.Itoa(i))
	flavors := make(map[corev1.ResourceName]kueue.ResourceFlavorReference)
	usage := p.Spec.PodSets[0].Template.Spec.Containers[0].Resources.Requests
	for name := range usage {
		flavors[name] = flavor
	}
	one := int32(1)
	p.Status.Admission = &kueue.Admission{
		ClusterQueue:      queueRef(w.leaves[t.Queue]),
		PodSetAssignments: []kueue.PodSetAssignment{{Name: kueue.DefaultPodSetName, Flavors: flavors, ResourceUsage: usage, Count: &one}},
	}
	p.Status.Conditions = []metav1.Condition{{
		Type: kueue.WorkloadQuotaReserved, Status: metav1.ConditionTrue, Reason: "Placed",
		LastTransitionTime: metav1.NewTime(w.now.Add(-t.ScheduledAge)),
	}}
	return p
}

// resourceOf returns how Kueue names a type of the document.
func resourceOf(name string) kres.FlavorResource {
	return kres.FlavorResource{Flavor: flavor, Resource: typeOf(name)}
}
