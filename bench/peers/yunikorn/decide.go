// SPDX-License-Identifier: Apache-2.0

package yunikorn

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/yunikorn-core/pkg/common/configs"
	"github.com/apache/yunikorn-core/pkg/plugins"
	"github.com/apache/yunikorn-core/pkg/scheduler/objects"
	"github.com/apache/yunikorn-scheduler-interface/lib/go/api"
	"github.com/apache/yunikorn-scheduler-interface/lib/go/si"
	"github.com/go-preempt/preempt/internal/judge/exam"
	"github.com/go-preempt/preempt/internal/judge/scenario"
)

// Decide asks YuniKorn as its scheduling cycle does: whether the ask fits a
// node as things are; if not, and the ask requires its node, to reserve that and
// to preempt there; else to preempt anywhere. What cannot be taken back is built
// anew.
func (w *world) Decide(ask *scenario.Ask) (exam.Answer, error) {
	answer, err := w.decide(ask)
	if w.dirty {
		err = errors.Join(err, w.build())
	}
	return answer, err
}

func (w *world) decide(ask *scenario.Ask) (exam.Answer, error) {
	app, err := w.app(ask.Application, ask.Queue)
	if err != nil {
		return exam.Answer{}, err
	}
	defer w.select_(ask)()
	a := objects.NewAllocationFromSI(&si.Allocation{
		AllocationKey: ask.Key, ApplicationID: ask.Application, PartitionName: configs.DefaultPartition,
		ResourcePerAlloc: w.proto(ask.Resources), Priority: ask.Priority, AllocationTags: w.tags(ask.Age, ask.RequiredNode),
		PreemptionPolicy: &si.PreemptionPolicy{AllowPreemptSelf: true, AllowPreemptOther: ask.AllowPreemptOther},
	})
	if err := app.AddAllocationAsk(a); err != nil {
		return exam.Answer{}, fmt.Errorf("%w: %w", exam.ErrCannot, err)
	}
	defer app.RemoveAllocationAsk(ask.Key)
	leaf := w.queues[ask.Queue]
	result := leaf.TryAllocate(w.iterator, w.iterator, w.node, false, false)
	switch {
	case result != nil && result.ResultType == objects.Allocated:
		w.dirty = true
		return exam.Answer{Node: result.NodeID}, nil
	case ask.RequiredNode != "":
		return w.require(leaf, app, a)
	}
	return w.preempt(leaf, app, a), nil
}

func (w *world) iterator() objects.NodeIterator { return w.nodes }

func (w *world) node(name string) *objects.Node { return w.byName[name] }

// preempt has YuniKorn preempt for an ask, and takes back what it marked.
func (w *world) preempt(leaf *objects.Queue, app *objects.Application, a *objects.Allocation) exam.Answer {
	// The cycle does not try nodes for an ask that its queues have no headroom
	// for, and tells the preemptor.
	tried := !slices.ContainsFunc(a.GetAllocationLog(), func(e *objects.AllocationLogEntry) bool {
		return e.Message == objects.NotEnoughQueueQuota
	})
	w.released = w.released[:0]
	var result *objects.AllocationResult
	var ok bool
	w.meter.Run(func() {
		p := objects.NewPreemptor(app, leaf.GetMaxResource(), leaf.GetPreemptionDelay(), a, w.nodes, tried)
		if p.CheckPreconditions() {
			result, ok = p.TryPreemption()
		}
	})
	if !ok {
		return exam.Answer{}
	}
	answer := exam.Answer{Node: result.NodeID, Victims: slices.Clone(w.released)}
	for _, key := range w.released {
		v := w.allocs[key]
		v.MarkUnPreempted()
		w.mapping.GetQueueByAppId(v.GetApplicationID()).DecPreemptingResource(v.GetAllocatedResource())
	}
	return answer
}

// require reserves the node that an ask requires, and has YuniKorn preempt
// there.
func (w *world) require(leaf *objects.Queue, app *objects.Application, a *objects.Allocation) (exam.Answer, error) {
	w.dirty = true
	node := w.byName[a.GetRequiredNode()]
	if node == nil {
		return exam.Answer{}, errors.New("yunikorn: no such node")
	}
	if err := app.Reserve(node, a); err != nil {
		return exam.Answer{}, nil // it does not fit the node even if that is empty
	}
	leaf.Reserve(app.ApplicationID)
	w.released = w.released[:0]
	w.meter.Run(func() { leaf.TryReservedAllocate(w.iterator) })
	if len(w.released) == 0 {
		return exam.Answer{}, nil
	}
	return exam.Answer{Node: node.NodeID, Victims: slices.Clone(w.released)}, nil
}

// select_ sets the predicate for the selector of an ask, and returns what takes
// it back. Who has none has no predicate.
func (w *world) select_(ask *scenario.Ask) (undo func()) {
	if len(ask.NodeSelector) == 0 {
		return func() {}
	}
	s := selector{admits: make(map[string]bool)}
	for i := range w.doc.Nodes {
		n := &w.doc.Nodes[i]
		s.admits[n.Name] = ask.NodeSelector.Selects(n)
	}
	plugins.RegisterSchedulerPlugin(s)
	return plugins.UnregisterSchedulerPlugins
}

// A selector answers for the resource manager: by the labels of nodes alone.
type selector struct {
	api.ResourceManagerCallback // nothing else is called
	admits                      map[string]bool
}

var errSelector = errors.New("the selector refuses the node")

// Predicates says whether an ask may run on a node.
func (s selector) Predicates(args *si.PredicatesArgs) error {
	if !s.admits[args.NodeID] {
		return errSelector
	}
	return nil
}

// PreemptionPredicates says whether it may, once enough victims are gone: then
// the first that YuniKorn proposes are enough.
func (s selector) PreemptionPredicates(args *si.PreemptionPredicatesArgs) *si.PreemptionPredicatesResponse {
	return &si.PreemptionPredicatesResponse{Success: s.admits[args.NodeID], Index: args.StartIndex}
}

// SendEvent and UpdateContainerSchedulingState tell the resource manager what it
// need not know here.
func (selector) SendEvent([]*si.EventRecord) {}

func (selector) UpdateContainerSchedulingState(*si.UpdateContainerSchedulingStateRequest) {}
