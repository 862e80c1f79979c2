// SPDX-License-Identifier: Apache-2.0

package victims

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/go-preempt/preempt/internal/lent"
	"github.com/go-preempt/preempt/internal/object"
	"github.com/go-preempt/preempt/internal/plain"
	"github.com/go-preempt/preempt/internal/rulebook"
	"github.com/go-preempt/preempt/internal/sat"
	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/internal/word"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A TaskID is the number of a task or grant in its [Cluster] until its removal. Then another may get it.
type TaskID int32

// A NodeID is the number of a node in its [Cluster] until its removal. Then another may get it. Zero is no node.
type NodeID int32

// A State says what a task is doing.
type State uint8

const (
	// Running tasks use their queue and node, and may be victims.
	Running State = iota
	// Releasing tasks end, and nobody takes that back. Their amounts are leaving.
	Releasing
	// Marked tasks are victims of applied plans, unless [Cluster.Cancel] takes that back. Their amounts are
	// leaving. See [Cluster.Marked].
	Marked
	// Granted is an ask with a place: usage until it starts or is dropped, never a victim.
	Granted
)

var stateWords = word.Table{Of: "victims.State", Words: []string{Running: "running", Releasing: "releasing", Marked: "preempting", Granted: "granted"}}

// String returns the stable word: running, releasing, preempting or granted.
func (s State) String() string { return stateWords.Word(uint8(s)) }

// leaving reports whether the amounts of a task in the state are about to go.
func (s State) leaving() bool { return s == Releasing || s == Marked }

// A Task runs on a node on behalf of a leaf queue.
type Task struct {
	Key         string   // unique among the tasks and grants of a cluster
	Name        string   // for people; may be ""
	Tag         uint64   // the caller's
	Application string   // "" is none
	Queue       queue.ID // a leaf
	Node        NodeID
	// NodeName names the node instead. It may be unknown; see [Cluster.UnknownNodes].
	NodeName   string
	Size       resources.Vector
	Priority   int32     // raw; larger is more important
	Created    time.Time // zero: unknown, before all others
	Scheduled  time.Time // when it was placed; zero: not yet
	Checkpoint time.Time // the last; zero: none
	State      State
	// SparedUntil is until when nobody takes it; zero: it is not spared. See [Cluster.Spare]. SetTask keeps the
	// later one.
	SparedUntil time.Time

	Originator   bool // the first task of its application, without which the others are lost
	OptedOut     bool // allow-preemption: false (law 1)
	RequiredNode bool // it can run on its node only
	Movable      bool // it can start again elsewhere
	Class        int  // of its ask

	// MovesTo is told by [Cluster.Task] alone: the node on which a stopping task starts again; "" for a
	// victim. Requeue victims only.
	MovesTo string

	// Job is the job of which it is a member; see [Cluster.SetMinMembers].
	Job string
	// NonPreemptible: no other job may take it. Asks and quotas may.
	NonPreemptible bool

	// Cost is what stopping it costs, 0 or more.
	Cost int64
	// Preemptions is how often it was preempted before, by your count, for the level "preemptions".
	Preemptions int
	// Budgets names each [Budget] that stopping it draws on, once.
	Budgets []string
}

// A Node is a place where tasks run.
type Node struct {
	Name          string
	Capacity      resources.Vector
	Unschedulable bool   // takes only asks that require it
	ReservedFor   string // the key of the ask it is kept for, or ""

	// Penalty decides between plans that are alike otherwise: the smaller wins.
	Penalty int64
	// Domains are what the node is in, the widest first: block, rack.
	Domains []string
	Tag     uint64 // the caller's
}

// An Ask is work that waits for a place: a task, or with Members a gang, whose members start together or not at
// all.
type Ask struct {
	Key          string // of the task; of a gang that of the job
	Name         string // for people; may be ""
	Tag          uint64 // the caller's
	Application  string
	Queue        queue.ID // a leaf; of all members
	Size         resources.Vector
	Priority     int32
	PendingSince time.Time // since when it waits; zero: longer than any delay
	LastAttempt  time.Time // of preemption; zero: none yet
	// RequiredNode is the only node it can run on, or "". Laws 2, 4, 5 and 7, delays and disabled queues do not bind
	// such an ask, and law 6 compares raw priorities. It is not for gangs.
	RequiredNode  string
	MayNotPreempt bool // nobody may stop for it: Fits and Waits say whether it may run so
	Class         int  // of asks that the filter treats alike; see Options.Filter

	// Members of a gang are in the caller's order. Keys tell which run or hold a grant.
	Members []Member
	// MinMembers is how many members must run, running ones included; 0 is all. Nobody stops for
	// members beyond that.
	MinMembers int
	// DomainDepth is the depth of the domain that members share, 1 for the widest; 0: none.
	DomainDepth int

	// What it will be as a task; see [Task]. For a gang only NonPreemptible counts, and Job is its Key.
	Originator     bool
	OptedOut       bool
	Movable        bool
	Job            string
	NonPreemptible bool
	Cost           int64
	Preemptions    int
	Budgets        []string
}

// A Member is a task of a gang, with fields as of [Task]. Size, Class and Budgets that are zero are those of its Ask,
// as is all that a Member has no field for. Its Tag and Cost are its own.
type Member struct {
	Key         string
	Name        string
	Tag         uint64
	Size        resources.Vector
	Class       int // see Options.Filter
	Originator  bool
	OptedOut    bool
	Cost        int64
	Preemptions int
	Budgets     []string
}

// Member returns a member with what it has from the ask. A lone ask has one: itself.
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

// MemberAsk returns a member as an ask for a place of its own. If its only member has its key, it is a lone
// ask.
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

// An Outcome is what was decided. Plan.Proof, Refusal.Proven and Enforcement.Proven say how surely.
type Outcome uint8

const (
	// Fits: there is room now, or the queue is within its max. The plan has no victim.
	Fits Outcome = 1 + iota
	// Waits: there will be room once what is leaving has gone. The plan has a node and no victim.
	Waits
	// Preempts: there is room once victims and movers have gone. Of a queue some usage may stay over its max.
	Preempts
	// Refused: there is no plan; see [Refusal]. Of a queue nobody can be taken.
	Refused
)

var outcomeWords = word.Table{Of: "victims.Outcome", Words: []string{Fits: "fits", Waits: "waits", Preempts: "plan", Refused: "refused"}}

// String returns the stable word: fits, waits, plan or refused.
func (o Outcome) String() string { return outcomeWords.Word(uint8(o)) }

// A Decision is the answer to an ask, or about a queue over its max. Queues are paths in it.
type Decision struct {
	Outcome Outcome
	Plan    Plan    // of a refusal only Ask, Path, Steps and At
	Refusal Refusal // if Refused
	// SharedBy are the asks that share the plan, as members of its Ask, in their order. Each has a grant of
	// its own.
	SharedBy []Ask
	// Enforcement is from quota.Enforcer. Plan.Ask then has only the queue, and Plan.Cost no ranks, excess and node.
	Enforcement Enforcement

	side                     // for planners of other packages
	schema *resources.Schema // of the cluster
	counts uncounted         // of the refusal
	sizes  []int64           // of the ask, its members and victims, and of the enforcement
	whole  []wholeJob        // of an enforcement
	second bool              // tasks of the own leaf, or branch, were candidates of the plan
}

// A Plan is a place for an ask and the tasks that must go for it.
type Plan struct {
	Ask Ask
	// Places are those of members without one, in their order; a lone ask has one.
	Places      []Place
	Domain      []string // that members share, if required: names, the widest first
	Victims     []Victim // sorted by key
	Moves       []Move   // sorted by key; all else is as if they had moved
	Cost        Cost
	Proof       Proof
	WithinQueue bool      // it stops tasks of the own leaf, or branch
	Ends        []Ending  // queues of its path that end below guarantee and what they had
	Steps       int64     // of the decision, a refusal too
	Version     Version   // of its cluster
	At          time.Time // when it was decided

	Path string // of the queue
}

// A Place is a node for a lone ask, or for a member of a gang.
type Place struct {
	Member   int    // an index of Ask.Members
	Key      string // of the member, or the lone ask
	Node     NodeID
	NodeName string
	Extra    bool // beyond the minimum, and placed without victims
}

// A Move is a task that stops on a node and starts again on another, where it has a grant.
type Move struct {
	Task     TaskID
	Key      string
	Path     string // of its queue
	Size     resources.Vector
	From, To NodeID
	FromName string // of the nodes
	ToName   string
	Grant    string // the key of its grant: its own and "+", more if that is taken
}

// task returns the ask as a granted task on a node.
func (a *Ask) task(node NodeID) Task {
	return Task{
		Key: a.Key, Application: a.Application, Queue: a.Queue, Node: node,
		Size: a.Size, Priority: a.Priority, Created: a.PendingSince, State: Granted,
		Originator: a.Originator, OptedOut: a.OptedOut, RequiredNode: a.RequiredNode != "",
		Job: a.Job, NonPreemptible: a.NonPreemptible,
		Name: a.Name, Tag: a.Tag, Cost: a.Cost, Preemptions: a.Preemptions, Budgets: a.Budgets, Movable: a.Movable, Class: a.Class,
	}
}

// ask returns what a task that moves asks for at its new place.
func (m *Move) ask(c *Cluster) Ask {
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
	// ProofLevels: no lawful plan is less in the levels before work and excess.
	ProofLevels
	// ProofCost: no lawful plan is cheaper, down to the last key.
	ProofCost
)

var proofWords = word.Table{Of: "victims.Proof", Words: []string{NoProof: "none", ProofLevels: "levels", ProofCost: "cost"}}

// String returns the stable word: none, levels or cost.
func (p Proof) String() string { return proofWords.Word(uint8(p)) }

// An Enforcement is how far a queue comes within its max.
type Enforcement struct {
	// Result is a stable word: met (usage gets within the max), partial, or impossible, which is partial
	// without victims; "" of an ask.
	Result string
	Max    resources.Limit
	Usage  resources.Vector // effective, in every type
	Target resources.Vector // what is over the max

	Freed     resources.Vector // by victims, in every type
	Shortfall resources.Vector // what stays over the max

	Parts     []Part     // of queues below, in tree order
	Obstacles []Obstacle // what keeps the shortfall, by type, then rule
	// Grants are the keys of grants below, sorted. They count as usage.
	Grants []string

	// Proven: no lawful set frees more of one type of the target and as much of the others.
	Proven bool
}

// A Part is what a queue below an enforced one is to free, in types of the target. Asked, Freed and Victims are
// of leaves.
type Part struct {
	Queue string
	// Amount is what it is asked for first. Siblings share their parent's part; the first share the target, or
	// what can be released if less.
	Amount  resources.Vector
	Asked   resources.Vector // the most in all rounds
	Freed   resources.Vector // in every type
	Victims int              // of its tasks
}

// An Obstacle is what keeps an amount of a type from being freed.
type Obstacle struct {
	Type   int
	Rule   string // see [Count]
	Amount int64  // of tasks and grants that it keeps
	// Queue is the enforced one; of "guarantee" the first in tree order whose guarantee kept a task.
	Queue string

	guaranteed resources.Limit // what the queue is, if the rule is "guarantee"
}

// obstacleAt returns an obstacle as one at a queue, whose guarantee it may be.
func (d *Decision) obstacleAt(o Obstacle, c *Cluster, q queue.ID) Obstacle {
	g := c.tree.Guaranteed(q)
	o.Queue = c.tree.Path(q)
	if o.Rule == rulebook.RuleGuarantee.String() {
		o.guaranteed = resources.Limit{Value: d.keep(g.Value), Defined: g.Defined}
	}
	return o
}

// clear has an enforcement say nothing; memory is reused.
func (e *Enforcement) clear() {
	*e = Enforcement{Parts: e.Parts[:0], Obstacles: e.Obstacles[:0], Grants: e.Grants[:0]}
}

// A Victim is a task that a plan stops, and what for. It may have gone.
type Victim struct {
	Task     TaskID
	Key      string
	Name     string
	Path     string // of its queue
	NodeName string // of its node
	Priority int32  // raw
	Size     resources.Vector
	Rank     int64 // effective priority minus the ask's; 0 or less
	Job      string
	// Whole: it goes with all of its job, of which too few members would be left.
	Whole bool
	// It makes room on a node of the plan, under the max of a queue, or by the word of Admit, or is a blocker.
	// Members of a gang may have none.
	ForNode     bool
	ForHeadroom bool
	ForQuota    bool
	Blocks      bool

	OptedOut, Originator bool
}

// A Count says how many tasks a rule kept from being victims. Rules are stable words. A task counts once, at
// the first:
//
//   - leaving: it is going already.
//   - required-node: it can run on its node only.
//   - same-application: its job or application asks (law 3).
//   - fence: it is in the asking leaf or outside its fence (law 7).
//   - disabled: its queue is disabled.
//   - inside: it is inside the starving queue (storm freedom).
//   - non-preemptible: no job may take it.
//   - priority: its effective priority is too high (law 6).
//   - refused: it would not stop; see [Cluster.Spare].
//   - exempt: Options.Exempt or its queue's MinRuntime spares it.
//   - gang: its job needs it, and cannot stop as a whole.
//   - not-helping: it reduces no open need.
//   - budget: a hard budget has too little left for it, or its job.
//   - guarantee: it, or its job, would take a queue below its guarantee (law 2).
//   - overshoot: it is larger than what is still to be freed; see Options.NeverOvershoot.
//   - enforced: its queue is being enforced.
//   - granted: it is a grant.
type Count struct {
	Rule  string
	Tasks int
}

// Two reasons that a caller has to tell from others: the ask holds a grant already; there is a bug. See [Refusal].
const (
	InFlight = "in-flight"
	Unlawful = "unlawful"
)

// A Refusal says why there is no plan. Its reason is the first that holds:
//
//   - in-flight: the ask holds a grant and cannot start yet.
//   - unknown-node: the node that it requires is not in the cluster.
//   - quota-min: a non-preemptible job would pass the min of a quota.
//   - quota-max: the job would pass the max of a quota, and victims may or could not change that.
//   - may-not-preempt: it must not preempt others.
//   - too-early: it has not been pending for its queue's preemption delay.
//   - too-soon: preemption was tried for it less than the interval ago.
//   - over-max: a queue on the path is over its max.
//   - not-guaranteed: no queue guarantees any wanted type (law 4).
//   - over-guarantee: a queue that governs a wanted type is at or over its guarantee (law 4), or for a job
//     would be before the largest member.
//   - headroom-inside: a max at or below the starving queue is short: only its own tasks could make room.
//   - nothing-in-reach: no leaf is in reach (law 7), enabled and outside the starving queue.
//   - no-victims: no legal set of victims makes room.
//   - max-victims: all legal sets that were found have more victims than Options.MaxVictims.
//   - predicate: the predicate refused the legal sets tried.
//   - domain: no node is in a domain of the required depth, or running members share none.
//   - unlawful: Audit found a law broken: a defect of the library, or a function that changed its answer.
type Refusal struct {
	Reason string
	// Also is the reason without tasks of the own leaf, or branch, if they were candidates too and it is another
	// one; else "".
	Also string
	// Queue and Type of over-max, over-guarantee or headroom-inside.
	Queue string
	Type  int
	// ProtectedBy is the queue that is not under its guarantee if the reason is over-guarantee; else, after
	// [Decision.Count], the first queue, and type, whose guarantee alone keeps a task.
	ProtectedBy Protector
	// Counts has the rules that protected tasks, in order, Candidates the tasks that none did. They need
	// [Decision.Count], as do Filtered, ShortBudgets, Closest, Lacks, Placeable and Domain.
	Counts     []Count
	Candidates int
	// Filtered is the number of nodes that the filter refused, to a job for every member.
	Filtered int
	// Cause is why it could not run even in an empty cluster; zero: it could. Of a job it is the first required
	// member's.
	Cause Cause
	// RetryAt is when time alone can first change the answer, perhaps to another refusal; zero: never.
	RetryAt time.Time
	// Help is what else can.
	Help Help
	// Proven: no plan exists. Else none was found within Plan.Steps.
	Proven bool
	// ShortBudgets are hard ones with less left than candidates, but something.
	ShortBudgets []string
	// WaitsFor has the keys of tasks that a lone ask in flight waits for, sorted.
	WaitsFor []string
	// Closest lacks the least for a lone ask without its candidates, by dominant share of the cluster, then node order.
	Closest string
	// Lacks is what Closest lacks; of a gang what its members without room in Domain ask for.
	Lacks resources.Vector

	// Breaches keep a gang out, of quota-min or quota-max, the leaf's first.
	Breaches []Breach
	// Placeable of the Wanted members have a plan, and one more would not.
	Placeable, Wanted int
	// Domain is the one with room for the most members without all candidates, the largest first; ties by node
	// order.
	Domain []string

	refusalSide //lint:ignore U1000 by lent.To
	told        told
}

// A told is what is told of a refusal in texts and reports alone.
//
//lint:ignore U1000 by lent.To
type told struct {
	OwnLeaf    bool     // tasks of the own leaf, or branch, were candidates too
	Beyond     int      // of a cap, how many there would be without it
	NoneCounts bool     // of not-guaranteed: no asked type is in Options.Scarce
	About      queue.ID // the queue of Refusal.Queue
	Bound      int64    // its max or guarantee that a reason is about, or the delay
	DomainRoom int      // for how many members Domain has room
	DomainFull bool     // the domain of its grants has no room for the others: without them it may go elsewhere
}

// A refusalSide is what a [Refusal] lends to planners of other packages, as lent.To(r).
//
//lint:ignore U1000 by lent.To
type refusalSide = lent.Side[*told]

func (*told) For(r *Refusal) *told { return &r.told }

// Also tells beside a refusal what kept the ask from taking of other queues, and what that is about.
func (*told) Also(r, first *Refusal) {
	r.Also, r.Queue, r.Type, r.ProtectedBy = first.Reason, first.Queue, first.Type, first.ProtectedBy
	r.told.About, r.told.Bound, r.told.NoneCounts = first.told.About, first.told.Bound, first.told.NoneCounts
}

func (*told) Protector(c *Cluster, q queue.ID, t int) Protector { return c.protectorOf(q, t) }

// WhoProtects says who protects others, as in "that of root.a, cpu=10".
func (*told) WhoProtects(r *Refusal, s *resources.Schema) string { return r.ProtectedBy.text(s) }

// A Protector is the queue whose guarantee protects tasks, and the type.
type Protector struct {
	Queue string // "": none
	Type  int
	// Job is a gang that goes whole or not at all, which the queue cannot lose; "": none. Of several it is the
	// first by name.
	Job string

	guaranteed int64 // of the type
	minimum    int   // of the job
}

// protectorOf returns the protector that a queue is.
func (c *Cluster) protectorOf(q queue.ID, t int) Protector {
	bound, _ := c.tree.Guaranteed(q).Bound(t)
	return Protector{Queue: c.tree.Path(q), Type: t, guaranteed: bound}
}

// A Cause says why an ask could not run even in an empty cluster. The first kind that holds counts:
//
//   - no-node: no schedulable node, not reserved for others, passes its filter.
//   - too-large: no such empty node would hold it. Node has the most of the first type of which none has enough;
//     else it lacks least by dominant share of the cluster. Ties go by node order.
//   - above-max: it alone is above a max of its path. Queue has the least max of the first such type; of equals
//     the lowest.
type Cause struct {
	Kind  string
	Type  int
	Most  int64 // of the type, that there is
	Node  string
	Queue string
}

// clear has a refusal say nothing; memory is reused.
func (r *Refusal) clear() {
	r.Help.CopyFrom(&Help{})
	*r = Refusal{
		Counts: r.Counts[:0], Help: r.Help, ShortBudgets: r.ShortBudgets[:0], Lacks: r.Lacks[:0], WaitsFor: r.WaitsFor[:0],
		Breaches: r.Breaches[:0], Domain: r.Domain[:0],
	}
}

// begin makes d ready to be filled for an ask, of which it keeps a copy; memory is reused.
func (d *Decision) begin(ask *Ask, c *Cluster, at time.Time) {
	p := &d.Plan
	members := p.Ask.Members[:0]
	d.sizes = d.sizes[:0]
	size := d.keep(ask.Size)
	for i := range ask.Members {
		members = append(members, ask.Members[i])
		members[i].Size = d.keep(members[i].Size)
	}
	d.Outcome, d.SharedBy, d.counts, d.second = 0, d.SharedBy[:0], uncounted{}, false
	d.schema, d.whole = c.Schema(), d.whole[:0]
	*p = Plan{
		Ask: *ask, Places: p.Places[:0], Domain: p.Domain[:0], Victims: p.Victims[:0], Moves: p.Moves[:0], Ends: p.Ends[:0],
		Version: c.version, At: at, Path: c.tree.Path(ask.Queue),
	}
	p.Ask.Size, p.Ask.Members = size, members
	d.Refusal.clear()
	d.Enforcement.clear()
}

// Clone returns a copy that shares nothing with d, to be kept: a planner that fills d again reuses its memory.
func (d *Decision) Clone() Decision {
	c := *d
	p, from := &c.Plan, &d.Plan
	p.Ask, c.SharedBy = from.Ask.clone(), slices.Clone(d.SharedBy)
	for i := range c.SharedBy {
		c.SharedBy[i] = c.SharedBy[i].clone()
	}
	p.Places, p.Domain, p.Ends = slices.Clone(from.Places), slices.Clone(from.Domain), slices.Clone(from.Ends)
	p.Victims, p.Moves = slices.Clone(from.Victims), slices.Clone(from.Moves)
	for i := range p.Victims {
		p.Victims[i].Size = slices.Clone(p.Victims[i].Size)
	}
	for i := range p.Moves {
		p.Moves[i].Size = slices.Clone(p.Moves[i].Size)
	}
	c.Refusal, c.Enforcement = d.Refusal.clone(), d.Enforcement.clone()
	c.sizes, c.whole = nil, slices.Clone(d.whole)
	return c
}

func (a *Ask) clone() Ask {
	c := *a
	c.Size, c.Members, c.Budgets = slices.Clone(a.Size), slices.Clone(a.Members), slices.Clone(a.Budgets)
	for i := range c.Members {
		m := &c.Members[i]
		m.Size, m.Budgets = slices.Clone(m.Size), slices.Clone(m.Budgets)
	}
	return c
}

func (r *Refusal) clone() Refusal {
	c := *r
	c.Counts, c.ShortBudgets, c.WaitsFor = slices.Clone(r.Counts), slices.Clone(r.ShortBudgets), slices.Clone(r.WaitsFor)
	c.Lacks, c.Breaches, c.Domain, c.Help = slices.Clone(r.Lacks), slices.Clone(r.Breaches), slices.Clone(r.Domain), Help{}
	c.Help.CopyFrom(&r.Help)
	return c
}

func (e *Enforcement) clone() Enforcement {
	c := *e
	c.Max.Value, c.Usage, c.Target = slices.Clone(e.Max.Value), slices.Clone(e.Usage), slices.Clone(e.Target)
	c.Freed, c.Shortfall, c.Grants = slices.Clone(e.Freed), slices.Clone(e.Shortfall), slices.Clone(e.Grants)
	c.Parts, c.Obstacles = slices.Clone(e.Parts), slices.Clone(e.Obstacles)
	for i := range c.Parts {
		p := &c.Parts[i]
		p.Amount, p.Asked, p.Freed = slices.Clone(p.Amount), slices.Clone(p.Asked), slices.Clone(p.Freed)
	}
	for i := range c.Obstacles {
		c.Obstacles[i].guaranteed.Value = slices.Clone(c.Obstacles[i].guaranteed.Value)
	}
	return c
}

// units returns the types of its amounts: of a decision that no planner has made their numbers.
func (d *Decision) units() *resources.Schema { return cmp.Or(d.schema, new(resources.Schema)) }

// place returns the place of a lone ask; if it has not one it is that of no node.
func (p *Plan) place() (at Place) {
	if len(p.Places) == 1 {
		at = p.Places[0]
	}
	return at
}

// keep returns a copy of amounts that is good until d is filled again.
func (d *Decision) keep(v resources.Vector) resources.Vector {
	// One block for all sizes: if it grows and moves, those before it keep views of the old
	// memory, which has the same amounts.
	from := len(d.sizes)
	d.sizes = append(d.sizes, v...)
	return d.sizes[from:len(d.sizes):len(d.sizes)]
}

// Traits order your own tasks as package quota does: fill them in, sort by Compare. Compose others by [cmp.Or].
type Traits struct {
	Originator bool
	Priority   int32
	OptedOut   bool
	Created    time.Time       // zero: the oldest
	Share      resources.Share // dominant, of the cluster
	Key        string
}

// Compare is negative if a task of t stops before one of u: originators last, then lower priority first,
// opted-out tasks last, younger first, smaller first, by key.
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

// An Admission asks a function of the caller if a queue takes in what is asked for. The function must depend on
// the question alone, and change only Breaches. If it admits, it must with less in Used, too.
type Admission struct {
	Queue          string           // its path
	Wants          resources.Vector // the sum of what is to have a place
	NonPreemptible bool             // who asks is
	Used           resources.Vector // below the queue; of a plan, without its victims
	// UsedNonPreemptible is the part of Used whose tasks are non-preemptible.
	UsedNonPreemptible resources.Vector
	AfterLeaving       bool     // Used is without what is leaving; both are asked about
	Breaches           []Breach // what is broken, for the function to append; for texts and JSON
}

// A Breach is a bound that is passed at a queue: Withheld + Used + Wants is above Bound.
type Breach struct {
	Queue   string // its path
	Formula string // what is broken, in a word of the function's
	Type    int
	// Withheld is set aside for others.
	Withheld, Used, Wants int64
	Bound                 int64
}

// have returns the sum that is above the bound.
func (b *Breach) have() int64 { return sat.Add(sat.Add(b.Withheld, b.Used), b.Wants) }

// Over returns by how much, saturated.
func (b *Breach) Over() int64 { return sat.Sub(b.Wants, sat.Sub(sat.Sub(b.Bound, b.Used), b.Withheld)) }

// Text says what is broken, as in
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

// report returns a breach for encoding/json, with the names and units of a schema.
func (b *Breach) report(s *resources.Schema) object.Object {
	name := s.Name(b.Type)
	return object.Of(
		"formula", b.Formula, "queue", b.Queue, "type", name,
		"over", resources.FormatQuantity(name, b.Over()), "bound", resources.FormatQuantity(name, b.Bound),
	)
}
