// SPDX-License-Identifier: Apache-2.0

package koordinator

import (
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/victims"
)

// A Cause is a stable word for what a task is stopped for.
type Cause string

const (
	// CauseNode: its amounts make room on its node.
	CauseNode Cause = "node"
	// CauseHeadroom: they make room under the max of a queue.
	CauseHeadroom Cause = "headroom"
	// CauseQuota: they make room under the max of a quota.
	CauseQuota Cause = "quota"
	// CauseJob: other members of its job have to go, and too few would be left.
	CauseJob Cause = "job"
)

// A Way is a stable word for how a victim is stopped.
type Way string

const (
	// WayLabel: the text goes into [LabelSoftEviction]; the task's owner does the
	// rest.
	WayLabel Way = "label"
	// WayDelete: the task is deleted.
	WayDelete Way = "delete"
)

// An Eviction tells a victim who preempts it, and why. You delete or signal the task,
// or put the text into [LabelSoftEviction]. Names in JSON are stable, and what was
// written is read back as it was if names are valid UTF-8.
type Eviction struct {
	Task     string `json:"task"`
	Queue    string `json:"queue"` // the path
	Node     string `json:"node"`
	Priority int32  `json:"priority"`
	Job      string `json:"job,omitempty"` // of which the task is a member
	// Preemptor is the job that gets the room.
	Preemptor Preemptor `json:"preemptor"`
	// Causes is never empty and in the order of the constants.
	Causes []Cause `json:"causes"`
	// Way is how to stop the task, if the caller said.
	Way Way `json:"way,omitempty"`
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
func Evictions(p *jobs.Plan, c *victims.Cluster, way Way) (all []Eviction) {
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
func causes(v *jobs.Victim) (all []Cause) {
	if v.ForNode {
		all = append(all, CauseNode)
	}
	if v.ForHeadroom {
		all = append(all, CauseHeadroom)
	}
	if v.ForQuota {
		all = append(all, CauseQuota)
	}
	if v.Whole || len(all) == 0 {
		all = append(all, CauseJob)
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
func (e *Eviction) because(cause Cause) string {
	switch cause {
	case CauseNode:
		room := "room on node " + plain.Name(e.Node)
		if len(e.Preemptor.Members) > 0 {
			room += " for " + plain.Names(e.Preemptor.Members)
		}
		return room
	case CauseHeadroom:
		return "room under the max of a queue"
	case CauseQuota:
		return "room under the max of a quota"
	case CauseJob:
		return "its job " + plain.Name(e.Job) + " goes whole"
	}
	return plain.Name(string(cause))
}
