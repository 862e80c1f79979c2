// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"time"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Job is work that is placed as a whole or not at all.
type Job struct {
	Name        string
	Application string
	Queue       queue.ID // a leaf; of all members
	Priority    int32
	// NonPreemptible: no other job may take its members once they run. It decides
	// which formulas admit the job; see [Ledger.Admit].
	NonPreemptible bool
	// MinMembers is how many members must run, those that run already included; 0 is all.
	// Others get no victims.
	MinMembers int
	MayNot     bool // must not preempt others
	// PendingSince and LastAttempt are as in [victims.Ask]. They count by guarantee only.
	PendingSince time.Time
	LastAttempt  time.Time
	// Domain is the depth of the domain that all members share: 1 for the widest, 0 for
	// none. See DESIGN.md, Domains.
	Domain int
	// Members are in the caller's order. Those that run or hold a grant are known by
	// their keys.
	Members []Member
}

// A Member is a task of a job.
type Member struct {
	Key        string // unique among the tasks and grants of a cluster
	Size       resources.Vector
	Originator bool
	OptedOut   bool
	// Class is for [victims.Rules.Filter].
	Class   int
	Name    string   // for people; may be ""
	Tag     uint64   // the caller's
	Cost    int64    // of stopping it once it runs; see victims.Task
	Budgets []string // that it is in once it runs
}

// ask returns member i as an ask for a place.
func (j *Job) ask(i int) victims.Ask {
	m := &j.Members[i]
	return victims.Ask{
		Key: m.Key, Application: j.Application, Queue: j.Queue, Size: m.Size, Priority: j.Priority,
		MayNot: j.MayNot, Originator: m.Originator, OptedOut: m.OptedOut,
		Job: j.Name, NonPreemptible: j.NonPreemptible,
		Name: m.Name, Tag: m.Tag, Cost: m.Cost, Budgets: m.Budgets,
	}
}

// asker returns member i as who asks now.
func (j *Job) asker(i int) victims.Ask {
	ask := j.ask(i)
	ask.Class, ask.PendingSince, ask.LastAttempt = j.Members[i].Class, j.PendingSince, j.LastAttempt
	return ask
}

// A stage says whose tasks are candidates.
type stage uint8

const (
	byPriority  stage = iota // lower ones of all leaves in reach, the own one included
	outsideLeaf              // those of other leaves
	withOwnLeaf              // and lower ones of the job's own
)
