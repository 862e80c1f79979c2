// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// A gang is what a document calls a job: pods that are of use together only.
type gang struct {
	name       string
	whole      bool // it goes as a whole, or not at all
	minMembers int  // 0: all
	stays      int  // how many of those that run are needed, or else none; 0: no matter
	priority   *int32
	topology   string // all members in one domain of this label; empty: anywhere

	members, present int // present is how many of them run
	job              *jobText
	since            time.Time
	runs             []memberText
}

// groupOf returns the gang of a pod, or nil. A pod of a plain Job is of use by itself;
// only Jobs that are indexed and run all of their pods at once are gangs, as to
// Kubernetes' own controller.
func (w *work) groupOf(p *v1.Pod) *gang {
	if s := p.Spec.SchedulingGroup; s != nil && s.PodGroupName != nil {
		return w.gang(name(p.Namespace, *s.PodGroupName), func(g *gang) { w.podGroup(p, g) })
	}
	whole := func(g *gang) { g.whole = true }
	if l := w.workloadOf(p); l != nil { // Kueue admits and stops all of it
		return w.gang(l.key(), func(g *gang) { g.whole, g.priority = true, l.Spec.Priority })
	}
	if n := p.Annotations[annotationVolcano]; n != "" {
		return w.gang(name(p.Namespace, n), func(g *gang) { w.volcanoGroup(p, g) })
	}
	if n := p.Labels[labelCoscheduling]; n != "" {
		return w.gang(name(p.Namespace, n), func(g *gang) {
			w.notes.add(g.name, "is a PodGroup of scheduler-plugins, which is not read: it needs all of its pods")
		})
	}
	if n := p.Labels[labelLeaderWorker]; n != "" {
		return w.gang(name(p.Namespace, n)+"/"+p.Labels[labelGroupIndex], whole)
	}
	if n := p.Labels[labelJobSet]; n != "" {
		return w.gang(name(p.Namespace, n), whole)
	}
	if o := metav1.GetControllerOf(p); o != nil && o.Kind == "Job" {
		j := w.cluster.jobs[name(p.Namespace, o.Name)]
		if j != nil && j.Spec.CompletionMode != nil && *j.Spec.CompletionMode == batchv1.IndexedCompletion &&
			j.Spec.Parallelism != nil && j.Spec.Completions != nil && *j.Spec.Parallelism == *j.Spec.Completions && *j.Spec.Completions > 1 {
			return w.gang(name(p.Namespace, o.Name), whole)
		}
	}
	return nil
}

// gang returns the gang of a name, and sets it up if it is new.
func (w *work) gang(name string, setUp func(*gang)) *gang {
	g, ok := w.jobs[name]
	if !ok {
		g = &gang{name: name}
		w.jobs[name] = g
		setUp(g)
	}
	return g
}

// podGroup sets a gang up from its PodGroup.
func (w *work) podGroup(p *v1.Pod, g *gang) {
	o := w.groups[g.name]
	if o == nil {
		w.notes.add(key(p), "its PodGroup was not read: all of its pods are needed, and each may be stopped by itself")
		return
	}
	g.whole = o.Spec.DisruptionMode != nil && o.Spec.DisruptionMode.All != nil
	g.minMembers, g.priority = 1, o.Spec.Priority
	if gang := o.Spec.SchedulingPolicy.Gang; gang != nil {
		g.minMembers = int(gang.MinCount)
	}
	if s := o.Spec.SchedulingConstraints; s != nil && len(s.Topology) > 0 {
		g.topology = s.Topology[0].Key
	}
}

// running adds a member that has its place.
func (g *gang) running(t *taskText) {
	g.members++
	if t.State == "" {
		g.present++
		g.runs = append(g.runs, memberText{podText: t.podText}) // where it runs its task says
	}
}

// waits adds a member that has none.
func (g *gang) waits(p *v1.Pod, a *askText) {
	g.members++
	if g.job == nil {
		g.job, g.since = &jobText{Name: g.name}, p.CreationTimestamp.Time
	}
	j := g.job
	j.Queue, j.Application, j.Priority = a.Queue, a.Application, a.Priority
	if a.AllowPreemptOther != nil && !*a.AllowPreemptOther {
		j.Policy = string(v1.PreemptNever)
	}
	if j.Age == "" || p.CreationTimestamp.Time.Before(g.since) {
		j.Age, g.since = a.Age, p.CreationTimestamp.Time
	}
	j.Members = append(j.Members, memberText{podText: a.podText, NodeSelector: a.NodeSelector})
}

// finishJobs makes requests of the gangs that wait.
func (w *work) finishJobs() error {
	for _, name := range slices.Sorted(maps.Keys(w.jobs)) {
		g := w.jobs[name]
		if g.whole {
			w.minimums[name] = g.members
		} else if g.stays > 0 {
			w.minimums[name] = g.stays
		}
		if g.job == nil {
			continue
		}
		g.job.Members = append(g.runs, g.job.Members...)
		if n := len(g.job.Members); g.minMembers > n {
			w.notes.add(name, "some of its pods are not there yet: it asks for nothing")
			if g.present == 0 && g.members == n { // nobody else names it
				delete(w.minimums, name)
			}
			continue
		}
		g.job.MinMembers = g.minMembers
		if g.priority != nil {
			g.job.Priority = *g.priority
		}
		if g.topology != "" {
			if g.job.Domain = slices.Index(w.options.topology, g.topology) + 1; g.job.Domain == 0 {
				w.notes.add(name, "left out: it wants one domain of "+g.topology+", which -topology does not have")
			}
		}
		w.asks = append(w.asks, waiting{requestText{Job: g.job, Then: w.then()}, g.job.Priority, g.since, name})
	}
	return nil
}
