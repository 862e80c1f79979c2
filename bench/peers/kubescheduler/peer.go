// SPDX-License-Identifier: Apache-2.0

package kubescheduler

import (
	"github.com/go-preempt/preempt/internal/judge/exam"
	"github.com/go-preempt/preempt/internal/judge/scenario"
)

// Peer is the kube-scheduler under examination.
type Peer struct {
	// Sampled leaves to the scheduler how many nodes it looks at, which is a
	// tenth of them, or a hundred if that is more. Otherwise it looks at all.
	Sampled bool
	Meter   exam.Meter
}

// Where the kube-scheduler promises what it does.
const (
	manual   = "kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption"
	reprieve = "k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption, SelectVictimsOnNode"
	pick     = "k8s.io/kubernetes/pkg/scheduler/framework/preemption, pickOneNodeForPreemption"
)

// Rules returns what the kube-scheduler says of itself.
func (p Peer) Rules() exam.Rules {
	r := exam.Rules{
		Name: "kube-scheduler", Version: "k8s.io/kubernetes v1.37.0", StrictPriority: true, RawPriority: true,
		Knows: []exam.What{
			exam.NodeCapacity, exam.NodeFree, exam.NodeOpen,
			exam.TaskNode, exam.TaskSize, exam.TaskPriority, exam.TaskLeaving, exam.TaskBudgets, exam.BudgetLeft,
		},
		Told: []exam.Feature{
			exam.FeatureSelector, exam.FeaturePorts, exam.FeatureRequiredNode, exam.FeatureLeaving, exam.FeatureSoftBudgets,
		},
		Promises: map[exam.Fault]string{
			"priority": manual, "room": manual, "filter": manual, "schedulable": manual, "blocker": manual, "may-preempt": manual,
			"required-node": manual, "nearby": manual,
			"helpful": reprieve, "minimal": reprieve,
			exam.Refuses: manual, exam.DearerBudget: pick,
		},
	}
	if p.Sampled {
		r.Name = "kube-scheduler, sampled"
		// With fewer nodes to choose from, others may be better.
		delete(r.Promises, exam.DearerBudget)
	}
	return r
}

// Load makes the scheduler's objects of a document.
func (p Peer) Load(doc *scenario.Document) (exam.World, error) {
	w := &world{doc: doc, peer: p}
	return w, w.build()
}
