// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Decision is the answer to a job. Hand it to [Planner.Decide] again to reuse its
// memory.
type Decision struct {
	Outcome victims.Outcome // Fits, Waits, Preempts or Refused
	Plan    Plan            // unless Refused
	Refusal Refusal         // if Refused
}

// A Plan is a place for the members of a job that have none, and the tasks that must
// go for it. It is plain data.
type Plan struct {
	Job        Job         // a copy
	Placements []Placement // of the members that had no place, in their order
	Victims    []Victim    // sorted by key
	Cost       victims.Cost
	Proof      victims.Proof
	OwnLeaf    bool            // it stops tasks of the job's own leaf
	Steps      int64           // see Planner.Steps
	Version    victims.Version // of the cluster that it was made for

	Path string // the name of the job's queue

	sizes []int64 // of the members of Job, and of the victims
}

// A Placement is a node for a member.
type Placement struct {
	Member  int    // an index of Job.Members
	Key     string // of the member
	Node    victims.NodeID
	Place   string // the name of the node
	Further bool   // beyond the minimum, and placed without victims
}

// A Victim is a task that a plan stops, and what for.
type Victim struct {
	Task     victims.TaskID
	Key      string
	Name     string // for people; may be ""
	Path     string // the name of its queue
	Place    string // the name of its node
	Priority int32  // raw
	Size     resources.Vector

	OptedOut, Originator bool

	Rank int64  // its effective priority minus the job's; 0 or less
	Job  string // of which it is a member, or ""
	// Whole: it goes with all of its job, of which too few members would be left.
	Whole bool
	// What it makes room for: a node of the plan, the max of a queue, an allowance.
	ForNode, ForHeadroom, ForQuota bool
}

// Change returns what the plan does, for [victims.Cluster.Apply].
func (p *Plan) Change() victims.Change {
	ch := victims.Change{For: p.Job.Name, Version: p.Version}
	for i := range p.Victims {
		v := &p.Victims[i]
		ch.Victims = append(ch.Victims, victims.Victim{
			Task: v.Task, Key: v.Key, Rank: v.Rank, ForNode: v.ForNode, ForHeadroom: v.ForHeadroom || v.ForQuota,
		})
	}
	for _, at := range p.Placements {
		ask := p.Job.ask(at.Member)
		ch.Grants = append(ch.Grants, victims.Grant{Ask: &ask, Node: at.Node})
	}
	return ch
}
