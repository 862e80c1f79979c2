// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"
	"unique"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	helper "k8s.io/component-helpers/resource"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/toleration"
)

// What is read of a pod: what is its own, its labels, and the rest, which many have alike. Labels
// and the rest are decoded once for all pods that have them in the same words.
var (
	ofPodItself = selection{
		"apiVersion": nil, "kind": nil,
		"metadata": {"name": nil, "namespace": nil, "creationTimestamp": nil, "deletionTimestamp": nil, "ownerReferences": {"kind": nil, "name": nil, "controller": nil}, "annotations": {
			toleration.AnnotationAllowPreemption: nil, annotationCheckpoint: nil, annotationCost: nil, annotationWorkload: nil,
			annotationVolcano: nil, annotationQueue: nil, v1.MirrorPodAnnotationKey: nil, labelYuniKorn: nil, labelYuniKornShort: nil,
			labelYuniKornApp: nil, annotationTaskGroup: nil, annotationTaskGroups: nil, annotationPreemptable: nil,
		}},
		"spec":   {"nodeName": nil, "affinity": nil},
		"status": {"phase": nil, "nominatedNodeName": nil, "conditions": {"type": nil, "status": nil, "reason": nil, "lastTransitionTime": nil}},
	}
	ofPodLabels = selection{"metadata": {"labels": nil}}
	ofContainer = selection{"name": nil, "resources": nil, "ports": nil, "restartPolicy": nil}
	ofStatus    = selection{"name": nil, "resources": nil, "allocatedResources": nil}
	ofPodShape  = selection{
		"spec": {
			"priority": nil, "priorityClassName": nil, "preemptionPolicy": nil, "schedulingGates": nil, "schedulingGroup": nil,
			"nodeSelector": nil, "tolerations": nil, "topologySpreadConstraints": nil, "overhead": nil, "resources": nil, "resourceClaims": nil,
			"containers": ofContainer, "initContainers": ofContainer, "volumes": {"persistentVolumeClaim": {}, "ephemeral": {}}, // that there is one
		},
		"status": {"containerStatuses": ofStatus, "initContainerStatuses": ofStatus, "resources": nil, "allocatedResources": nil},
	}
	ofPod = ofPodItself.and(ofPodLabels, ofPodShape)
)

// A pod is what counts of one.
type pod struct {
	*shape
	namespace, name, key string // key is namespace/name
	owner                owner  // the controller
	node, nominated      string
	labels               labelSet
	annotations          map[string]string
	affinity             *v1.Affinity // nil if it has a node and keeps nobody off that
	created              time.Time
	scheduled            time.Time // zero: it never was
	end                  time.Time // by when it was told to be gone; zero: it was not
	over                 bool      // it has come to its end
	resize               string    // why it is not done; empty: it is, or there is none

	place    string  // where it was read, for messages
	workload *object // of which it was made, if it was
}

// A labelSet is labels by name. A pod has few, and so many pods have some that a map each would be
// most of what is kept.
type labelSet []label

type label struct{ name, value string }

// newLabelSet returns labels. Names are shared.
func newLabelSet(of map[string]string) labelSet {
	all := make(labelSet, 0, len(of))
	for name, value := range of {
		all = append(all, label{unique.Make(name).Value(), value})
	}
	slices.SortFunc(all, func(a, b label) int { return strings.Compare(a.name, b.name) })
	return all
}

// Lookup, Get and Has are what selectors ask.
func (s labelSet) Lookup(name string) (value string, found bool) {
	for i := range s {
		if s[i].name == name {
			return s[i].value, true
		}
	}
	return "", false
}

func (s labelSet) Get(name string) string {
	value, _ := s.Lookup(name)
	return value
}

func (s labelSet) Has(name string) bool {
	_, found := s.Lookup(name)
	return found
}

// An owner is a controller; the zero value is none.
type owner struct{ kind, name string }

// String returns kind/name.
func (o owner) String() string { return o.kind + "/" + o.name }

// A shape is what pods have alike. Whoever has it does not change it, but for what is worked out
// of it once for all.
type shape struct {
	like  v1.Pod
	asked map[string]*size // what it requests, by why a resize is not done
}

// A size is what a pod requests, in base units.
type size struct {
	amounts map[string]int64
	over    resources.Vector // the same over the types of the document, once they are known
}

// MarshalJSON writes it as a document has it.
func (s *size) MarshalJSON() ([]byte, error) {
	texts := make(map[string]string, len(s.amounts))
	for t, n := range s.amounts {
		texts[t] = quantityOf(t, n)
	}
	return json.Marshal(texts)
}

// vector returns it over types.
func (s *size) vector(types *resources.Schema) resources.Vector {
	if s.over == nil {
		s.over = make(resources.Vector, types.Len())
		for t, n := range s.amounts {
			i, _ := types.Index(t)
			s.over[i] = n
		}
	}
	return s.over
}

// known has texts that were read before, and what they say.
type known[T any] struct{ all sync.Map }

// of returns what a text says. What is wrong is looked at each time.
func (k *known[T]) of(text []byte, read func() (*T, error)) (*T, error) {
	hash := sha256.Sum256(text)
	if had, ok := k.all.Load(hash); ok {
		return had.(*T), nil
	}
	v, err := read()
	if err != nil {
		return nil, err
	}
	had, _ := k.all.LoadOrStore(hash, v)
	return had.(*T), nil
}

// readPod decodes a pod.
func (c *cluster) readPod(o *object, text []byte) (any, error) {
	own, _ := pick(text, ofPodItself)
	itself, err := decode[v1.Pod](o, own)
	if err != nil {
		return nil, err
	}
	own, _ = pick(text, ofPodLabels)
	labels, err := c.labels.of(own, func() (*labelSet, error) {
		p, err := decode[v1.Pod](o, own)
		if err != nil {
			return nil, err
		}
		labels := newLabelSet(p.Labels)
		return &labels, nil
	})
	if err != nil {
		return nil, err
	}
	alike, _ := pick(text, ofPodShape)
	s, err := c.shapes.of(alike, func() (*shape, error) {
		p, err := decode[v1.Pod](o, alike)
		if err != nil {
			return nil, err
		}
		if field, err := badQuantity(p); err != nil {
			return nil, o.wrong(field, err)
		}
		return newShape(p), nil
	})
	if err != nil {
		return nil, err
	}
	p := newPod(itself, s)
	p.labels, p.place = *labels, o.place
	return p, nil
}

// newPod returns a pod of a shape.
func newPod(p *v1.Pod, s *shape) *pod {
	kept := &pod{
		shape: s, namespace: p.Namespace, name: p.Name, key: name(p.Namespace, p.Name), labels: newLabelSet(p.Labels), annotations: p.Annotations,
		node: p.Spec.NodeName, nominated: p.Status.NominatedNodeName, affinity: p.Spec.Affinity, created: p.CreationTimestamp.Time,
		over: p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed,
	}
	if o := metav1.GetControllerOf(p); o != nil {
		kept.owner = owner{o.Kind, o.Name}
	}
	if p.DeletionTimestamp != nil {
		kept.end = p.DeletionTimestamp.Time
	}
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == v1.PodScheduled && c.Status == v1.ConditionTrue && kept.scheduled.IsZero() {
			kept.scheduled = c.LastTransitionTime.Time
		}
	}
	switch {
	case helper.IsPodResizeInfeasible(p):
		kept.resize = v1.PodReasonInfeasible
	case helper.IsPodResizeDeferred(p):
		kept.resize = v1.PodReasonDeferred
	}
	if a := kept.affinity; kept.node != "" && a != nil && a.PodAntiAffinity == nil {
		kept.affinity = nil
	}
	return kept
}

// newShape returns the shape of pods that are like one. It takes the pod.
func newShape(p *v1.Pod) *shape {
	withDefaults(&p.Spec)
	return &shape{like: *p, asked: map[string]*size{}}
}

// application returns what a pod belongs to: its controller, or itself.
func (p *pod) application() string {
	if p.owner == (owner{}) {
		return p.key
	}
	return name(p.namespace, p.owner.String())
}

// spec returns what pods have alike of their spec.
func (s *shape) spec() *v1.PodSpec { return &s.like.Spec }

// requests returns what a pod requests. One that is resized counts as the most of what it is
// to have, was allocated and has; if that is infeasible, as what it was allocated.
func (p *pod) requests() v1.ResourceList {
	like := p.like
	if p.resize != "" {
		like.Status.Conditions = []v1.PodCondition{{Type: v1.PodResizePending, Status: v1.ConditionTrue, Reason: p.resize}}
	}
	return helper.PodRequests(&like, helper.PodResourcesOptions{UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true})
}

// size returns what a pod requests, as the scheduler of Kubernetes counts it.
func (p *pod) size() *size {
	if s := p.asked[p.resize]; s != nil {
		return s
	}
	s := &size{amounts: map[string]int64{"pods": 1}}
	for t, q := range p.requests() {
		if !q.IsZero() {
			s.amounts[string(t)] = units(string(t), q)
		}
	}
	p.asked[p.resize] = s
	return s
}

// wrong returns the error that a field of a pod is not as it should be.
func (p *pod) wrong(field string, err error) error {
	o := p.workload
	if o == nil {
		o = &object{place: p.place}
		o.Kind, o.Metadata.Namespace, o.Metadata.Name = "Pod", p.namespace, p.name
	}
	return o.wrong(field, err)
}
