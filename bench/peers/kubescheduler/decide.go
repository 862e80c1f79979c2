// SPDX-License-Identifier: Apache-2.0

package kubescheduler

import (
	"github.com/go-preempt/preempt/internal/judge/exam"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Decide asks the scheduler as its scheduling cycle does: whether a node passes
// the filters as things are, else for preemption. Of several nodes that pass it
// names the first, for scores play no part here.
func (w *world) Decide(ask *scenario.Ask) (exam.Answer, error) {
	pod, err := w.ask(ask)
	if err != nil {
		return exam.Answer{}, err
	}
	state := framework.NewCycleState()
	prefilter, status, _ := w.fw.RunPreFilterPlugins(w.ctx, state, pod)
	if status.Code() == fwk.Error {
		return exam.Answer{}, status.AsError()
	}
	unresolvable := fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "not looked at")
	failed := framework.NewNodeToStatus(make(map[string]*fwk.Status), unresolvable)
	if status.IsRejected() {
		return exam.Answer{}, nil // no node can ever do
	}
	for _, n := range w.nodes {
		name := n.Node().Name
		if !prefilter.AllNodes() && !prefilter.NodeNames.Has(name) {
			continue
		}
		status := w.fw.RunFilterPluginsWithNominatedPods(w.ctx, state, pod, n)
		if status.IsSuccess() {
			return exam.Answer{Node: name}, nil
		}
		failed.Set(name, status)
	}
	var answer exam.Answer
	w.peer.Meter.Run(func() { answer, err = w.preempt(state, pod, failed) })
	return answer, err
}

// preempt does what the default preemption does, up to the deleting of pods.
func (w *world) preempt(state fwk.CycleState, pod *v1.Pod, failed *framework.NodeToStatus) (exam.Answer, error) {
	if ok, _ := w.plugin.PodEligibleToPreemptOthers(w.ctx, pod, failed.Get("")); !ok {
		return exam.Answer{}, nil
	}
	nodes, err := failed.NodesForStatusCode(w.snapshot, fwk.Unschedulable)
	if err != nil || len(nodes) == 0 {
		return exam.Answer{}, err
	}
	offset, candidates := w.plugin.GetOffsetAndNumCandidates(int32(len(nodes)))
	if !w.peer.Sampled {
		offset, candidates = 0, int32(len(nodes))
	}
	found, _, err := w.plugin.Evaluator.DryRunPreemption(w.ctx, state, pod, nodes, w.pdbs, offset, candidates)
	if len(found) == 0 {
		return exam.Answer{}, err
	}
	best := w.plugin.Evaluator.SelectCandidate(w.ctx, found)
	answer := exam.Answer{Node: best.Name()}
	for _, p := range best.Victims().Pods {
		answer.Victims = append(answer.Victims, p.Name)
	}
	return answer, nil
}
