// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"sigs.k8s.io/yaml"
)

// queuesKey is the key of a ConfigMap under which a tree of queues is.
const queuesKey = "queues.yaml"

// A change is a tree of queues that is to replace the present one.
type change struct {
	setup *setup
	tell  func(kind, reason, note string) // tells those who made it, perhaps by an event
	told  string                          // what was said of why it cannot be, as long as it cannot
}

// watchQueues follows the ConfigMap or the objects of the arguments, if there are any.
func (c *core) watchQueues(ctx context.Context, h fwk.Handle) error {
	if c.args.QueuesNamespace != "" {
		return c.watchObjects(ctx, h)
	}
	if c.args.QueuesConfigMap == "" {
		return nil
	}
	ns, name, _ := strings.Cut(c.args.QueuesConfigMap, "/")
	f := informers.NewSharedInformerFactoryWithOptions(h.ClientSet(), 0, informers.WithNamespace(ns),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
		}))
	read := func(obj any) {
		if m, ok := obj.(*v1.ConfigMap); ok {
			c.readQueues(m, h)
		}
	}
	handler, err := f.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: read, UpdateFunc: func(_, obj any) { read(obj) },
	})
	if err != nil {
		return err
	}
	c.ready = handler.HasSynced
	f.StartWithContext(ctx)
	return nil
}

// readQueues reads a ConfigMap. What is wrong with it is told in an event on it, and
// the queues stay what they are.
func (c *core) readQueues(m *v1.ConfigMap, h fwk.Handle) {
	tell := func(kind, reason, note string) {
		h.EventRecorder().Eventf(m, nil, kind, reason, "Configuring", "%s", note)
	}
	s, err := c.args.withQueues(m.Data[queuesKey])
	if err != nil {
		c.log.Error(err, "Queues refused", "configMap", klog.KObj(m))
		tell(v1.EventTypeWarning, "QueuesRefused", err.Error())
		return
	}
	c.changeQueues(&change{setup: s, tell: tell})
}

// changeQueues makes a change of the queues, or leaves it to the next decision. All that
// wait are tried again.
func (c *core) changeQueues(n *change) {
	c.mu.Lock()
	c.feel(time.Now())
	c.next = n
	c.changing.Store(true)
	c.setQueues()
	c.mu.Unlock()
	if pods := c.refusedPods(); len(pods) > 0 { // none before the scheduler runs, which then can wake them
		c.activate(pods)
	}
}

// refusedPods returns the pods that were refused a place, by name.
func (c *core) refusedPods() map[string]*v1.Pod {
	pods := map[string]*v1.Pod{}
	c.refused.Range(func(_, w any) bool {
		pod := w.(waiting).pod
		pods[name(pod)] = pod
		return true
	})
	return pods
}

// withQueues returns what the arguments mean with another tree of queues.
func (a *Args) withQueues(text string) (*setup, error) {
	raw, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", queuesKey, err)
	}
	if strings.TrimSpace(text) == "" {
		return nil, errors.New(queuesKey + ": empty")
	}
	changed := *a
	changed.Root = Queue{Name: rootName}
	if err := strictly(raw, &changed.Root); err != nil {
		return nil, fmt.Errorf("%s: %w", queuesKey, err)
	}
	return changed.check()
}

// setQueues replaces the queues, if they are to be others. A queue with pods cannot
// go: then the change is tried again later, and holds as a whole once it can.
func (c *core) setQueues() {
	if c.next == nil {
		return
	}
	if err := c.cluster.SetTree(c.next.setup.tree); err != nil {
		if text := err.Error(); text != c.next.told {
			c.next.told = text
			c.log.Error(err, "Queues not changed yet")
			c.next.tell(v1.EventTypeWarning, "QueuesNotChangedYet", text)
		}
		return
	}
	c.current.Store(c.next.setup)
	c.warn(c.next.setup)
	c.observeMaxes(time.Now())
	c.next.tell(v1.EventTypeNormal, "QueuesChanged", "The queues are as this says.")
	c.next = nil
	c.changing.Store(false)
	c.news.mu.Lock()
	c.news.forget() // its queues are of the old tree, and everybody was woken
	c.news.mu.Unlock()
	c.lookup.stale.Store(true) // the queues of all pods are looked up again
}
