// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"strconv"
	"time"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/jobs/koordinator"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/toleration"
	"github.com/go-preempt/preempt/victims"
)

// A Run is what came of a document: one step per request, in their order, and
// per repetition of an ask.
type Run struct {
	Document *Document
	Before   *victims.Cluster // as the document describes it
	After    *victims.Cluster // as the last request left it
	Steps    []Step
	Warnings []error   // about priority classes and quotas; Before has those about queues
	End      time.Time // the clock after the last request
}

// A Step is a request that was carried out.
type Step struct {
	Request  int       // an index of Document.Requests
	Now      time.Time // the clock when the request was reached
	Result   *Result   // nil where the request decides nothing
	Asked    *Asked    // nil where the request is no ask
	Enforced *Enforced // nil where the request enforces no quota
	Placed   *Placed   // nil where the request places no job
	Judged   *Judged   // nil unless a plan is proposed and the document is run with judgements
	Aside    Aside     // empty where the request decides nothing
}

// Run builds the cluster that the document describes and carries the requests
// out, in order: each is decided on the state that those before it left, and
// what follows is what its "then" says. Nothing but the document decides, and
// the document is not changed.
//
// Errors are what only shows here: bounds that contradict each other, amounts
// whose sums leave the range of int64, instants that a cluster cannot hold,
// and keys that are there already or are not. Each is an *[Error]; all that is
// wrong with queues and priority classes is joined. Nothing is returned with an
// error.
func (doc *Document) Run() (*Run, error) { return doc.run(&runner{doc: doc, now: doc.Now}) }

// RunExplained is Run with an explanation of each decision: about an ask that of
// package victims, about a job and a quota what keeps whom.
func (doc *Document) RunExplained() (*Run, error) {
	return doc.run(&runner{doc: doc, now: doc.Now, explain: func(int) bool { return true }})
}

// RunExplainedAt is RunExplained for the decision of one step, by its index: to
// explain a refusal takes longer than to find it.
func (doc *Document) RunExplainedAt(step int) (*Run, error) {
	return doc.run(&runner{doc: doc, now: doc.Now, explain: func(i int) bool { return i == step }})
}

// RunJudged is Run with a judgement of each plan that the document proposes.
// What follows a request is what this library decided: the plans of others are
// judged and not carried out. A proposal for a quota, or for an ask that is
// repeated, is an error, for it cannot be judged.
func (doc *Document) RunJudged() (*Run, error) {
	return doc.run(&runner{doc: doc, now: doc.Now, judging: true})
}

func (doc *Document) run(r *runner) (*Run, error) {
	if err := r.build(); err != nil {
		return nil, err
	}
	run := &Run{Document: doc, Before: r.cluster.Clone(), After: r.cluster}
	for i := range doc.Requests {
		if err := r.request(i, &doc.Requests[i]); err != nil {
			return nil, err
		}
	}
	run.Steps, run.End, run.Warnings = r.steps, r.now, r.warnings
	return run, nil
}

// A runner carries out a document.
type runner struct {
	doc      *Document
	explain  func(step int) bool // nil: no decision is explained
	judging  bool
	see      func(*Moment) error // nil: nobody looks
	cluster  *victims.Cluster
	planner  jobs.Planner                         // with all options, also those of moves
	quotas   map[string]*koordinator.ElasticQuota // by queue
	classes  map[string]toleration.Class
	warnings []error // about classes and quotas
	// policies has the policies of tasks, by key; who is not there has none.
	policies map[string]toleration.Policy
	nodes    map[victims.NodeID]*Node // of the document
	// listed has the keys of members that requests place, true for those that the
	// document has among its tasks.
	listed map[string]bool
	// ports has the ports that tasks and grants hold on their nodes, by key.
	ports map[string][]string

	movers movers
	// ends has when tasks are expected to end, by key; who is not there does not say.
	ends map[string]time.Time
	// queues has the guarantees of the document, if those of the cluster are
	// shares; else it is nil.
	queues *queue.Tree
	shares queue.FairShares
	now    time.Time
	steps  []Step
}

// request carries out request i. Every kind lives in a file of its own.
func (r *runner) request(i int, q *Request) error {
	switch q.Kind {
	case KindAsk:
		return r.ask(i, q)
	case KindEnforceQuota:
		return r.enforceQuota(i, q)
	case KindJob:
		return r.job(i, q)
	case KindAdvance:
		return r.advance(i, q)
	case KindFinish:
		return r.finish(i, q)
	case KindStart:
		return r.start(i, q)
	}
	panic(fmt.Sprintf("scenario: request %d is of no kind", i))
}

// step notes a request that decides nothing.
func (r *runner) step(i int) {
	r.steps = append(r.steps, Step{Request: i, Now: r.now})
}

// A Moment is what a run is about to decide, and who decides it: an ask, a job, or
// a quota. Nothing of it may be kept, nor changed.
type Moment struct {
	Request int // an index of Document.Requests
	Step    int // an index of Run.Steps
	Now     time.Time
	Planner *jobs.Planner        // also if it is no ask: it has the cluster
	Ends    map[string]time.Time // when tasks are expected to end, by key

	Ask *victims.Ask // nil if it is another one

	JobPlanner *jobs.Planner
	Quotas     map[string]*koordinator.ElasticQuota // behind its Admit, by queue
	Job        *victims.Ask                         // likewise

	Enforcer *quota.Enforcer // nil if no quota is enforced
	Queue    queue.ID
}

// RunSeen is Run for somebody who looks at each decision before it is made. An error of theirs
// ends the run, and is that of the run.
func (doc *Document) RunSeen(see func(*Moment) error) (*Run, error) {
	return doc.run(&runner{doc: doc, now: doc.Now, see: see})
}

// show shows a moment to who looks.
func (r *runner) show(i int, m Moment) error {
	if r.see == nil {
		return nil
	}
	m.Request, m.Step, m.Now, m.Planner, m.Ends, m.Quotas = i, len(r.steps), r.now, &r.planner, r.ends, r.quotas
	return r.see(&m)
}

// advance lets time pass.
func (r *runner) advance(i int, q *Request) error {
	r.step(i)
	now := r.now.Add(q.Advance)
	if err := r.instant(q.At, "advance", q.Advance, now); err != nil {
		return err
	}
	r.now = now
	return nil
}

// finish removes the tasks that are named. A grant is no task.
func (r *runner) finish(i int, q *Request) error {
	r.step(i)
	for _, ref := range q.Finish {
		if err := r.remove(ref.Key); err != nil {
			return r.doc.Fail(ref.At, strconv.Quote(ref.Key), err)
		}
	}
	return nil
}

// remove removes a task, and with it what is known of its class: another may
// get its key.
func (r *runner) remove(key string) error {
	delete(r.policies, key)
	delete(r.ports, key)
	delete(r.ends, key)
	return r.cluster.RemoveTask(key)
}

// start adds tasks, each in place of the grant of its key if there is one.
func (r *runner) start(i int, q *Request) error {
	r.step(i)
	for n := range q.Start {
		if err := r.addTask(&q.Start[n]); err != nil {
			return err
		}
	}
	return nil
}
