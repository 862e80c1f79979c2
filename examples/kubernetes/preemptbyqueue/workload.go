// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	upstream "k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/kubernetes/pkg/scheduler/util"

	"github.com/go-preempt/preempt/victims"
)

// mostTogether bounds how many pods of a workload are decided at once.
const mostTogether = 16

// A workload is the pods of one controller that wait, as asks of one joint plan. What is
// the least for each of them in turn can be far from the least for all.
type workload struct {
	plugin *Plugin
	own    *cycle // of the pod that is being scheduled
	asks   []victims.Ask
	pods   []*v1.Pod
	cycles []*cycle           // nil: not begun
	all    []victims.Decision // plans, which several may share, and refusals
	served int                // asks with a place
	note   string             // see eviction
}

// byWorkload is the index of pods that wait by their PodGroup, or else by their controller.
const byWorkload = "preemptbyqueue/workload"

// workloadOf returns the PodGroup or the controller of a pod that waits, for byWorkload.
func workloadOf(obj any) ([]string, error) {
	pod, ok := obj.(*v1.Pod)
	if !ok || pod.Spec.NodeName != "" || isDeleted(pod) || len(pod.Spec.SchedulingGates) > 0 || ofDaemonSet(pod) {
		return nil, nil
	}
	if pod.Spec.SchedulingGroup != nil {
		return []string{string(fwk.PodGroupKeyType) + "/" + job(pod)}, nil
	}
	if app := application(pod); app != "" {
		return []string{app}, nil
	}
	return nil, nil
}

// placed reports whether a pod that waits, by the informer, holds a grant or runs already.
func (c *core) placed(key string) bool {
	_, granted := c.cluster.LookupGrant(key)
	_, runs := c.cluster.Lookup(key)
	return granted || runs
}

// together decides the pod of the cycle with those of its workload that wait, after it was
// decided alone, and applies the joint plan to the cluster. It returns nil if the answer
// for the pod alone stands.
func (pl *Plugin) together(now time.Time) *workload {
	c := pl.core
	if !c.mayShare() {
		return nil
	}
	w := pl.workload(c.cycle)
	if w == nil {
		return nil
	}
	c.workload = w
	defer func() { c.workload = nil }()
	if version := c.cluster.Version(); !w.decide(now) || !w.apply() {
		c.lone = alone{application(w.own.pod), version}
		return nil
	}
	return w
}

// decide reports whether there is a lawful plan for at least two of the pods.
func (w *workload) decide(now time.Time) bool {
	c := w.plugin.core
	p, a := &c.jointPlanner, &c.jointAuditor
	p.Exempt = c.planner.Exempt
	a.Exempt = p.Exempt
	var err error
	if w.all, err = p.DecideAll(w.all, w.asks, now); err != nil {
		c.log.Error(err, "Workload not decided", "pod", klog.KObj(w.own.pod))
		return false
	}
	w.served = len(w.asks)
	for i := range w.all {
		if w.all[i].Outcome == victims.Refused {
			w.served--
		}
	}
	if w.served < 2 {
		return false
	}
	a.Cluster = c.cluster.Clone()
	var found []victims.Violation
	for _, d := range w.all {
		if d.Outcome == victims.Refused {
			continue
		}
		if found = a.Audit(found, &d, now); len(found) > 0 {
			break
		}
		d.Plan.Version = a.Cluster.Version()
		if err := a.Cluster.Apply(&d); err != nil {
			c.log.Error(err, "Plan for a workload not applied", "pod", klog.KObj(w.own.pod))
			return false
		}
	}
	for _, v := range found {
		violations.WithLabelValues(v.Law).Inc()
		c.log.Error(nil, "Plan for a workload breaks a law", "pod", klog.KObj(w.own.pod), "violation", v)
	}
	return len(found) == 0
}

// alone is a workload whose pods share no plan, for a version of the cluster.
type alone struct {
	application string
	version     victims.Version
}

// mayShare reports whether the pod of the cycle may do better with others of its workload:
// it is to have victims, or law 2 keeps those that it could have, for it counts what all
// of them bring. Who takes from the own leaf, or has to know what other Filter plugins
// complain about, shares nothing.
func (c *core) mayShare() bool {
	y, d := c.cycle, &c.decision
	if c.waiting == nil || y.searched || len(util.GetHostPorts(y.pod)) > 0 || len(y.info.GetRequiredAntiAffinityTerms()) > 0 ||
		c.lone == (alone{application(y.pod), c.cluster.Version()}) {
		return false
	}
	switch d.Outcome {
	case victims.Preempts:
		return !d.Plan.WithinQueue
	case victims.Refused:
		if d.Refusal.Reason != "no-victims" || d.Count() != nil {
			return false
		}
		return slices.ContainsFunc(d.Refusal.Counts, func(n victims.Count) bool { return n.Rule == "guarantee" })
	}
	return false
}

// workload returns the pods of the workload of a pod that wait, the oldest first, or nil if
// there are no others.
func (pl *Plugin) workload(y *cycle) *workload {
	c := pl.core
	objs, err := c.waiting.ByIndex(byWorkload, application(y.pod))
	if err != nil || len(objs) < 2 || y.pod.Spec.SchedulingGroup != nil {
		return nil
	}
	pods := []*v1.Pod{y.pod}
	for _, o := range objs {
		p := o.(*v1.Pod)
		if p.UID != y.pod.UID && p.Namespace == y.pod.Namespace && p.Spec.SchedulerName == y.pod.Spec.SchedulerName && !c.placed(key(p)) {
			pods = append(pods, p)
		}
	}
	older := func(a, b *v1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	}
	slices.SortFunc(pods[1:], older)
	pods = pods[:min(len(pods), mostTogether)]
	slices.SortFunc(pods, older)
	if len(pods) < 2 {
		return nil
	}
	w := &workload{plugin: pl, own: y, pods: pods, cycles: make([]*cycle, len(pods))}
	for i, p := range pods {
		ask, err := c.ask(p)
		if err != nil {
			return nil
		}
		if ask.Class = w.class(i); p == y.pod {
			w.cycles[i] = y
		}
		w.asks = append(w.asks, ask)
	}
	return w
}

// class returns the index of the pod whose Filter plugins are asked where a pod may run.
func (w *workload) class(i int) int {
	if alike(w.pods[i], w.own.pod) {
		return slices.Index(w.pods, w.own.pod)
	}
	return slices.IndexFunc(w.pods, func(p *v1.Pod) bool { return alike(w.pods[i], p) })
}

// alike reports whether Filter plugins let two pods of a workload run on the same nodes.
// Claims may be bound to nodes.
func alike(a, b *v1.Pod) bool {
	return a == b || !claims(a) && !claims(b) && reflect.DeepEqual(a.Spec.NodeSelector, b.Spec.NodeSelector) &&
		reflect.DeepEqual(a.Spec.Affinity, b.Spec.Affinity) && reflect.DeepEqual(a.Spec.Tolerations, b.Spec.Tolerations)
}

// claims reports whether a pod has claims of its own.
func claims(p *v1.Pod) bool {
	return len(p.Spec.ResourceClaims) > 0 || slices.ContainsFunc(p.Spec.Volumes, func(v v1.Volume) bool {
		return v.PersistentVolumeClaim != nil || v.Ephemeral != nil
	})
}

// cycle returns the cycle of a pod.
func (w *workload) cycle(i int) (*cycle, error) {
	if w.cycles[i] == nil {
		y, err := w.plugin.begin(w.own.ctx, w.pods[i])
		if err != nil {
			return nil, err
		}
		w.cycles[i] = y
	}
	return w.cycles[i], nil
}

// mayRun is Filter of the planner.
func (w *workload) mayRun(q *victims.Question) bool {
	y, err := w.cycle(q.Member.Class)
	return err == nil && y.mayRun(q.Node)
}

// accepted asks the Filter plugins about the places of a joint plan, which the cluster has
// as grants: for each pod about its node without all that is to go, and with the pods
// before it.
func (w *workload) accepted() bool {
	c := w.plugin.core
	for i := range w.asks {
		id, ok := c.cluster.LookupGrant(w.asks[i].Key)
		if !ok {
			continue
		}
		y, err := w.cycle(i)
		if err != nil || !w.fits(y, i, c.cluster.NodeOf(id)) {
			return false
		}
	}
	return true
}

// fits asks the Filter plugins about one place.
func (w *workload) fits(y *cycle, i int, n victims.NodeID) bool {
	c := w.plugin.core
	info, state, ok := y.without(&victims.Question{Cluster: y.core.cluster, Node: n, AfterVictims: true, Victims: w.victims(n)})
	if !ok {
		return false
	}
	for j := range w.asks[:i] {
		id, ok := c.cluster.LookupGrant(w.asks[j].Key)
		if !ok {
			continue
		}
		before, err := framework.NewPodInfo(w.pods[j])
		if err != nil {
			return false
		}
		at := info
		if c.cluster.NodeOf(id) == n {
			info.AddPodInfo(before)
		} else if at, err = y.node(c.cluster.NodeOf(id)); err != nil {
			return false
		}
		if !y.handle.RunPreFilterExtensionAddPod(y.ctx, state, y.pod, before, at).IsSuccess() {
			return false
		}
	}
	return y.filters(state, info)
}

// victims returns those on other nodes than one, where they leave already.
func (w *workload) victims(than victims.NodeID) (others []victims.TaskID) {
	for i := range w.all {
		for _, v := range w.all[i].Plan.Victims {
			if w.plugin.core.cluster.NodeOf(v.Task) != than {
				others = append(others, v.Task)
			}
		}
	}
	return others
}

// number returns which of the asks has a key.
func (w *workload) number(key string) int {
	return slices.IndexFunc(w.asks, func(a victims.Ask) bool { return a.Key == key })
}

// apply carries the joint plan out in the cluster. It reports false, and nothing has
// changed, if that cannot be done or Filter plugins refuse a place.
func (w *workload) apply() bool {
	c := w.plugin.core
	for i := range w.all {
		if d := &w.all[i]; d.Outcome != victims.Refused {
			w.note = c.entitlement(&w.asks[w.number(d.Plan.Places[0].Key)])
			break
		}
	}
	if err := c.cluster.ApplyAll(w.all); err != nil {
		c.log.Error(err, "Plan for a workload not applied", "pod", klog.KObj(w.own.pod))
		return false
	}
	if w.accepted() {
		return true
	}
	w.undo()
	return false
}

// undo takes what apply did back.
func (w *workload) undo() {
	for i := range w.all {
		if w.all[i].Outcome == victims.Refused {
			continue
		}
		if err := w.plugin.core.cluster.Undo(); err != nil {
			w.plugin.core.log.Error(err, "Plan for a workload not taken back", "pod", klog.KObj(w.own.pod))
		}
	}
}

// carryOut has the victims of the joint plan evicted, and answers for the pod of the cycle.
// The others are tried at once, so that the scheduler is told of their places.
func (w *workload) carryOut(now time.Time) (*fwk.PostFilterResult, *fwk.Status) {
	c, own := w.plugin.core, w.own.pod
	line := w.tell()
	if c.args.DryRun {
		w.undo()
		c.noteRefused(own, waiting{pod: own, size: w.own.size})
		return nil, fwk.NewStatus(fwk.Unschedulable, "dry run: "+line)
	}
	e, of, patience := w.eviction()
	if !c.promise(e, of, now) {
		e.wake(c, time.Second)
		return nil, fwk.NewStatus(fwk.Unschedulable, "a pod of the workload was deleted meanwhile")
	}
	if len(e.victims) > 0 {
		upstream.PreemptionVictims.Observe(float64(len(e.victims)))
		go w.plugin.evict(e)
	}
	e.wake(c, patience)
	others := map[string]*v1.Pod{}
	for _, p := range e.pods {
		if p.UID != own.UID {
			others[name(p)] = p
		}
	}
	time.AfterFunc(time.Millisecond, func() { c.activate(others) })
	for i := range w.all {
		if d := &w.all[i]; d.Outcome == victims.Refused && d.Plan.Ask.Key == key(own) {
			return w.plugin.refuse(own, &d.Refusal, line, now)
		}
	}
	id, _ := c.cluster.LookupGrant(key(own))
	return framework.NewPostFilterResultWithNominatedNode(c.cluster.NodeName(c.cluster.NodeOf(id))), fwk.NewStatus(fwk.Success, line)
}

// tell logs and counts what was decided, and returns it in a line.
func (w *workload) tell() (line string) {
	c, own := w.plugin.core, key(w.own.pod)
	for i := range w.all {
		d := &w.all[i]
		if d.Outcome == victims.Refused {
			if d.Plan.Ask.Key == own {
				line = fmt.Sprintf("%d pods of the workload are served first: %s", w.served, d.Refusal.Reason)
				c.countDecision(d.Outcome, d.Refusal.Reason, d.Plan.Ask.Queue)
			}
			continue
		}
		if l := log(w.own.ctx).V(2); l.Enabled() {
			l.Info("Decided together", "pod", klog.KObj(w.own.pod), "outcome", d.Outcome, "decision", d.String())
		}
		countPlan(d.Outcome, d.Plan.Proof, d.Plan.Victims)
		for _, at := range d.Plan.Places {
			if at.Key == own {
				line = fmt.Sprintf("with %d more of the workload: %s", w.served-1, d.Summary())
				c.countDecision(d.Outcome, "", d.Plan.Ask.Queue)
			}
		}
	}
	return line
}

// eviction returns what is to be done for the plan, its victims, and how long its pods wait
// before they ask again.
func (w *workload) eviction() (e *eviction, of []victims.Victim, patience time.Duration) {
	e = &eviction{note: w.note, kind: string(fwk.PodKeyType)}
	for i := range w.all {
		d := &w.all[i]
		for _, at := range d.Plan.Places {
			pod := w.pods[w.number(at.Key)]
			e.keys, e.pods = append(e.keys, at.Key), append(e.pods, pod.DeepCopy())
			patience = max(patience, w.plugin.patience(d.Outcome, at.NodeName))
		}
		e.addAll(w.plugin.handle, d.Plan.Victims)
		of = append(of, d.Plan.Victims...)
	}
	e.uid = e.pods[0].UID
	return e, of, patience
}
