// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"errors"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A wish is what an ask or a job still needs, in its leaf.
type wish struct {
	leaf queue.ID
	size resources.Vector
}

// shareForAsk is share before an ask is decided. What it was granted counts as
// usage already.
func (r *runner) shareForAsk(q *Request, ask *victims.Ask) error {
	if _, held := r.cluster.LookupGrant(ask.Key); held {
		return r.share(q.At, nil)
	}
	return r.share(q.At, &wish{ask.Queue, ask.Size})
}

// shareForJob is share before a job is decided. All its members that have no
// place yet count, those beyond the minimum too.
func (r *runner) shareForJob(q *Request, job *victims.Ask) error {
	w := &wish{leaf: job.Queue}
	for i := range job.Members {
		m := &job.Members[i]
		if !r.placed(job, m.Key) {
			w.size = resources.Add(w.size, w.size, m.Size)
		}
	}
	return r.share(q.At, w)
}

// share replaces all guarantees by the fair shares of the moment, if the
// document wants that: of the document's queues, by what runs in each leaf and
// stays, what is pending there, and what somebody wishes.
func (r *runner) share(at *Path, w *wish) error {
	if r.queues == nil {
		return nil
	}
	tree := r.cluster.Tree()
	demand := make([]resources.Vector, tree.Len())
	for leaf := range tree.Leaves(queue.Root) {
		demand[leaf] = tree.Effective(nil, leaf)
	}
	for _, p := range r.doc.Pending {
		d := &demand[r.queue(p.Queue)]
		*d = resources.Add(*d, *d, p.Resources)
	}
	if w != nil {
		demand[w.leaf] = resources.Add(demand[w.leaf], demand[w.leaf], w.size)
	}
	if err := r.shares.Divide(r.queues, demand, r.schedulable()); err != nil {
		return r.doc.Fail(at, "", err)
	}
	if err := r.cluster.SetGuarantees(&r.shares); err != nil {
		return r.doc.Fail(at, "", err)
	}
	return nil
}

// unshare sets the guarantees of the document again, if shares took their place.
// None of them is above a max that was set since.
func (r *runner) unshare() error {
	if r.queues == nil {
		return nil
	}
	var problems []error
	for q := range queue.ID(r.queues.Len()) { // the leaves' shares may be more than their parents had
		problems = append(problems, r.cluster.SetGuaranteed(q, resources.Limit{}))
	}
	for q := range queue.ID(r.queues.Len()) {
		problems = append(problems, r.cluster.SetGuaranteed(q, r.queues.Guaranteed(q)))
	}
	if err := errors.Join(problems...); err != nil {
		return r.doc.Fail(r.doc.Root.At, "", err)
	}
	return nil
}

// schedulable is the capacity of all nodes that take tasks, of every type.
func (r *runner) schedulable() resources.Limit {
	n := r.doc.Schema.Len()
	l := resources.Limit{Value: make(resources.Vector, n)}
	for i := range n {
		l.Defined |= 1 << i
	}
	for i := range r.doc.Nodes {
		if node := &r.doc.Nodes[i]; !node.Unschedulable {
			l.Value = resources.Add(l.Value, l.Value, node.Capacity)
		}
	}
	return l
}
