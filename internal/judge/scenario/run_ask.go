// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"slices"
	"strconv"

	"github.com/go-preempt/preempt/internal/judge/alike"
	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Asked is the decision about an ask, with what a reader wants to know of the
// victims, who may be gone by now.
type Asked struct {
	Decision victims.Decision
	Victims  []victims.Task // in the order of Decision.Plan.Victims; they own their sizes
	// Explanation is of the cluster before anything follows the decision. It is
	// nil unless the document is run with explanations.
	Explanation *victims.Explanation
}

// ask makes the ask of a request, as often as it says.
func (r *runner) ask(i int, q *Request) error {
	if q.Repeat == 0 {
		return r.askOnce(i, q, q.Ask.Key)
	}
	for n := 1; n <= q.Repeat; n++ {
		if err := r.askOnce(i, q, q.Ask.Key+"-"+strconv.Itoa(n)); err != nil {
			return err
		}
	}
	return nil
}

// askOnce decides the ask of a request under a key, and does what follows.
func (r *runner) askOnce(i int, q *Request, key string) error {
	ask, err := r.askOf(q.Ask, key)
	if err != nil {
		return err
	}
	if err := r.share(q.At, &ask); err != nil {
		return err
	}
	r.aim(&r.planner, q.Ask)
	if err := r.show(i, Moment{Ask: &ask}); err != nil {
		return err
	}
	asked := new(Asked)
	if err := r.decide(asked, &ask); err != nil {
		return r.taskError(q.Ask.At, key, ask.Size, err)
	}
	for _, v := range asked.Decision.Plan.Victims {
		asked.Victims = append(asked.Victims, r.task(v.Task))
	}
	result := r.askResult(i, &asked.Decision)
	result.Key = key
	step := Step{Request: i, Now: r.now, Result: &result, Asked: asked, Aside: r.asideOfAsk(q.Ask, asked.Victims)}
	if err := r.judgeAsk(&step, q); err != nil {
		return err
	}
	r.steps = append(r.steps, step)
	if err := r.follow(asked, q.Then); err != nil {
		return r.taskError(q.Ask.At, key, ask.Size, err)
	}
	_, runs := r.cluster.Lookup(key)
	if runs {
		r.policies[key] = r.class(q.Ask.Class).Policy
	}
	if _, held := r.cluster.LookupGrant(key); runs || held {
		r.ports[key] = q.Ask.Ports
	}
	return nil
}

// What is called the same in documents and clusters.
var (
	copyAsk  = alike.Copier[victims.Ask, Ask]()
	copyTask = alike.Copier[victims.Task, Task]()
	asTask   = alike.Copier[victims.Task, victims.Ask]()
)

// askOf returns the ask of a document as package victims wants it.
func (r *runner) askOf(a *Ask, key string) (victims.Ask, error) {
	class := r.class(a.Class)
	ask := victims.Ask{
		Queue: r.queue(a.Queue), Size: a.Resources, PendingSince: r.now.Add(-a.Age),
		NonPreemptible: r.nonPreemptible(a.Preemptible), MayNotPreempt: !a.AllowPreemptOther, OptedOut: class.OptedOut,
	}
	copyAsk(&ask, a)
	ask.Key = key
	return ask, r.instant(a.At, "age", a.Age, ask.PendingSince)
}

// decide decides an ask, and explains that if it is asked to.
func (r *runner) decide(asked *Asked, ask *victims.Ask) error {
	moves := r.planner.Moves != ""
	if moves || !r.explained() {
		if err := r.planner.Decide(&asked.Decision, ask, r.now); err != nil {
			return err
		}
		if err := asked.Decision.Count(); len(asked.Decision.Plan.Moves) > 0 || !r.explained() || err != nil {
			return err
		}
	}
	asked.Explanation = new(victims.Explanation)
	err := r.planner.Explain(asked.Explanation, ask, r.now)
	if moves { // that no plan with moves exists has to be proven, too
		asked.Explanation.Decision = asked.Decision
	}
	asked.Decision = asked.Explanation.Decision
	return err
}

// task returns a task that shares nothing with the cluster.
func (r *runner) task(id victims.TaskID) victims.Task {
	t := r.cluster.Task(id)
	t.Size = append(t.Size[:0:0], t.Size...)
	return t
}

// follow does what a document says shall follow a decision.
func (r *runner) follow(asked *Asked, then Then) error {
	d := &asked.Decision
	if then == ThenNothing {
		return nil
	}
	switch d.Outcome {
	case victims.Fits:
		return r.runNow(&d.Plan)
	case victims.Waits:
		return r.cluster.Apply(d)
	case victims.Preempts:
		if err := r.cluster.Apply(d); err != nil || then == ThenLeave {
			return err
		}
		if err := r.startMoved(&d.Plan); err != nil {
			return err
		}
		for _, v := range d.Plan.Victims {
			if err := r.remove(v.Key); err != nil {
				return err
			}
		}
		return r.startGrant(d.Plan.Ask.Key)
	}
	return nil
}

// runNow makes the ask of a plan a running task, in place of its grant if it
// holds one.
func (r *runner) runNow(p *victims.Plan) error {
	t := victims.Task{
		Node: p.Places[0].Node, Created: p.Ask.PendingSince, Scheduled: r.now, RequiredNode: p.Ask.RequiredNode != "",
	}
	asTask(&t, &p.Ask)
	_, err := r.cluster.AddTask(&t)
	return err
}

// askResult returns what the result document says of a decision about an ask.
func (r *runner) askResult(i int, d *victims.Decision) Result {
	result := Result{Request: i, Outcome: Outcome(d.Outcome.String()), Victims: []string{}}
	if d.Outcome == victims.Refused {
		result.Reason = d.Refusal.Reason
		result.Counts = counts(d.Refusal.Counts)
		result.ProtectedBy = r.protectedBy(&d.Refusal)
		result.Cause = r.cause(&d.Refusal.Cause)
		result.RetryAt = d.Refusal.RetryAt
		result.Proven = &d.Refusal.Proven
		result.WaitsFor = d.Refusal.WaitsFor
		return result
	}
	result.Node = r.cluster.Node(d.Plan.Places[0].Node).Name
	for _, v := range d.Plan.Victims {
		result.Victims = append(result.Victims, v.Key)
	}
	result.Moves = movesOf(&d.Plan)
	proven := d.Plan.Proof == victims.ProofCost
	result.Proven, result.Proof = &proven, Proof(d.Plan.Proof.String())
	result.Overrun, result.OwnLeaf = d.Plan.Cost.Overrun, d.Plan.WithinQueue
	return result
}

// counts returns how many tasks each rule kept, where it kept any.
func counts(list []victims.Count) map[string]int {
	all := make(map[string]int)
	for _, n := range list {
		all[n.Rule] = n.Tasks
	}
	return all
}

// cause returns why what was refused could not run even in an empty cluster, or nil.
func (r *runner) cause(root *victims.Cause) *Cause {
	if root.Kind == "" {
		return nil
	}
	x := &Cause{Kind: root.Kind, Node: root.Node, Queue: root.Queue}
	if schema := r.cluster.Schema(); root.Kind != "no-node" {
		x.Type = schema.Name(root.Type)
		x.Most = resources.FormatQuantity(x.Type, root.Most)
	}
	return x
}

// protectedBy returns who protects from what was refused, or nil.
func (r *runner) protectedBy(c *victims.Refusal) *ProtectedBy {
	p := &c.ProtectedBy
	if p.Queue == "" {
		return nil
	}
	return &ProtectedBy{
		Queue: p.Queue, Type: r.cluster.Schema().Name(p.Type), Job: p.Job, Minimum: r.cluster.MinMembers(p.Job),
	}
}

// scarce returns the types whose guarantees count, as planners take them.
func (r *runner) scarce() *resources.Mask {
	if r.doc.Options.Scarce == 0 {
		return nil
	}
	return &r.doc.Options.Scarce
}

// setPlanner sets the options of a planner for the asks of the document.
func (r *runner) setPlanner(p *jobs.Planner) {
	p.Cluster = r.cluster
	r.doc.Options.Set(&p.Options)
	p.Moves, p.MaxMoved = r.doc.Options.movesFor(), r.doc.Options.MaxMoved
	p.WithinQueue = ownLeafOf[r.doc.Options.OwnLeaf]
	p.Scarce, p.Levels = r.scarce(), r.doc.Options.levels()
	if r.doc.Options.Toleration {
		p.Exempt = r.exempt
	}
}

// aim tells a planner where an ask may run, and who blocks a node for it: likewise for who
// may move.
func (r *runner) aim(p *jobs.Planner, a *Ask) {
	p.Filter, p.Blockers = nil, nil
	if len(a.NodeSelector) > 0 {
		p.Filter = func(q *victims.Question) bool { return r.selects(a.NodeSelector, q.Node) }
	}
	if len(a.Ports) > 0 {
		p.Blockers = func(dst []victims.TaskID, q *victims.Question) []victims.TaskID {
			return r.blockers(dst, a.Ports, q.Node)
		}
	}
	if p.Moves != "" {
		r.aimMovers(p)
	}
}

// The words of a document as package victims has them.
var ownLeafOf = map[string]queue.WithinQueue{"": queue.Never, "met": queue.Met, "branch": queue.Branch}

const byPriority = "priority" // Options.JobTrigger

// selects reports whether a selector admits a node.
func (r *runner) selects(s Selector, n victims.NodeID) bool {
	return s.Selects(r.nodes[n])
}

// blockers appends to dst the tasks on a node that hold one of the ports.
func (r *runner) blockers(dst []victims.TaskID, ports []string, n victims.NodeID) []victims.TaskID {
	for id := range r.cluster.TasksOn(n) {
		if slices.ContainsFunc(r.portsOf(r.cluster.Key(id), r.cluster.Tag(id)), func(p string) bool { return slices.Contains(ports, p) }) {
			dst = append(dst, id)
		}
	}
	return dst
}

// startGrant has a grant run, whatever room there is.
func (r *runner) startGrant(key string) error {
	id, _ := r.cluster.LookupGrant(key)
	t := r.cluster.Task(id)
	t.State, t.Scheduled = victims.Running, r.now
	_, err := r.cluster.SetTask(&t)
	return err
}
