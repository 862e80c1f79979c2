// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"cmp"
	"time"

	"github.com/go-preempt/preempt/victims"
)

// A Decision is the answer to a job. Pass it again to reuse its memory.
type Decision struct {
	Outcome victims.Outcome // Fits, Waits, Preempts or Refused
	Plan    Plan            // unless Refused
	Refusal Refusal         // if Refused

	counts uncounted // of the refusal
}

// A Plan is a place for the members that have none, and the tasks that must go. It is
// plain data.
type Plan struct {
	Job        victims.Ask      // a copy
	Placements []victims.Place  // of the members that had no place, in their order
	Victims    []victims.Victim // sorted by key
	Cost       victims.Cost
	Proof      victims.Proof
	OwnLeaf    bool             // it stops tasks of the job's own leaf
	Ends       []victims.Ending // queues of its path that end below their guarantee and what they had
	Steps      int64            // see Planner.Steps
	Version    victims.Version  // of the cluster that it was made for
	At         time.Time        // the instant at which it was decided

	Path string // the name of the job's queue

	sizes []int64 // of the members of Job, and of the victims
}

// Change returns what the plan does, for [victims.Cluster.Apply]. It shares victims with
// the plan.
func (p *Plan) Change() victims.Change {
	ch := victims.Change{
		For: p.Job.Key, Version: p.Version, At: p.At, Victims: p.Victims, MinMembers: cmp.Or(p.Job.MinMembers, len(p.Job.Members)),
	}
	if isLone(&p.Job) {
		ch.MinMembers = 0 // it runs alone
	}
	for _, at := range p.Placements {
		ask := p.Job.MemberAsk(at.Member)
		ch.Places = append(ch.Places, victims.ChangePlace{Ask: &ask, Node: at.Node})
	}
	return ch
}
