// SPDX-License-Identifier: Apache-2.0

package perf

import (
	"context"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/go-preempt/preempt/examples/kubernetes/preemptbyqueue"
)

// A stopwatch notes what happens in a scheduler.
type stopwatch struct {
	mu        sync.Mutex
	durations []time.Duration // of all calls of PostFilter
	// Of the pods that are measured: when the first one came, and when each was
	// bound, or refused for the first time.
	first          time.Time
	bound, refused map[types.UID]time.Time
}

// reset forgets everything.
func (s *stopwatch) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.durations, s.first = nil, time.Time{}
	s.bound, s.refused = map[types.UID]time.Time{}, map[types.UID]time.Time{}
}

// measured reports whether a pod is one of those whose rate is measured.
func measured(pod *v1.Pod) bool { return pod.Labels["asks"] == "yes" }

// postFilter notes a call of PostFilter that has just ended.
func (s *stopwatch) postFilter(pod *v1.Pod, began time.Time) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.durations = append(s.durations, now.Sub(began))
	if _, ok := s.refused[pod.UID]; !ok && measured(pod) {
		s.refused[pod.UID] = now
	}
}

// registry has the plugins of both schedulers.
func (s *stopwatch) registry() frameworkruntime.Registry {
	byQueue := preemptbyqueue.Factory()
	return frameworkruntime.Registry{
		"Rate": func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return &rate{s}, nil },
		preemptbyqueue.Name: func(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
			p, err := byQueue(ctx, args, h)
			if err != nil {
				return nil, err
			}
			return &timedByQueue{p.(*preemptbyqueue.Plugin), s}, nil
		},
		timedDefaultName: func(ctx context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
			p, err := defaultpreemption.New(ctx, &config.DefaultPreemptionArgs{
				MinCandidateNodesPercentage: 10, MinCandidateNodesAbsolute: 100,
			}, h, feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate))
			if err != nil {
				return nil, err
			}
			return &timedDefault{p, s}, nil
		},
	}
}

// timedByQueue is the plugin under a stopwatch.
type timedByQueue struct {
	*preemptbyqueue.Plugin
	watch *stopwatch
}

func (t *timedByQueue) PostFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, m fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	defer t.watch.postFilter(pod, time.Now())
	return t.Plugin.PostFilter(ctx, state, pod, m)
}

// timedDefault is DefaultPreemption under a stopwatch. A plugin from outside cannot
// have its name.
type timedDefault struct {
	*defaultpreemption.DefaultPreemption
	watch *stopwatch
}

const timedDefaultName = "TimedDefaultPreemption"

func (t *timedDefault) Name() string { return timedDefaultName }

func (t *timedDefault) PostFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, m fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	defer t.watch.postFilter(pod, time.Now())
	return t.DefaultPreemption.PostFilter(ctx, state, pod, m)
}

// rate sees pods come and go to their nodes.
type rate struct{ watch *stopwatch }

var (
	_ fwk.PreEnqueuePlugin = &rate{}
	_ fwk.PostBindPlugin   = &rate{}
)

func (r *rate) Name() string { return "Rate" }

func (r *rate) PreEnqueue(_ context.Context, pod *v1.Pod) *fwk.Status {
	r.watch.mu.Lock()
	defer r.watch.mu.Unlock()
	if measured(pod) && r.watch.first.IsZero() {
		r.watch.first = time.Now()
	}
	return nil
}

func (r *rate) PostBind(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) {
	r.watch.mu.Lock()
	defer r.watch.mu.Unlock()
	if measured(pod) {
		r.watch.bound[pod.UID] = time.Now()
	}
}
