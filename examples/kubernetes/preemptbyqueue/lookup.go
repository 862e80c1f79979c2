// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	policylisters "k8s.io/client-go/listers/policy/v1"
	schedulinglisters "k8s.io/client-go/listers/scheduling/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/go-preempt/preempt/toleration"
)

// A lookup knows what is not in the scheduler's snapshot and what tasks are made of:
// labels of namespaces, priority classes and disruption budgets.
type lookup struct {
	args       *Args
	namespaces corelisters.NamespaceLister
	classes    schedulinglisters.PriorityClassLister
	budgets    policylisters.PodDisruptionBudgetLister

	// stale is set if tasks that were made before may be others now.
	stale atomic.Bool
	known atomic.Pointer[known]

	// staleEvicted is set if budgets have let other pods go. evicted has those of the last look,
	// by namespace/name, and since when; for who holds the lock of the core.
	staleEvicted atomic.Bool
	evicted      map[string]time.Time
}

// known is what was read last. It never changes.
type known struct {
	tags    map[string]uint64 // by name of a class
	classes []toleration.Class
	budgets map[string][]budget // by namespace, in the order of their names
	names   []string            // of all budgets, sorted

	tolerant bool // some class tolerates preemptors
}

// A budget is a PodDisruptionBudget.
type budget struct {
	name     string // namespace/name
	selector labels.Selector
}

// newLookup asks the informers to keep what is looked up.
func newLookup(args *Args, f informers.SharedInformerFactory) (*lookup, error) {
	l := &lookup{
		args:       args,
		namespaces: f.Core().V1().Namespaces().Lister(),
		classes:    f.Scheduling().V1().PriorityClasses().Lister(),
		budgets:    f.Policy().V1().PodDisruptionBudgets().Lister(),
	}
	l.known.Store(&known{classes: make([]toleration.Class, 1)})
	l.stale.Store(true)
	l.staleEvicted.Store(true)
	for _, informer := range []cache.SharedIndexInformer{
		f.Core().V1().Namespaces().Informer(),
		f.Scheduling().V1().PriorityClasses().Informer(),
		f.Policy().V1().PodDisruptionBudgets().Informer(),
	} {
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: l.came,
			DeleteFunc: func(any) {
				l.stale.Store(true)
				l.staleEvicted.Store(true)
			},
			UpdateFunc: func(old, now any) {
				if evictsOthers(old, now) {
					l.staleEvicted.Store(true)
				}
				if l.matters(old, now) {
					l.stale.Store(true)
				}
			},
		})
		if err != nil {
			return nil, err
		}
	}
	return l, nil
}

// came notes a new object. A namespace without the label is as one that is not known.
func (l *lookup) came(obj any) {
	if ns, ok := obj.(*v1.Namespace); !ok || ns.Labels[l.args.QueueLabel] != "" {
		l.stale.Store(true)
	}
	if _, ok := obj.(*policyv1.PodDisruptionBudget); ok {
		l.staleEvicted.Store(true)
	}
}

// evictsOthers reports whether a budget has let other pods go than before.
func evictsOthers(old, now any) bool {
	b, ok := now.(*policyv1.PodDisruptionBudget)
	return ok && !maps.EqualFunc(old.(*policyv1.PodDisruptionBudget).Status.DisruptedPods, b.Status.DisruptedPods,
		func(a, b metav1.Time) bool { return a.Equal(&b) })
}

// matters reports whether a change of an object may change a task.
func (l *lookup) matters(old, now any) bool {
	switch now := now.(type) {
	case *v1.Namespace:
		return now.Labels[l.args.QueueLabel] != old.(*v1.Namespace).Labels[l.args.QueueLabel]
	case *policyv1.PodDisruptionBudget:
		return now.Generation != old.(*policyv1.PodDisruptionBudget).Generation
	}
	return now.(metav1.Object).GetResourceVersion() != old.(metav1.Object).GetResourceVersion()
}

// read brings what is known up to date. The error tells what could not be read;
// the rest was.
func (l *lookup) read() []error {
	k := &known{tags: map[string]uint64{}, classes: make([]toleration.Class, 1), budgets: map[string][]budget{}}
	mistakes := k.readClasses(l.classes)
	if l.args.DisruptionBudgets != BudgetsIgnore {
		mistakes = append(mistakes, k.readBudgets(l.budgets)...)
	}
	l.known.Store(k)
	return mistakes
}

func (k *known) readClasses(lister schedulinglisters.PriorityClassLister) (mistakes []error) {
	objects, err := lister.List(labels.Everything())
	if err != nil {
		return []error{err}
	}
	slices.SortFunc(objects, func(a, b *schedulingv1.PriorityClass) int { return strings.Compare(a.Name, b.Name) })
	for _, o := range objects {
		written := toleration.PriorityClass{Name: o.Name, Value: o.Value, Annotations: o.Annotations}
		if o.PreemptionPolicy != nil {
			written.PreemptionPolicy = string(*o.PreemptionPolicy)
		}
		class, err := toleration.Parse(written)
		if err != nil {
			mistakes = append(mistakes, err)
			continue
		}
		mistakes = append(mistakes, class.Warnings...)
		k.tags[o.Name] = uint64(len(k.classes))
		k.classes = append(k.classes, class)
		k.tolerant = k.tolerant || class.Policy.Seconds != 0
	}
	return mistakes
}

func (k *known) readBudgets(lister policylisters.PodDisruptionBudgetLister) (mistakes []error) {
	objects, err := lister.List(labels.Everything())
	if err != nil {
		return []error{err}
	}
	for _, o := range objects {
		selector, err := metav1.LabelSelectorAsSelector(o.Spec.Selector)
		if err != nil {
			mistakes = append(mistakes, fmt.Errorf("disruption budget %s/%s: %w", o.Namespace, o.Name, err))
			continue
		}
		b := budget{o.Namespace + "/" + o.Name, selector}
		k.budgets[o.Namespace] = append(k.budgets[o.Namespace], b)
		k.names = append(k.names, b.name)
	}
	for _, of := range k.budgets {
		slices.SortFunc(of, func(a, b budget) int { return strings.Compare(a.name, b.name) })
	}
	slices.Sort(k.names)
	return mistakes
}

// readEvicted finds the pods that budgets have let go, and returns those that were not among
// them, or are not any more.
func (l *lookup) readEvicted() (others []string, err error) {
	objects, err := l.budgets.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	evicted := map[string]time.Time{}
	for _, o := range objects {
		for pod, since := range o.Status.DisruptedPods {
			evicted[o.Namespace+"/"+pod] = since.Time
		}
	}
	for pod, since := range evicted { // in any order, as below: each is by itself
		if before, ok := l.evicted[pod]; !ok || !before.Equal(since) {
			others = append(others, pod)
		}
	}
	for pod := range l.evicted {
		if _, ok := evicted[pod]; !ok {
			others = append(others, pod)
		}
	}
	l.evicted = evicted
	return others, nil
}

// namespaceQueue returns the queue that the label of a namespace names, or "".
func (l *lookup) namespaceQueue(namespace string) string {
	ns, err := l.namespaces.Get(namespace)
	if err != nil {
		return ""
	}
	return ns.Labels[l.args.QueueLabel]
}

// classOf returns the priority class of a pod and its number. A pod without one has
// number 0.
func (l *lookup) classOf(pod *v1.Pod) (uint64, toleration.Class) {
	k := l.known.Load()
	tag := k.tags[pod.Spec.PriorityClassName]
	return tag, k.classes[tag]
}

// class returns the class of a number.
func (l *lookup) class(tag uint64) toleration.Class { return l.known.Load().classes[tag] }

// budgetsOf appends to dst the names of the budgets that a pod draws on.
func (l *lookup) budgetsOf(dst []string, pod *v1.Pod) []string {
	for _, b := range l.known.Load().budgets[pod.Namespace] {
		if b.selector.Matches(labels.Set(pod.Labels)) {
			dst = append(dst, b.name)
		}
	}
	return dst
}
