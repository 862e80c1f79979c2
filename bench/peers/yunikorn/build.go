// SPDX-License-Identifier: Apache-2.0

package yunikorn

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/apache/yunikorn-core/pkg/common/configs"
	"github.com/apache/yunikorn-core/pkg/common/resources"
	"github.com/apache/yunikorn-core/pkg/common/security"
	"github.com/apache/yunikorn-core/pkg/rmproxy/rmevent"
	"github.com/apache/yunikorn-core/pkg/scheduler/objects"
	"github.com/apache/yunikorn-scheduler-interface/lib/go/common"
	"github.com/apache/yunikorn-scheduler-interface/lib/go/si"
	"github.com/go-preempt/preempt/internal/judge/exam"
	"github.com/go-preempt/preempt/internal/judge/scenario"
	res "github.com/go-preempt/preempt/resources"
)

// A world is a cluster in YuniKorn's objects.
type world struct {
	doc   *scenario.Document
	meter exam.Meter
	now   time.Time // ages count back from here: YuniKorn reads the clock

	mapping *objects.AppQueueMapping
	top     *objects.Queue            // the root of the document
	queues  map[string]*objects.Queue // by path of the document
	apps    map[string]*objects.Application
	nodes   nodes
	byName  map[string]*objects.Node
	allocs  map[string]*objects.Allocation
	// released are the keys of the allocations that YuniKorn told the resource
	// manager to stop.
	released []string
	dirty    bool // a decision changed more than can be taken back
}

// nodes are all nodes, as YuniKorn walks over them.
type nodes []*objects.Node

// ForEachNode calls f for each node until it returns false.
func (n nodes) ForEachNode(f func(*objects.Node) bool) {
	for _, x := range n {
		if !f(x) {
			return
		}
	}
}

// HandleEvent is called by YuniKorn if it wants the resource manager to stop
// allocations.
func (w *world) HandleEvent(ev interface{}) {
	if r, ok := ev.(*rmevent.RMReleaseAllocationEvent); ok {
		for _, a := range r.ReleasedAllocations {
			w.released = append(w.released, a.AllocationKey)
		}
		go func() { r.Channel <- &rmevent.Result{Succeeded: true} }() // nobody listens before this returns
	}
}

// build makes everything anew.
func (w *world) build() error {
	w.now = time.Now()
	w.mapping = objects.NewAppQueueMapping()
	w.queues, w.apps = make(map[string]*objects.Queue), make(map[string]*objects.Application)
	w.byName, w.allocs = make(map[string]*objects.Node), make(map[string]*objects.Allocation)
	w.nodes, w.dirty = nil, false
	if err := w.addQueues(); err != nil {
		return err
	}
	for i := range w.doc.Nodes {
		n := &w.doc.Nodes[i]
		node := objects.NewNode(&si.NodeInfo{NodeID: n.Name, SchedulableResource: w.proto(n.Capacity)})
		node.SetSchedulable(!n.Unschedulable)
		w.nodes, w.byName[n.Name] = append(w.nodes, node), node
	}
	for i := range w.doc.Tasks {
		if err := w.addTask(&w.doc.Tasks[i]); err != nil {
			return err
		}
	}
	return nil
}

// addQueues makes the queues. Names differ in more than case.
func (w *world) addQueues() error {
	size := make(res.Vector, w.doc.Schema.Len())
	for i := range w.doc.Nodes {
		size = res.Add(size, size, w.doc.Nodes[i].Capacity)
	}
	nested := w.doc.Root.Guaranteed.Defined != 0 || w.doc.Root.Max.Defined != 0
	conf := configs.QueueConfig{Name: configs.RootQueue, Parent: true, Properties: rootProperties(&w.doc.Root)}
	if nested {
		conf.Properties = nil
	}
	root, err := objects.NewConfiguredQueue(conf, nil, false, w.mapping)
	if err != nil {
		return err
	}
	root.SetMaxResource(w.resource(size))
	if !nested {
		w.top = root
		w.queues[w.doc.Root.Name] = root
		return w.addChildren(root, &w.doc.Root, w.doc.Root.Name)
	}
	w.top, err = w.addQueue(root, &w.doc.Root, w.doc.Root.Name)
	return err
}

// addQueue makes a queue and those below it.
func (w *world) addQueue(parent *objects.Queue, q *scenario.Queue, path string) (*objects.Queue, error) {
	guaranteed, err := w.bound(q.Guaranteed)
	if err != nil {
		return nil, err
	}
	most, err := w.bound(q.Max)
	if err != nil {
		return nil, err
	}
	conf := configs.QueueConfig{
		Name: q.Name, Parent: len(q.Children) > 0, Properties: properties(q),
		Resources: configs.Resources{Guaranteed: guaranteed, Max: most},
	}
	if path == w.doc.Root.Name {
		conf.Name, conf.Properties = "of-the-document", rootProperties(q)
	}
	queue, err := objects.NewConfiguredQueue(conf, parent, false, w.mapping)
	if err != nil {
		return nil, err
	}
	w.queues[path] = queue
	return queue, w.addChildren(queue, q, path)
}

// addChildren makes the queues below a queue.
func (w *world) addChildren(parent *objects.Queue, q *scenario.Queue, path string) error {
	names := make(map[string]bool)
	for i := range q.Children {
		name := strings.ToLower(q.Children[i].Name)
		if names[name] {
			return fmt.Errorf("%w: queues that differ in case only", exam.ErrCannot)
		}
		names[name] = true
		if _, err := w.addQueue(parent, &q.Children[i], path+"."+q.Children[i].Name); err != nil {
			return err
		}
	}
	return nil
}

// properties returns the properties of a queue. YuniKorn takes a delay of
// nothing for a mistake, and the shortest that it knows is one nanosecond.
func properties(q *scenario.Queue) map[string]string {
	p := maps.Clone(q.Properties)
	if d, err := time.ParseDuration(p[configs.PreemptionDelay]); err == nil && d == 0 {
		p[configs.PreemptionDelay] = "1ns"
	}
	return p
}

// rootProperties returns the properties of the root, but for those that have no
// effect there.
func rootProperties(q *scenario.Queue) map[string]string {
	p := properties(q)
	delete(p, configs.PreemptionPolicy)
	delete(p, configs.PriorityPolicy)
	delete(p, configs.PriorityOffset)
	return p
}

// bound returns a bound as a configuration has it. One of zeros alone is none to
// YuniKorn.
func (w *world) bound(l res.Limit) (map[string]string, error) {
	all, positive := make(map[string]string), false
	for name, amount := range exam.Bounds(w.doc.Schema, l) {
		all[name] = strconv.FormatInt(amount, 10)
		if name == common.CPU {
			all[name] += "m"
		}
		positive = positive || amount > 0
	}
	if len(all) > 0 && !positive {
		return nil, fmt.Errorf("%w: a bound of zeros alone", exam.ErrCannot)
	}
	return all, nil
}

// resource returns amounts as YuniKorn's.
func (w *world) resource(v res.Vector) *resources.Resource {
	return resources.NewResourceFromProto(w.proto(v))
}

// proto returns amounts as the scheduler interface has them, without zeros.
func (w *world) proto(v res.Vector) *si.Resource {
	m := make(map[string]*si.Quantity)
	for name, amount := range exam.ByType(w.doc.Schema, v) {
		m[name] = &si.Quantity{Value: amount}
	}
	return &si.Resource{Resources: m}
}

// app returns an application of a leaf, which is made if it is not there.
func (w *world) app(name, leaf string) (*objects.Application, error) {
	queue := w.queues[leaf]
	if app, ok := w.apps[name]; ok {
		if app.GetQueue() != queue {
			return nil, fmt.Errorf("%w: an application in two queues", exam.ErrCannot)
		}
		return app, nil
	}
	app := objects.NewApplication(
		&si.AddApplicationRequest{ApplicationID: name, QueueName: queue.QueuePath, PartitionName: configs.DefaultPartition},
		security.UserGroup{User: "u", Groups: []string{"g"}}, w, "rm")
	app.SetQueue(queue)
	queue.AddApplication(app)
	w.mapping.AddAppQueueMapping(name, queue)
	w.apps[name] = app
	return app, nil
}

// tags are what YuniKorn reads ages and required nodes from.
func (w *world) tags(age time.Duration, required string) map[string]string {
	tags := map[string]string{common.CreationTime: strconv.FormatInt(w.now.Add(-age).Unix(), 10)}
	if required != "" {
		tags[common.DomainYuniKorn+common.KeyRequiredNode] = required
	}
	return tags
}

// addTask makes an allocation of a task, on its node and in its queue, whatever
// their limits are.
func (w *world) addTask(t *scenario.Task) error {
	app, err := w.app(t.Application, t.Queue)
	if err != nil {
		return err
	}
	a := objects.NewAllocationFromSI(&si.Allocation{
		AllocationKey: t.Key, ApplicationID: t.Application, NodeID: t.Node, PartitionName: configs.DefaultPartition,
		ResourcePerAlloc: w.proto(t.Resources), Priority: t.Priority, Originator: t.Originator,
		AllocationTags:   w.tags(t.Age, t.RequiredNode),
		PreemptionPolicy: &si.PreemptionPolicy{AllowPreemptSelf: !exam.OptedOut(w.doc, t), AllowPreemptOther: true},
	})
	app.AddAllocation(a)
	w.byName[t.Node].AddAllocation(a)
	w.queues[t.Queue].IncAllocatedResource(a.GetAllocatedResource())
	if t.State != scenario.StateRunning {
		if err := a.MarkPreempted(); err != nil {
			return err
		}
		w.queues[t.Queue].IncPreemptingResource(a.GetAllocatedResource())
	}
	w.allocs[t.Key] = a
	return nil
}
