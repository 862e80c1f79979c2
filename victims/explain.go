package victims

import (
	"slices"
	"strings"
	"time"

	"github.com/go-preempt/preempt/fence"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// An Explanation is a decision with everything that led to it. It is owned by
// the caller.
type Explanation struct {
	Decision Decision
	Queues   []QueueFinding // in tree order
	Nodes    []NodeFinding  // in node order
	Tasks    []TaskFinding  // by key; without grants
	// Relaxed has, for a refusal, every single rule without which the ask
	// would not have been refused: in the order of [Relaxable], then of
	// queues, nodes or keys.
	Relaxed []RelaxationFinding
}

// A QueueFinding says what a queue is to an ask.
type QueueFinding struct {
	Queue    queue.ID
	OnPath   bool             // the ask is in it or below it
	Starving bool             // it is E, the lowest queue that governs a type of the ask
	Fence    bool             // it is the fence root of the ask
	Rule     Rule             // of a leaf, what keeps all its tasks; 0 is nothing
	Room     resources.Limit  // law 2: what may be taken below it; on the types it guarantees
	Lacks    resources.Vector // the headroom that the ask lacks there; nil where it does not
	// Of a leaf: its tasks, and how many of them are candidates.
	Tasks, Candidates int
}

// A NodeVerdict says what came of a node.
type NodeVerdict uint8

const (
	NodeChosen        NodeVerdict = 1 + iota // the plan is for it
	NodeNotNeeded                            // the ask found room on an earlier one
	NodeCostlier                             // there is a plan for it, which costs more or comes later
	NodeRefused                              // the predicate refused it
	NodeLacks                                // with all its candidates gone there is no room
	NodeNoLegalSet                           // its candidates would do, but no legal set of them does
	NodeUnschedulable                        // it takes no new tasks
	NodeReserved                             // it is reserved for another ask
	NodeNotRequired                          // the ask requires another node

	numNodeVerdicts
)

var nodeVerdictWords = [numNodeVerdicts]string{
	NodeChosen:        "chosen",
	NodeNotNeeded:     "not-needed",
	NodeCostlier:      "costlier",
	NodeRefused:       "predicate",
	NodeLacks:         "lacks",
	NodeNoLegalSet:    "no-legal-set",
	NodeUnschedulable: "unschedulable",
	NodeReserved:      "reserved",
	NodeNotRequired:   "not-required",
}

// String returns the stable word for the verdict.
func (v NodeVerdict) String() string {
	if v < numNodeVerdicts && v > 0 {
		return nodeVerdictWords[v]
	}
	return "unknown"
}

// A NodeFinding says what came of a node, and what it lacks for the ask: once
// what is leaving has gone, and with all its candidates gone too.
type NodeFinding struct {
	Node    NodeID
	Verdict NodeVerdict
	Short   resources.Vector
	Lacks   resources.Vector
	Cost    Cost // of the plan for it, where the verdict is NodeChosen or NodeCostlier
}

// A TaskFinding says what a task is to an ask.
type TaskFinding struct {
	Task   TaskID
	Key    string
	Rule   Rule // what keeps it from being a victim; 0 for a candidate
	Victim bool
}

// A RelaxationFinding is a rule without which the outcome would be another.
type RelaxationFinding struct {
	Relaxation
	Outcome Outcome
	Victims int
}

// Explain decides an ask as [Planner.Decide] does and says why: for each
// queue, node and task the rule that decided, and for a refusal which single
// rule, relaxed, would have given a place. It is for people and dashboards: it
// allocates, and for a refusal it decides again for every rule that may
// matter, of which there can be as many as tasks.
func (p *Planner) Explain(dst *Explanation, ask *Ask, now time.Time) error {
	if err := p.Decide(&dst.Decision, ask, now); err != nil {
		return err
	}
	dst.Queues, dst.Nodes, dst.Tasks, dst.Relaxed = nil, nil, nil, nil
	d := &p.d
	if err := d.reset(p, ask, now); err != nil {
		return err
	}
	d.horizon = d.now
	if ask.RequiredNode == "" {
		d.findStarving()
	}
	d.prepareNeeds()
	d.prepareLeaves()
	d.findTasks(dst)
	d.findQueues(dst)
	d.findNodes(dst)
	if dst.Decision.Outcome == Refused && dst.Decision.Refusal.Reason != InFlight {
		d.findRelaxations(dst)
	}
	return nil
}

// findTasks says of each task which rule keeps it.
func (d *decision) findTasks(e *Explanation) {
	for n := range d.c.nodes {
		var short resources.Mask
		if node := NodeID(n); d.c.nodes[n].live && d.usable(node) {
			short = d.nodeNeed(d.nodeShort, node)
		}
		for _, id := range d.c.nodes[n].tasks {
			if r := &d.c.tasks[id]; r.state != Granted {
				e.Tasks = append(e.Tasks, TaskFinding{Task: id, Key: r.key, Rule: d.ruleFor(id, short)})
			}
		}
	}
	slices.SortFunc(e.Tasks, func(a, b TaskFinding) int { return strings.Compare(a.Key, b.Key) })
	for _, v := range e.Decision.Plan.Victims {
		at, _ := slices.BinarySearchFunc(e.Tasks, v.Key, func(t TaskFinding, key string) int {
			return strings.Compare(t.Key, key)
		})
		e.Tasks[at].Victim = true
	}
}

// findQueues says of each queue what it is to the ask.
func (d *decision) findQueues(e *Explanation) {
	root := fence.Root(d.tree, d.ask.Queue)
	for q := range d.tree.All() {
		f := QueueFinding{
			Queue:    q,
			OnPath:   d.tree.Contains(q, d.ask.Queue),
			Starving: d.starving && q == d.inside,
			Fence:    q == root,
		}
		if d.tree.IsLeaf(q) {
			f.Rule = d.leaves[q].veto
		}
		if b := d.boundOf[q]; b >= 0 {
			f.Room = resources.AddOnlyExisting(resources.Limit{}, d.rooms[b].Room, nil)
		}
		if i := slices.Index(d.needs.queues, q); i >= 0 {
			f.Lacks = slices.Clone(d.needs.short[i])
		}
		e.Queues = append(e.Queues, f)
	}
	for _, t := range e.Tasks {
		f := &e.Queues[d.c.tasks[t.Task].leaf]
		f.Tasks++
		if t.Rule == 0 {
			f.Candidates++
		}
	}
}

// findNodes says of each node what came of it.
func (d *decision) findNodes(e *Explanation) {
	d.refused = zeros(d.refused, len(d.c.nodes))
	d.steps, d.proven = 0, true
	open := !d.needs.open() || d.searchHeadroom()
	for _, n := range d.c.order {
		short := d.nodeNeed(d.nodeShort, n)
		f := NodeFinding{Node: n, Short: slices.Clone(d.nodeShort)}
		for _, id := range d.c.nodes[n].tasks {
			if d.candidate(id, short) {
				d.nodeShort = resources.Sub(d.nodeShort, d.nodeShort, d.c.size(id))
			}
		}
		f.Lacks = resources.Max(nil, d.nodeShort, resources.Vector{})
		d.best.found = false
		if d.usable(n) && open {
			d.searchNode(n)
		}
		if d.best.found {
			f.Cost = d.best.cost
		}
		f.Verdict = d.verdict(e, &f)
		e.Nodes = append(e.Nodes, f)
	}
}

// verdict says what came of a node for which a search has just been made.
func (d *decision) verdict(e *Explanation, f *NodeFinding) NodeVerdict {
	node := &d.c.nodes[f.Node]
	outcome := e.Decision.Outcome
	switch {
	case outcome != Refused && e.Decision.Plan.Node == f.Node:
		return NodeChosen
	case !d.usable(f.Node) && d.ask.RequiredNode != "":
		return NodeNotRequired
	case !d.usable(f.Node) && node.unschedulable:
		return NodeUnschedulable
	case !d.usable(f.Node):
		return NodeReserved
	case outcome == Fits || outcome == Waits:
		return NodeNotNeeded
	case !resources.IsZero(f.Lacks):
		return NodeLacks
	case !d.best.found:
		return NodeNoLegalSet
	case outcome == Refused || d.best.cost.Compare(&e.Decision.Plan.Cost) < 0:
		// A cheaper set than the chosen one, or any where none was chosen: the
		// predicate or a precondition is what refused it.
		return NodeRefused
	}
	return NodeCostlier
}

// findRelaxations decides again, each time without one rule that may have
// stood in the way.
func (d *decision) findRelaxations(e *Explanation) {
	var again Decision
	try := func(r Relaxation) {
		d.relaxed = r
		again.reset(d)
		d.decide(&again)
		if again.Outcome != Refused {
			e.Relaxed = append(e.Relaxed, RelaxationFinding{r, again.Outcome, len(again.Plan.Victims)})
		}
		d.relaxed = Relaxation{}
	}
	for rule := RelaxMayNot; rule < numRelaxables; rule++ {
		switch rule {
		case RelaxTrigger, RelaxMax, RelaxFence, RelaxDisabled, RelaxGuarantee:
			for _, f := range e.Queues {
				if d.mayMatter(rule, &f) {
					try(Relaxation{Rule: rule, Queue: f.Queue})
				}
			}
		case RelaxUnschedulable, RelaxReservation:
			for _, f := range e.Nodes {
				if f.Verdict == NodeUnschedulable || f.Verdict == NodeReserved {
					try(Relaxation{Rule: rule, Node: f.Node})
				}
			}
		case RelaxApplication, RelaxPriority, RelaxExemption, RelaxRequiredNode:
			for _, t := range e.Tasks {
				if t.Rule == taskRules[rule] {
					try(Relaxation{Rule: rule, Task: t.Task})
				}
			}
		default:
			try(Relaxation{Rule: rule})
		}
	}
}

// taskRules are the rules that can be relaxed for a single task.
var taskRules = [numRelaxables]Rule{
	RelaxApplication:  RuleApplication,
	RelaxPriority:     RulePriority,
	RelaxExemption:    RuleExempt,
	RelaxRequiredNode: RuleRequiredNode,
}

// mayMatter reports whether relaxing a rule of a queue could change anything.
func (d *decision) mayMatter(rule Relaxable, f *QueueFinding) bool {
	switch rule {
	case RelaxTrigger, RelaxMax:
		return f.OnPath
	case RelaxFence:
		return f.Fence && f.Queue != queue.Root
	case RelaxDisabled:
		return d.tree.PreemptionPolicy(f.Queue) == queue.PreemptionDisabled
	}
	return f.Room.Defined != 0
}
