package victims

import (
	"time"

	"github.com/go-preempt/preempt/internal/word"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A TaskID is the row of a task, or of a granted ask, in its [Cluster]. It
// stays the same from the addition of the task to its removal, after which
// another task may get it.
type TaskID int32

// A NodeID is the row of a node in its [Cluster]. It stays the same from the
// addition of the node to its removal, after which another node may get it.
type NodeID int32

// A State says what a task is doing.
type State uint8

const (
	// Running tasks use their queue and node, and may be victims.
	Running State = iota
	// Releasing tasks are ending by themselves. Their amounts are leaving.
	Releasing
	// Preempting tasks were told to stop. Their amounts are leaving.
	Preempting
	// Granted is no running task but an ask that was given a place: its
	// amounts count as usage of its queue and its node until it starts or is
	// dropped. It is never a victim.
	Granted
)

var stateWords = word.Table{Of: "victims.State", Words: []string{Running: "running", Releasing: "releasing", Preempting: "preempting", Granted: "granted"}}

// String returns the name of the state in lower case.
func (s State) String() string { return stateWords.Word(uint8(s)) }

// MarshalText returns the stable word. A number without one is an error.
func (s State) MarshalText() ([]byte, error) { return stateWords.Text(uint8(s)) }

// UnmarshalText reads what MarshalText writes. Any other text is an error.
func (s *State) UnmarshalText(text []byte) error { return word.Set(s, stateWords, text) }

// leaving reports whether the amounts of a task in the state are about to go.
func (s State) leaving() bool { return s == Releasing || s == Preempting }

// A Task is something that runs on a node on behalf of a leaf queue.
type Task struct {
	Key         string   // unique among the tasks and grants of a cluster
	Name        string   // for people; "" if the key says it all
	Tag         uint64   // of the caller's, who may put into it what they like
	Application string   // "" is none: two tasks without one have nothing in common
	Queue       queue.ID // a leaf
	Node        NodeID   // where it runs; the zero value is the node that was added first
	// NodeName names the node instead, for a task that is told to a cluster. If
	// no node has the name, there is a closed one until it is added.
	NodeName   string
	Size       resources.Vector
	Priority   int32     // raw; a larger one is more important
	Created    time.Time // zero: not known, and before all others
	Scheduled  time.Time // when it was placed; zero: not yet, it is nominated only
	Checkpoint time.Time // of its last checkpoint; zero: none
	State      State

	Originator   bool // the first task of its application, without which the others are lost
	OptedOut     bool // allow-preemption: false (law 1)
	RequiredNode bool // it can run on its node only

	// Job is the job that the task is a member of, or "". It matters to planners
	// that know the job's minimum; see Planner.Minimum.
	Job string
	// NonPreemptible says that no other job may take the task. Package jobs goes by
	// it; to plans for asks and to quotas it means nothing.
	NonPreemptible bool

	// Cost is what stopping the task costs by the caller's own account, from 0
	// on. Plans for asks and jobs prefer a smaller sum of it to fewer victims.
	Cost int64
	// Budgets are the names of the budgets that stopping the task draws on, each
	// once. See [Budget].
	Budgets []string
}

// Lost returns the running time that stopping the task at an instant throws
// away, in nanoseconds: the time since it was scheduled, or since its last
// checkpoint if that is later. A task that was not scheduled loses nothing, and
// neither does one that was, or will be, scheduled or saved in the future. For
// instants that no cluster holds it is at most 292 years.
func (t *Task) Lost(now time.Time) uint64 {
	since := t.Scheduled
	if t.Checkpoint.After(since) {
		since = t.Checkpoint
	}
	if t.Scheduled.IsZero() || since.After(now) {
		return 0
	}
	from, held := nanos(since)
	to, ok := nanos(now)
	if !held || !ok {
		return uint64(now.Sub(since)) // which saturates
	}
	// The difference of two int64 fits uint64, wherever zero lies.
	return uint64(to) - uint64(from)
}

// A Node is a place where tasks run.
type Node struct {
	Name          string
	Capacity      resources.Vector
	Unschedulable bool   // takes no new tasks, except of asks that require it
	ReservedFor   string // the key of the ask it is kept for, or ""

	// Rank is what choosing the node costs by the caller's own account: of plans
	// that are alike otherwise the smaller one is the better.
	Rank int64
	// Domains are the domains that the node is in, the widest first: block,
	// rack, and so on. See DESIGN.md, Domains.
	Domains []string
	Tag     uint64 // of the caller's, who may put into it what they like
}

// An Ask is a task that has no node yet.
type Ask struct {
	Key          string
	Name         string // for people; "" if the key says it all
	Tag          uint64 // of the caller's, who may put into it what they like
	Application  string
	Queue        queue.ID // a leaf
	Size         resources.Vector
	Priority     int32
	PendingSince time.Time // since when it waits; zero: for ever, so that no delay holds it back
	LastAttempt  time.Time // when preemption was last tried for it; zero: never
	// RequiredNode is the name of the only node it can run on, or "". On it the
	// ask may take any task of lower or equal raw priority and of another
	// application: no guarantee, fence, delay or disabled queue protects (laws
	// 2, 4, 5 and 7), for it can run nowhere else.
	RequiredNode string
	MayNot       bool // must not preempt others

	// What it will be as a task; see [Task].
	Originator     bool
	OptedOut       bool
	Job            string
	NonPreemptible bool
	Cost           int64
	Budgets        []string // they play no part in a plan for the ask itself
}

// A Head is the part of a task, or of a granted ask, that loops over all tasks
// decide by. It has no text and no [time.Time], so it costs a small part of what
// a [Cluster.TaskView] does. What it lacks is read of the few tasks that need it,
// by [Cluster.Key], [Cluster.Job] or TaskView.
type Head struct {
	Size     resources.Vector // memory of the cluster, as that of a TaskView
	Created  int64            // nanoseconds since 1970, if HasCreated
	Queue    queue.ID
	Node     NodeID
	Priority int32
	State    State

	Originator     bool
	OptedOut       bool
	RequiredNode   bool
	NonPreemptible bool

	HasCreated bool // it is known when the task was created
	HasJob     bool // it is a member of a job
	HasBudgets bool // it names budgets
}
