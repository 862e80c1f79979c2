// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"slices"

	"github.com/go-preempt/preempt/internal/judge/world"
)

// staff returns the members of a job: those of its tasks that run and are not
// leaving. Those that hold a grant are not there yet.
func staff(w *world.World, job string) (members []*world.Task) {
	for i := range w.Tasks {
		if t := &w.Tasks[i]; t.Job == job && !t.State.Leaving() {
			members = append(members, t)
		}
	}
	return members
}

// surplus returns how many members of a job may go one by one.
func (j *judge) surplus(job string) int {
	return max(0, len(staff(j.w, job))-j.o.Minimums[job])
}

// bound reports whether a task is a member of a job that must keep some.
func (j *judge) bound(t *world.Task) bool { return t.Job != "" && j.o.Minimums[t.Job] > 0 }

// stops reports whether victims stop a job: some of its members are among them,
// and fewer stay than the minimum.
func (j *judge) stops(job string, victims []*world.Task) bool {
	n := len(membersOf(job, victims))
	return job != "" && n > 0 && len(staff(j.w, job))-n < j.o.Minimums[job]
}

// membersOf returns those of some tasks that are of a job.
func membersOf(job string, tasks []*world.Task) (members []*world.Task) {
	for _, t := range tasks {
		if t.Job == job {
			members = append(members, t)
		}
	}
	return members
}

// jobsOf returns the jobs of which some of the tasks are members that must
// keep some of their own.
func (j *judge) jobsOf(tasks []*world.Task) (jobs []string) {
	for _, t := range tasks {
		if j.bound(t) && !slices.Contains(jobs, t.Job) {
			jobs = append(jobs, t.Job)
		}
	}
	slices.Sort(jobs)
	return jobs
}

// gangs checks that of every job no more go than are surplus, or all.
//
// For an ask that requires its node, and with the option of the same node, victims are on
// it, but for the others of a job that goes as a whole for a member there that helps.
func (d *docket) gangs() {
	for _, job := range d.jobsOf(d.victims) {
		all, n := len(staff(d.w, job)), len(membersOf(job, d.victims))
		if n > d.surplus(job) && n < all {
			d.report(Gang, "%d of %d members of %s go, which keeps %d", n, all, job, d.o.Minimums[job])
		}
	}
	there := d.ask.RequiredNode
	if there == "" && d.o.VictimsOnNode {
		there = d.node
	}
	if there == "" {
		return
	}
	for _, v := range d.victims {
		helpsThere := func(m *world.Task) bool { return m.Node == there && d.helps(m) }
		whole := d.stops(v.Job, d.victims) && slices.ContainsFunc(membersOf(v.Job, d.victims), helpsThere)
		if v.Node != there && !whole {
			d.report(Law7, "%s is not on the node", v)
		}
	}
}

// goesFor reports whether a task that no rule keeps counts for a node: with the option of
// the same node, if it is there, or goes with its job for a member there that helps.
func (j *judge) goesFor(t *world.Task, node string) bool {
	if !j.o.VictimsOnNode || t.Node == node {
		return true
	}
	all := staff(j.w, t.Job)
	return j.bound(t) && slices.ContainsFunc(all, func(m *world.Task) bool { return m.Node == node && j.helps(m) }) &&
		!slices.ContainsFunc(all, func(m *world.Task) bool { return j.ruleOf(m, all) != "" })
}

// parts returns the parts of a set of victims in which no job is left below its
// minimum: without one that may go alone, or with some of a job that goes as a whole,
// none or up to its surplus, in every way to choose them. A few may be lawful if more
// are not, for a member on another node may not go alone.
func (j *judge) parts(victims []*world.Task) (parts [][]*world.Task) {
	for _, v := range victims {
		if !j.stops(v.Job, victims) {
			parts = append(parts, without(victims, func(t *world.Task) bool { return t == v }))
		}
	}
	for _, job := range j.jobsOf(victims) {
		if !j.stops(job, victims) {
			continue
		}
		rest := without(victims, func(t *world.Task) bool { return t.Job == job })
		for n := range j.surplus(job) + 1 {
			for _, some := range choose(membersOf(job, victims), n) {
				parts = append(parts, append(slices.Clone(rest), some...))
			}
		}
	}
	return parts
}

func without(tasks []*world.Task, gone func(*world.Task) bool) []*world.Task {
	return slices.DeleteFunc(slices.Clone(tasks), gone)
}

// choose returns every way to choose n of some tasks.
func choose(tasks []*world.Task, n int) (ways [][]*world.Task) {
	if n == 0 {
		return [][]*world.Task{nil}
	}
	for i := range tasks {
		for _, rest := range choose(tasks[i+1:], n-1) {
			ways = append(ways, append([]*world.Task{tasks[i]}, rest...))
		}
	}
	return ways
}
