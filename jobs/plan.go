package jobs

import (
	"fmt"
	"strings"

	"github.com/go-preempt/preempt/internal/plain"
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
	Steps      int64           // elementary steps of the searches; see Planner.Budget
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
// [victims.Cluster.ApplyChange]: its victims are told to stop, and its members
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
	// WayLabel: the text of the eviction is put into [LabelSoftEviction], and the
	// task, or who owns it, does the rest.
	WayLabel Way = "label"
	// WayDelete: the task is deleted.
	WayDelete Way = "delete"
)

// An Eviction tells one victim who preempts it, for which job, and why. Eviction
// is soft: it is for the caller to delete the task, to signal it, or to put the
// text of the eviction into [LabelSoftEviction] and let others act.
//
// The names of its fields in JSON are stable, and what was written is read back
// as it was, as long as names are valid UTF-8.
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
	// Members are those that the plan places on the victim's node, where the
	// victim makes room there, in the order of the job.
	Members []string `json:"members,omitempty"`
}

// Evictions appends to dst what there is to tell to each victim of the plan, in
// the order of the plan, which is that of keys, and returns dst. The way is that
// of [LabelOptions.Way], or "" if nobody needs the word. The victims must be in
// the cluster still. The cost is victims times placements.
func (p *Plan) Evictions(dst []Eviction, c *victims.Cluster, way Way) []Eviction {
	for i := range p.Victims {
		v := &p.Victims[i]
		t := c.Task(v.Task)
		e := Eviction{
			Task: v.Key, Queue: c.Tree().Path(t.Queue), Node: c.NodeName(t.Node), Priority: t.Priority, Job: v.Job,
			Preemptor: Preemptor{
				Job: p.Job.Name, Application: p.Job.Application,
				Queue: c.Tree().Path(p.Job.Queue), Priority: p.Job.Priority,
			},
			Causes: v.causes(), Way: way,
		}
		if v.ForNode {
			e.Preemptor.Members = p.membersOn(t.Node)
		}
		dst = append(dst, e)
	}
	return dst
}

// causes lists what a victim is stopped for. One that frees nothing of use goes
// because its job does.
func (v *Victim) causes() (all []Cause) {
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
func (p *Plan) membersOn(n victims.NodeID) (keys []string) {
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
