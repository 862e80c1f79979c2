package jobs

import (
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Decision is the answer to a job. It is owned by the caller, who hands it
// to [Planner.Decide] again to have its memory reused.
type Decision struct {
	Outcome victims.Outcome // Fits, Waits, Preempts or Refused
	Plan    Plan            // for any outcome but Refused, which leaves none that could be applied
	Refusal Refusal         // for Refused
}

// A Plan is a place for each member of a job that has none yet, or for the
// minimum of them and more, and the tasks that must go for it. It is plain
// data: nothing happens until its [Plan.Change] is applied.
type Plan struct {
	Job        Job         // a copy, which shares nothing with the caller's
	Placements []Placement // of the members that had no place, in their order
	Victims    []Victim    // sorted by key
	Cost       victims.Cost
	Proof      victims.Proof
	OwnLeaf    bool            // tasks of the job's own leaf are among the victims
	Steps      int64           // elementary steps of the searches; see Planner.Steps
	Version    victims.Version // of the cluster that it was made for; zero is that of no plan

	Path string // the name of the job's queue

	sizes []int64 // of the members of Job, and of the victims
}

// A Placement is a node for a member.
type Placement struct {
	Member  int // an index of Job.Members
	Node    victims.NodeID
	Place   string // the name of the node
	Further bool   // beyond the minimum, and placed without victims
}

// A Victim is a task that a plan stops, and what for. It says what it is by
// itself, so that it can be described after the task has gone.
type Victim struct {
	Task     victims.TaskID
	Key      string
	Name     string // for people; "" if the task has none
	Path     string // the name of its queue
	Place    string // the name of its node
	Priority int32  // raw
	Size     resources.Vector

	OptedOut, Originator bool

	Rank int64  // its effective priority minus the job's; negative
	Job  string // of which it is a member, or ""
	// Whole is set if it goes with all of its job, of which too few members
	// would be left.
	Whole bool
	// ForNode is set if its amounts make room on a node of the plan,
	// ForHeadroom if they make room under the max of a queue, and ForQuota
	// if they make room under the max of a quota.
	ForNode, ForHeadroom, ForQuota bool
}

// Change returns what the plan does to the cluster, for
// [victims.Cluster.Apply]: its victims are told to stop, and its members
// are granted their nodes.
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
