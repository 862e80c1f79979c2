package victims

import (
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/internal/rows"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// An Explanation is a decision with everything that led to it. It is owned by
// the caller, and plain data: the cluster may change after it.
type Explanation struct {
	Decision Decision
	Queues   []QueueFinding // in tree order
	Nodes    []NodeFinding  // in node order
	Tasks    []TaskFinding  // by key; without grants
	// Relaxed has, for a refusal, every single rule without which the ask
	// would not have been refused: in the order of [Relaxable], then of
	// queues, nodes or keys. There is none for an ask that holds a grant.
	Relaxed []RelaxationFinding

	amounts []int64 // memory of the vectors above
}

// clear makes e ready to be filled; memory is kept.
func (e *Explanation) clear() {
	e.Queues, e.Nodes, e.Tasks, e.Relaxed = e.Queues[:0], e.Nodes[:0], e.Tasks[:0], e.Relaxed[:0]
	e.amounts = e.amounts[:0]
}

// copyOf returns a copy of a vector that the explanation owns.
func (e *Explanation) copyOf(v resources.Vector) resources.Vector {
	from := len(e.amounts)
	e.amounts = append(e.amounts, v...)
	return e.amounts[from:len(e.amounts):len(e.amounts)]
}

// A QueueFinding says what a queue is to an ask. Neither fences nor
// guarantees bind an ask that requires a node: Starving, Fence, Rule and Room are
// not set then.
type QueueFinding struct {
	Queue    queue.ID
	OnPath   bool             // the ask is in it or below it
	Starving bool             // it is E, the lowest queue that governs a type of the ask; but see law 4
	Fence    bool             // it is the fence root of the ask
	Rule     Rule             // of a leaf, what keeps all its tasks; 0 is nothing
	Room     resources.Limit  // what law 2 lets go below it; on the types it guarantees
	Lacks    resources.Vector // the headroom that the ask lacks there; nil if it does not
	// Of a leaf: its tasks, and how many of them are candidates.
	Tasks, Candidates int
}

// A TaskFinding says what a task is to an ask.
type TaskFinding struct {
	Task   TaskID
	Key    string
	Queue  queue.ID
	Node   NodeID
	Rule   Rule // what keeps it from being a victim; 0 for a candidate
	Victim bool
}

// Explain decides an ask as [Planner.Decide] does and says why: for each
// queue, node and task the rule that decided, and for a refusal which single
// rule, relaxed, would have given a place.
//
// It is for people and dashboards. It looks at every task and node, and searches
// the nodes that matter: where there is a plan, those that come close to it; see
// NodeFinding.ByBound. All searches together have the budget of one decision. For a
// refusal it decides again for every rule that may matter. There can be as many
// of those as queues, nodes and tasks; if no max is short and there is no
// predicate, a task costs no more than a search on its node. The memory of dst is
// reused. Errors are those of Decide, and leave dst as it was.
func (p *Planner) Explain(dst *Explanation, ask *Ask, now time.Time) error {
	if err := p.answer(&dst.Decision, ask, now); err != nil {
		return err
	}
	dst.clear()
	d := &p.d
	s := outsideLeaf
	if dst.Decision.Outcome == Preempts {
		s = d.stage // the one that the plan was found in
	} else if dst.Decision.Refusal.OwnLeaf {
		s = withOwnLeaf // the one that is told
	}
	if err := d.reset(p, ask, now); err != nil {
		return err
	}
	d.inquiry.prepareFindings(s)
	d.inquiry.findQueues(dst)
	d.inquiry.findTasks(dst)
	d.inquiry.findNodes(dst)
	if r := &dst.Decision; r.Outcome == Refused && r.Refusal.Reason != InFlight {
		d.inquiry.findRelaxations(dst)
	}
	return nil
}

// An inquiry finds out what everything was to a decision.
type inquiry struct{ *decision }

// prepareFindings prepares what a decision prepares on its way, though a
// precondition may have ended that way early.
func (d inquiry) prepareFindings(s stage) {
	if !d.required() {
		d.gate.trigger()
	}
	if _, held := d.c.LookupGrant(d.ask.Key); held {
		// Its place counts as used already: it needs nothing beside that.
		d.wants, d.types = 0, d.types[:0]
		clear(d.size)
	}
	d.prepare(s)
}

// findTasks says of each task which rule keeps it, and counts those of each queue.
func (d inquiry) findTasks(e *Explanation) {
	keyed, packing := d.scratch.keyed[:0], keyPacking{}
	packing.learn(d, 1+len(d.c.tasks)/sampledKeys)
	d.scratch.freed = rows.Zeros(d.scratch.freed, len(d.c.nodes)*d.c.types)
	for n := range d.c.nodes {
		at, freed := d.refusing.siteIfOpen(NodeID(n)), d.c.row(d.scratch.freed, NodeID(n))
		for _, id := range d.c.nodes[n].tasks {
			r := &d.c.tasks[id]
			if r.state == Granted {
				continue
			}
			if r.job != 0 {
				at = d.refusing.siteIfOpen(NodeID(n)) // a look at its job may have replaced it
			}
			rule := d.refusing.ruleFor(id, &at)
			keyed = append(keyed, keyedTask{packing.pack(r.key), id, rule}) // while its row is at hand
			f := &e.Queues[r.leaf]
			if f.Tasks++; rule != 0 {
				continue
			}
			// What members of jobs free depends on who else goes.
			if f.Candidates++; r.job == 0 {
				for t, v := range d.c.size(id) {
					freed[t] += v
				}
			}
		}
	}
	keyed = d.sortByKey(keyed, &packing)
	// It is not findings that are sorted, which are larger.
	e.Tasks = slices.Grow(e.Tasks, len(keyed))
	for _, k := range keyed {
		r := &d.c.tasks[k.id]
		e.Tasks = append(e.Tasks, TaskFinding{Task: k.id, Key: r.key, Queue: r.leaf, Node: r.node, Rule: k.rule})
	}
	for _, v := range e.Decision.Plan.Victims {
		at, _ := slices.BinarySearchFunc(e.Tasks, v.Key, func(t TaskFinding, key string) int {
			return strings.Compare(t.Key, key)
		})
		e.Tasks[at].Victim = true
	}
}

// findQueues says of each queue what it is to the ask, but for its tasks.
func (d inquiry) findQueues(e *Explanation) {
	required := d.required()
	root := fence.Root(d.tree, d.ask.Queue)
	for q := range d.tree.All() {
		f := QueueFinding{
			Queue:    q,
			OnPath:   d.tree.Contains(q, d.ask.Queue),
			Starving: d.hasE && q == d.starving,
			Fence:    !required && q == root,
		}
		if d.tree.IsLeaf(q) {
			f.Rule = d.eligible.leaves[q].veto
		}
		if b, ok := d.eligible.Rooms.Row(q); ok && !required {
			room := d.eligible.Rooms.Bounds[b].Room
			f.Room = resources.Limit{Value: e.copyOf(room.Value), Defined: room.Defined}
		}
		if i := slices.Index(d.needs.queues, q); i >= 0 {
			f.Lacks = e.copyOf(d.needs.short[i])
		}
		e.Queues = append(e.Queues, f)
	}
}
