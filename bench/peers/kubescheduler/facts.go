// SPDX-License-Identifier: Apache-2.0

package kubescheduler

import (
	"strconv"

	"github.com/go-preempt/preempt/internal/judge/exam"
	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// Facts reads back what the scheduler's snapshot says.
func (w *world) Facts() exam.Facts {
	f := make(exam.Facts)
	for _, n := range w.nodes {
		name := n.Node().Name
		capacity, used := w.amounts(n.GetAllocatable()), w.amounts(n.GetRequested())
		free := make(map[string]int64)
		if _, counted := w.doc.Schema.Index("pods"); counted {
			used["pods"] = int64(len(n.GetPods()))
		}
		for t := range capacity {
			free[t] = capacity[t] - used[t]
		}
		f.Amounts(exam.NodeCapacity, name, capacity)
		f.Amounts(exam.NodeFree, name, free)
		f.Flag(exam.NodeOpen, name, !n.Node().Spec.Unschedulable)
		for _, info := range n.GetPods() {
			w.podFacts(f, name, info)
		}
	}
	for _, b := range w.pdbs {
		f[exam.Fact{What: exam.BudgetLeft, Of: b.Annotations["name"]}] = strconv.Itoa(int(b.Status.DisruptionsAllowed))
	}
	return f
}

// amounts returns the amounts of all types of the document.
func (w *world) amounts(r fwk.Resource) map[string]int64 {
	all := make(map[string]int64)
	for i := range w.doc.Schema.Len() {
		name := w.doc.Schema.Name(i)
		switch t := typeOf(name); t {
		case v1.ResourceCPU:
			all[name] = r.GetMilliCPU()
		case v1.ResourceMemory:
			all[name] = r.GetMemory()
		case v1.ResourceEphemeralStorage:
			all[name] = r.GetEphemeralStorage()
		case v1.ResourcePods:
			all[name] = int64(r.GetAllowedPodNumber())
		default:
			all[name] = r.GetScalarResources()[t]
		}
	}
	return all
}

// podFacts notes what the scheduler knows of a pod.
func (w *world) podFacts(f exam.Facts, node string, info fwk.PodInfo) {
	p := info.GetPod()
	size := w.amounts(info.CalculateResource().Resource)
	if _, counted := w.doc.Schema.Index("pods"); counted {
		size["pods"] = 1
	}
	f.Amounts(exam.TaskSize, p.Name, size)
	f[exam.Fact{What: exam.TaskNode, Of: p.Name}] = node
	f[exam.Fact{What: exam.TaskPriority, Of: p.Name}] = strconv.Itoa(int(*p.Spec.Priority))
	f.Flag(exam.TaskLeaving, p.Name, p.DeletionTimestamp != nil)
	for name, label := range w.budgets {
		if p.Labels[label] != "" {
			f[exam.Fact{What: exam.TaskBudgets, Of: p.Name, Type: name}] = "true"
		}
	}
}
