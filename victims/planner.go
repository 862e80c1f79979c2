package victims

import (
	"fmt"
	"time"

	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims/cover"
)

// A Planner decides asks over a [Cluster]. Its exported fields are options;
// the zero value of each is the documented default, and only Cluster must be
// set. The rest is memory that decisions reuse, so that a warm planner
// allocates nothing beyond what a growing [Decision] needs.
//
// A Planner serves one goroutine at a time. It never changes the cluster.
type Planner struct {
	Cluster *Cluster

	// StrictPriority lets an ask take tasks of lower effective priority only,
	// as Kubernetes does, and not of equal priority.
	StrictPriority bool
	// Interval is the time that must pass between two attempts to preempt for
	// an ask; see Ask.LastAttempt.
	Interval time.Duration
	// Steps bounds the search on one node, or for one headroom problem. 0
	// means DefaultSteps. A decision takes at most 64 times as many.
	Steps int
	// Compare replaces [Cost.Compare] as the order of costs. It must be a
	// strict weak order in which a set of victims never costs less than a
	// part of it, nor than none, whose cost has Victims 0. Node bounds know the
	// default order only, so that a decision then searches every node.
	Compare func(a, b *Cost) int
	// Exempt removes candidates, for example those that have not run for long.
	// It must depend on its arguments only. An end that is not after now is
	// over; RetryAt takes for granted that an exemption that is over does not
	// come back.
	Exempt func(Exemption) (until time.Time, exempt bool)
	// Predicate may refuse a node for an ask, given the victims there and
	// elsewhere, in no particular order. It must depend on its arguments only
	// and must not keep victims. Where it refuses a set of victims it should
	// refuse every part of it: Proven takes that for granted. It is asked about
	// the best plan first; each refusal costs another search of the nodes.
	Predicate func(ask *Ask, node NodeID, victims []TaskID) bool
	// Exhaustive turns the pruning of nodes off. The answer is the same; tests
	// show it.
	Exhaustive bool

	d decision
}

// DefaultSteps is the step budget of one search of a planner that sets none.
const DefaultSteps = 1 << 16

// An Exemption is the question whether a task is exempt from preemption by an
// ask at an instant. Exempt answers true with the instant from which the task
// can be taken, which is zero where that is never.
type Exemption struct {
	Cluster *Cluster
	Task    TaskID
	Ask     *Ask
	Now     time.Time
}

// Decide decides what should happen for an ask at the instant now, and sets
// dst to the answer, reusing its memory. That there is no plan is no error.
// Errors say what is wrong with the ask, and leave dst as it was: an empty key
// or that of a task, a queue that is no leaf, a required node that is not
// there, amounts and times that a [Cluster] would not take.
//
// An ask that holds a grant is judged on its node with that grant taken off. It
// fits where it can start: by [Cluster.Start], or by [Cluster.AddTask] where
// its size is no longer that of its grant. Else it is refused, InFlight.
//
// The cost is linear in the number of nodes for an ask that fits. Otherwise it
// is linear in queues and nodes, and in tasks where the sums that are kept of
// them do not tell: at worst all, as with an Exempt function and no plan. The
// search comes on top and takes at most the step budget.
func (p *Planner) Decide(dst *Decision, ask *Ask, now time.Time) error {
	d := &p.d
	if err := d.reset(p, ask, now); err != nil {
		return err
	}
	dst.reset(d)
	d.decide(dst)
	return nil
}

// reset makes dst ready to be filled; memory is kept.
func (dst *Decision) reset(d *decision) {
	size := append(dst.Plan.Ask.Size[:0], d.size...)
	dst.Outcome = 0
	dst.Plan = Plan{Ask: *d.ask, Victims: dst.Plan.Victims[:0], Version: d.c.version, At: d.now}
	dst.Plan.Ask.Size = size
	dst.Refusal = Refusal{Lacks: dst.Refusal.Lacks[:0]}
}

// decision is one decision in the making, and the memory for the next.
type decision struct {
	p    *Planner
	c    *Cluster
	tree *queue.Tree
	ask  *Ask
	now  time.Time
	ns   int64 // now, in nanoseconds since 1970

	size   resources.Vector // the ask's, of full length
	wants  resources.Mask   // its types: an explicit zero is no wanted type
	types  []int            // the same as a list
	app    int32
	hasApp bool // the application has tasks in the cluster
	// nodes are those that the ask may run on, in node order, as far as they
	// take tasks: all, or the required one, which single holds.
	nodes  []NodeID
	single [1]NodeID

	relaxed  Relaxation // the one rule that does not hold; none but in Explain
	inside   queue.ID   // E, the lowest governing queue; where starving is set
	starving bool
	view     fence.View
	leaves   []leafRow
	// Over the leaves in reach; see compareLeaves.
	mostRoom              resources.Vector
	leastLift, fencedRank int64
	evenRanks             bool

	needs  needs
	rooms  Rooms   // law 2
	blocks []int64 // the amounts of needs

	horizon  time.Time // exemptions that end until then count as ended
	refused  []bool    // the nodes of which the predicate has refused the best set
	refusals int       // how often the predicate has refused
	ends     []time.Time

	nodeShort, wanted, sum resources.Vector
	local, pool            unitSet // the candidates of a node; those that make headroom anywhere
	shared, found          cover.Selection
	poolSums               poolSums        // of the pool
	pooled, hopeless       bool            // the pool was searched; nothing in it makes headroom
	bestType               int             // the type that decides the excess of the best plan
	asMuch                 []int64         // see noteShare
	newest                 [2][]int64      // see leastWork
	lacking                resources.Share // the dominant share that the closest node lacks
	problem                cover.Problem
	worker                 cover.Worker
	best                   choice
	bestTotal              cover.Total
	costs                  [2]Cost                     // that are being compared
	comparer               func(a, b *cover.Total) int // compareTotals of comparerOf
	comparerOf             *decision
	order                  []int32 // scratch of takeAll
	left                   []resources.Limit
	steps                  int
	proven                 bool
}

// leafRow is what a decision knows of a leaf, so that a task costs a lookup.
type leafRow struct {
	rank   fence.Lift // of a task of the leaf; see fence.View.Rank
	veto   Rule       // the rule that keeps all its tasks, or 0
	level  int32      // the first open headroom need that its tasks reduce
	bounds []int32    // law 2: what binds its tasks, from the leaf upwards
	// room is what all of its bounds leave, per type; MaxInt64 where none does.
	room resources.Vector
}

// reset checks the ask and prepares what every kind of decision needs.
func (d *decision) reset(p *Planner, ask *Ask, now time.Time) error {
	c := p.Cluster
	fail := func(err error) error { return fmt.Errorf("victims: ask %q: %w", ask.Key, err) }
	if ask.Key == "" {
		return fail(ErrEmpty)
	}
	if _, ok := c.Lookup(ask.Key); ok {
		return fail(fmt.Errorf("%w: a task has it", ErrDuplicate))
	}
	if err := c.checkLeaf(ask.Queue); err != nil {
		return fail(err)
	}
	d.nodes = c.order
	if ask.RequiredNode != "" {
		n, ok := c.nodeIDs[ask.RequiredNode]
		if !ok || c.nodes[n].closed() {
			return fail(fmt.Errorf("required node %q: %w", ask.RequiredNode, ErrUnknown))
		}
		d.single[0] = n
		d.nodes = d.single[:]
	}
	ns, ok := nanos(now)
	if !ok {
		return fail(fmt.Errorf("now %v: %w", now, ErrRange))
	}
	if _, _, err := stamp(ask.PendingSince, 0); err != nil {
		return fail(err)
	}
	if err := c.checkAmounts(ask.Size, c.grantSize(ask.Key)); err != nil {
		return fail(err)
	}
	d.p, d.c, d.tree, d.ask, d.now, d.ns = p, c, c.tree, ask, now, ns
	d.size = zeros(d.size, c.types)
	copySize(d.size, ask.Size)
	d.wants = resources.Positive(d.size)
	d.types = d.types[:0]
	for t := range d.wants.All() {
		d.types = append(d.types, t)
	}
	d.app, d.hasApp = c.apps.lookup(ask.Application)
	d.relaxed, d.starving, d.refusals = Relaxation{}, false, 0
	d.nodeShort = zeros(d.nodeShort, c.types)
	d.sum = zeros(d.sum, c.types)
	return nil
}

// grantSize returns the amounts that an ask holds already.
func (c *Cluster) grantSize(key string) resources.Vector {
	if id, ok := c.LookupGrant(key); ok {
		return c.size(id)
	}
	return nil
}

// refuse sets dst to a refusal that is certain.
func (d *decision) refuse(dst *Decision, r Reason) {
	dst.Outcome = Refused
	dst.Plan.Version = Version{} // there is nothing to apply
	dst.Refusal.Reason = r
	dst.Refusal.Proven = true
}

// ceiling is the highest rank that law 6 allows.
func (d *decision) ceiling() int64 {
	if d.p.StrictPriority {
		return -1
	}
	return 0
}

// lost returns the running time that stopping a task throws away.
func (d *decision) lost(id TaskID) uint64 { return d.c.lost(id, d.ns) }

// since returns the running time since an instant in nanoseconds, which is
// none where that is to come. The difference of two int64 fits uint64, wherever
// zero lies.
func (d *decision) since(start int64) uint64 {
	if start > d.ns {
		return 0
	}
	return uint64(d.ns) - uint64(start)
}
