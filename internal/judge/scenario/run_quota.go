// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/go-preempt/preempt/internal/vectors"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/quota"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// Enforced is the enforcement of a quota, with what a reader wants to know of
// the victims, who may be gone by now.
type Enforced struct {
	Decision victims.Decision
	Result   string         // the word of the document: that of Decision, or met-within-miss
	Victims  []victims.Task // in the order of Decision.Plan.Victims; they own their sizes

	// Unbounded are the types that lose their bound: the queue's max had one
	// and the max of the request, which replaces it, does not name them.
	Unbounded resources.Mask

	// Kept has, of each running task that is no victim, the first law that keeps
	// it, if the decision is explained; a task that no law keeps is not there.
	Kept []victims.Violation
}

// order returns the order of a document as package quota has it.
func (q *EnforceQuota) order() quota.Order {
	switch {
	case q.Whole:
		return quota.FewestOfAll
	case q.Order == OrderDefault:
		return quota.YoungestFirst
	}
	return quota.Order(q.Order.String())
}

// enforceQuota enforces the quota of a request, and does what follows. Delays
// and runs in progress play no part.
func (r *runner) enforceQuota(i int, q *Request) (err error) {
	if r.judging && q.Proposed != nil {
		return r.notJudged(q.Proposed.At, "plans of asks and jobs are judged, not those of quotas")
	}
	id := r.queue(q.EnforceQuota.Queue)
	had := r.cluster.Tree().Max(id).Defined
	if err := r.unshare(); err != nil {
		return err
	}
	if err := r.lowerMax(id, q); err != nil {
		return err
	}
	if err := r.share(q.At, nil); err != nil {
		return err
	}
	most := r.cluster.Tree().Max(id)
	if q.EnforceQuota.Max != nil {
		most = *q.EnforceQuota.Max
	}
	if err := r.aboveGuarantee(id, most); err != nil {
		return r.maxError(q, err)
	}
	if q.Then == ThenNothing { // the max is the queue's for as long as this takes
		before := resources.AddOnlyExisting(resources.Limit{}, r.cluster.Tree().Max(id), nil)
		if err := r.cluster.SetMax(id, most); err != nil {
			return r.maxError(q, err)
		}
		defer func() { err = errors.Join(err, r.cluster.SetMax(id, before)) }()
	}
	enforcer := quota.Enforcer{
		Cluster: r.cluster, Order: q.EnforceQuota.order(),
		Options: victims.Options{NeverOvershoot: q.EnforceQuota.Overshoot == OvershootExact},
	}
	if err := r.show(i, Moment{Enforcer: &enforcer, Queue: id}); err != nil {
		return err
	}
	enforced := &Enforced{Unbounded: had &^ most.Defined}
	if err := enforcer.Enforce(&enforced.Decision, id, r.now); err != nil {
		return r.maxError(q, err)
	}
	e, slack := &enforced.Decision.Enforcement, quota.Slack{Amounts: q.EnforceQuota.Miss, Share: q.EnforceQuota.MissShare}
	if enforced.Result = e.Result; e.Result != "met" && slack.Allows(e.Shortfall, e.Target) {
		enforced.Result = "met-within-miss"
	}
	for _, v := range enforced.Decision.Plan.Victims {
		enforced.Victims = append(enforced.Victims, r.task(v.Task))
	}
	if r.explained() {
		enforced.Kept = r.keptWithin(&enforcer, enforced)
	}
	result := r.quotaResult(i, enforced)
	step := Step{Request: i, Now: r.now, Result: &result, Enforced: enforced, Aside: r.asideOf(enforced.Victims)}
	r.steps = append(r.steps, step)
	return r.dismiss(&enforced.Decision, q.Then)
}

// lowerMax replaces the max of a queue by that of a request. A dry run only
// finds out whether that could be done.
func (r *runner) lowerMax(id queue.ID, q *Request) error {
	if q.EnforceQuota.Max == nil {
		return nil
	}
	set := r.cluster.SetMax
	if q.Then == ThenNothing {
		set = r.cluster.Tree().Clone().SetMax
	}
	if err := set(id, *q.EnforceQuota.Max); err != nil {
		return r.maxError(q, err)
	}
	if r.queues != nil && q.Then != ThenNothing {
		return r.queues.SetMax(id, *q.EnforceQuota.Max)
	}
	return nil
}

// aboveGuarantee reports a max that equals the guarantee of a queue with a delay. The library
// enforces it; of a document it is a mistake, as in the source design.
func (r *runner) aboveGuarantee(id queue.ID, most resources.Limit) error {
	tree := r.cluster.Tree()
	for t := range most.Defined.All() {
		m, _ := most.Bound(t)
		if g, ok := tree.Guaranteed(id).Bound(t); ok && m == g && *tree.Policies(id).QuotaDelay > 0 {
			return fmt.Errorf("%s: max not above guaranteed with delay: %s: both %s", tree.Path(id), r.doc.Schema.Name(t), vectors.Text(r.doc.Schema, t, m))
		}
	}
	return nil
}

// maxError gives what is wrong with the max that a request enforces its place.
// It may be several things at once, joined.
func (r *runner) maxError(q *Request, err error) error {
	at, value := q.EnforceQuota.At, strconv.Quote(q.EnforceQuota.Queue)
	if most := q.EnforceQuota.Max; most != nil {
		at, value = at.Field("max"), r.doc.Schema.FormatLimit(*most)
	}
	problems := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		problems = joined.Unwrap()
	}
	for i, err := range problems {
		problems[i] = r.doc.Fail(at, value, err)
	}
	if len(problems) == 1 {
		return problems[0]
	}
	return errors.Join(problems...)
}

// dismiss does what a document says shall follow an enforcement.
func (r *runner) dismiss(d *victims.Decision, then Then) error {
	if then == ThenNothing || d.Outcome != victims.Preempts {
		return nil
	}
	// Applying takes the victims off their budgets, also if they leave at once.
	if err := r.cluster.Apply(d); err != nil || then == ThenLeave {
		return err
	}
	for _, v := range d.Plan.Victims {
		if err := r.remove(v.Key); err != nil {
			return err
		}
	}
	return nil
}

// jobMinimum returns the stated minimum of a running job, or 0.
func (doc *Document) jobMinimum(job string) int {
	for i := range doc.JobMinimums {
		if doc.JobMinimums[i].Job == job {
			return doc.JobMinimums[i].Members
		}
	}
	return 0
}

// quotaResult returns what the result document says of an enforcement.
func (r *runner) quotaResult(i int, enforced *Enforced) Result {
	p, e := &enforced.Decision.Plan, &enforced.Decision.Enforcement
	result := Result{Request: i, Outcome: Outcome(enforced.Result), Victims: []string{}, Overrun: p.Cost.Overrun, Proven: &e.Proven}
	for _, v := range p.Victims {
		result.Victims = append(result.Victims, v.Key)
	}
	if (enforced.Result == "partial" || enforced.Result == "impossible") && len(e.Obstacles) > 0 {
		result.Reason = e.Obstacles[0].Rule
	}
	if resources.IsZero(e.Target) {
		return result
	}
	result.Target = map[string]Amounts{p.Path: r.amounts(e.Target)}
	for _, p := range e.Parts {
		if !resources.IsZero(p.Amount) {
			result.Target[p.Queue] = r.amounts(p.Amount)
		}
	}
	if !resources.IsZero(e.Shortfall) {
		result.Shortfall = r.amounts(e.Shortfall)
	}
	return result
}

// amounts are the types of which v has any.
func (r *runner) amounts(v resources.Vector) Amounts {
	return Amounts{Schema: r.doc.Schema, Limit: resources.Limit{Value: v, Defined: resources.Positive(v)}}
}
