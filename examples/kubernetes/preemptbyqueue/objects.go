// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/go-preempt/preempt/examples/kubernetes/preemptqueues"
	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// objects follows PreemptQueues, and writes what became of each into its status. All
// replicas of a scheduler do so. They write the same, and the API takes it from one of
// them only.
type objects struct {
	core   *core
	base   *setup // of the arguments
	client dynamic.NamespaceableResourceInterface
	store  cache.Store
	synced []cache.InformerSynced
	event  func(about *preemptqueues.PreemptQueue, kind, reason, note string)

	stale atomic.Bool // the objects may make another tree by now
	read  atomic.Bool // they have made one
	next  time.Time   // when usage is looked at again
	root  queue.Config
}

const (
	// objectsEvery is how often changes of objects are looked for.
	objectsEvery = time.Second
	// usageEvery is how often usage is counted at most. It takes a twentieth of a core.
	usageEvery, usagePart = 5 * time.Second, 20
	// statusesAtOnce is how many statuses are written before changes are looked for again.
	statusesAtOnce = 100
	statusTimeout  = 10 * time.Second
	// longestReason is how much of a message about a pod is told of its queue, in bytes.
	longestReason = 500
)

// watchObjects follows PreemptQueues until the context ends. It has a client of its own:
// statuses must not hold bindings up.
func (c *core) watchObjects(ctx context.Context, h fwk.Handle) error {
	config := rest.CopyConfig(h.KubeConfig())
	config.QPS, config.Burst = 50, statusesAtOnce
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	informer := dynamicinformer.NewFilteredDynamicInformer(client, preemptqueues.Resource, metav1.NamespaceAll, 0, nil, nil).Informer()
	o := &objects{core: c, base: c.queues(), client: client.Resource(preemptqueues.Resource), store: informer.GetStore()}
	o.event = func(about *preemptqueues.PreemptQueue, kind, reason, note string) {
		h.EventRecorder().Eventf(about, nil, kind, reason, "Configuring", "%s", note)
	}
	if err := informer.SetTransform(typed); err != nil {
		return err
	}
	changed := func(any) { o.stale.Store(true) }
	handler, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: changed, DeleteFunc: changed, UpdateFunc: o.updated})
	if err != nil {
		return err
	}
	f := h.SharedInformerFactory().Core().V1()
	o.synced = []cache.InformerSynced{handler.HasSynced, f.Pods().Informer().HasSynced, f.Namespaces().Informer().HasSynced}
	o.stale.Store(true)
	c.ready = o.read.Load
	go informer.RunWithContext(ctx)
	go every(ctx, objectsEvery, func(now time.Time) { o.look(ctx, now) })
	return nil
}

// typed returns an object of the informer as what it is.
func typed(obj any) (any, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return obj, nil
	}
	text, err := u.MarshalJSON()
	if err != nil {
		return nil, err
	}
	o := &preemptqueues.PreemptQueue{}
	return o, json.Unmarshal(text, o) // which reads numbers as amounts; the converter does not
}

// updated notes a change of an object that may change the tree.
func (o *objects) updated(old, now any) {
	before, after := old.(*preemptqueues.PreemptQueue), now.(*preemptqueues.PreemptQueue)
	if before.Generation != after.Generation || before.Status.Queue != after.Status.Queue ||
		!equality.Semantic.DeepEqual(before.Status.InForce, after.Status.InForce) ||
		!equality.Semantic.DeepEqual(before.Status.Guaranteed, after.Status.Guaranteed) {
		o.stale.Store(true)
	}
}

// look makes the tree of the objects, if it may be another one, and writes the statuses
// that are not right.
func (o *objects) look(ctx context.Context, now time.Time) {
	for _, synced := range o.synced {
		if !synced() {
			return
		}
	}
	if !o.stale.Swap(false) && now.Before(o.next) {
		return
	}
	if err := o.put(ctx, now); err != nil {
		o.core.log.Error(err, "Queues not read")
		o.stale.Store(true)
	}
	o.next = time.Now().Add(max(usageEvery, usagePart*time.Since(now)))
}

func (o *objects) put(ctx context.Context, now time.Time) error {
	c := o.core
	counts, err := c.census()
	if err != nil {
		return err
	}
	var list []*preemptqueues.PreemptQueue
	for _, obj := range o.store.List() {
		list = append(list, obj.(*preemptqueues.PreemptQueue))
	}
	a := assembly(o.base)
	a.Named, a.Before = counts.isNamed, c.queues().tree
	root, verdicts := a.Put(list)
	s, err := c.args.setup(a.Schema, root, nil)
	if err != nil {
		return err // never: see the laws of package preemptqueues
	}
	if !o.read.Load() || !reflect.DeepEqual(root, o.root) {
		c.changeQueues(&change{setup: s, tell: func(_, reason, note string) { c.log.Info(note, "reason", reason) }})
		o.root = root
		o.read.Store(true)
	}
	sums, written := counts.byQueue(s), 0
	for i := range verdicts {
		v := &verdicts[i]
		status := statusOf(v, s, sums)
		if equality.Semantic.DeepEqual(&v.Object.Status, status) {
			continue
		}
		if written++; written > statusesAtOnce {
			o.stale.Store(true)
			return nil
		}
		if err := o.write(ctx, v.Object, status); err != nil {
			if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) { // else it is another one by now
				return err
			}
			continue
		}
		o.tell(v, status)
	}
	return nil
}

// assembly returns what makes a tree of objects, with the queues of the arguments.
func assembly(base *setup) *preemptqueues.Assembly {
	return &preemptqueues.Assembly{Schema: base.tree.Schema(), Root: base.root, Namespace: base.args.QueuesNamespace,
		Default: base.args.DefaultQueue, Named: func(string) bool { return false }}
}

// statusOf returns the status of an object.
func statusOf(v *preemptqueues.Verdict, s *setup, sums []count) *preemptqueues.Status {
	schema, of := s.tree.Schema(), v.Object
	status := &preemptqueues.Status{ObservedGeneration: of.Generation, Queue: v.Queue, InForce: v.Spec,
		Guaranteed: preemptqueues.QuantitiesOf(schema, v.Guaranteed), Max: preemptqueues.QuantitiesOf(schema, v.Max)}
	status.Conditions = append(status.Conditions, of.Status.Conditions...)
	inForce := metav1.Condition{Type: preemptqueues.ConditionInForce, Status: metav1.ConditionTrue,
		Reason: v.Reason, Message: v.Message, ObservedGeneration: of.Generation}
	if v.Reason != preemptqueues.ReasonAsSpecified {
		inForce.Status = metav1.ConditionFalse
	}
	waiting := metav1.Condition{Type: preemptqueues.ConditionWaiting, Status: metav1.ConditionFalse,
		Reason: "NobodyWaits", ObservedGeneration: of.Generation}
	if v.Queue != "" {
		q, _ := s.tree.Lookup(s.tree.Path(queue.Root) + "." + v.Queue)
		sum := &sums[q]
		status.Used, status.Share, status.Waiting = preemptqueues.QuantitiesOf(schema, resources.Limit{Value: sum.used, Defined: resources.Positive(sum.used)}), preemptqueues.ShareOf(sum.used, v.Guaranteed), sum.waiting
		if sum.first != nil {
			waiting.Status, waiting.Reason = metav1.ConditionTrue, "PodsRefused"
			waiting.Message = fmt.Sprintf("%s: %s", name(sum.first), shortened(refusal(sum.first)))
		}
	}
	meta.SetStatusCondition(&status.Conditions, inForce)
	meta.SetStatusCondition(&status.Conditions, waiting)
	return status
}

// shortened returns the begin of a text that is too long.
func shortened(text string) string {
	if len(text) <= longestReason {
		return text
	}
	text = text[:longestReason]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return strings.TrimSpace(text) + "…"
}

// write writes a status, if the object is still the one that was looked at.
func (o *objects) write(ctx context.Context, of *preemptqueues.PreemptQueue, status *preemptqueues.Status) error {
	changed := *of
	changed.Status = *status
	raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&changed)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	_, err = o.client.Namespace(of.Namespace).UpdateStatus(ctx, &unstructured.Unstructured{Object: raw}, metav1.UpdateOptions{})
	return err
}

// tell writes an event if what is in force of an object is other than before.
func (o *objects) tell(v *preemptqueues.Verdict, status *preemptqueues.Status) {
	before := meta.FindStatusCondition(v.Object.Status.Conditions, preemptqueues.ConditionInForce)
	after := meta.FindStatusCondition(status.Conditions, preemptqueues.ConditionInForce)
	if before != nil && before.Reason == after.Reason && before.Message == after.Message {
		return
	}
	kind, reason, note := v1.EventTypeWarning, "Queue"+after.Reason, after.Message
	if after.Status == metav1.ConditionTrue {
		kind = v1.EventTypeNormal
	}
	o.core.log.Info("Queue", "object", klog.KObj(v.Object), "reason", v.Reason, "message", v.Message)
	o.event(v.Object, kind, reason, cmp.Or(note, "The queue is as the object says."))
}
