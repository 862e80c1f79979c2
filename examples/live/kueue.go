// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/go-preempt/preempt/internal/judge/scenario"
)

const (
	kueueGroup       = "kueue.x-k8s.io"
	kueueConfigGroup = "config.kueue.x-k8s.io"
)

// kueueConfigKey is the key of Kueue's ConfigMap under which its Configuration is.
const kueueConfigKey = "controller_manager_config.yaml"

// Properties of queues, as the library names them.
const (
	propertyPolicy   = "preemption.policy"
	propertyPriority = "priority.policy"
	propertyWeight   = "fair.weight"
	propertyOwnLeaf  = "preemption.own-leaf"
)

// Why parts of Kueue's objects have no place in a document.
var (
	clusterQueueReasons = map[string]string{
		"queueingStrategy":          "requests are decided by priority and age, one that is refused holds up nobody",
		"namespaceSelector":         "who may submit does not matter to preemption",
		"flavorFungibility":         "flavors are added up",
		"admissionChecks":           "there are no admission checks",
		"admissionChecksStrategy":   "there are no admission checks",
		"admissionScope":            "usage of the past does not count",
		"concurrentAdmissionPolicy": "a workload is decided once",
	}
	configurationReasons = map[string]string{
		"resources":            "Workloads count what their pods request, or what they were admitted with",
		"admissionFairSharing": "usage of the past does not count",
	}
	quotaReasons = map[string]string{
		"lendingLimit": "a queue lends all that it does not use",
	}
)

// unmatteringConfiguration are the fields of a Configuration that are about how Kueue runs, and which
// jobs it sees.
var unmatteringConfiguration = []string{"apiVersion", "kind", "namespace", "health", "metrics", "webhook", "leaderElection", "controller",
	"internalCertManagement", "clientConnection", "integrations", "manageJobsWithoutQueueName", "managedJobsNamespaceSelector", "tls",
	"queueVisibility", "multiKueue", "objectRetentionPolicies", "waitForPodsReady", "gracefulShutdownTimeout", "cacheNamespace", "syncPeriod",
	"pprofBindAddress", "featureGates"}

// kueue reads Kueue's queues. A cohort is a queue, and so is a ClusterQueue, below its
// cohort. Cohorts without a parent share nothing, so each is a fence, and what is in
// it is its max.
type kueue struct {
	*reader
	queues    []*kueueQueue // ClusterQueues and cohorts, as read
	locals    map[string]localQueue
	workloads []*workload
	classes   map[string]int32     // WorkloadPriorityClasses
	byOwner   map[string]*workload // by kind and name of what a pod may belong to
	root      queueText
	paths     map[string]string // of ClusterQueues, below the root
	stopped   map[string]bool   // ClusterQueues that admit nobody
	used      bool
	fair      bool           // what is borrowed is shared by weights
	unit      resource.Scale // of weights in the document
	places    map[string]scenario.Value
}

// A kueueQueue is a ClusterQueue or a cohort.
type kueueQueue struct {
	name, parent string
	isCohort     bool
	v, parentV   scenario.Value
	quota        map[string]quota
	reclaim      string // reclaimWithinCohort
	reclaimV     scenario.Value
	weight       *resource.Quantity // nil: 1
	within       string             // what withinClusterQueue is as a property; a cohort has none
	below        []*kueueQueue
	total        map[string]resource.Quantity // nominal quota of itself and all below
}

// A quota is what a queue has of a type, summed over flavors.
type quota struct {
	nominal, borrow resource.Quantity
	unbounded       bool // it borrows without a limit
}

// A localQueue is the queue of a namespace.
type localQueue struct {
	queue   string // the ClusterQueue
	stopped bool
}

func newKueue(c *cluster) kueue {
	return kueue{reader: &reader{notes: &c.notes}, locals: map[string]localQueue{}, classes: map[string]int32{}, paths: map[string]string{},
		stopped: map[string]bool{}, places: c.places}
}

// open reads an object's spec. All versions that Kueue serves are read alike.
func (k *kueue) open(o *object, versions ...string) (v scenario.Value, spec *fields) {
	k.used = true
	v = k.value(o)
	f := k.fields(v, false)
	version := f.take("apiVersion")
	if _, got, _ := strings.Cut(o.APIVersion, "/"); !slices.Contains(versions, got) {
		k.fail(version, "%w: want a version of %s", scenario.ErrValue, strings.Join(versions, ", "))
	}
	for _, known := range []string{"kind", "metadata", "status"} { // what is and what happened
		f.take(known)
	}
	spec = f.within("spec")
	f.rest(nil)
	return v, spec
}

// clusterQueue reads a ClusterQueue.
func (k *kueue) clusterQueue(o *object) {
	v, spec := k.open(o, "v1beta1", "v1beta2")
	q := &kueueQueue{name: o.Metadata.Name, v: v, parentV: spec.take("cohortName")}
	if older := spec.take("cohort"); q.parentV.Absent() {
		q.parentV = older
	}
	q.parent = k.said(q.parentV)
	q.quota = k.groups(spec)
	q.weight = k.weight(spec)
	k.preemption(q, spec.within("preemption"))
	k.stopped[q.name] = k.isStopped(spec)
	spec.rest(clusterQueueReasons)
	k.queues = append(k.queues, q)
}

// cohort reads a Cohort.
func (k *kueue) cohort(o *object) {
	v, spec := k.open(o, "v1alpha1", "v1beta1", "v1beta2")
	q := &kueueQueue{name: o.Metadata.Name, isCohort: true, v: v, parentV: spec.take("parentName")}
	if older := spec.take("parent"); q.parentV.Absent() {
		q.parentV = older
	}
	q.parent = k.said(q.parentV)
	q.quota, q.weight = k.groups(spec), k.weight(spec)
	spec.rest(nil)
	k.queues = append(k.queues, q)
}

// localQueue reads a LocalQueue.
func (k *kueue) localQueue(o *object) {
	_, spec := k.open(o, "v1beta1", "v1beta2")
	l := localQueue{queue: spec.text("clusterQueue"), stopped: k.isStopped(spec)}
	spec.rest(map[string]string{"fairSharing": "usage of the past does not count"})
	k.locals[name(o.Metadata.Namespace, o.Metadata.Name)] = l
}

func (k *kueue) isStopped(spec *fields) bool {
	s, _ := k.oneOf(spec, "stopPolicy", "None", "Hold", "HoldAndDrain")
	return s != "None"
}

// configuration reads Kueue's own configuration.
func (k *kueue) configuration(o *object) {
	k.used = true
	f := k.fields(k.value(o), false)
	for _, name := range unmatteringConfiguration {
		f.take(name)
	}
	sharing := f.take("fairSharing")
	s := k.fields(sharing, false)
	enabled := s.take("enable")
	// From v1beta2 on it is enabled if it is there.
	k.fair = k.isTrue(enabled) || !sharing.Absent() && enabled.Absent() && o.APIVersion != kueueConfigGroup+"/v1beta1"
	s.rest(map[string]string{"preemptionStrategies": "there is one: a queue takes back up to its fair share, from queues that have more than theirs"})
	f.rest(configurationReasons)
}

// weight reads a weight for fair sharing.
func (k *kueue) weight(spec *fields) *resource.Quantity {
	f := spec.within("fairSharing")
	v := f.take("weight")
	f.rest(map[string]string{"admissionFairSharing": "usage of the past does not count"})
	if v.Absent() {
		return nil
	}
	q, ok := k.quantity(v)
	if n := q.ScaledValue(resource.Milli); ok && n >= 1 && n <= math.MaxInt32 {
		return &q
	}
	k.leaveOut(v, "a weight is 0.001 or more, and at most 2147483: that of the queue is 1")
	return nil
}

// weightUnit returns in what weights are written, which are whole numbers in a document: in
// thousandths if one of them is a fraction.
func (k *kueue) weightUnit() resource.Scale {
	for _, q := range k.queues {
		if q.weight != nil && q.weight.ScaledValue(resource.Milli)%1000 != 0 {
			return resource.Milli
		}
	}
	return 0
}

// groups reads quotas, and adds those of several flavors up.
func (k *kueue) groups(spec *fields) map[string]quota {
	all, flavors := map[string]quota{}, map[string][]string{}
	list := spec.take("resourceGroups")
	groups, err := list.Items()
	k.failed(err)
	for _, group := range groups {
		g := k.fields(group, false)
		covered, err := g.take("coveredResources").Items()
		k.failed(err)
		listed := map[string]bool{}
		for _, v := range covered {
			listed[k.said(v)] = true
		}
		for _, flavor := range g.items("flavors") {
			f := k.fields(flavor, false)
			flavorName := f.text("name")
			for _, item := range f.items("resources") {
				r := k.fields(item, false)
				t := r.text("name")
				if !listed[t] {
					k.fail(item, "%w: the type is not among coveredResources: %s", scenario.ErrValue, t)
				}
				if slices.Contains(flavors[t], flavorName) {
					k.fail(item, "%w: %s of flavor %s is there already", scenario.ErrDuplicate, t, flavorName)
				}
				q := all[t]
				nominal := r.take("nominalQuota")
				if nominal.Absent() {
					k.fail(item, "%w: nominalQuota", scenario.ErrMissing)
				} else {
					n, _ := k.quantity(nominal)
					q.nominal.Add(n)
				}
				if limit := r.take("borrowingLimit"); limit.Absent() {
					q.unbounded = true
				} else {
					n, _ := k.quantity(limit)
					q.borrow.Add(n)
				}
				r.rest(quotaReasons)
				all[t], flavors[t] = q, append(flavors[t], flavorName)
			}
			f.rest(nil)
		}
		g.rest(nil)
	}
	told := map[string]bool{}
	for _, t := range slices.Sorted(maps.Keys(flavors)) {
		if names := strings.Join(flavors[t], ", "); len(flavors[t]) > 1 && !told[names] {
			told[names] = true
			k.notes.say(list.File() + ": " + list.Place() + ": the quotas of the flavors " + names + " are added up: a plan may use more of one than it has")
		}
	}
	return all
}

// preemption reads whom a ClusterQueue may stop.
func (k *kueue) preemption(q *kueueQueue, f *fields) {
	q.reclaim, q.reclaimV = k.oneOf(f, "reclaimWithinCohort", "Never", "LowerPriority", "Any")
	within, v := k.oneOf(f, "withinClusterQueue", "Never", "LowerPriority", "LowerOrNewerEqualPriority")
	if q.within = "met"; within == "Never" {
		q.within = "never"
	}
	if within == "LowerOrNewerEqualPriority" {
		k.leaveOut(v, "in its own queue an ask takes from lower priority only: equals stay")
	}
	borrow := f.within("borrowWithinCohort")
	if policy, v := k.oneOf(borrow, "policy", "Never", "LowerPriority"); policy != "Never" {
		k.leaveOut(v, "a queue that is over its guarantee takes nothing from others")
	}
	borrow.rest(map[string]string{"maxPriorityThreshold": "a queue that is over its guarantee takes nothing from others"})
	f.rest(nil)
}

// finish makes the tree.
func (k *kueue) finish(c *cluster) {
	if !k.used && len(k.workloads) == 0 {
		return
	}
	if len(k.queues) == 0 && len(c.systems) > 0 { // those of another system, which the pods name
		return
	}
	if len(k.queues) == 0 {
		k.notes.say("Kueue: no ClusterQueue was read: all workloads are in one queue")
	}
	cohorts := map[string]*kueueQueue{}
	for _, q := range k.queues {
		if q.isCohort {
			cohorts[q.name] = q
		}
	}
	for _, q := range slices.Clone(k.queues) { // a cohort may be there by its name alone
		if q.parent != "" && cohorts[q.parent] == nil {
			cohorts[q.parent] = &kueueQueue{name: q.parent, isCohort: true, v: q.parentV, quota: map[string]quota{}}
			k.queues = append(k.queues, cohorts[q.parent])
		}
	}
	slices.SortFunc(k.queues, func(a, b *kueueQueue) int { return strings.Compare(a.name, b.name) })
	var top []*kueueQueue
	for _, q := range k.queues {
		if q.parent == "" {
			top = append(top, q)
		} else {
			cohorts[q.parent].below = append(cohorts[q.parent].below, q)
		}
		if q.isCohort && k.looped(cohorts, q) {
			k.fail(q.parentV, "%w: the cohort is above itself", scenario.ErrValue)
			return
		}
	}
	if k.err != nil {
		return
	}
	priorities := k.priorities(c)
	k.unit = k.weightUnit()
	k.root = queueText{Name: rootName, Queues: k.texts(rootName, top, priorities)}
	c.system(system{name: "Kueue", root: k.root, leaf: c.kueueLeaf, alone: true, contested: true, fair: k.fair})
}

// looped reports whether a cohort is above itself.
func (k *kueue) looped(cohorts map[string]*kueueQueue, q *kueueQueue) bool {
	up := q
	for range len(cohorts) {
		if up = cohorts[up.parent]; up == nil {
			return false
		}
	}
	return true
}

// priorities decides how priorities count between ClusterQueues. A document says that
// for all of them: a priority fence lets queues reclaim whatever the priority, as Any
// does, and without it only from lower or equal priority, or from lower alone.
func (k *kueue) priorities(c *cluster) (fenced bool) {
	words := map[string]bool{}
	for _, q := range k.queues {
		if !q.isCohort && q.reclaim != "Never" {
			words[q.reclaim] = true
		}
	}
	if words["Any"] && !words["LowerPriority"] {
		return true
	}
	c.options.strict = c.options.strict || words["LowerPriority"]
	for _, q := range k.queues {
		if q.reclaim == "Any" && q.parent != "" {
			k.leaveOut(q.reclaimV, "another queue has LowerPriority, which then holds for all")
		}
	}
	return false
}

// texts returns queues, and those below them.
func (k *kueue) texts(path string, queues []*kueueQueue, fenced bool) (all []queueText) {
	names := map[string]bool{}
	for _, q := range queues {
		t := queueText{Name: strings.ReplaceAll(q.name, ".", "_"), Properties: map[string]string{}}
		if t.Name != q.name {
			k.notes.say(fmt.Sprintf("%s: a queue's name has no dot: it is %s", q.v.File(), t.Name))
		}
		if names[t.Name] {
			t.Name += map[bool]string{true: "-cohort", false: "-queue"}[q.isCohort]
			k.notes.say(fmt.Sprintf("%s: there is another queue of this name: it is %s", q.v.File(), t.Name))
		}
		if names[t.Name] {
			k.failed(errors.New(q.v.File() + ": two other queues have its name"))
		}
		names[t.Name] = true
		own := path + "." + t.Name
		k.places[own] = q.v
		if weight := q.weight; weight != nil || k.unit != 0 {
			if weight == nil {
				weight = resource.NewQuantity(1, resource.DecimalSI)
			}
			t.Properties[propertyWeight] = strconv.FormatInt(weight.ScaledValue(k.unit), 10)
		}
		if q.within != "" {
			t.Properties[propertyOwnLeaf] = q.within
		}
		if q.isCohort {
			t.Queues = k.texts(own, q.below, fenced)
		}
		q.sum()
		t.Resources = q.bounds()
		switch {
		case q.isCohort && q.parent == "", !q.isCohort && (q.parent == "" || q.reclaim == "Never"):
			t.Properties[propertyPolicy] = "fence"
		}
		if fenced && !q.isCohort {
			t.Properties[propertyPriority] = "fence"
		}
		if q.isCohort && len(t.Queues) == 0 {
			k.notes.say(q.v.File() + ": left out: no ClusterQueue is in it; what it lends to its parent counts there")
			continue
		}
		if !q.isCohort {
			k.paths[q.name] = strings.TrimPrefix(own, rootName+".")
		}
		all = append(all, t)
	}
	return all
}

// sum adds up the quotas of a queue and of those below, which were summed before.
func (q *kueueQueue) sum() {
	q.total = map[string]resource.Quantity{}
	add := func(t string, n resource.Quantity) {
		sum := q.total[t]
		sum.Add(n)
		q.total[t] = sum
	}
	for t, own := range q.quota {
		add(t, own.nominal)
	}
	for _, b := range q.below {
		for t, n := range b.total {
			add(t, n)
		}
	}
}

// bounds returns what a queue is guaranteed and what it may use. Nobody lends to those
// without a parent: they have what is theirs.
func (q *kueueQueue) bounds() *bounds {
	b := &bounds{map[string]amount{}, map[string]amount{}}
	for t, n := range q.total {
		if !n.IsZero() && (q.parent != "" || !q.isCohort) {
			b.Guaranteed[t] = amount(quantity(t, n))
		}
		own, ok := q.quota[t]
		switch {
		case q.parent == "":
			b.Max[t] = amount(quantity(t, n))
		case ok && !own.unbounded:
			n.Add(own.borrow)
			b.Max[t] = amount(quantity(t, n))
		}
	}
	if len(b.Guaranteed)+len(b.Max) == 0 {
		return nil
	}
	return b
}
