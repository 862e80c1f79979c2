// SPDX-License-Identifier: Apache-2.0

package yunikorn

import (
	"github.com/apache/yunikorn-core/pkg/log"
	"github.com/go-preempt/preempt/internal/judge/exam"
	"github.com/go-preempt/preempt/internal/judge/scenario"
)

// Peer is YuniKorn under examination.
type Peer struct{ Meter exam.Meter }

// Where YuniKorn promises what it does.
const (
	laws      = "yunikorn.apache.org/docs/design/preemption, the laws of preemption"
	shortfall = "github.com/apache/yunikorn-core/pkg/scheduler/objects, TryPreemption: with a shortfall preemption does not help"
)

// Rules returns what YuniKorn says of itself.
func (Peer) Rules() exam.Rules {
	return exam.Rules{
		Name: "YuniKorn", Version: "github.com/apache/yunikorn-core v1.8.0",
		Knows: []exam.What{
			exam.QueueGuaranteed, exam.QueueMax, exam.QueueUsage, exam.QueueLeaving,
			exam.NodeCapacity, exam.NodeFree, exam.NodeOpen,
			exam.TaskNode, exam.TaskSize, exam.TaskPriority, exam.TaskQueue, exam.TaskApplication,
			exam.TaskOptedOut, exam.TaskOriginator, exam.TaskRequired, exam.TaskLeaving,
		},
		Told: []exam.Feature{exam.FeatureSelector, exam.FeatureRequiredNode, exam.FeatureLeaving},
		Promises: map[exam.Fault]string{
			"opted-out": laws, "guarantee": laws, "application": laws, "trigger": laws,
			"surplus": laws, "priority": laws, "fence": laws,
			"room": shortfall,
		},
	}
}

// Load makes YuniKorn's objects of a document.
func (p Peer) Load(doc *scenario.Document) (exam.World, error) {
	log.UpdateLoggingConfig(map[string]string{"log.level": "FATAL"})
	w := &world{doc: doc, meter: p.Meter}
	return w, w.build()
}
