// SPDX-License-Identifier: Apache-2.0

// Package defaultpreemption takes the place of the package of this name in a build of
// tests that were written for DefaultPreemption. Make returns the plugin to test.
package defaultpreemption

import (
	"context"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// Name is what configurations call the plugin.
const Name = names.DefaultPreemption

// A Plugin is all that the plugin is for the scheduler.
type Plugin interface {
	fwk.PreEnqueuePlugin
	fwk.PreFilterPlugin
	fwk.FilterPlugin
	fwk.PostFilterPlugin
	fwk.ReservePlugin
	fwk.EnqueueExtensions
	fwk.SignPlugin
	fwk.PodGroupPostFilterPlugin
}

// Make makes the plugin. It is to call hold before a victim is told to stop. A package
// that imports this one sets it: the plugin imports this one, too.
var Make func(ctx context.Context, h fwk.Handle, hold func(preemptor *v1.Pod)) (Plugin, error)

// DefaultPreemption is what tests know of the plugin.
type DefaultPreemption struct {
	Plugin
	Executor *Executor
}

// New makes the plugin without arguments.
func New(ctx context.Context, _ runtime.Object, h fwk.Handle, _ feature.Features) (*DefaultPreemption, error) {
	e := &Executor{running: map[types.UID]int{}}
	e.PreemptPod = func(context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *v1.Pod, string) (bool, error) {
		return false, nil
	}
	p, err := Make(ctx, h, e.hold)
	return &DefaultPreemption{p, e}, err
}

// Name is what configurations call the plugin.
func (*DefaultPreemption) Name() string { return Name }

// An Executor tells a test that a victim is about to stop, and which pods stop others now.
type Executor struct {
	// PreemptPod is called before. What it returns, and all it gets but the preemptor,
	// says nothing.
	PreemptPod func(context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *v1.Pod, string) (bool, error)

	mu      sync.Mutex
	running map[types.UID]int // calls of PreemptPod
}

func (e *Executor) hold(p *v1.Pod) {
	add := func(n int) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.running[p.UID] += n
	}
	add(1)
	defer add(-1)
	e.PreemptPod(context.Background(), nil, preemptor{p}, nil, Name)
}

// IsPodRunningPreemption reports whether a pod stops others now.
func (e *Executor) IsPodRunningPreemption(uid types.UID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.running[uid] > 0
}

type preemptor struct{ *v1.Pod }

func (p preemptor) UID() types.UID           { return p.Pod.UID }
func (p preemptor) SchedulerName() string    { return p.Spec.SchedulerName }
func (p preemptor) Obj() runtime.Object      { return p.Pod }
func (p preemptor) Pods() map[string]*v1.Pod { return map[string]*v1.Pod{p.Pod.Name: p.Pod} }
func (p preemptor) Priority() int32          { return *p.Spec.Priority }
func (p preemptor) Type() string             { return string(fwk.PodKeyType) }
