// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/go-preempt/preempt/internal/judge/scenario"
)

const volcanoGroup = "scheduling.volcano.sh"

// volcanoConfigKey is the key of Volcano's ConfigMap under which its scheduler's configuration is.
const volcanoConfigKey = "volcano-scheduler.conf"

// Volcano's queue for pods that name none.
const (
	volcanoDefault  = "default"
	annotationQueue = "scheduling.volcano.sh/queue-name"

	annotationPreemptable = "volcano.sh/preemptable"
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
	fair   bool              // what queues deserve follows from their weights
	places map[string]scenario.Value
}

// A volcanoQueue is a queue, and what it is below.
type volcanoQueue struct {
	text                          queueText
	parent                        string
	v                             scenario.Value
	deserved, reserved, max       map[string]amount
	weight                        int32
	deservedV, reservedV, weightV scenario.Value
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
	k.amounts(q, spec)
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
func (k *volcano) amounts(q *volcanoQueue, spec *fields) {
	guarantee := spec.within("guarantee")
	q.deservedV, q.reservedV, q.weightV = spec.take("deserved"), guarantee.take("resource"), spec.take("weight")
	q.deserved, q.reserved, q.max = k.list(q.deservedV), k.list(q.reservedV), k.list(spec.take("capability"))
	if len(q.reserved) > 0 {
		k.remark(q.reservedV, "it is guaranteed; others may use it as long as the queue does not")
	}
	guarantee.rest(nil)
	var err error
	q.weight, err = q.weightV.Int32()
	k.failed(err)
}

// share says what a queue is guaranteed: what it deserves or, if shares are by weight, what it reserves.
func (k *volcano) share(q *volcanoQueue, child bool) {
	b := &bounds{Guaranteed: q.reserved, Max: q.max}
	if k.fair {
		if !q.deservedV.Blank() {
			k.leaveOut(q.deservedV, "the plugin proportion has what queues deserve follow from their weights")
		}
	} else if b.Guaranteed = q.deserved; len(q.reserved) > 0 {
		b.Guaranteed = maps.Clone(q.reserved)
		for t, n := range q.deserved { // the larger one holds
			if less(b.Guaranteed[t], n) {
				b.Guaranteed[t] = n
			}
		}
	}
	switch {
	case !k.fair && child && q.deservedV.Blank() && !q.weightV.Absent():
		k.leaveOut(q.weightV, "a share of the cluster by weight is no guarantee: say what the queue deserves, or have the configuration of the scheduler read")
	case q.weight > 0 && child:
		q.text.Properties[propertyWeight] = strconv.Itoa(int(q.weight))
	}
	if len(b.Guaranteed)+len(b.Max) > 0 {
		q.text.Resources = b
	}
}

// configuration reads which plugins the scheduler has. With proportion what a queue deserves is
// a fair share.
func (k *volcano) configuration(o *object) {
	f := k.fields(k.value(o), false)
	actions := f.take("actions")
	if s := k.said(actions); !actions.Absent() && !strings.Contains(s, "reclaim") {
		k.remark(actions, "reclaim is not among the actions: there no queue takes anything back")
	}
	for _, tier := range f.items("tiers") {
		t := k.fields(tier, false)
		for _, plugin := range t.items("plugins") {
			p := k.fields(plugin, false)
			k.fair = k.fair || p.text("name") == "proportion"
			for _, v := range p.all { // who is asked, and with what arguments
				p.take(v.Name())
			}
		}
		t.rest(nil)
	}
	f.rest(map[string]string{"configurations": "actions have no arguments"})
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
	for _, own := range slices.Sorted(maps.Keys(k.queues)) {
		k.share(k.queues[own], own != rootName)
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
	c.system(system{name: "Volcano", root: top, leaf: c.volcanoLeaf, alone: true, contested: true, fair: k.fair})
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
