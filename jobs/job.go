package jobs

import (
	"time"

	"github.com/go-preempt/preempt/internal/trigger"
	"github.com/go-preempt/preempt/internal/word"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Job is work that runs as a whole or not at all: its members are placed
// together, or none of them is.
type Job struct {
	Name        string
	Application string
	Queue       queue.ID // a leaf; of all members
	Priority    int32
	// NonPreemptible is of all members: no other job may take them once they
	// run. It decides which formulas admit the job; see [Allowances].
	NonPreemptible bool
	// MinMembers is how many members must run for the job to be of use, those
	// that run already included. 0 means all of them. Only these are worth
	// victims: the others run where there is room afterwards.
	MinMembers int
	MayNot     bool // must not preempt others: preemptionPolicy Never
	// PendingSince is since when the job waits, and LastAttempt when preemption was
	// last tried for it. The zero time is long ago. They count by guarantee only.
	PendingSince time.Time
	LastAttempt  time.Time
	// Domain is the depth of the domain that all members share, those placed
	// already included: 1 for the widest that nodes name. 0: they may run
	// anywhere. See [victims.Node].
	Domain int
	// Members are in the caller's order. Those that run already, or hold a
	// grant, are known by their keys: they keep their nodes and count.
	Members []Member
}

// A Member is a task of a job.
type Member struct {
	Key        string // unique among the tasks and grants of a cluster
	Size       resources.Vector
	Originator bool
	OptedOut   bool
	// Class is for [victims.Rules.Filter]: members of a class may run on the same
	// nodes. It may be any number.
	Class   int
	Name    string   // for people; "" if the key says it all
	Tag     uint64   // of the caller's, who may put into it what they like
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

// A Trigger says what lets a job take from others. The zero value is by guarantee.
// (DESIGN.md, Jobs: laws.)
type Trigger uint8

const (
	// ByGuarantee: a job takes back what its queue is guaranteed, as an ask does. All
	// laws of asks hold. Its members, asked one after another with the largest last,
	// would each have to find the queue under its guarantee. Victims come from outside
	// of the needy queue, and are of lower or equal effective priority.
	ByGuarantee Trigger = iota
	// ByPriority: a job takes from strictly lower priority, its own leaf included, and
	// guarantees only protect. Use it for Koordinator's elastic quotas, and for clusters
	// with priorities and no guarantees.
	ByPriority
)

var triggerWords = word.Table{Of: "jobs.Trigger", Words: []string{ByGuarantee: "guarantee", ByPriority: "priority"}}

// String returns the stable word for the trigger: guarantee or priority.
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
