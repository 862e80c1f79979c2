// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/resources"
)

// A Job is placed as a whole, or at least MinMembers of it. Name, Queue (a
// leaf) and Application are never empty.
type Job struct {
	At               *Path
	Name             string
	Queue            string
	Application      string
	Priority         int32
	Preemptible      *bool         // nil: the document does not say
	MinMembers       int           // at most len(Members); 0: all
	Domain           int           // all members share a domain of this depth; 0: they need not
	Age              time.Duration // since when it is pending; never negative
	PreemptionPolicy string        // "", "Never" or "PreemptLowerPriority"
	Members          []Member      // at least one, of different keys
}

// A Member is one task of a job.
type Member struct {
	At           *Path
	Key          string
	Resources    resources.Vector
	Node         string   // where it runs already; empty: to be placed
	NodeSelector Selector // nil: it may run on every node
}

// job reads a job.
func (d *decoder) job(v value) Job {
	o := d.object(v, "name", "queue", "application", "priority", "age", "preemptible",
		"minMembers", "preemptionPolicy", "domain", "members")
	j := Job{
		At:               v.at,
		Name:             required(o, "name", d.name),
		Queue:            required(o, "queue", d.leafRef),
		Application:      required(o, "application", d.name),
		Priority:         optional(o, "priority", d.priority, 0),
		Age:              optional(o, "age", d.duration, defaultAge),
		Preemptible:      pointer(o, "preemptible", d.boolean),
		PreemptionPolicy: optional(o, "preemptionPolicy", d.preemptionPolicy, ""),
		Domain:           optional(o, "domain", d.count, 0),
		Members:          required(o, "members", d.members),
	}
	most := math.MaxInt32
	if len(j.Members) > 0 { // else that is the mistake
		most = len(j.Members)
	}
	j.MinMembers = optional(o, "minMembers", d.within(0, most), 0)
	d.known.jobs[j.Name] = true
	return j
}

// preemptionPolicy reads one of Kubernetes' policies, or the empty string.
func (d *decoder) preemptionPolicy(v value) string {
	if s := d.text(v); s != "" && s != "Never" && s != "PreemptLowerPriority" {
		d.fail(v, "%w: want Never, PreemptLowerPriority or nothing", ErrValue)
	}
	return v.text
}

// members reads at least one member; their keys differ.
func (d *decoder) members(v value) []Member {
	keys := make(seen)
	all := each(d, func(v value) Member { return d.member(v, keys) })(v)
	if v.kind == list && len(all) == 0 {
		d.fail(v, "%w: a job has at least one member", ErrValue)
	}
	return all
}

// member reads a member whose key is not among those seen.
func (d *decoder) member(v value, keys seen) Member {
	o := d.object(v, "key", "resources", "node", "nodeSelector")
	return Member{
		At:           v.at,
		Key:          required(o, "key", d.unique(keys)),
		Resources:    required(o, "resources", d.vector),
		Node:         optional(o, "node", d.nodeOrNone, ""),
		NodeSelector: optional(o, "nodeSelector", d.selector, nil),
	}
}

// A JobMinimum is how many members a running job must keep.
type JobMinimum struct {
	At      *Path
	Job     string
	Members int
}

// jobMinimums reads minimums of jobs that tasks or requests name, and sorts
// them by job: the order of an object's fields means nothing.
func (d *decoder) jobMinimums(v value) []JobMinimum {
	if !d.want(v, object) {
		return nil
	}
	var all []JobMinimum
	for _, f := range v.items {
		job := f.at.name
		if job == "" || !d.known.jobs[job] {
			d.refer(f, d.known.doubt.tasks || d.known.doubt.requests, "no task and no request names this job")
		}
		all = append(all, JobMinimum{At: f.at, Job: job, Members: d.count(f)})
	}
	slices.SortFunc(all, func(x, y JobMinimum) int { return strings.Compare(x.Job, y.Job) })
	return all
}
