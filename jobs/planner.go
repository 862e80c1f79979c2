package jobs

import (
	"time"

	"github.com/go-preempt/preempt/internal/trigger"
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

	// Trigger is what entitles a job to have victims, by default what its queue
	// is guaranteed.
	Trigger Trigger
	// Interval is the time that must pass between two attempts to preempt for a
	// job by guarantee; see Job.LastAttempt.
	Interval time.Duration
	// StrictPriority lets a job by guarantee take tasks of lower effective priority
	// only, and not of equal priority. By priority it is always so.
	StrictPriority bool
	// Quotas are what queues may use for jobs. nil: nothing is bound.
	Quotas *Quotas
	// Minimum returns how many members a running job needs to be of use, and 0
	// if it says nothing: then they go one by one. nil: 0 for all.
	Minimum func(job string) int
	// Exempt removes candidates, for example those that have not run for long.
	// Its Ask is the first member without a place. It must depend on its
	// arguments only.
	Exempt func(victims.Exemption) (until time.Time, exempt bool)
	// Filter says whether members of a class may ever run on a node, whoever goes:
	// selectors, taints, zones. The class is [Member.Class]. It is asked at most
	// once per node and class in a decision, and must depend on its arguments
	// only. A node that it refuses still counts for headroom: tasks there may be
	// stopped for that. nil: everybody may run everywhere.
	Filter func(job *Job, class int, node victims.NodeID) bool
	// Predicate may refuse a node for a member, given the members placed before
	// it and the victims. It is asked about every member of a plan in turn. It
	// must depend on its argument only and must not keep it. If it refuses with
	// some victims it should refuse with fewer: searches take that for granted.
	Predicate func(p *Placing) bool
	// OwnLeaf lets lower tasks of the job's own leaf make room for it if there is no plan
	// otherwise, and says what law 2 means for the queues of its path then. With
	// [ByPriority] they always may, and by default law 2 holds whole for them: no queue
	// ends below a guarantee that was met, or lower than it was below one.
	OwnLeaf victims.OwnLeaf
	// Budget bounds the elementary steps of the searches of a decision: each looks
	// at a row of a problem and a class of candidates, or at a host. What is found by
	// then is the answer, and its proof says so. 0 means [victims.DefaultBudget] for
	// each member. A million take a few milliseconds.
	Budget int64

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
	// Moment says whether what is leaving is still there: Present if the job is
	// to start at once, Coming if it waits or has victims.
	Moment victims.Moment
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
	if err := d.begin(p, job, now); err != nil {
		return err
	}
	dst.reset(&d.jobCase)
	d.decide(dst)
	d.verify(dst)
	if dst.Outcome == victims.Refused {
		d.help(&dst.Refusal)
	}
	return nil
}

// reset makes dst ready to be filled; memory is kept.
func (dst *Decision) reset(c *jobCase) {
	dst.Outcome = 0
	p := &dst.Plan
	// The job is copied with the sizes of its members, for the caller may change
	// its own while the plan is kept. All sizes are in one block.
	members := append(p.Job.Members[:0], c.job.Members...)
	p.sizes = p.sizes[:0]
	for i := range members {
		from := len(p.sizes)
		p.sizes = append(p.sizes, members[i].Size...)
		members[i].Size = p.sizes[from:len(p.sizes):len(p.sizes)]
	}
	*p = Plan{
		Job: *c.job, Placements: p.Placements[:0], Victims: p.Victims[:0],
		Version: c.c.Version(), Path: c.tree.Path(c.job.Queue), sizes: p.sizes,
	}
	p.Job.Members = members
	r := &dst.Refusal
	*r = r.cleared()
}

// cleared returns the zero refusal, with the memory that this one had.
func (r *Refusal) cleared() Refusal {
	h := &r.Help
	return Refusal{
		Breaches: r.Breaches[:0], Domain: r.Domain[:0], DomainLacks: r.DomainLacks[:0],
		Help: victims.Help{Less: h.Less[:0], More: h.More[:0], Budgets: h.Budgets[:0]},
	}
}

// A decision is one decision in the making, and the memory for the next: the
// case, the search for a plan, and who is placed on what the plan leaves.
type decision struct {
	p *Planner
	jobCase
	effort  effort
	search  search
	further furtherer
	pack    packer  // in the full case
	sub     subCase // of one domain, if the job requires one
	bounder bounder
	bounds  []domainBound
	best    chosen

	load    load             // of the plan
	short   resources.Vector // of a host
	heldSum resources.Vector // of members that hold grants
	ends    []time.Time      // of exemptions
	entry   trigger.Case     // see atGate
	before  resources.Vector // likewise
	second  Decision         // its refusal is that of the stage of the own leaf
	free    []int32          // candidates, see countGuaranteed
	space   []int64          // of hosts, see roomWithout
	lack    []int64          // of queues, likewise

	answers   func(*Job, int, victims.NodeID) bool // see remembered
	answersOf *decision
}

// searched returns the case that the engines read.
func (d *decision) searched() *jobCase {
	if d.job.Domain > 0 {
		return &d.sub.jobCase
	}
	return &d.jobCase
}

// begin makes the decision one about a job at an instant.
func (d *decision) begin(p *Planner, job *Job, now time.Time) error {
	d.p = p
	if err := d.jobCase.begin(p, job, now); err != nil {
		return err
	}
	d.effort.begin(p, len(job.Members))
	d.search.wire(d.searched(), &d.effort, p)
	d.pack.jobCase, d.pack.effort, d.pack.asker = &d.jobCase, &d.effort, &d.search.asker
	d.search.asker.refusals, d.search.asker.picky = 0, true
	d.search.asker.jobCase = &d.jobCase
	d.further.jobCase, d.further.asker, d.load.jobCase = &d.jobCase, &d.search.asker, &d.jobCase
	return nil
}
