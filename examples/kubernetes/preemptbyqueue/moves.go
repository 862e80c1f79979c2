// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"fmt"
	"hash/fnv"
	"strings"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/go-preempt/preempt/jobs"
	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/victims"
)

// A pod that moves is evicted as a victim is, and its place on another node is granted to
// whom its controller makes in its stead, its successor. No pod has the key of this grant,
// until a pod of the same controller, queue and size comes to PreFilter and inherits it.
//
// The grant ends if the pod stays after all, if its node goes, and if no successor comes in
// time. A pod has to be some age to move, and its successor is new. So if Filter plugins let
// a plan down again and again, pods do not move to and fro without rest.

// movers are the pods that move, and what plans for that.
type movers struct {
	planner  jobs.Planner
	decision victims.Decision
	left     map[string]mover // whose successors are to come, by the key of the grant
	count    atomic.Int32     // of these, for PreFilter, which looks without a lock
}

// A mover is a pod whose successor has a grant.
type mover struct {
	pod   *v1.Pod   // as its successor will be
	until time.Time // for how long the grant is kept
}

const (
	// mostMoverQuestions bounds how often Filter plugins are asked about movers for a
	// decision.
	mostMoverQuestions = 256

	successorSuffix = "+"
)

// successor returns the key of the grant for the successor of a pod.
func successor(key string) string { return key + successorSuffix }

// isSuccessor reports whether a key is one that successor returns. No UID ends so.
func isSuccessor(key string) bool { return strings.HasSuffix(key, successorSuffix) }

// isMovable reports whether a pod may move: it asks for that, and will be made again. Claims
// may keep a pod on its node, and pods of a PodGroup belong together.
func (c *core) isMovable(pod *v1.Pod) bool {
	return c.args.Moves && pod.Annotations[AnnotationMovable] == "true" && application(pod) != "" &&
		!ofDaemonSet(pod) && pod.Spec.SchedulingGroup == nil && !claims(pod)
}

// moverClass returns the class of a pod that may move, a hash of its key: 0 is that of the pod
// that asks.
func moverClass(key string) int {
	h := fnv.New64a()
	h.Write([]byte(key))
	return int(h.Sum64() | 1)
}

// mayMove reports whether a pod may move now. One whose disruption budget has nothing left stays.
func (y *cycle) mayMove(t *victims.Task) bool {
	if y.overruns(t) {
		return false
	}
	of := t.Created.Add(y.core.args.GrantDeadline.Duration)
	if of.After(y.now) && (y.ofAge.IsZero() || of.Before(y.ofAge)) {
		y.ofAge = of
	}
	return !of.After(y.now)
}

// move looks for a better plan than what was decided for the pod of the cycle: one by which
// others move. It reports whether there is one, which then is the decision.
func (c *core) move(ask *victims.Ask, now time.Time) bool {
	d, y, m := &c.decision, c.cycle, &c.movers
	open := d.Outcome == victims.Preempts || d.Outcome == victims.Refused && d.Refusal.Reason != victims.InFlight
	if !open || !c.mirror.movable || c.queues().plain || ask.Job != "" {
		return false
	}
	y.now = now
	m.planner.Cluster, m.planner.Options = c.cluster, c.planner.Options
	m.planner.Moves = victims.MovesEntitled
	if err := m.planner.Decide(&m.decision, ask, now); err != nil {
		c.log.Error(err, "Moves not decided", "pod", klog.KObj(y.pod))
		return false
	}
	if len(m.decision.Plan.Moves) == 0 {
		if r := &d.Refusal; d.Outcome == victims.Refused && !y.ofAge.IsZero() && (r.RetryAt.IsZero() || y.ofAge.Before(r.RetryAt)) {
			r.RetryAt = y.ofAge
		}
		return false
	}
	found := c.auditor.Audit(nil, &m.decision, now)
	for _, v := range found {
		violations.WithLabelValues(v.Law).Inc()
		c.log.Error(nil, "Plan with moves breaks a law", "pod", klog.KObj(y.pod), "violation", v)
	}
	if len(found) > 0 {
		return false
	}
	c.decision, m.decision = m.decision, c.decision
	return true
}

// lets is Filter of the planner: whether a pod of a class may run on a node. A mover has to
// find room as the node is.
func (y *cycle) lets(q *victims.Question) bool {
	if q.Member.Class == 0 {
		return y.mayRun(q.Node)
	}
	m := y.mover(y.ofClass(q.Member.Class))
	if m == nil {
		return false
	}
	if _, said := m.said[q.Node]; !said && y.questions >= mostMoverQuestions {
		return false
	}
	before := len(m.said)
	takes := m.statusOn(q.Node).IsSuccess()
	y.questions += len(m.said) - before
	return takes
}

// ofClass returns the task of a class of movers.
func (y *cycle) ofClass(class int) victims.TaskID {
	if y.movable == nil {
		y.movable = map[int]victims.TaskID{}
		for id := range y.core.cluster.Tasks() {
			if t := y.core.cluster.TaskView(id); t.Movable {
				y.movable[t.Class] = id
			}
		}
	}
	return y.movable[class]
}

// mover returns the cycle of the successor of a pod once the pod has gone, or nil: another
// scheduler knows nothing of its place.
func (y *cycle) mover(id victims.TaskID) *cycle {
	m, begun := y.movers[id]
	if begun || y.questions >= mostMoverQuestions {
		return m
	}
	if y.movers == nil {
		y.movers = map[victims.TaskID]*cycle{}
	}
	y.movers[id] = nil
	if t := y.core.cluster.TaskView(id); !y.mayMove(&t) {
		return nil
	}
	y.questions++
	info, err := y.node(y.core.cluster.NodeOf(id))
	if err != nil {
		return nil
	}
	pi := podOn(info, y.core.cluster.Key(id))
	if pi == nil || pi.GetPod().Spec.SchedulerName != y.pod.Spec.SchedulerName {
		return nil
	}
	pod := pi.GetPod().DeepCopy()
	pod.Spec.NodeName, pod.Status = "", v1.PodStatus{}
	m, err = (&Plugin{handle: y.handle, core: y.core}).begin(y.ctx, pod)
	if err != nil || !m.removed(m.state, pi, info) {
		return nil
	}
	y.movers[id] = m
	return m
}

// arrive adds the successors that are to come to a node and the state of the Filter plugins.
func (y *cycle) arrive(c *victims.Cluster, state fwk.CycleState, info fwk.NodeInfo) bool {
	for id := range c.Granted() {
		pod := y.coming(c.Key(id))
		if pod == nil {
			continue
		}
		pi, err := framework.NewPodInfo(pod)
		if err != nil {
			return false
		}
		at := info
		if n := c.NodeOf(id); c.NodeName(n) == info.Node().Name {
			info.AddPodInfo(pi)
		} else if at, err = y.node(n); err != nil {
			continue
		}
		if !y.handle.RunPreFilterExtensionAddPod(y.ctx, state, y.pod, pi, at).IsSuccess() {
			return false
		}
	}
	return true
}

// coming returns the successor that is to have a grant, by this plan or an earlier one, or
// nil if the grant is no successor's.
func (y *cycle) coming(grant string) *v1.Pod {
	if m, ok := y.core.movers.left[grant]; ok {
		return m.pod
	}
	id, ok := y.core.cluster.Lookup(strings.TrimRight(grant, successorSuffix))
	if !ok {
		return nil
	}
	if m := y.movers[id]; ok && m != nil {
		return m.pod
	}
	return nil
}

// promiseMoves notes the grants for successors of a plan that was applied, and tells Filter.
func (c *core) promiseMoves(now time.Time) {
	for i := range c.decision.Plan.Moves {
		m := &c.decision.Plan.Moves[i]
		pod, patience := c.cycle.mover(m.Task).pod, c.args.GrantDeadline.Duration
		if s := pod.Spec.TerminationGracePeriodSeconds; s != nil {
			patience += time.Duration(*s) * time.Second
		}
		c.movers.left[m.Grant] = mover{pod, now.Add(patience)}
		c.given(m.Grant)
		victimsTotal.WithLabelValues(m.Path).Inc()
	}
	c.movers.count.Store(int32(len(c.movers.left)))
}

// forget notes that a grant has ended.
func (m *movers) forget(grant string) {
	delete(m.left, grant)
	m.count.Store(int32(len(m.left)))
}

// inherit gives a pod the oldest grant that a successor like it is to have, if there is one.
func (c *core) inherit(pod *v1.Pod) {
	if c.movers.count.Load() == 0 || pod.Spec.NodeName != "" || pod.Spec.SchedulingGroup != nil || c.granted.has(key(pod)) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	ask, err := c.ask(pod)
	if err != nil {
		return
	}
	for id := range c.cluster.Granted() {
		t := c.cluster.TaskView(id)
		m, ok := c.movers.left[t.Key]
		if !ok || m.pod.Namespace != pod.Namespace || t.Application != ask.Application || t.Queue != ask.Queue || !resources.Equal(t.Size, ask.Size) {
			continue
		}
		n := t.Node
		c.drop(t.Key, started)
		if _, err := c.cluster.GrantPlace(&ask, n, time.Now()); err != nil {
			c.log.Error(err, "Place of a pod that has moved is lost", "pod", klog.KObj(pod))
		}
		c.given(ask.Key)
		return
	}
}

// isLate reports whether the grant for a successor ends, for its node is gone or no successor
// has come.
func (c *core) isLate(id victims.TaskID, now time.Time) bool {
	_, err := c.nodes.Get(c.cluster.NodeName(c.cluster.NodeOf(id)))
	return err != nil || !now.Before(c.movers.left[c.cluster.Key(id)].until)
}

// addMovers adds the pods that move to those that stop.
func (e *eviction) addMovers(y *cycle) {
	for _, m := range y.core.decision.Plan.Moves {
		e.add(y.handle, victim{key: m.Key, node: m.FromName, to: m.ToName})
	}
}

// noteOn says in words why a pod stops, and where it starts again if it moves.
func (e *eviction) noteOn(v *victim) string {
	if v.to == "" {
		return e.note
	}
	return fmt.Sprintf("moves to node %s, %s", v.to, e.note)
}
