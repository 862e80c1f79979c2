// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"errors"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// share replaces all guarantees by the fair shares of the moment, if the document wants that:
// of the document's queues, by what runs in each leaf and stays, what is pending there, and what
// somebody wants who is about to be decided, members beyond the minimum too.
func (r *runner) share(at *Path, wants *victims.Ask) error {
	if r.queues == nil {
		return nil
	}
	demand, err := r.cluster.Demand(nil, func(yield func(*victims.Ask) bool) {
		for _, p := range r.doc.Pending {
			if !yield(&victims.Ask{Queue: r.queue(p.Queue), Size: p.Resources}) {
				return
			}
		}
		if wants != nil {
			yield(wants)
		}
	})
	if err == nil {
		err = r.shares.Divide(r.queues, demand, r.schedulable())
	}
	if err == nil {
		err = r.cluster.SetGuarantees(&r.shares)
	}
	if err != nil {
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
