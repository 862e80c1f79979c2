// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"iter"
	"math"
	"strings"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
)

// composite begins the name of a job, after its namespace, that is a composite pod group.
const composite = "composite/"

// groups tells of PodGroups and of composite pod groups. The scheduler's snapshot is for
// its cycles only. What happens outside of them asks the informers.
type groups struct {
	pods       func(namespace, name string) (*schedulingv1beta1.PodGroup, error)
	composites func(namespace, name string) (*schedulingv1alpha3.CompositePodGroup, error)
}

// groupsOf returns the groups of the scheduler's snapshot.
func groupsOf(l fwk.SharedLister) *groups {
	return &groups{
		pods: func(ns, name string) (*schedulingv1beta1.PodGroup, error) { return l.PodGroups().Get(ns, name) },
		composites: func(ns, name string) (*schedulingv1alpha3.CompositePodGroup, error) {
			return l.CompositePodGroups().Get(ns, name)
		},
	}
}

// informed returns the groups that informers have, or nil if the scheduler has no groups.
func informed(f informers.SharedInformerFactory) *groups {
	if !utilfeature.DefaultFeatureGate.Enabled(features.GenericWorkload) {
		return nil
	}
	pods := f.Scheduling().V1beta1().PodGroups().Lister()
	g := &groups{
		pods: func(ns, name string) (*schedulingv1beta1.PodGroup, error) { return pods.PodGroups(ns).Get(name) },
		composites: func(_, name string) (*schedulingv1alpha3.CompositePodGroup, error) {
			return nil, apierrors.NewNotFound(schedulingv1alpha3.Resource("compositepodgroups"), name)
		},
	}
	if utilfeature.DefaultFeatureGate.Enabled(features.CompositePodGroup) {
		composites := f.Scheduling().V1alpha3().CompositePodGroups().Lister()
		g.composites = func(ns, name string) (*schedulingv1alpha3.CompositePodGroup, error) {
			return composites.CompositePodGroups(ns).Get(name)
		}
	}
	return g
}

// unit returns what a running pod is part of: the highest composite pod group above it
// that can be disrupted only as a whole, or else its PodGroup, or "".
func (c *core) unit(p *v1.Pod) string {
	unit, group := job(p), c.group(p)
	if group == nil {
		return unit
	}
	for name, g := range c.above(group) {
		if g.Spec.DisruptionMode != nil && g.Spec.DisruptionMode.All != nil {
			unit = p.Namespace + "/" + composite + name
		}
	}
	return unit
}

// group returns the PodGroup of a pod, or nil if it has none or that is not known.
func (c *core) group(p *v1.Pod) *schedulingv1beta1.PodGroup {
	if c.groups == nil || job(p) == "" {
		return nil
	}
	group, err := c.groups.pods(p.Namespace, *p.Spec.SchedulingGroup.PodGroupName)
	if err != nil {
		return nil
	}
	return group
}

// above yields the composite pod groups above a PodGroup and their names, upwards, as far as
// they are known.
func (c *core) above(group *schedulingv1beta1.PodGroup) iter.Seq2[string, *schedulingv1alpha3.CompositePodGroup] {
	return func(yield func(string, *schedulingv1alpha3.CompositePodGroup) bool) {
		for name := group.Spec.ParentCompositePodGroupName; name != nil; {
			g, err := c.groups.composites(group.Namespace, *name)
			if err != nil || !yield(*name, g) {
				return
			}
			name = g.Spec.ParentCompositePodGroupName
		}
	}
}

// priorityOf returns the priority of a pod: that of its highest group, if it says one. Who
// runs has the priority that it asked with. Else two groups could stop each other in turn.
func (c *core) priorityOf(p *v1.Pod) int32 {
	if of := c.groupPriority(p); of != nil {
		return *of
	}
	return priority(p)
}

// groupPriority returns the priority of the highest group of a pod; nil: it says none.
func (c *core) groupPriority(p *v1.Pod) *int32 {
	group := c.group(p)
	if group == nil {
		return nil
	}
	of := group.Spec.Priority
	for _, g := range c.above(group) {
		of = g.Spec.Priority
	}
	return of
}

// minimum returns how many pods of a job are of use: all that there are, if it can be
// disrupted only as a whole, and else any number.
func (c *core) minimum(job string) int {
	ns, name, _ := strings.Cut(job, "/")
	if isComposite(name) {
		return math.MaxInt32
	}
	if c.groups == nil {
		return 0
	}
	g, err := c.groups.pods(ns, name)
	if err != nil || g.Spec.DisruptionMode == nil || g.Spec.DisruptionMode.All == nil {
		return 0
	}
	return math.MaxInt32
}

// setMinimum tells the cluster how many pods of a job are of use. Jobs that have gone are
// forgotten when there are twice as many.
func (c *core) setMinimum(job string) {
	m := &c.mirror
	need := 0
	if job != "" {
		need = c.minimum(job)
	}
	if need == c.cluster.MinMembers(job) {
		return
	}
	if m.wholes == nil {
		m.wholes = map[string]bool{}
	}
	if len(m.wholes) >= 2*m.whole+64 {
		for job := range m.wholes { // in any order: each is by itself
			if c.cluster.JobLen(job) == 0 {
				c.tellMinimum(job, 0)
			}
		}
		m.whole = len(m.wholes)
	}
	c.tellMinimum(job, need)
}

func (c *core) tellMinimum(job string, need int) {
	if err := c.cluster.SetMinMembers(job, need); err != nil {
		c.log.Error(err, "Minimum not told", "job", job)
	}
	if c.mirror.wholes[job] = true; need == 0 {
		delete(c.mirror.wholes, job)
	}
}

// isComposite reports whether a job is a composite pod group.
func isComposite(name string) bool { return strings.HasPrefix(name, composite) }
