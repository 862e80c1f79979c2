// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-preempt/preempt/internal/judge/exam"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	"k8s.io/utils/clock"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/expectations"
	"sigs.k8s.io/kueue/pkg/workload"

	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Peer is Kueue under examination, in one of two of its configurations.
type Peer struct {
	// Lower: ClusterQueues reclaim from lower priorities only, whatever the
	// document says. Otherwise they do so only for documents with strict
	// priorities, and from any for all else.
	Lower bool
}

// manual is where Kueue promises what it does.
const manual = "kueue.sigs.k8s.io/docs/concepts/preemption"

// Rules returns what Kueue says of itself. Who reclaims from any priority promises
// nothing about priorities.
func (p Peer) Rules() exam.Rules {
	r := exam.Rules{
		Name: "Kueue, any", Version: "sigs.k8s.io/kueue v0.19.0", StrictPriority: p.Lower, RawPriority: true,
		Told: []exam.Feature{exam.FeatureStrictPriority},
		Knows: []exam.What{
			exam.QueueGuaranteed, exam.QueueMax, exam.QueueUsage, exam.NodeCapacity, exam.TaskSize, exam.TaskPriority, exam.TaskQueue,
		},
		Promises: map[exam.Fault]string{"surplus": manual, "trigger": manual, "room": manual, "headroom": manual},
	}
	if p.Lower {
		r.Name, r.Promises["priority"] = "Kueue, lower", manual
	}
	return r
}

// A world is a cluster in Kueue's objects.
type world struct {
	doc      *scenario.Document
	reclaim  kueue.PreemptionPolicy
	now      time.Time
	cache    *schdcache.Cache
	snapshot *schdcache.Snapshot
	leaves   map[string]string // names of ClusterQueues, by path
}

// quiet is a context whose logger says nothing.
func quiet() context.Context { return ctrllog.IntoContext(context.Background(), logr.Discard()) }

// Load makes Kueue's objects of a document.
func (p Peer) Load(doc *scenario.Document) (exam.World, error) {
	if len(doc.Nodes) != 1 || doc.Nodes[0].Unschedulable {
		return nil, fmt.Errorf("%w: more or less than one node", exam.ErrCannot)
	}
	w := &world{doc: doc, reclaim: kueue.PreemptionPolicyAny, now: time.Now(), cache: schdcache.New(nothing{}), leaves: make(map[string]string)}
	if p.Lower || doc.Options.StrictPriority {
		w.reclaim = kueue.PreemptionPolicyLowerPriority
	}
	return w, w.build()
}

// Decide asks Kueue as its scheduling cycle does: for an assignment of quota, and
// if that needs preemption, for whom to preempt.
func (w *world) Decide(ask *scenario.Ask) (exam.Answer, error) {
	if !ask.AllowPreemptOther {
		return exam.Answer{}, fmt.Errorf("%w: an ask that must not preempt", exam.ErrCannot)
	}
	ctx := quiet()
	info := workload.NewInfo(w.pending(ask))
	info.ClusterQueue = queueRef(w.leaves[ask.Queue])
	cq := w.snapshot.ClusterQueue(info.ClusterQueue)
	preemptor := preemption.New(nil, workload.Ordering{}, nil, nil, false, clock.RealClock{}, nil, expectations.New(), nil)
	assigner := flavorassigner.New(info, cq, w.snapshot.ResourceFlavors, false, preemption.NewOracle(preemptor, w.snapshot), nil,
		config.QuotaCheckBlockUndeclared, resources.NewResourceFormatter())
	assignment := assigner.Assign(ctx, nil)
	node := w.doc.Nodes[0].Name
	switch assignment.RepresentativeMode() {
	case flavorassigner.Fit:
		return exam.Answer{Node: node}, nil
	case flavorassigner.Preempt:
		targets := preemptor.GetTargets(ctx, *info, assignment, w.snapshot)
		if len(targets) == 0 {
			return exam.Answer{}, nil
		}
		answer := exam.Answer{Node: node}
		for _, t := range targets {
			answer.Victims = append(answer.Victims, t.WorkloadInfo.Obj.Annotations[keyAnnotation])
		}
		return answer, nil
	}
	return exam.Answer{}, nil
}
