// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
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
	unit := job(p)
	if unit == "" || c.groups == nil {
		return unit
	}
	group, err := c.groups.pods(p.Namespace, *p.Spec.SchedulingGroup.PodGroupName)
	if err != nil {
		return unit
	}
	for above := group.Spec.ParentCompositePodGroupName; above != nil; {
		g, err := c.groups.composites(p.Namespace, *above)
		if err != nil {
			break
		}
		if g.Spec.DisruptionMode != nil && g.Spec.DisruptionMode.All != nil {
			unit = p.Namespace + "/" + composite + *above
		}
		above = g.Spec.ParentCompositePodGroupName
	}
	return unit
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

// isComposite reports whether a job is a composite pod group.
func isComposite(name string) bool { return strings.HasPrefix(name, composite) }
