// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
)

// Labels by which pods say that they belong together.
const (
	labelJobSet       = "jobset.sigs.k8s.io/jobset-name"
	labelLeaderWorker = "leaderworkerset.sigs.k8s.io/name"
	labelGroupIndex   = "leaderworkerset.sigs.k8s.io/group-index"
	labelCoscheduling = "scheduling.x-k8s.io/pod-group"
)

// annotationVolcano names a pod's PodGroup of Volcano.
const annotationVolcano = "scheduling.k8s.io/group-name"

// A gangID says which object a gang is of. Objects of different kinds may share a name.
type gangID struct {
	kind string // "JobSet"; of the three kinds of PodGroups with the group
	name string // namespace/name
}

// Kinds of gangs.
const (
	kindPodGroup        = "PodGroup"
	kindVolcanoPodGroup = "PodGroup." + volcanoGroup
	kindPluginsPodGroup = "PodGroup.scheduling.x-k8s.io"
	kindWorkload        = "Workload"
)

// A gang is what a document calls a job: pods that are of use together only.
type gang struct {
	gangID
	called     string // in the document
	whole      bool   // it goes as a whole, or not at all
	minMembers int    // 0: all
	stays      int    // how many of those that run are needed, or else none; 0: no matter
	priority   *int32
	mayNot     bool   // it stops nobody
	topology   string // all members in one domain of this label; empty: anywhere

	members, present int // present is how many of them run
	highest          int32
	mixed            bool // members have different priorities of their own
	job              *jobText
	since            time.Time
	runs             []memberText
}

// gangOf returns the object that makes a pod one of a gang, if there is one. A pod of a
// plain Job is of use by itself; only Jobs that are indexed and run all of their pods at
// once are gangs, as to Kubernetes' own controller.
func (c *cluster) gangOf(p *pod) (id gangID, ok bool) {
	of := func(kind, own string) (gangID, bool) { return gangID{kind, name(p.namespace, own)}, true }
	if s := p.spec().SchedulingGroup; s != nil && s.PodGroupName != nil {
		return of(kindPodGroup, *s.PodGroupName)
	}
	if l := c.workloadOf(p); l != nil { // Kueue admits and stops all of it
		return of(kindWorkload, l.Metadata.Name)
	}
	if n := p.annotations[annotationVolcano]; n != "" {
		return of(kindVolcanoPodGroup, n)
	}
	if n := p.labels.Get(labelCoscheduling); n != "" {
		return of(kindPluginsPodGroup, n)
	}
	if n := p.labels.Get(labelLeaderWorker); n != "" {
		return of("LeaderWorkerSet", n+"/"+p.labels.Get(labelGroupIndex))
	}
	if n := p.labels.Get(labelJobSet); n != "" {
		return of("JobSet", n)
	}
	if o := p.owner; o.kind == "Job" {
		j := c.jobs[name(p.namespace, o.name)]
		if j != nil && j.Spec.CompletionMode != nil && *j.Spec.CompletionMode == batchv1.IndexedCompletion &&
			j.Spec.Parallelism != nil && j.Spec.Completions != nil && *j.Spec.Parallelism == *j.Spec.Completions && *j.Spec.Completions > 1 {
			return of("Job", o.name)
		}
	}
	return gangID{}, false
}

// groupOf returns the gang of a pod, or nil.
func (w *work) groupOf(p *pod) *gang {
	id, ok := w.gangOf(p)
	if !ok {
		return nil
	}
	if g := w.jobs[id]; g != nil {
		return g
	}
	g := &gang{gangID: id, called: id.name}
	if len(w.kindsOf[id.name]) > 1 {
		g.called = id.kind + "/" + id.name
	}
	w.jobs[id] = g
	switch id.kind {
	case kindPodGroup:
		w.podGroup(p, g)
	case kindWorkload:
		g.whole, g.priority = true, w.priorityOf(w.workloadOf(p))
	case kindVolcanoPodGroup:
		w.volcanoGroup(p, g)
	case kindPluginsPodGroup:
		w.notes.add(g.called, "is a PodGroup of scheduler-plugins, which is not read: it needs all of its pods")
	default:
		g.whole = true
	}
	return g
}

// noteKinds notes which kinds of gangs have a name, so that each is called so or, if there
// are several, by its kind too.
func (w *work) noteKinds(pods []*pod) {
	for _, p := range pods {
		if id, ok := w.gangOf(p); ok {
			if w.kindsOf[id.name] == nil {
				w.kindsOf[id.name] = map[string]bool{}
			}
			w.kindsOf[id.name][id.kind] = true
		}
	}
}

// podGroup sets a gang up from its PodGroup.
func (w *work) podGroup(p *pod, g *gang) {
	o := w.groups[g.name]
	if o == nil {
		w.notes.add(p.key, "its PodGroup was not read: all of its pods are needed, and each may be stopped by itself")
		return
	}
	g.whole = o.Spec.DisruptionMode != nil && o.Spec.DisruptionMode.All != nil
	g.minMembers = 1
	w.ofGroup(g, o)
	if gang := o.Spec.SchedulingPolicy.Gang; gang != nil {
		g.minMembers = int(gang.MinCount)
	}
	if s := o.Spec.SchedulingConstraints; s != nil && len(s.Topology) > 0 {
		g.topology = s.Topology[0].Key
	}
	out := func(what string) { w.notes.add("PodGroup "+g.name, "left out: "+what) }
	if o.Spec.ParentCompositePodGroupName != nil {
		out("what the CompositePodGroup says that it is part of, but for its priority and preemption policy")
	}
	if len(o.Spec.ResourceClaims) > 0 {
		out("resource claims")
	}
}

// ofGroup sets the priority of a gang, and whether it may preempt, to what its PodGroup says,
// or the CompositePodGroup at the top, if there is one.
func (w *work) ofGroup(g *gang, o *schedulingv1beta1.PodGroup) {
	of, class, what := o.Spec.Priority, o.Spec.PriorityClassName, "PodGroup "+g.name
	g.mayNot = o.Spec.PreemptionPolicy != nil && *o.Spec.PreemptionPolicy == schedulingv1beta1.PreemptNever
	seen := map[string]bool{}
	for parent := o.Spec.ParentCompositePodGroupName; parent != nil; {
		above := name(o.Namespace, *parent)
		c := w.composites[above]
		if c == nil || seen[above] {
			w.notes.add("CompositePodGroup "+above, "was not read, or is part of itself; what the group below it says holds")
			break
		}
		seen[above] = true
		of, class, what = c.Spec.Priority, c.Spec.PriorityClassName, "CompositePodGroup "+above
		g.mayNot = c.Spec.PreemptionPolicy != nil && *c.Spec.PreemptionPolicy == schedulingv1alpha3.PreemptNever
		parent = c.Spec.ParentCompositePodGroupName
	}
	if g.priority = of; of == nil {
		g.priority = w.classPriority(class, what)
	}
}

// classPriority returns the priority of a class by its name; nil: there is none, or it was
// not read, and then the pods say what theirs is.
func (c *cluster) classPriority(class, of string) *int32 {
	if class == "" {
		return nil
	}
	for _, known := range c.classes {
		if known.Name == class {
			return &known.Value
		}
	}
	c.notes.add(of, "its priority class was not read; the highest priority of its pods holds")
	return nil
}

// member notes the priority of a member, running or not.
func (g *gang) member(priority int32) {
	if g.members++; g.members == 1 {
		g.highest = priority
	}
	g.mixed = g.mixed || priority != g.highest
	g.highest = max(g.highest, priority)
}

// raw is the priority of the gang, which all its members have: who runs matters as much as
// it did when it asked. Else two gangs could stop each other in turn.
func (g *gang) raw() int32 {
	if g.priority != nil {
		return *g.priority
	}
	return g.highest
}

// running adds a member that has its place.
func (g *gang) running(t *taskText) {
	g.member(t.Priority)
	if t.State == "" {
		g.present++
		g.runs = append(g.runs, memberText{podText: t.podText}) // where it runs its task says
	}
}

// waits adds a member that has none.
func (g *gang) waits(p *pod, a *askText) {
	g.member(a.Priority)
	if g.job == nil {
		g.job, g.since = &jobText{Name: g.called}, p.created
	}
	j := g.job
	j.Queue, j.Application = a.Queue, a.Application
	if g.mayNot || a.AllowPreemptOther != nil && !*a.AllowPreemptOther {
		j.Policy = string(v1.PreemptNever)
	}
	if len(j.Members) == 0 || p.created.Before(g.since) {
		j.Age, g.since = a.Age, p.created
	}
	j.Members = append(j.Members, memberText{podText: a.podText, NodeSelector: a.NodeSelector})
}

// finishJobs makes requests of the gangs that wait, and gives members the priorities of
// their gangs.
func (w *work) finishJobs() {
	byName := map[string]*gang{}
	for _, g := range w.jobs { // in any order: names are of their own
		byName[g.called] = g
	}
	for i := range w.tasks {
		if g := byName[w.tasks[i].Job]; g != nil {
			w.tasks[i].Priority = g.raw()
		}
	}
	for i := range w.grants {
		if g := byName[w.grants[i].Job]; g != nil {
			w.grants[i].Priority = g.raw()
		}
	}
	for _, called := range slices.Sorted(maps.Keys(byName)) {
		w.finish(byName[called])
	}
}

// finish makes a request of a gang, if some of it waits.
func (w *work) finish(g *gang) {
	if g.mixed && g.priority == nil {
		w.notes.add(g.called, "its pods have different priorities: the highest counts for all of them")
	}
	if g.whole {
		w.minimums[g.called] = g.members
	} else if g.stays > 0 {
		w.minimums[g.called] = g.stays
	}
	if g.job == nil {
		return
	}
	g.job.Members = append(g.runs, g.job.Members...)
	if n := len(g.job.Members); g.minMembers > n {
		w.notes.add(g.called, "some of its pods are not there yet: it asks for nothing")
		if g.present == 0 && g.members == n { // nobody else names it
			delete(w.minimums, g.called)
		}
		return
	}
	g.job.MinMembers, g.job.Priority = g.minMembers, g.raw()
	if g.topology != "" {
		if g.job.Domain = slices.Index(w.options.topology, g.topology) + 1; g.job.Domain == 0 {
			w.notes.add(g.called, "left out: it wants one domain of "+g.topology+", which -topology does not have")
		}
	}
	w.asks = append(w.asks, waiting{requestText{Job: g.job, Then: w.then()}, g.job.Priority, g.since, g.called})
}
