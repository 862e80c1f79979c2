// SPDX-License-Identifier: Apache-2.0

package koordinator

import (
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// What a task is stopped for.
const (
	forNode     = "node"
	forHeadroom = "headroom"
	forQuota    = "quota"
	forJob      = "job"
)

// An Eviction tells a victim who preempts it, and why. Names in JSON are stable.
type Eviction struct {
	Task     string `json:"task"`
	Queue    string `json:"queue"` // the path
	Node     string `json:"node"`
	Priority int32  `json:"priority"`
	Job      string `json:"job,omitempty"` // of which the task is a member
	// Preemptor is the job that gets the room.
	Preemptor Preemptor `json:"preemptor"`
	// Causes say, in this order, what the task is stopped for: node (room on its node),
	// headroom (under the max of a queue), quota (under the max of an allowance), job
	// (too few members would be left).
	Causes []string `json:"causes"`
	// Way is how to stop the task, if the caller said; see [Options.Way].
	Way string `json:"way,omitempty"`
}

// A Preemptor is the job that a task is stopped for.
type Preemptor struct {
	Job         string `json:"job"`
	Application string `json:"application,omitempty"`
	Queue       string `json:"queue"` // the path
	Priority    int32  `json:"priority"`
	// Members are those for which the victim makes room on its node, in the order of
	// the job.
	Members []string `json:"members,omitempty"`
}

// Evictions returns what to tell each victim of a plan, by key. The way is that of
// [Options.Way], or "". The victims must be in the cluster still. The cost is
// victims·placements.
func Evictions(p *jobs.Plan, c *victims.Cluster, way string) (all []Eviction) {
	for i := range p.Victims {
		v := &p.Victims[i]
		t := c.Task(v.Task)
		e := Eviction{
			Task: v.Key, Queue: c.Tree().Path(t.Queue), Node: c.NodeName(t.Node), Priority: t.Priority, Job: v.Job,
			Preemptor: Preemptor{
				Job: p.Job.Name, Application: p.Job.Application,
				Queue: c.Tree().Path(p.Job.Queue), Priority: p.Job.Priority,
			},
			Causes: causes(v), Way: way,
		}
		if v.ForNode {
			e.Preemptor.Members = membersOn(p, t.Node)
		}
		all = append(all, e)
	}
	return all
}

// causes lists what a victim is stopped for. One that frees nothing of use goes
// because its job does.
func causes(v *victims.Victim) (all []string) {
	if v.ForNode {
		all = append(all, forNode)
	}
	if v.ForHeadroom {
		all = append(all, forHeadroom)
	}
	if v.ForQuota {
		all = append(all, forQuota)
	}
	if v.Whole || len(all) == 0 {
		all = append(all, forJob)
	}
	return all
}

// membersOn lists the members that victims make room for on a node.
func membersOn(p *jobs.Plan, n victims.NodeID) (keys []string) {
	for _, at := range p.Placements {
		if at.Node == n && !at.Further {
			keys = append(keys, p.Job.Members[at.Member].Key)
		}
	}
	return keys
}

// String says it in a sentence, on one line, as in
//
//	v is preempted by job j of root.a (priority 100): room on node n1 for j-0
func (e *Eviction) String() string {
	var why []string
	for _, cause := range e.Causes {
		why = append(why, e.because(cause))
	}
	return fmt.Sprintf("%s is preempted by job %s of %s (priority %d): %s", plain.Name(e.Task),
		plain.Name(e.Preemptor.Job), plain.Name(e.Preemptor.Queue), e.Preemptor.Priority, strings.Join(why, "; "))
}

// because says one cause.
func (e *Eviction) because(cause string) string {
	switch cause {
	case forNode:
		room := "room on node " + plain.Name(e.Node)
		if len(e.Preemptor.Members) > 0 {
			room += " for " + plain.Names(e.Preemptor.Members)
		}
		return room
	case forHeadroom:
		return "room under the max of a queue"
	case forQuota:
		return "room under the max of a quota"
	case forJob:
		return "its job " + plain.Name(e.Job) + " goes whole"
	}
	return plain.Name(cause)
}
