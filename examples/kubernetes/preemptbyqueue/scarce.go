// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"github.com/go-preempt/preempt/queue"
	"github.com/go-preempt/preempt/resources"
)

// A Scarce says in which types guarantees count, as -scarce of examples/live does: "all",
// "auto", or the types. YAML has a word or a list.
type Scarce []string

// The words of [Scarce].
const (
	ScarceAll  = "all"
	ScarceAuto = "auto"
)

// UnmarshalJSON reads a word or a list.
func (s *Scarce) UnmarshalJSON(raw []byte) error {
	var word string
	if json.Unmarshal(raw, &word) == nil {
		*s = Scarce{word}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(s))
}

// is reports whether s is a word.
func (s Scarce) is(word string) bool { return len(s) == 1 && s[0] == word }

// mask returns the types that s lists; nil: none, for it is a word.
func (s Scarce) mask(schema *resources.Schema) (*resources.Mask, error) {
	if s.is(ScarceAll) || s.is(ScarceAuto) {
		return nil, nil
	}
	var types resources.Mask
	for _, name := range s {
		i, known := schema.Index(name)
		if !known || types.Has(i) {
			return nil, fmt.Errorf("scarce: %q is not among resources, or there twice; want all, auto or a list of types", name)
		}
		types |= 1 << i
	}
	if types == 0 {
		return nil, fmt.Errorf("scarce: the list is empty; want all, auto or a list of types")
	}
	return &types, nil
}

// scarcity is what auto came to.
type scarcity struct {
	next time.Time // when it is worked out again; zero: at once
	told bool      // which types they are
}

// How often scarce types are worked out at most. It takes a twentieth of a core.
const scarceEvery, scarcePart = time.Second, 20

// count has guarantees count in some types only; nil: in all.
func (c *core) count(types *resources.Mask) {
	c.planner.Scarce, c.auditor.Scarce = types, types
	c.jobPlanner.Scarce, c.jobAuditor.Scarce = types, types
	c.jointPlanner.Scarce, c.jointAuditor.Scarce = types, types
}

// counting returns the types in which guarantees count.
func (c *core) counting() resources.Mask {
	if c.planner.Scarce == nil {
		return ^resources.Mask(0)
	}
	return *c.planner.Scarce
}

// findScarce works out from time to time in which types guarantees count, if the arguments
// leave that to it. If they are others than before, all that wait are tried again.
func (c *core) findScarce(now time.Time) {
	s := &c.scarcity
	if !c.args.Scarce.is(ScarceAuto) || now.Before(s.next) {
		return
	}
	types, err := c.scarce()
	s.next = now.Add(max(scarceEvery, scarcePart*time.Since(now)))
	if err != nil {
		c.log.Error(err, "Scarce types not found")
		return
	}
	before := c.counting()
	if types == 0 {
		c.count(nil) // as examples/live, whose documents cannot say that no guarantee counts
	} else {
		c.count(&types)
	}
	if s.told && c.counting() == before {
		return
	}
	s.told = true
	var names []string
	for i := range c.cluster.Schema().Len() {
		name := c.cluster.Schema().Name(i)
		if types.Has(i) {
			names = append(names, name)
		}
	}
	c.log.Info("Guarantees count in scarce types only; in all if there are none", "scarce", strings.Join(names, ","))
	if pods := c.refusedPods(); len(pods) > 0 {
		go c.activate(pods) // it waits for the scheduler's queue, whose hints may wait for us
	}
}

// scarce returns the types of which there is too little for all that runs and waits, on
// nodes that are not cordoned or under a max, and those that some waiting pod lacks on
// every node that it may use: a pool may be full while another one has room.
func (c *core) scarce() (resources.Mask, error) {
	tree := c.queues().tree
	demand, capacity := make([]resources.Vector, tree.Len()), resources.Limit{Value: make(resources.Vector, tree.Schema().Len())}
	for q := range tree.Leaves(queue.Root) {
		demand[q] = slices.Clone(tree.Usage(q))
	}
	for i := range tree.Schema().Len() {
		capacity.Defined |= 1 << i
	}
	for _, s := range c.mirror.seats {
		if id, ok := c.cluster.LookupNode(s.node.name); ok && !s.info.Node().Spec.Unschedulable {
			capacity.Value = resources.Add(capacity.Value, capacity.Value, c.cluster.NodeView(id).Capacity)
		}
	}
	lacking, rooms := resources.Mask(0), map[string]*room{}
	for _, pod := range c.pending() {
		ask, err := c.ask(pod)
		if err != nil {
			continue // it is not decided either
		}
		demand[ask.Queue] = resources.Add(demand[ask.Queue], demand[ask.Queue], ask.Size)
		why := placement(pod)
		if rooms[why] == nil {
			rooms[why] = c.roomFor(pod)
		}
		lacking |= rooms[why].lacks(ask.Size)
	}
	types, err := queue.Scarce(tree, demand, capacity)
	return types | lacking, err
}

// byWaiting is the index of all pods that wait for a node, under one value.
const byWaiting = "preemptbyqueue/waiting"

// waits is the value of byWaiting for a pod that waits, and for others none.
func waits(obj any) ([]string, error) {
	pod, ok := obj.(*v1.Pod)
	if !ok || pod.Spec.NodeName != "" || isDeleted(pod) || len(pod.Spec.SchedulingGates) > 0 {
		return nil, nil
	}
	return []string{""}, nil
}

// pending returns the pods that wait and have no place yet, in any order.
func (c *core) pending() (pods []*v1.Pod) {
	if c.waiting == nil {
		return nil
	}
	objects, err := c.waiting.ByIndex(byWaiting, "")
	if err != nil {
		return nil // never: see watchPods
	}
	for _, o := range objects {
		if pod := o.(*v1.Pod); !c.placed(key(pod)) {
			pods = append(pods, pod)
		}
	}
	return pods
}

// placement is what decides on which nodes a pod may run, as text.
func placement(pod *v1.Pod) string {
	if len(pod.Spec.NodeSelector) == 0 && pod.Spec.Affinity == nil && len(pod.Spec.Tolerations) == 0 {
		return ""
	}
	text, err := json.Marshal([]any{pod.Spec.NodeSelector, pod.Spec.Affinity, pod.Spec.Tolerations})
	if err != nil {
		panic(err) // they were read from JSON
	}
	return string(text)
}

// A room is the most of each type that is free, once those that leave have gone, on one of
// the nodes that a pod may use; nil: there is no such node.
type room struct{ most resources.Vector }

func (c *core) roomFor(pod *v1.Pod) *room {
	r, free := &room{}, resources.Vector(nil)
	for _, s := range c.mirror.seats {
		id, ok := c.cluster.LookupNode(s.node.name)
		if !ok || c.cluster.Closed(id) || !mayUse(pod, s.info.Node()) {
			continue
		}
		free = c.cluster.ComingFree(free, id)
		r.most = resources.Max(r.most, r.most, free)
	}
	return r
}

// lacks returns the types of which every node has less left than a size.
func (r *room) lacks(size resources.Vector) (types resources.Mask) {
	if r.most == nil {
		return 0 // no node would do whatever was taken from others
	}
	for i, a := range size {
		if a > r.most.At(i) {
			types |= 1 << i
		}
	}
	return types
}

// mayUse reports whether a pod may ever run on a node, by its selector, required affinity
// and tolerations.
func mayUse(pod *v1.Pod, node *v1.Node) bool {
	taints := node.Spec.Taints
	if node.Spec.Unschedulable {
		taints = append(slices.Clone(taints), v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule})
	}
	matches, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node)
	_, tainted := corev1.FindMatchingUntoleratedTaint(klog.Background(), taints, pod.Spec.Tolerations, func(t *v1.Taint) bool {
		return t.Effect != v1.TaintEffectPreferNoSchedule
	}, false)
	return err == nil && matches && !tainted
}
