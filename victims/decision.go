// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"fmt"
	"time"

	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/sat"
	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/internal/word"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A TaskID is the row of a task or grant in its Cluster. After its removal another task
// may get it.
type TaskID int32

// A NodeID is the row of a node in its [Cluster], from its addition to its removal.
// Then another node may get it. The zero NodeID is no node.
type NodeID int32

// A State says what a task is doing.
type State uint8

const (
	// Running tasks use their queue and node, and may be victims.
	Running State = iota
	// Releasing tasks end, by themselves or by a stop that nobody takes back, as of a deleted
	// pod. Their amounts are leaving.
	Releasing
	// Preempting tasks are victims of plans, which [Cluster.Cancel] may take back. Their amounts
	// are leaving. After a restart they are told again; see [Cluster.Marked].
	Preempting
	// Granted is an ask with a place: usage of its queue and node until it starts or
	// is dropped, and never a victim.
	Granted
)

var stateWords = word.Table{Of: "victims.State", Words: []string{Running: "running", Releasing: "releasing", Preempting: "preempting", Granted: "granted"}}

// String returns the name of the state in lower case.
func (s State) String() string { return stateWords.Word(uint8(s)) }

// leaving reports whether the amounts of a task in the state are about to go.
func (s State) leaving() bool { return s == Releasing || s == Preempting }

// A Task is something that runs on a node on behalf of a leaf queue.
type Task struct {
	Key         string   // unique among the tasks and grants of a cluster
	Name        string   // for people; may be ""
	Tag         uint64   // the caller's
	Application string   // "" is none; two tasks without one share nothing
	Queue       queue.ID // a leaf
	Node        NodeID   // where it runs
	// NodeName names the node instead. An unknown one takes nothing until it is added; see
	// [Cluster.UnknownNodes].
	NodeName   string
	Size       resources.Vector
	Priority   int32     // raw; a larger one is more important
	Created    time.Time // zero: not known, and before all others
	Scheduled  time.Time // when it was placed; zero: not yet, it is nominated only
	Checkpoint time.Time // of its last checkpoint; zero: none
	State      State
	// RefusedUntil is until when nobody takes the task, for it would not stop; see
	// [Cluster.Refuse]. SetTask keeps the later one.
	RefusedUntil time.Time

	Originator   bool // the first task of its application, without which the others are lost
	OptedOut     bool // allow-preemption: false (law 1)
	RequiredNode bool // it can run on its node only
	Movable      bool // it can be started again elsewhere; see Options.Moves
	Class        int  // as in [Ask], for moves

	// MovesTo is told by [Cluster.Task] alone: the node on which a task that was told to stop starts
	// again, once it has gone and its grant starts; "" for a victim. Requeue victims only.
	MovesTo string

	// Job is the job that the task is a member of, or ""; see [Cluster.SetMinMembers].
	Job string
	// NonPreemptible: no other job may take it. Asks and quotas may.
	NonPreemptible bool

	// Cost is what stopping the task costs, 0 or more. It counts after ranks,
	// priorities and stopped jobs.
	Cost int64
	// Preemptions is how often what runs here was preempted before, by your count, for the level
	// "preemptions": so that those who were stopped are not the first again.
	Preemptions int
	// Budgets names each [Budget] that stopping the task draws on, once.
	Budgets []string
}

// Lost returns the running time that stopping the task at an instant loses, in
// nanoseconds: since it was scheduled or last saved; 0 if that is unknown or in the
// future.
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

	// Penalty is what choosing the node costs: of plans that are alike otherwise, the
	// smaller is better.
	Penalty int64
	// Domains are what the node is in, the widest first: block, rack. See DESIGN.md,
	// Domains.
	Domains []string
	Tag     uint64 // the caller's
}

// An Ask is work that waits for a place: a task, or with Members a gang, whose members start
// together or not at all.
type Ask struct {
	Key          string // of the task; of a gang that of the job
	Name         string // for people; may be ""
	Tag          uint64 // the caller's
	Application  string
	Queue        queue.ID // a leaf; of all members
	Size         resources.Vector
	Priority     int32
	PendingSince time.Time // since when it waits; zero: for ever, so no delay holds it back
	LastAttempt  time.Time // when preemption was last tried for it; zero: never
	// RequiredNode is the name of the only node it can run on, or "". Laws 2, 4, 5 and
	// 7, delays and disabled queues do not bind such an ask, and law 6 compares raw
	// priorities. It is not for gangs. See DESIGN.md, Required nodes.
	RequiredNode  string
	NeverPreempts bool // must not preempt others
	Class         int  // of asks that the filter treats alike; see Options.Filter

	// Members of a gang are in the caller's order. Those that run or hold a grant are known by
	// their keys. A Size or Budgets that are nil, and a Class of 0, are those of the ask.
	Members []Member
	// MinMembers is how many members must run, those that run already included; 0 is all.
	// Others get no victims.
	MinMembers int
	// DomainDepth is the depth of the domain that all members share: 1 for the widest, 0 for
	// none. See DESIGN.md, Domains.
	DomainDepth int

	// What it will be as a task; see [Task]. For a gang only NonPreemptible counts, which also
	// decides which formulas of allowances admit it, and Job is its Key.
	Originator     bool
	OptedOut       bool
	Movable        bool
	Job            string
	NonPreemptible bool
	Cost           int64
	Preemptions    int
	Budgets        []string // they play no part in a plan for the ask itself
}

// A Member is a task of a gang. What is not said here is as in its [Ask].
type Member struct {
	Key        string // unique among the tasks and grants of a cluster
	Name       string // for people; may be ""
	Tag        uint64 // the caller's
	Size       resources.Vector
	Class      int // see Options.Filter
	Originator bool
	OptedOut   bool
	Cost       int64 // of stopping it once it runs; see Task
	// Preemptions is how often it was preempted before.
	Preemptions int
	Budgets     []string // that it is in once it runs
}

// Member returns a member of a gang with what it has from the ask. A lone ask has one: itself.
func (a *Ask) Member(i int) Member {
	if len(a.Members) == 0 {
		return a.asMember()
	}
	m := a.Members[i]
	if m.Size == nil {
		m.Size = a.Size
	}
	if m.Class == 0 {
		m.Class = a.Class
	}
	if m.Budgets == nil {
		m.Budgets = a.Budgets
	}
	return m
}

// MemberAsk returns a member as an ask for a place of its own. The only member of a
// gang that has its key is a lone ask, which may be of another job.
func (a *Ask) MemberAsk(i int) Ask {
	m, ask := a.Member(i), *a
	ask.Key, ask.Name, ask.Tag, ask.Size, ask.Class = m.Key, m.Name, m.Tag, m.Size, m.Class
	ask.Originator, ask.OptedOut, ask.Cost, ask.Budgets = m.Originator, m.OptedOut, m.Cost, m.Budgets
	ask.Preemptions = m.Preemptions
	ask.Members, ask.MinMembers, ask.DomainDepth = nil, 0, 0
	if !a.isLone() {
		ask.Job = a.Key
	}
	return ask
}

// isLone reports whether an ask is no gang: it has no members but itself.
func (a *Ask) isLone() bool {
	return len(a.Members) == 0 || len(a.Members) == 1 && a.Members[0].Key == a.Key
}

// asMember returns what a lone ask would be as a member.
func (a *Ask) asMember() Member {
	return Member{
		Key: a.Key, Name: a.Name, Tag: a.Tag, Size: a.Size, Class: a.Class,
		Originator: a.Originator, OptedOut: a.OptedOut, Cost: a.Cost, Preemptions: a.Preemptions, Budgets: a.Budgets,
	}
}

// An Outcome is what was decided about an ask, or a queue that is to come within its max.
type Outcome uint8

const (
	// Fits: there is room now, or the queue is within its max. The plan has no victim.
	Fits Outcome = 1 + iota
	// Waits: there will be room once what is leaving has gone, and nobody needs to be
	// told anything. The plan has a node and no victim.
	Waits
	// Preempts: there is room once the plan's victims and movers have gone. If some move, there
	// may be no victim. Of a queue it says who has to stop, though some usage may stay over its max.
	Preempts
	// Refused: there is no plan; see [Refusal]. Of a queue nobody can be taken.
	Refused
)

var outcomeWords = word.Table{Of: "victims.Outcome", Words: []string{Fits: "fits", Waits: "waits", Preempts: "plan", Refused: "refused"}}

// String returns the stable word for the outcome: fits, waits, plan or refused.
func (o Outcome) String() string { return outcomeWords.Word(uint8(o)) }

// A Decision is the answer to an ask, or about a queue over its max. Hand it to
// [Planner.Decide] again to reuse its memory.
type Decision struct {
	Outcome Outcome
	Plan    Plan    // unless Refused
	Refusal Refusal // if Refused
	// SharedBy are the asks that share the plan, as members of its Ask, in their order. Each
	// holds a grant of its own, and starts by itself.
	SharedBy []Ask
	// Enforcement is how far a queue comes within its max, from quota.Enforcer. Plan.Ask has only
	// the queue then, and Plan.Cost no ranks, excess and node.
	Enforcement Enforcement

	counts uncounted // of the refusal
	sizes  []int64   // of the ask, its members and victims, and of the enforcement
}

// A Plan is a place for an ask and the tasks that must go for it. It is plain data.
type Plan struct {
	Ask Ask
	// Places are those of the members without one, in their order; of a lone ask it is one.
	Places      []Place
	Domain      []string // that members share if the ask requires one: its names, the widest first
	Victims     []Victim // sorted by key
	Moves       []Move   // sorted by key; the rest of the plan is for the cluster in which they have moved
	Cost        Cost
	Proof       Proof     // what was shown of it
	WithinQueue bool      // it stops tasks of the ask's own leaf, or branch
	Second      bool      // it is of the stage in which these may go; others may go with it, or alone
	Ends        []Ending  // queues of its path that end below their guarantee and what they had
	Steps       int64     // elementary steps of the decision; see Planner.Steps
	Version     Version   // of the cluster that it was made for
	At          time.Time // when it was decided

	Path string // the name of the ask's queue
}

// A Place is a node for a lone ask, or for a member of a gang.
type Place struct {
	Member   int    // an index of Ask.Members
	Key      string // of the member, or the lone ask
	Node     NodeID
	NodeName string
	Extra    bool // beyond the minimum, and placed without victims
}

// A Move is a task that stops on a node and starts again on another one: there it has a grant,
// of an ask of its own. Members of a gang move together.
type Move struct {
	Task     TaskID
	Key      string
	Path     string // the name of its queue
	Size     resources.Vector
	From, To NodeID
	FromName string // of the nodes
	ToName   string
	Grant    string // the key of its grant: its own and "+", more of these if that is taken
}

// Ask returns what a task that moves asks for at its new place, for its grant and for functions
// of [Options].
func (m *Move) Ask(c *Cluster) Ask {
	t := c.Task(m.Task)
	return Ask{
		Key: m.Grant, Name: t.Name, Tag: t.Tag, Application: t.Application, Queue: t.Queue, Size: t.Size, Priority: t.Priority, Class: t.Class,
		Originator: t.Originator, OptedOut: t.OptedOut, Movable: t.Movable, Job: t.Job, NonPreemptible: t.NonPreemptible,
		Cost: t.Cost, Preemptions: t.Preemptions, Budgets: t.Budgets,
	}
}

// An Ending is a queue that ends below its guarantee by work of its own: "root.prod ends at 1
// of 20 gpu".
type Ending = rulebook.Ending

// A Proof says what was shown of a plan.
type Proof uint8

const (
	// NoProof: the best plan found within the budget.
	NoProof Proof = iota
	// ProofLevels: no lawful plan is less in the levels before work and excess: how many are
	// stopped, and of which rank, cannot be bettered.
	ProofLevels
	// ProofCost: no lawful plan is cheaper, down to the last key.
	ProofCost
)

var proofWords = word.Table{Of: "victims.Proof", Words: []string{NoProof: "none", ProofLevels: "levels", ProofCost: "cost"}}

// String returns the stable word for the proof: none, levels or cost.
func (p Proof) String() string { return proofWords.Word(uint8(p)) }

// Proven reports whether no lawful plan is cheaper.
func (p Proof) Proven() bool { return p == ProofCost }

// An Enforcement is how far a queue comes within its max.
type Enforcement struct {
	// Result is a stable word; "" if an ask was decided. Once the victims have gone, usage is
	// within the max (met) or over it (partial). Impossible is partial without victims.
	Result string
	Max    resources.Limit
	Usage  resources.Vector // effective usage before, in every type
	Target resources.Vector // what of it is over the max and has to go

	Freed     resources.Vector // what the victims free, in every type
	Shortfall resources.Vector // what stays over the max, at least 0

	Parts     []Part     // of queues below that were asked for something, in tree order
	Obstacles []Obstacle // what keeps what stays over, by type and then by rule
	// Grants are the keys of grants below the queue, sorted, if there is a target. They count as usage.
	Grants []string
	Jobs   []StoppedJob // that go as a whole, sorted by name

	// Proven: no lawful set frees more of one type of the target and as much of the others.
	Proven bool
}

// A Part is what a queue below an enforced one is to free, and what it frees. Asked, Freed and
// Victims are of leaves.
type Part struct {
	Queue queue.ID
	// Amount is what it is asked for first, in types of the target. Siblings share their parent's
	// part; the first ones share the target, or what can be released if that is less.
	Amount  resources.Vector
	Asked   resources.Vector // the most in all rounds and searches, likewise
	Freed   resources.Vector // in every type
	Victims int              // how many of its tasks are victims
}

// An Obstacle is what keeps an amount of a type from being freed.
type Obstacle struct {
	Type   int
	Rule   string // see [Count]
	Amount int64  // what tasks and grants hold to which the rule applies
	// Queue is the enforced one; of "guarantee" the first in tree order whose guarantee kept a
	// task.
	Queue queue.ID
}

// A StoppedJob is a job that goes as a whole.
type StoppedJob struct {
	Job     string
	Minimum int // the members that it needs
	Victims int // the members that ran
}

// clear has an enforcement say nothing; memory is reused.
func (e *Enforcement) clear() {
	*e = Enforcement{Parts: e.Parts[:0], Obstacles: e.Obstacles[:0], Grants: e.Grants[:0], Jobs: e.Jobs[:0]}
}

// A Victim is a task that a plan stops, and what for. It can be described after the
// task has gone.
type Victim struct {
	Task     TaskID
	Key      string
	Name     string // for people; "" if the task has none
	Path     string // the name of its queue
	Place    string // the name of its node
	Priority int32  // raw
	Size     resources.Vector
	Rank     int64  // its effective priority minus the ask's; 0 or less
	Job      string // of which it is a member, or ""
	// Whole: it goes with all of its job, of which too few members would be left; in
	// plans for jobs, and of a queue over its max.
	Whole bool
	// ForNode: it makes room on a node of the plan. ForHeadroom: under the max of a
	// queue. ForQuota: under an allowance of jobs. Blocks: the caller named it as a
	// blocker. Members of a gang may have none of these.
	ForNode     bool
	ForHeadroom bool
	ForQuota    bool
	Blocks      bool

	OptedOut, Originator bool
}

// A Count says how many tasks a rule kept from being victims of an ask, a job or a quota.
// Rules are stable words. A task counts once, at the first in this order:
//
//   - leaving: it is going already.
//   - required-node: it can run on its node only.
//   - same-application: it is of the job, or of the application, that asks (law 3).
//   - fence: it is in the asking leaf or outside its fence (law 7).
//   - disabled: its queue is disabled.
//   - inside: it is inside the starving queue (storm freedom).
//   - non-preemptible: no job may take it.
//   - priority: its effective priority is too high (law 6).
//   - refused: it would not stop; see [Cluster.Refuse].
//   - exempt: the caller exempts it.
//   - gang: its job needs it, and cannot be stopped as a whole.
//   - not-helping: it reduces no open need.
//   - budget: a hard budget has too little left for it, or for the job with which it goes.
//   - guarantee: it would take a queue below its guarantee (law 2), alone or with its job.
//     For a job without a plan it also counts tasks that cannot go together.
//   - overshoot: it is larger than what is still to be freed, and the quota is to be exact.
//   - enforced: it is in a queue that is being enforced already.
//   - granted: it is an ask that was granted a place.
type Count struct {
	Rule  string
	Tasks int
}

// Two reasons that a caller has to tell from others; see [Refusal].
const (
	InFlight = "in-flight"
	Unlawful = "unlawful"
)

// A Refusal says why there is no plan. Its reason is a stable word, the first of these that
// holds:
//
//   - in-flight: the ask holds a grant and cannot start yet. A job's members wait for
//     what is leaving.
//   - unknown-node: the node that the ask requires is not in the cluster.
//   - quota-min: a non-preemptible job would pass the min of a quota.
//   - quota-max: the job would pass the max of a quota, and victims may or could not
//     change that.
//   - may-not-preempt: it must not preempt others.
//   - too-early: it has not been pending for its queue's preemption delay.
//   - too-soon: preemption was tried for it less than the interval ago.
//   - over-max: a queue on the path is over its max already.
//   - not-guaranteed: no queue guarantees any type of what is wanted (law 4).
//   - over-guarantee: a queue that governs a wanted type is at or over its guarantee of
//     it (law 4), or for a job would be before the last member.
//   - headroom-inside: a max at or below the starving queue is short, so that only its
//     own tasks could make room.
//   - nothing-in-reach: no leaf is in reach (law 7), enabled and outside the starving
//     queue.
//   - no-victims: no legal set of victims makes room.
//   - max-victims: legal sets make room, and all that were found have more victims than
//     Options.MaxVictims lets a plan have.
//   - predicate: legal sets make room, and the predicate refused those tried.
//   - domain: no node is in a domain of the required depth, or members that run share
//     none.
//   - unlawful: the planner's Audit found a law broken: a defect of the library, or a
//     function that changed its answer.
type Refusal struct {
	Reason string
	// OwnLeaf: tasks of the own leaf, or branch, were candidates too. Also is then the reason without
	// them, or "".
	OwnLeaf bool
	Also    string
	// Queue and Type are those of over-max, over-guarantee or headroom-inside.
	Queue queue.ID
	Type  int
	// ProtectedBy is who is not under its guarantee, of over-guarantee, told beside another
	// reason or not. Of the count "guarantee" it is the first queue in tree order, and there the first
	// type, that by itself keeps one of those tasks, alone or with its job; for a job without a plan also one
	// that cannot give all of its own. The count comes first, and is worked out as Counts is.
	ProtectedBy Protector
	// NeedsVictims is, of max-victims, how many the plan has that there would be without the cap.
	NeedsVictims int
	// NoneCounts: of not-guaranteed, no type that is asked for is in Options.Scarce.
	NoneCounts bool
	// Counts has the rules that protected tasks, in their order, Candidates the tasks that
	// none did. They and Filtered are for refusals after a search, and empty until somebody
	// asks; see [Decision.Count].
	Counts     []Count
	Candidates int
	// Filtered is the number of nodes that the filter refused, to a job for every member.
	Filtered int
	// Root is why it could not run even in an empty cluster; its zero value: it could. Of a
	// job it is that of the first required member that has one.
	Root Root
	// RetryAt is when time alone can first change the answer; zero: never. By the Until of a
	// filter, which need not be enough, that may be another refusal.
	RetryAt time.Time
	// Help is what else can change it.
	Help Help
	// Proven: no plan exists. Else none was found within the budget; see
	// Planner.Steps.
	Proven bool
	Steps  int64
	// Scarce names hard budgets with something left, and less than their candidates.
	Scarce []string
	// WaitsFor has the keys of the tasks that a lone ask in flight waits for, sorted.
	WaitsFor []string
	// Closest is the node that lacks the least for a lone ask without all its candidates, by
	// dominant share of the cluster, then in node order; zero if there is none. Lacks is what.
	// They and Scarce are counted as Counts is; see [Decision.Count].
	Closest NodeID
	Lacks   resources.Vector

	// Breaches keep a gang out, for quota-min or quota-max, the leaf's first.
	Breaches []Breach
	// Placeable is a number of the Wanted members of a gang: the first so many would have a
	// plan, and one more would not. Two more might again, for law 2 counts what arrives. It is
	// counted as Counts is, and so is the domain; see [Decision.Count].
	Placeable, Wanted int
	// Domain is the domain that came closest: if all candidates went, it would have room
	// for the most members, the largest first; ties by node order. DomainRoom is how
	// many, DomainLacks what the others ask for.
	Domain      []string
	DomainRoom  int
	DomainLacks resources.Vector
	// DomainFull: the domain of its grants has no room for the other members. Drop the
	// grants, and it may go elsewhere.
	DomainFull bool
}

// A Protector is the queue whose guarantee protects tasks from an ask or a job, and the
// type that it guarantees.
type Protector struct {
	Queue queue.ID
	Type  int
	// Job is a gang that goes whole or not at all, which is more than the queue may lose,
	// and Minimum how many members it needs; "" if there is none. Of several it is the first by
	// name.
	Job     string
	Minimum int
	// Named: there is a protector.
	Named bool
}

// Before reports whether p comes before another protector: by queue in tree order, then by type.
func (p *Protector) Before(o *Protector) bool {
	return !o.Named || p.Queue < o.Queue || p.Queue == o.Queue && p.Type < o.Type
}

// NoteJob notes a gang that p protects.
func (p *Protector) NoteJob(name string, minimum int) {
	if p.Job == "" || name < p.Job {
		p.Job, p.Minimum = name, minimum
	}
}

// A Root says why an ask could not run even in an empty cluster. Kinds are stable words, and
// the first that holds counts:
//
//   - no-node: there is no schedulable node, not reserved for others, that its filter lets it
//     use; of a required node only that one is looked at.
//   - too-large: no such node would hold it with nothing on it. Node is the one that has the
//     most of the first type of which none has enough. If there is none, it is the node that
//     lacks least by dominant share of the cluster, and Type the first that it lacks. Ties go
//     by node order.
//   - above-max: it alone is above a max of its path. Queue has the least max of the first
//     such type; of equals it is the lowest.
type Root struct {
	Kind  string
	Type  int
	Most  int64 // of the type, that there is
	Node  NodeID
	Queue queue.ID
}

// Clear has a refusal say nothing; memory is reused.
func (r *Refusal) Clear() {
	*r = Refusal{
		Counts: r.Counts[:0], Help: r.Help.cleared(), Scarce: r.Scarce[:0], Lacks: r.Lacks[:0], WaitsFor: r.WaitsFor[:0],
		Breaches: r.Breaches[:0], Domain: r.Domain[:0], DomainLacks: r.DomainLacks[:0],
	}
}

// Begin makes d ready to be filled for an ask, of which it keeps a copy; memory is reused. It is
// for planners of other packages, as Keep and CountLater are.
func (d *Decision) Begin(ask *Ask, c *Cluster, at time.Time) {
	p := &d.Plan
	members := p.Ask.Members[:0]
	d.sizes = d.sizes[:0]
	size := d.Keep(ask.Size)
	for i := range ask.Members {
		members = append(members, ask.Members[i])
		members[i].Size = d.Keep(members[i].Size)
	}
	d.Outcome, d.SharedBy, d.counts = 0, d.SharedBy[:0], uncounted{}
	*p = Plan{
		Ask: *ask, Places: p.Places[:0], Domain: p.Domain[:0], Victims: p.Victims[:0], Moves: p.Moves[:0], Ends: p.Ends[:0],
		Version: c.version, At: at, Path: c.tree.Path(ask.Queue),
	}
	p.Ask.Size, p.Ask.Members = size, members
	d.Refusal.Clear()
	d.Enforcement.clear()
}

// place returns the place of a lone ask; if it has not one it is that of no node.
func (p *Plan) place() (at Place) {
	if len(p.Places) == 1 {
		at = p.Places[0]
	}
	return at
}

// Keep returns a copy of amounts that is good until d is filled again.
func (d *Decision) Keep(v resources.Vector) resources.Vector {
	// One block for all sizes: if it grows and moves, those before it keep views of the old
	// memory, which has the same amounts.
	from := len(d.sizes)
	d.sizes = append(d.sizes, v...)
	return d.sizes[from:len(d.sizes):len(d.sizes)]
}

// Traits are what decides who of a queue stops first, read from a task of any type. Compose
// an order of your own by [cmp.Or], for [slices.SortFunc] or quota.Enforcer.
type Traits struct {
	Originator bool
	Priority   int32
	OptedOut   bool
	Created    time.Time       // the zero time is that of the oldest tasks
	Share      resources.Share // of the cluster; see [resources.DominantShare]
	Key        string
}

// Compare is negative if a task of t stops before one of u, and positive if after:
// originators last, then lower priority first, opted-out tasks last, younger first, smaller
// first, by key. It is 0 only if all of these are equal.
func (t Traits) Compare(u Traits) int {
	return cmp.Or(
		falseFirst(t.Originator, u.Originator),
		cmp.Compare(t.Priority, u.Priority),
		falseFirst(t.OptedOut, u.OptedOut),
		falseFirst(t.Created.IsZero(), u.Created.IsZero()),
		u.Created.Compare(t.Created),
		t.Share.Compare(u.Share),
		cmp.Compare(t.Key, u.Key),
	)
}

func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return +1
}

// An Admission is the question whether a queue takes in what is asked for, for a function of
// the caller: quotas that the tree does not have, such as package jobs/koordinator's. The
// function must depend on the question alone, and must not keep or change it but for
// Breaches. If it admits, it must with less in Used, too.
type Admission struct {
	Queue          string           // its path
	Wants          resources.Vector // the sum of what is to have a place
	NonPreemptible bool             // who asks is
	Used           resources.Vector // below the queue; of a plan, without its victims
	// UsedNonPreemptible is the part of Used whose tasks are non-preemptible.
	UsedNonPreemptible resources.Vector
	AfterLeaving       bool // Used is without what is leaving; it is asked about the one and the other
	// Breaches is for the function to append to what is broken, for texts and JSON.
	Breaches []Breach
}

// A Breach is a bound that is passed at a queue: Withheld + Used + Wants is above Bound.
type Breach struct {
	Queue   string // its path
	Formula string // what is broken, in a word of the function's
	Type    int
	// Withheld is set aside for others, Used is what counts as used, and Wants is asked for.
	Withheld, Used, Wants int64
	Bound                 int64
}

// have returns the sum that is above the bound.
func (b *Breach) have() int64 { return sat.Add(sat.Add(b.Withheld, b.Used), b.Wants) }

// Over returns by how much the sum is above the bound, saturated.
func (b *Breach) Over() int64 { return sat.Sub(b.Wants, sat.Sub(sat.Sub(b.Bound, b.Used), b.Withheld)) }

// Text says what is broken, with the names and units of a schema, as in
//
//	used-max: root.a: cpu: 15 used and 6 asked for are above 20 by 1
func (b *Breach) Text(s *resources.Schema) string {
	amount := func(v int64) string { return vectors.Text(s, b.Type, v) }
	withheld := ""
	if b.Withheld != 0 {
		withheld = amount(b.Withheld) + " withheld, "
	}
	return plain.Line(fmt.Sprintf("%s: %s: %s: %s%s used and %s asked for are above %s by %s", b.Formula,
		plain.Name(b.Queue), s.Name(b.Type), withheld, amount(b.Used), amount(b.Wants), amount(b.Bound), amount(b.Over())))
}

// A breachReport is a [Breach] for machines.
type breachReport struct {
	Formula string `json:"formula"`
	Queue   string `json:"queue"`
	Type    string `json:"type"`
	Over    string `json:"over"` // by how much
	Bound   string `json:"bound"`
}

// Report returns a breach for encoding/json, with the names and units of a schema.
func (b *Breach) Report(s *resources.Schema) any {
	name := s.Name(b.Type)
	return breachReport{
		Formula: b.Formula, Queue: b.Queue, Type: name,
		Over: resources.FormatQuantity(name, b.Over()), Bound: resources.FormatQuantity(name, b.Bound),
	}
}
