// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"time"

	"github.com/go-preempt/preempt/internal/trigger"
	"github.com/go-preempt/preempt/internal/word"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Job is work whose members are placed together, or none of them is.
type Job struct {
	Name        string
	Application string
	Queue       queue.ID // a leaf; of all members
	Priority    int32
	// NonPreemptible: no other job may take its members once they run. It decides
	// which formulas admit the job; see [Ledger.Admit].
	NonPreemptible bool
	// MinMembers is how many members must run, those that run already included; 0 is
	// all. Only these are worth victims.
	MinMembers int
	MayNot     bool // must not preempt others
	// PendingSince is since when the job waits, and LastAttempt when preemption was
	// last tried for it. Zero is long ago. They count by guarantee only.
	PendingSince time.Time
	LastAttempt  time.Time
	// Domain is the depth of the domain that all members share: 1 for the widest that
	// nodes name, 0 for none. See DESIGN.md, Domains.
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

// A Trigger says what entitles a job to victims. See DESIGN.md, Jobs: laws.
type Trigger uint8

const (
	// ByGuarantee: a job is an ask with many members, and keeps all laws of asks. Its
	// queue must still be under its guarantee when the largest member asks last, type
	// by type (law 4). Victims are outside of the needy queue, and of lower or equal
	// effective priority. A job of one member is decided as the ask is.
	ByGuarantee Trigger = iota
	// ByPriority: a job takes from strictly lower priority, its own leaf included (by
	// raw priority), and guarantees only protect. Use it for Koordinator's elastic
	// quotas, and for priorities without guarantees. Delays and intervals do not
	// count.
	ByPriority
)

var triggerWords = word.Table{Of: "jobs.Trigger", Words: []string{ByGuarantee: "guarantee", ByPriority: "priority"}}

// String returns the stable word for the trigger.
func (t Trigger) String() string { return triggerWords.Word(uint8(t)) }

// A stage says whose tasks are candidates.
type stage uint8

const (
	byPriority  stage = iota // lower ones of all leaves in reach, the own one included
	outsideLeaf              // those of other leaves
	withOwnLeaf              // and lower ones of the job's own
)

// reasonOf are the obstacles of package trigger as reasons.
var reasonOf = [...]victims.Reason{
	trigger.MayNot:         victims.MayNotPreempt,
	trigger.Early:          victims.TooEarly,
	trigger.Soon:           victims.TooSoon,
	trigger.OverMax:        victims.OverMax,
	trigger.NotGuaranteed:  victims.NotGuaranteed,
	trigger.OverGuarantee:  victims.OverGuarantee,
	trigger.HeadroomInside: victims.HeadroomInside,
}
