// SPDX-License-Identifier: Apache-2.0

package kubescheduler

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/go-preempt/preempt/internal/judge/exam"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	res "github.com/go-preempt/preempt/resources"
	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/informers"
	clientsetfake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	kubeschedulerconfigv1 "k8s.io/kube-scheduler/config/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	configv1 "k8s.io/kubernetes/pkg/scheduler/apis/config/v1"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeports"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeunschedulable"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	tf "k8s.io/kubernetes/pkg/scheduler/testing/framework"
)

// A world is a cluster in the scheduler's objects.
type world struct {
	doc  *scenario.Document
	peer Peer
	now  time.Time // ages count back from here

	ctx      context.Context
	fw       framework.Framework
	plugin   *defaultpreemption.DefaultPreemption
	snapshot *internalcache.Snapshot
	nodes    []fwk.NodeInfo
	pdbs     []*policy.PodDisruptionBudget
	budgets  map[string]string // labels, by the budgets that they stand for
	ports    map[string]int32  // numbers, by the ports that they stand for
}

// registered makes the scheduler's metrics, which must happen once.
var registered = sync.OnceFunc(metrics.Register)

// informing makes the informers that plugins are given. There is nothing to be
// informed of, so one is enough for all worlds.
var informing = sync.OnceValue(func() informers.SharedInformerFactory {
	return informers.NewSharedInformerFactory(clientsetfake.NewClientset(), 0)
})

// build makes everything.
func (w *world) build() error {
	registered()
	w.now = time.Now()
	w.budgets, w.ports = make(map[string]string), make(map[string]int32)
	w.addBudgets()
	var pods []*v1.Pod
	for i := range w.doc.Tasks {
		p, err := w.task(&w.doc.Tasks[i])
		if err != nil {
			return err
		}
		pods = append(pods, p)
	}
	var nodes []*v1.Node
	for i := range w.doc.Nodes {
		nodes = append(nodes, w.node(&w.doc.Nodes[i]))
	}
	w.snapshot = internalcache.NewSnapshot(pods, nodes)
	if err := w.addFramework(); err != nil {
		return err
	}
	// In the order of the document, as far as one is needed.
	for i := range w.doc.Nodes {
		info, err := w.snapshot.Get(w.doc.Nodes[i].Name)
		if err != nil {
			return err
		}
		w.nodes = append(w.nodes, info)
	}
	return nil
}

// addFramework makes the scheduler's framework with its plugins.
func (w *world) addFramework() error {
	w.ctx = klog.NewContext(context.Background(), klog.Logger{})
	factory := informing()
	fit := frameworkruntime.FactoryAdapter(feature.Features{}, noderesources.NewFit)
	affinity := frameworkruntime.FactoryAdapter(feature.Features{}, nodeaffinity.New)
	ports := frameworkruntime.FactoryAdapter(feature.Features{}, nodeports.New)
	unschedulable := frameworkruntime.FactoryAdapter(feature.Features{}, nodeunschedulable.New)
	var err error
	w.fw, err = tf.NewFramework(w.ctx, []tf.RegisterPluginFunc{
		tf.RegisterPluginAsExtensions(nodeunschedulable.Name, unschedulable, "Filter"),
		tf.RegisterPluginAsExtensions(nodeaffinity.Name, affinity, "Filter", "PreFilter"),
		tf.RegisterPluginAsExtensions(nodeports.Name, ports, "Filter", "PreFilter"),
		tf.RegisterPluginAsExtensions(noderesources.Name, fit, "Filter", "PreFilter"),
		tf.RegisterQueueSortPlugin(queuesort.Name, queuesort.New),
		tf.RegisterBindPlugin(defaultbinder.Name, defaultbinder.New),
	}, "",
		frameworkruntime.WithPodNominator(internalqueue.NewSchedulingQueue(nil, factory)),
		frameworkruntime.WithSnapshotSharedLister(w.snapshot),
		frameworkruntime.WithMutableSnapshotLister(w.snapshot),
		frameworkruntime.WithInformerFactory(factory),
		frameworkruntime.WithLogger(klog.Logger{}),
	)
	if err != nil {
		return err
	}
	defaults := &kubeschedulerconfigv1.DefaultPreemptionArgs{}
	configv1.SetDefaults_DefaultPreemptionArgs(defaults)
	args := &config.DefaultPreemptionArgs{}
	if err := configv1.Convert_v1_DefaultPreemptionArgs_To_config_DefaultPreemptionArgs(defaults, args, nil); err != nil {
		return err
	}
	w.plugin, err = defaultpreemption.New(w.ctx, args, w.fw, feature.Features{})
	return err
}

// addBudgets makes a budget of each, and a label for the pods that it is about.
func (w *world) addBudgets() {
	for i := range w.doc.Budgets {
		b := &w.doc.Budgets[i]
		label := fmt.Sprintf("budget-%d", i)
		w.budgets[b.Name] = label
		w.pdbs = append(w.pdbs, &policy.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Name: label, Namespace: namespace, Annotations: map[string]string{"name": b.Name}},
			Spec:       policy.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{label: "in"}}, MinAvailable: &intstr.IntOrString{}},
			Status:     policy.PodDisruptionBudgetStatus{DisruptionsAllowed: int32(min(max(b.Left, math.MinInt32), math.MaxInt32))},
		})
	}
}

const namespace = "default"

// task makes a running pod of a task.
func (w *world) task(t *scenario.Task) (*v1.Pod, error) {
	p, err := w.pod(t.Key, t.Resources, t.Ports)
	if err != nil {
		return nil, err
	}
	p.Spec.NodeName, p.Spec.Priority = t.Node, &t.Priority
	p.Labels = make(map[string]string)
	for _, b := range t.Budgets {
		p.Labels[w.budgets[b]] = "in"
	}
	if !t.NeverScheduled {
		start := metav1.NewTime(w.now.Add(-t.ScheduledAge))
		p.Status.StartTime = &start
	}
	if t.State != scenario.StateRunning {
		now := metav1.NewTime(w.now)
		p.DeletionTimestamp = &now
	}
	return p, nil
}

// ask makes a pending pod of an ask.
func (w *world) ask(a *scenario.Ask) (*v1.Pod, error) {
	p, err := w.pod(a.Key, a.Resources, a.Ports)
	if err != nil {
		return nil, err
	}
	p.Spec.Priority, p.Spec.NodeSelector = &a.Priority, a.NodeSelector
	if !a.AllowPreemptOther {
		never := v1.PreemptNever
		p.Spec.PreemptionPolicy = &never
	}
	if a.RequiredNode != "" {
		p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
				MatchFields: []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{a.RequiredNode}}},
			}}},
		}}
		// A DaemonSet's pods tolerate nodes that take no others.
		p.Spec.Tolerations = []v1.Toleration{{Key: v1.TaintNodeUnschedulable, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoSchedule}}
	}
	return p, nil
}

// pod makes a pod of some size.
func (w *world) pod(key string, size res.Vector, ports []string) (*v1.Pod, error) {
	if i, ok := w.doc.Schema.Index("pods"); ok && size[i] != 1 {
		return nil, fmt.Errorf("%w: a task that is not one pod", exam.ErrCannot)
	}
	c := v1.Container{Name: "c", Resources: v1.ResourceRequirements{Requests: w.list(size)}}
	delete(c.Resources.Requests, v1.ResourcePods)
	for _, port := range ports {
		if w.ports[port] == 0 {
			w.ports[port] = int32(1 + len(w.ports))
		}
		c.Ports = append(c.Ports, v1.ContainerPort{ContainerPort: w.ports[port], HostPort: w.ports[port], Protocol: v1.ProtocolTCP})
	}
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: key, Namespace: namespace, UID: types.UID("uid-" + key)},
		Spec:       v1.PodSpec{Containers: []v1.Container{c}},
	}, nil
}

// manyPods is the room of a node for pods, if the document does not count them.
const manyPods = 1 << 30

// node makes a node.
func (w *world) node(n *scenario.Node) *v1.Node {
	capacity := w.list(n.Capacity)
	if _, counted := w.doc.Schema.Index("pods"); !counted {
		capacity[v1.ResourcePods] = *resource.NewQuantity(manyPods, resource.DecimalSI)
	}
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels},
		Spec:       v1.NodeSpec{Unschedulable: n.Unschedulable},
		Status:     v1.NodeStatus{Capacity: capacity, Allocatable: capacity},
	}
}

// list returns amounts as the scheduler has them, without zeros.
func (w *world) list(v res.Vector) v1.ResourceList {
	list := make(v1.ResourceList)
	for name, amount := range exam.ByType(w.doc.Schema, v) {
		if name == string(v1.ResourceCPU) {
			list[v1.ResourceCPU] = *resource.NewMilliQuantity(amount, resource.DecimalSI)
			continue
		}
		list[typeOf(name)] = *resource.NewQuantity(amount, resource.DecimalSI)
	}
	return list
}

// typeOf returns what a type of a document is called in Kubernetes.
func typeOf(name string) v1.ResourceName {
	switch v1.ResourceName(name) {
	case v1.ResourceCPU, v1.ResourceMemory, v1.ResourceEphemeralStorage, v1.ResourcePods:
		return v1.ResourceName(name)
	}
	return v1.ResourceName("peers.example/" + name)
}
