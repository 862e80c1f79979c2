package victims

import (
	"time"

	"github.com/go-preempt/preempt/internal/finding"
	"github.com/go-preempt/preempt/queue"
)

// An Auditor says which laws a plan breaks, whoever made it. It shares no code
// with the [Planner]: it never searches, but takes the plan as it is, works out
// what the queues and the node would be left with, and holds the laws of
// DESIGN.md against that one by one. So it serves as a second opinion on plans
// of this package, and in shadow mode on those of a scheduler at work.
//
// Its exported fields are options, with the meaning that they have for the
// planner; the zero value of each is the documented default, and only Cluster
// must be set. The rest is memory that audits reuse, so that a warm auditor
// allocates nothing but room for violations.
//
// An Auditor serves one goroutine at a time and must not be copied after its
// first use. It never changes the cluster.
type Auditor struct {
	Cluster *Cluster

	// StrictPriority forbids victims of equal effective priority.
	StrictPriority bool
	// Interval is the time that must pass between two attempts to preempt for
	// an ask. Zero: none.
	Interval time.Duration
	// Exempt protects tasks from asks; see [Planner].
	Exempt func(Exemption) (until time.Time, exempt bool)
	// Filter says whether the ask may ever run on a node. Nil: on all.
	Filter func(ask *Ask, node NodeID) bool
	// Blockers appends to dst the tasks on a node that must go for the ask to
	// run there, whatever the amounts. Nil: there are none.
	Blockers func(dst []TaskID, ask *Ask, node NodeID) []TaskID
	// Predicate may refuse a node for an ask, given the victims. Nil: it never
	// does.
	Predicate func(q *Placing) bool
	// Minimum is the number of members that a running job needs. Nil: there are
	// no gangs, and tasks of jobs go one by one.
	Minimum func(job string) int
	// OwnLeaf says whether tasks of the ask's own leaf may make room for it.
	OwnLeaf OwnLeaf
	// Levels is what decides between plans; see [Planner]. Law 1 is judged only if
	// opted-out victims come first in it, as they do by default.
	Levels Levels

	x audit
}

// Audit appends to dst what is wrong, at the instant now, with plan p for the
// cluster as it is now, and returns dst. A plan to which nothing is appended is
// lawful. Audit never panics, whatever is in p.
//
// What is judged is the ask, the node and the tasks of the plan, and nothing
// that it says of itself: not its version, cost and proof, nor a victim's rank
// and purpose; see [Auditor.Cost] for what it costs. A plan without victims is judged as one that fits or waits, by
// room and blockers alone; a plan for an ask that holds a grant must start it
// where the grant is, and is judged by the room of that moment, with the grant
// and those given on that node after it taken off. An ask that is none, or a
// node that the cluster does not have, ends the audit, for nothing else can be
// judged.
//
// The laws compare a plan with others only so far as they are near. A plan is
// minimal ([LawMinimal]) if no unit of it can be given back: a single victim,
// or what a whole job has beyond the members that may go one by one. Law 1
// ([LawOptedOut]) asks for the fewest opted-out victims of all plans: the audit
// looks at those with one opted-out victim less, or with one other task in its
// place, and at no other node. It does so in plans that are otherwise lawful.
// If tasks of the own leaf may go, whether there was a plan without them is not
// asked: that would be a search.
//
// Violations come in a fixed order: of the node; of what lets the ask preempt;
// of each victim, in the order of the plan; of jobs, in the order in which the
// plan names them; of budgets, by name; of the guarantees, in tree order; of
// room, of headroom from the leaf upwards, and of the set as a whole. In each
// group they are in the order of the [Law] constants, and then of types.
//
// The cost is linear in the number of nodes, of queues times types, and of
// victims times depth times types; the filter and the blockers are asked once,
// the predicate once and once more for each unit that room alone does not need.
// Opted-out victims add the number of tasks times depth times types for each.
func (a *Auditor) Audit(dst []Violation, p *Plan, now time.Time) []Violation {
	x := &a.x
	x.begin(a, p, now)
	x.out = dst
	defer func() { // also if a function of the caller panics
		x.end()
		x.out, x.placing = nil, Placing{}
	}()
	x.run()
	return x.out
}

// audit holds the laws against a case, a method each, which reports what breaks
// its law. What things are is the case's to say.
type audit struct {
	auditCase
	out     []Violation
	trial   bool // nothing is reported: whether a law holds is all that is asked
	broken  bool // some law is
	placing Placing
	spare   []TaskID // members that may go one by one
	tries   int      // how many may still be given back
}

// fault reports a broken law.
func (x *audit) fault(v Violation) {
	x.broken = true
	if !x.trial {
		v.tree = x.tree
		x.out = append(x.out, v)
	}
}

// holds reports whether a law holds. Plans that are near are judged by the same
// methods as the plan itself.
func (x *audit) holds(law func(*audit)) bool {
	trial, broken := x.trial, x.broken
	x.trial, x.broken = true, false
	law(x)
	broken, x.broken = x.broken, broken
	x.trial = trial
	return !broken
}

func (x *audit) run() {
	x.trial, x.broken = false, false
	if x.wellFormed(); x.broken {
		return
	}
	x.survey()
	x.place()
	if len(x.plan.Victims) > 0 {
		x.trigger()
		x.precondition()
	}
	for i := range x.plan.Victims {
		switch v := &x.plan.Victims[i]; {
		case !x.known(v):
			x.fault(Violation{Law: LawKnown, Task: v.Task, Victim: v.Key})
		case x.marks[v.Task] == markJudged:
			x.fault(Violation{Law: LawOnce, Task: v.Task, Victim: v.Key})
		default:
			x.marks[v.Task] = markJudged
			x.judge(v.Task)
		}
	}
	x.gang()
	x.budget()
	x.guarantee()
	x.room()
	x.blocked()
	if !x.accepts(x.victims) {
		x.fault(x.ofNode(LawPredicate))
	}
	x.minimal()
	if !x.broken {
		x.optedOut()
	}
}

// A Law is something that every lawful plan keeps. The first seven have the
// numbers that they have in DESIGN.md, The seven laws. Its String is a stable
// word.
//
// For an ask that requires its node, laws 2, 4, 5 and 7, storm freedom, delay
// and disabled queues do not bind, and priorities are raw. If all victims are of
// the ask's own leaf, laws 4 and 5 and storm freedom do not bind; if some may
// be, law 2 binds the queues above the ask as the option says.
type Law uint8

const (
	// LawOptedOut (law 1): no opted-out victim if an opted-in one would do
	// in its place. A planner whose search was cut short, whose predicate
	// refused the best sets or whose caller replaced the order of costs may
	// break it; all others are kept in every case.
	LawOptedOut Law = 1 + iota
	// LawGuarantee (law 2): no queue ends below its guarantee, or lower if
	// it was below before, in any type.
	LawGuarantee
	// LawApplication (law 3): no victim of the ask's application.
	LawApplication
	// LawTrigger (law 4): at least one type of the ask is governed, and each
	// that is governed is under its guarantee before the plan.
	LawTrigger
	// LawSurplus (law 5): in one of the types in which a victim helps, all
	// guarantees from its leaf to below the common ancestor are exceeded before
	// the plan. No plan breaks it that keeps law 2.
	LawSurplus
	// LawPriority (law 6): no victim of higher effective priority, and none of
	// the ask's own leaf of the same.
	LawPriority
	// LawFence (law 7): no victim outside the fence, or in the ask's own leaf if
	// the option of the own leaf is not set.
	LawFence

	LawStorm        // victims are outside the lowest governing queue (storm freedom)
	LawKnown        // each victim is a task, by row and key
	LawOnce         // no task is named twice
	LawLeaving      // no victim is leaving already
	LawRequiredTask // no victim can run on its node only
	LawDisabled     // no victim in a disabled queue
	LawExempt       // no victim is exempt
	LawNearby       // an ask that requires its node takes victims there only
	LawHelpful      // each victim reduces a need of the ask or blocks it, or goes with its job
	LawGang         // a running job keeps as many members as it needs, or loses all of them
	LawBudget       // no hard budget is overrun

	LawKey  // the ask has a key, which is no task's
	LawLeaf // the ask is of a leaf
	LawSize // no amount of the ask is below zero, of an unknown type, or out of range with what is in use

	LawNode         // the node exists
	LawSchedulable  // it takes new tasks
	LawReserved     // it is not reserved for another ask
	LawFilter       // the caller's filter lets the ask run there
	LawRequiredNode // it is the one that the ask requires
	LawInFlight     // an ask that holds a grant starts there, without victims

	LawMayPreempt // an ask with victims may preempt
	LawDelay      // it was pending for the preemption delay of its queue
	LawInterval   // its last attempt is an interval ago
	LawMax        // no queue above it is over its max already, in a type of the ask, if tasks of its own leaf may not go

	LawRoom      // the ask fits the node once the victims are gone
	LawHeadroom  // and the max of each queue above it
	LawBlocker   // nothing that blocks the ask stays on the node
	LawPredicate // the caller's predicate accepts the plan
	LawMinimal   // no victim, and no whole job, can be given back
)

// laws tells violations; see package finding.
var laws = finding.Laws{
	LawOptedOut:     {Word: "opted-out", Number: 1, Text: "opted out, and %s could be taken instead"},
	LawGuarantee:    {Word: "guarantee", Number: 2, Noun: "after the plan", Relation: "at least"},
	LawApplication:  {Word: "application", Number: 3, Text: "of the application of the ask"},
	LawTrigger:      {Word: "trigger", Number: 4, Noun: "before the plan", Relation: "less than", Text: "no queue guarantees a type of the ask"},
	LawSurplus:      {Word: "surplus", Number: 5, Noun: "before the plan", Relation: "more than"},
	LawPriority:     {Word: "priority", Number: 6, Noun: "effective priority", Relation: "at most", Unit: finding.Level},
	LawFence:        {Word: "fence", Number: 7, Text: "out of reach"},
	LawStorm:        {Word: "storm", Text: "inside the starving queue"},
	LawKnown:        {Word: "known", Text: "no task of this row and key"},
	LawOnce:         {Word: "once", Text: "named before"},
	LawLeaving:      {Word: "leaving", Text: "leaving already"},
	LawRequiredTask: {Word: "required-task", Text: "can run on its node only"},
	LawDisabled:     {Word: "disabled", Text: "preemption is disabled"},
	LawExempt:       {Word: "exempt", Text: "exempt"},
	LawNearby:       {Word: "nearby", Text: "not on the node that the ask requires"},
	LawHelpful:      {Word: "helpful", Text: "reduces no need of the ask"},
	LawGang:         {Word: "gang", Noun: "members run on", Relation: "at least", Unit: finding.Count},
	LawBudget:       {Word: "budget", Noun: "victims", Relation: "at most", Unit: finding.Count},
	LawKey:          {Word: "key", Text: "the ask has no key, or that of a task"},
	LawLeaf:         {Word: "leaf", Text: "the ask is of no leaf queue"},
	LawSize:         {Word: "size", Noun: "asked", Relation: "between 0 and"},
	LawNode:         {Word: "node", Text: "no node of this row"},
	LawSchedulable:  {Word: "schedulable", Text: "takes no new tasks"},
	LawReserved:     {Word: "reserved", Text: "reserved for another ask"},
	LawFilter:       {Word: "filter", Text: "refused by the filter"},
	LawRequiredNode: {Word: "required-node", Text: "not the node that the ask requires"},
	LawInFlight:     {Word: "in-flight", Text: "holds a grant of the ask, which starts here and without victims"},
	LawMayPreempt:   {Word: "may-preempt", Text: "the ask must not preempt"},
	LawDelay:        {Word: "delay", Noun: "pending", Relation: "at least", Unit: finding.Duration},
	LawInterval:     {Word: "interval", Noun: "since the last attempt", Relation: "at least", Unit: finding.Duration},
	LawMax:          {Word: "max", Noun: "before the plan", Relation: "at most"},
	LawRoom:         {Word: "room", Noun: "free", Relation: "at least"},
	LawHeadroom:     {Word: "headroom", Noun: "of headroom", Relation: "at least"},
	LawBlocker:      {Word: "blocker", Text: "%s stays, and blocks the ask"},
	LawPredicate:    {Word: "predicate", Text: "refused by the predicate"},
	LawMinimal:      {Word: "minimal", Text: "can be given back"},
}

// String returns the stable word for the law.
func (l Law) String() string { return laws.Word(uint8(l)) }

// MarshalText returns the stable word. A number without one is an error.
func (l Law) MarshalText() ([]byte, error) { return laws.MarshalWord("victims", uint8(l)) }

// UnmarshalText sets the law whose stable word the text is. A text that is no
// law's word is an error and changes nothing.
func (l *Law) UnmarshalText(text []byte) error {
	law, err := laws.UnmarshalWord("victims", text)
	if err == nil {
		*l = Law(law)
	}
	return err
}

// ofQueue returns a violation by amounts of a queue.
func ofQueue(l Law, q queue.ID, i int, have, want int64) Violation {
	return Violation{Law: l, Queue: q, HasQueue: true, Type: i, HasType: true, Have: have, Want: want}
}

// A Violation is a law that a plan breaks, and where. It is plain data; what
// it names are the names of the moment of the audit.
type Violation struct {
	Law Law

	Victim string // the key of the victim at fault, as the plan has it, or ""
	Task   TaskID // its row, as the plan has it
	// Other is the key of another task: one that could be taken instead
	// (LawOptedOut), or one that blocks the ask and stays (LawBlocker).
	Other  string
	Job    string // the running job at fault, or ""
	Budget string // the budget at fault, or ""
	Node   string // the name of the node at fault, or ""

	Queue    queue.ID // the queue at fault, if HasQueue is set
	HasQueue bool
	Type     int // the resource type at fault, if HasType is set
	HasType  bool

	// Have is what there is and Want is what it is compared with: amounts of
	// Type if HasType is set, priorities for LawPriority, members for LawGang,
	// victims for LawBudget, nanoseconds for LawDelay and LawInterval. Both are 0
	// for other laws.
	Have, Want int64

	tree *queue.Tree // for names, which never change
}

// String tells the violation in a line: the law, who is at fault, and what is
// wrong, as in
//
//	guarantee (law 2): root.a: cpu 3 after the plan, want at least 5
//	leaving: victim t1: leaving already
func (v Violation) String() string {
	f := v.finding()
	return laws.Line(&f)
}

// MarshalJSON writes the violation as an object, with names instead of rows and
// amounts as quantities.
func (v Violation) MarshalJSON() ([]byte, error) {
	f := v.finding()
	return laws.JSON(&f)
}

// finding returns what the violation shares with those of other auditors.
func (v *Violation) finding() finding.Finding {
	f := finding.Finding{
		Law: uint8(v.Law), Tree: v.tree,
		Queue: v.Queue, HasQueue: v.HasQueue, Type: v.Type, HasType: v.HasType,
		Have: v.Have, Want: v.Want, Other: v.Other,
	}
	for _, s := range []finding.Subject{
		{What: "victim", Name: v.Victim}, {What: "job", Name: v.Job}, {What: "budget", Name: v.Budget}, {What: "node", Name: v.Node},
	} {
		if s.Name != "" {
			f.Who = append(f.Who, s)
		}
	}
	return f
}
