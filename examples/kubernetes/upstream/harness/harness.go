// SPDX-License-Identifier: Apache-2.0

// Package harness makes the plugin for tests that were written for DefaultPreemption.
// Some of them hold its evictions back, to look at what the scheduler does meanwhile.
package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientset "k8s.io/client-go/kubernetes"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/go-preempt/preempt/examples/kubernetes/preemptbyqueue"
)

// An API server that is told to stop while it starts would end the process, and all
// tests that are still to come.
func init() { klog.OsExit = func(int) {} }

var factory = preemptbyqueue.Factory()

// New makes the plugin without arguments: there is one queue. Before a victim of a pod is
// told to stop, hold is called, and holds that back until it returns.
func New(ctx context.Context, h fwk.Handle, hold func(preemptor *v1.Pod)) (*preemptbyqueue.Plugin, error) {
	runner, ok := h.(framework.Framework)
	if !ok {
		return nil, fmt.Errorf("harness: the handle is a %T", h)
	}
	p, err := factory(ctx, nil, &handle{runner, hold})
	if err != nil {
		return nil, err
	}
	return p.(*preemptbyqueue.Plugin), nil
}

// A handle has the plugin call hold whichever way it takes to stop a victim. Each of
// them is told why, and that names the preemptor.
type handle struct {
	framework.Framework
	hold func(preemptor *v1.Pod)
}

var preemptor = regexp.MustCompile(`^preempted by ([^/ ]+)/([^/ ]+) of queue `)

// wait calls hold for what a victim is told, if a pod is the reason. A PodGroup may be.
func (h *handle) wait(why string) {
	name := preemptor.FindStringSubmatch(why)
	if name == nil {
		panic(fmt.Sprintf("harness: this names no preemptor: %q", why))
	}
	pod, err := h.SharedInformerFactory().Core().V1().Pods().Lister().Pods(name[1]).Get(name[2])
	if err == nil {
		h.hold(pod)
	}
}

func (h *handle) ClientSet() clientset.Interface { return &client{h.Framework.ClientSet(), h} }

func (h *handle) GetWaitingPod(uid types.UID) fwk.WaitingPod {
	if pod := h.Framework.GetWaitingPod(uid); pod != nil {
		return &waiting{pod, h}
	}
	return nil
}

func (h *handle) GetPodInPreBind(uid types.UID) fwk.PodInPreBind {
	if pod := h.Framework.GetPodInPreBind(uid); pod != nil {
		return &binding{pod, h}
	}
	return nil
}

type waiting struct {
	fwk.WaitingPod
	handle *handle
}

func (w *waiting) Preempt(plugin, why string) bool {
	w.handle.wait(why)
	return w.WaitingPod.Preempt(plugin, why)
}

type binding struct {
	fwk.PodInPreBind
	handle *handle
}

func (b *binding) CancelPod(why string) bool {
	b.handle.wait(why)
	return b.PodInPreBind.CancelPod(why)
}

type client struct {
	clientset.Interface
	handle *handle
}

func (c *client) CoreV1() corev1.CoreV1Interface { return &core{c.Interface.CoreV1(), c.handle} }

type core struct {
	corev1.CoreV1Interface
	handle *handle
}

func (c *core) Pods(namespace string) corev1.PodInterface {
	return &pods{c.CoreV1Interface.Pods(namespace), c.handle}
}

type pods struct {
	corev1.PodInterface
	handle *handle
}

// Patch holds back the condition that a victim gets before it is deleted.
func (p *pods) Patch(ctx context.Context, name string, kind types.PatchType, data []byte, opts metav1.PatchOptions, of ...string) (*v1.Pod, error) {
	if why, ok := reason(data); ok {
		p.handle.wait(why)
	}
	return p.PodInterface.Patch(ctx, name, kind, data, opts, of...)
}

// reason returns what the condition of a victim says, without the name of the scheduler
// that it begins with. It returns false if a patch is about something else.
func reason(patch []byte) (why string, ok bool) {
	var pod v1.Pod
	if json.Unmarshal(patch, &pod) != nil {
		return "", false
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == v1.DisruptionTarget {
			_, why, ok = strings.Cut(c.Message, ": ")
			return why, ok
		}
	}
	return "", false
}
