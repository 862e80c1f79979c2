package victims

import "github.com/go-preempt/preempt/queue"

// A RelaxationFinding is a rule without which an ask would not be refused, and
// what would be decided then.
type RelaxationFinding struct {
	Relaxation
	Key     string  // of the task that the rule is about, if it is about one
	Outcome Outcome // Fits, Waits or Preempts
	Place   NodeID  // the node of the plan
	Victims int     // how many tasks the plan stops
}

// findRelaxations decides again, each time without one rule that may have
// stood in the way.
func (d inquiry) findRelaxations(e *Explanation) {
	var again Decision
	note := func(key string) {
		e.Relaxed = append(e.Relaxed, RelaxationFinding{
			Relaxation: d.without, Key: key,
			Outcome: again.Outcome, Place: again.Plan.Node, Victims: len(again.Plan.Victims),
		})
	}
	for _, r := range d.relaxations(e) {
		d.without = r
		again.reset(d.decision)
		d.decide(&again)
		if again.Outcome != Refused {
			note("")
		}
	}
	d.without = Relaxation{}
	if reason := e.Decision.Refusal.Reason; reason != NoVictims && reason != PredicateRefused {
		return // it was not for lack of candidates
	}
	tasks := e.taskRelaxations()
	planned := make(map[Relaxation]bool)
	// With the option of the own leaf, what another rule keeps in one stage may go in the
	// other.
	stages := []stage{outsideLeaf, withOwnLeaf}
	if d.p.OwnLeaf == OwnNever || d.required() {
		stages = stages[:1]
	}
	for _, s := range stages {
		d.without = Relaxation{}
		d.prepareFindings(s)
		for _, r := range tasks {
			if planned[r] {
				continue
			}
			d.without = r
			d.eligible.relax(r)
			d.gangs.reset(d.decision)
			if d.decideTask(&again, e, s) {
				planned[r], d.without = true, r
				note(d.c.tasks[r.Task].key)
			}
		}
	}
	d.without = Relaxation{}
}

// relaxations returns the rules of the ask, of queues and of nodes that may
// have stood in the way.
func (d inquiry) relaxations(e *Explanation) (all []Relaxation) {
	for rule := RelaxMayNot; rule <= RelaxReservation; rule++ {
		switch rule {
		case RelaxTrigger, RelaxMax, RelaxFence, RelaxDisabled, RelaxGuarantee:
			for i := range e.Queues {
				if f := &e.Queues[i]; d.mayMatter(rule, f) {
					all = append(all, Relaxation{Rule: rule, Queue: f.Queue})
				}
			}
		case RelaxBudget:
			for name, b := range d.c.Budgets() {
				if b.Hard {
					all = append(all, Relaxation{Rule: rule, Budget: name})
				}
			}
		case RelaxUnschedulable, RelaxReservation:
			for i := range e.Nodes {
				if f := &e.Nodes[i]; f.Verdict == NodeUnschedulable || f.Verdict == NodeReserved {
					all = append(all, Relaxation{Rule: rule, Node: f.Node})
				}
			}
		default:
			all = append(all, Relaxation{Rule: rule})
		}
	}
	return all
}

// mayMatter reports whether relaxing a rule of a queue could change anything.
func (d inquiry) mayMatter(rule Relaxable, f *QueueFinding) bool {
	switch rule {
	case RelaxTrigger:
		return f.OnPath
	case RelaxMax:
		return f.OnPath && d.tree.Max(f.Queue).Defined&d.wants != 0
	case RelaxFence:
		return f.Fence && f.Queue != queue.Root
	case RelaxDisabled:
		return d.tree.PreemptionPolicy(f.Queue) == queue.PreemptionDisabled
	}
	return f.Room.Defined != 0
}

// taskRelaxations returns the rules that keep single tasks and can be relaxed.
func (e *Explanation) taskRelaxations() (all []Relaxation) {
	for rule := RelaxApplication; rule <= RelaxRequiredNode; rule++ {
		for i := range e.Tasks {
			if t := &e.Tasks[i]; t.Rule == taskRules[rule] {
				all = append(all, Relaxation{Rule: rule, Task: t.Task})
			}
		}
	}
	return all
}

// taskRules are the rules that can be relaxed for a single task.
var taskRules = [numRelaxables]Rule{
	RelaxApplication:  RuleApplication,
	RelaxPriority:     RulePriority,
	RelaxExemption:    RuleExempt,
	RelaxRequiredNode: RuleRequiredNode,
}

// decideTask decides again with a rule of a single task relaxed, if the
// ask was refused for lack of candidates, and reports whether there is a plan.
func (d inquiry) decideTask(dst *Decision, e *Explanation, s stage) bool {
	id := d.without.Task
	n := d.c.tasks[id].node
	at := d.refusing.siteIfOpen(n)
	if d.refusing.ruleFor(id, &at) != 0 {
		return false // another rule keeps it as well
	}
	dst.reset(d.decision)
	if e.Decision.Refusal.Proven && d.p.Predicate == nil && d.p.Minimum == nil && d.p.OwnLeaf == OwnNever && !d.needs.open() {
		// One more candidate on a node is nothing to the others, on which
		// there is no plan.
		d.best.Found = false
		d.trial.reset()
		d.trial.meter.Used = 0
		d.allow()
		d.searchNode(n)
		if d.best.Found {
			d.planned(dst)
		}
		return d.best.Found
	}
	d.decide(dst)
	outcome := dst.Outcome
	d.prepareFindings(s) // for the next one
	return outcome != Refused
}
