package jobs

import (
	"time"

	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A Planner decides jobs over a [victims.Cluster]. Its exported fields are
// options; the zero value of each is the documented default, and only Cluster
// must be set. The rest is memory that decisions reuse, so that a warm planner
// allocates nothing beyond what a growing [Decision] needs.
//
// A Planner serves one goroutine at a time. It never changes the cluster.
type Planner struct {
	Cluster *victims.Cluster

	// Quotas are what queues may use for jobs. nil: nothing is bound.
	Quotas *Quotas
	// Minimum returns how many members a running job needs to be of use, and 0
	// where it says nothing: then they go one by one. nil: 0 for all.
	Minimum func(job string) int
	// Exempt removes candidates, for example those that have not run for long.
	// Its Ask is the first member without a place. It must depend on its
	// arguments only.
	Exempt func(victims.Exemption) (until time.Time, exempt bool)
	// Predicate may refuse a node for a member, given the members placed before
	// it and the victims. It is asked about every member of a plan in turn. It
	// must depend on its argument only and must not keep it. Where it refuses
	// with some victims it should refuse with fewer: searches take that for
	// granted.
	Predicate func(p *Placing) bool
	// Steps bounds each search of a decision. 0 means [victims.DefaultSteps]. A
	// decision that has taken 64 times as many makes do with what it has.
	Steps int

	auditor Auditor
	found   []Violation
	quick   bool // no complete search; for tests
	d       decision
}

// A Placing is the question whether a member may run on a node.
type Placing struct {
	Job     *Job
	Member  int // an index of Job.Members
	Node    victims.NodeID
	Before  []Placement      // of this plan, in the order of members
	Victims []victims.TaskID // of the whole plan, in no particular order
}

// Decide decides what should happen for a job at the instant now, and sets dst
// to the answer, reusing its memory. Errors say what is wrong with the job;
// that there is no plan is no error.
//
// A job all of whose members are placed fits, with nothing to do. While members
// hold grants and could not start, since what must go for them has not gone, it
// is refused, InFlight: nothing is planned on top of a round that is under way.
func (p *Planner) Decide(dst *Decision, job *Job, now time.Time) error {
	d := &p.d
	if err := d.reset(p, job, now); err != nil {
		return err
	}
	dst.reset(d)
	d.decide(dst)
	d.verify(dst)
	return nil
}

// reset makes dst ready to be filled; memory is kept.
func (dst *Decision) reset(d *decision) {
	dst.Outcome = 0
	p := &dst.Plan
	members := append(p.Job.Members[:0], d.job.Members...)
	p.sizes = p.sizes[:0]
	for i := range members {
		from := len(p.sizes)
		p.sizes = append(p.sizes, members[i].Size...)
		members[i].Size = p.sizes[from:len(p.sizes):len(p.sizes)]
	}
	*p = Plan{
		Job: *d.job, Placements: p.Placements[:0], Victims: p.Victims[:0],
		Version: d.c.Version(), sizes: p.sizes,
	}
	p.Job.Members = members
	dst.Refusal = Refusal{Breaches: dst.Refusal.Breaches[:0]}
}

// decision is one decision in the making, and the memory for the next. What its
// files have of their own is in structs of their own.
type decision struct {
	p       *Planner
	c       *victims.Cluster
	tree    *queue.Tree
	job     *Job
	now     time.Time
	horizon time.Time   // exemptions that end until then count as ended
	ask     victims.Ask // the first member without a place, for Exempt
	types   int
	blocks  []int64 // amounts that live until setTodo

	// The members of the job.
	byKey    map[string]int32
	unplaced []int            // of the minimum, as indices of job.Members
	further  []int            // beyond it
	held     []victims.TaskID // the grants of members
	heldSum  resources.Vector
	leaving  bool  // one that is leaving is missing
	todo     []int // those of unplaced that are to be placed now
	rem      resources.Vector
	wants    resources.Mask // the types of rem
	kinds    []kind
	kindOf   []int32 // by place in todo
	previous []int32 // of the same kind, by place in todo, or -1
	sorted   []int32 // places in todo, kind by kind
	inOrder  []int32 // places in todo

	hosts        []host
	hostOf       []int32 // by node, or -1
	reservations []int32 // the members that a node is reserved for
	onHost       []int32 // units, host by host
	freed        []int64 // of hosts: see host.most
	column       []int64 // scratch of addUp

	// The queues.
	view   fence.View
	leaves []leafRow
	rooms  victims.Rooms // law 2, then the surplus of gangs
	needs  needs
	ledger Ledger

	// Who may fall.
	cands   []candidate
	gangs   []gang
	gangOf  map[string]int32
	members []int32 // candidates in gangs, gang by gang
	units   []unit
	wholes  int     // how many of them are whole gangs, which are the last
	falls   []int32 // candidates, unit by unit
	falling []bool  // by candidate: whether any unit has it

	// What is searched.
	pack   packing
	pose   pose
	trial  trial
	stand  stand
	grown  grown
	spread spread
	after  afterwards
	load   []int64 // what members that are placed ask for, on each host
	at     []int32 // the host of each member of todo
	best   choice

	picky, eager bool // see asks and settled
	refusals     int  // how often the predicate has refused
	proven       bool
	proof        Proof
	steps        int
	before       int // steps taken when choose began

	// Scratch.
	placing    Placing
	breaches   []Breach
	ends       []time.Time
	chosen     []int32
	wholeUnits []int32
	keys       []string
	sum        resources.Vector
	member     resources.Vector
}
