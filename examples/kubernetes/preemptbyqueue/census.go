// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"cmp"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/go-preempt/preempt/resources"
)

// A census is what the pods of the API add up to, by the paths that name their queues. The
// mirror follows the scheduler, which stands still if nobody waits. This does not.
type census map[string]*count

// A count is what some pods add up to.
type count struct {
	used    resources.Vector // by those that have a node
	waiting int64            // those that were refused a place
	first   *v1.Pod          // of these: of the highest priority, and then the oldest
}

// census counts the pods that the informer has.
func (c *core) census() (census, error) {
	pods, err := c.lister.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	all, size := census{}, resources.Vector(nil)
	for _, pod := range pods {
		path := c.pathOf(pod)
		of := all[path]
		if of == nil {
			of = &count{}
			all[path] = of
		}
		if pod.Spec.NodeName == "" {
			of.wait(pod)
			continue
		}
		info, _ := framework.NewPodInfo(pod) // as the scheduler's snapshot has it, whatever its affinity is
		size = c.sizeOf(size[:0], info)
		of.used = resources.Add(of.used, of.used, size)
	}
	return all, nil
}

// wait counts a pod without a node, if it was refused one.
func (n *count) wait(pod *v1.Pod) {
	if refusal(pod) == "" || isDeleted(pod) {
		return
	}
	n.waiting++
	if n.first == nil || isBefore(pod, n.first) {
		n.first = pod
	}
}

// isBefore reports whether a pod has its place before another one, as the scheduler's
// queue does it.
func isBefore(p, o *v1.Pod) bool {
	return cmp.Or(cmp.Compare(priority(o), priority(p)), p.CreationTimestamp.Compare(o.CreationTimestamp.Time),
		strings.Compare(name(p), name(o))) < 0
}

// refusal returns why the scheduler did not place a pod, or "".
func refusal(p *v1.Pod) string {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == v1.PodScheduled && c.Status == v1.ConditionFalse {
			return c.Message
		}
	}
	return ""
}

// byQueue returns the counts of the queues of a tree, each with those below it.
func (all census) byQueue(s *setup) []count {
	sums := make([]count, s.tree.Len())
	for path, n := range all { // in any order: sums, and the first of a total order
		for q := range s.tree.Ancestors(s.leafOf(path)) {
			sum := &sums[q]
			sum.used = resources.Add(sum.used, sum.used, n.used)
			sum.waiting += n.waiting
			if n.first != nil && (sum.first == nil || isBefore(n.first, sum.first)) {
				sum.first = n.first
			}
		}
	}
	return sums
}

// isNamed reports whether some pod names a path.
func (all census) isNamed(path string) bool { return all[path] != nil }
