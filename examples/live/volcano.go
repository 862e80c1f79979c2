// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-preempt/preempt/internal/scenario"
)

const volcanoGroup = "scheduling.volcano.sh"

// Volcano's queue for pods that name none.
const (
	volcanoDefault  = "default"
	annotationQueue = "scheduling.volcano.sh/queue-name"
)

// Why parts of Volcano's queues have no place in a document.
var volcanoQueueReasons = map[string]string{
	"affinity":        "queues have no nodes of their own",
	"dequeueStrategy": "requests are decided by priority and age",
	"extendClusters":  "there is one cluster",
	"priority":        "queues are equal; their guarantees decide",
	"type":            "it concerns drivers of several clusters",
}

// A volcanoPodGroup is Volcano's.
type volcanoPodGroup struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		MinMember         int32            `json:"minMember"`
		MinTaskMember     map[string]int32 `json:"minTaskMember"`
		Queue             string           `json:"queue"`
		PriorityClassName string           `json:"priorityClassName"`
		NetworkTopology   *struct {
			Mode string `json:"mode"`
		} `json:"networkTopology"`
	} `json:"spec"`
}

// volcano reads Volcano's queues. What a queue deserves is its guarantee: up to that it
// reclaims from others, whatever the priorities.
type volcano struct {
	*reader
	queues map[string]*volcanoQueue
	groups map[string]*volcanoPodGroup
	paths  map[string]string // of queues, below the root
	places map[string]scenario.Value
}

// A volcanoQueue is a queue, and what it is below.
type volcanoQueue struct {
	text   queueText
	parent string
	v      scenario.Value
}

func newVolcano(c *cluster) volcano {
	return volcano{reader: &reader{notes: &c.notes}, queues: map[string]*volcanoQueue{}, groups: map[string]*volcanoPodGroup{},
		paths: map[string]string{}, places: c.places}
}

// queue reads a Queue.
func (k *volcano) queue(o *object) {
	v := k.value(o)
	f := k.fields(v, false)
	if version := f.take("apiVersion"); o.APIVersion != volcanoGroup+"/v1beta1" {
		k.fail(version, "%w: want v1beta1", scenario.ErrValue)
	}
	for _, known := range []string{"kind", "metadata"} {
		f.take(known)
	}
	status := f.within("status")
	if state := status.take("state"); status.r.said(state) != "" && status.r.said(state) != "Open" {
		k.remark(state, "a queue that is not open takes no new jobs; here it takes those that wait")
	}
	spec := f.within("spec")
	f.rest(nil)
	own := o.Metadata.Name
	q := &volcanoQueue{v: v, parent: spec.word("parent"), text: queueText{Name: strings.ReplaceAll(own, ".", "_"), Properties: map[string]string{}}}
	if q.text.Name != own {
		k.remark(v, "a queue's name has no dot: it is %s", q.text.Name)
	}
	if q.parent == "" {
		q.parent = rootName
	}
	k.amounts(q, spec, own != rootName)
	if v := spec.take("reclaimable"); !v.Absent() && !k.isTrue(v) {
		q.text.Properties[propertyPolicy] = "disabled"
	}
	if own != rootName { // who reclaims does not look at priorities
		q.text.Properties[propertyPriority] = "fence"
	}
	spec.rest(volcanoQueueReasons)
	k.queues[own] = q
}

// amounts reads what a queue is to have, and may have.
func (k *volcano) amounts(q *volcanoQueue, spec *fields, child bool) {
	guarantee := spec.within("guarantee")
	reserved := guarantee.take("resource")
	deserved, capability := spec.take("deserved"), spec.take("capability")
	b := &bounds{k.list(deserved), k.list(capability)}
	if own := k.list(reserved); len(own) > 0 {
		k.remark(reserved, "it is guaranteed; others may use it as long as the queue does not")
		for t, n := range own { // the larger one holds
			if b.Guaranteed == nil {
				b.Guaranteed = map[string]amount{}
			}
			if less(b.Guaranteed[t], n) {
				b.Guaranteed[t] = n
			}
		}
	}
	guarantee.rest(nil)
	weight := spec.take("weight")
	switch n, err := weight.Int32(); {
	case err != nil:
		k.failed(err)
	case child && deserved.Blank() && !weight.Absent():
		k.leaveOut(weight, "a share of the cluster by weight is no guarantee: say what the queue deserves")
	case n > 0 && child:
		q.text.Properties[propertyWeight] = quantity("", *resource.NewQuantity(int64(n), resource.DecimalSI))
	}
	if len(b.Guaranteed)+len(b.Max) > 0 {
		q.text.Resources = b
	}
}

// list reads amounts by type. Nothing is deserved of a type of 0.
func (k *volcano) list(v scenario.Value) map[string]amount {
	all, err := v.Fields()
	k.failed(err)
	var l map[string]amount
	for _, f := range all {
		q, ok := k.quantity(f)
		if !ok {
			continue
		}
		if l == nil {
			l = map[string]amount{}
		}
		l[f.Name()] = amount(quantity(f.Name(), q))
	}
	return l
}

// less compares amounts; an absent one is less than any.
func less(a, b amount) bool {
	if a == "" {
		return true
	}
	x, y := resource.MustParse(string(a)), resource.MustParse(string(b))
	return x.Cmp(y) < 0
}

// finish makes the tree.
func (k *volcano) finish(c *cluster) {
	if len(k.queues) == 0 || k.err != nil {
		return
	}
	top := queueText{Name: rootName}
	if root := k.queues[rootName]; root != nil {
		top.Resources = root.text.Resources
		k.places[rootName] = root.v
	}
	below := map[string][]string{}
	for _, own := range slices.Sorted(maps.Keys(k.queues)) {
		q := k.queues[own]
		if own == rootName {
			continue
		}
		if k.queues[q.parent] == nil && q.parent != rootName {
			k.fail(q.v, "%w: its parent %s was not read", scenario.ErrMissing, q.parent)
			return
		}
		up := q.parent
		for range len(k.queues) {
			if up == rootName {
				break
			}
			if k.queues[up] == nil {
				break
			}
			up = k.queues[up].parent
		}
		if up != rootName && k.queues[up] != nil {
			k.fail(q.v, "%w: the queue is above itself", scenario.ErrValue)
			return
		}
		below[q.parent] = append(below[q.parent], own)
	}
	top.Queues = k.texts(rootName, below[rootName], below)
	c.system(system{name: "Volcano", root: top, leaf: c.volcanoLeaf, alone: true, contested: true})
}

// texts returns queues, and those below them.
func (k *volcano) texts(path string, names []string, below map[string][]string) (all []queueText) {
	for _, own := range names {
		q := k.queues[own]
		at := path + "." + q.text.Name
		k.places[at], k.paths[own] = q.v, strings.TrimPrefix(at, rootName+".")
		q.text.Queues = k.texts(at, below[own], below)
		all = append(all, q.text)
	}
	return all
}

// volcanoLeaf returns the leaf of a pod: that of its PodGroup, or the one it names.
func (c *cluster) volcanoLeaf(p *pod) string {
	own := p.annotations[annotationQueue]
	if n := p.annotations[annotationVolcano]; n != "" {
		if g := c.volcano.groups[name(p.namespace, n)]; g != nil && g.Spec.Queue != "" {
			own = g.Spec.Queue
		} else if own == "" {
			own = volcanoDefault
		}
	}
	if path, ok := c.volcano.paths[own]; ok {
		return path
	}
	return own
}

// volcanoGroup sets a gang up from its PodGroup.
func (w *work) volcanoGroup(p *pod, g *gang) {
	o := w.volcano.groups[g.name]
	if o == nil {
		w.notes.add(p.key, "its PodGroup was not read: all of its pods are needed")
		return
	}
	g.minMembers = max(1, int(o.Spec.MinMember))
	g.stays = g.minMembers
	g.priority = w.classPriority(o.Spec.PriorityClassName, "PodGroup "+g.name)
	out := func(what string) { w.notes.add("PodGroup "+g.name, "left out: "+what) }
	if len(o.Spec.MinTaskMember) > 0 {
		out("minTaskMember; minMember holds")
	}
	if o.Spec.NetworkTopology != nil {
		out("its network topology; it may need other nodes")
	}
}
