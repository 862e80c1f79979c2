// SPDX-License-Identifier: Apache-2.0

package preemptbyqueue

import (
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/go-preempt/preempt/resources"
	"github.com/go-preempt/preempt/toleration"
)

// key returns the key of a pod's task. See the package documentation.
func key(p *v1.Pod) string { return p.Namespace + "/" + p.Name + "/" + string(p.UID) }

// isKey reports whether k is the key of a pod, without making one.
func isKey(k string, p *v1.Pod) bool {
	rest, ok := strings.CutPrefix(k, p.Namespace)
	if !ok || len(rest) != 2+len(p.Name)+len(p.UID) || rest[0] != '/' {
		return false
	}
	return rest[1:1+len(p.Name)] == p.Name && rest[1+len(p.Name)] == '/' && rest[2+len(p.Name):] == string(p.UID)
}

// name returns the name of a pod for people.
func name(p *v1.Pod) string { return p.Namespace + "/" + p.Name }

// application returns what a pod belongs to: its controller. Two pods of one
// controller are alike, so that to stop one for the other helps nobody (law 3).
func application(p *v1.Pod) string {
	if owner := metav1.GetControllerOf(p); owner != nil {
		return string(owner.UID)
	}
	return ""
}

// job returns the PodGroup of a pod, as namespace/name, or "".
func job(p *v1.Pod) string {
	if g := p.Spec.SchedulingGroup; g != nil && g.PodGroupName != nil {
		return p.Namespace + "/" + *g.PodGroupName
	}
	return ""
}

// requiredNode returns the node that the pod of a DaemonSet is for, or "". Other
// pods may name a node in their affinity as well, but that is the input of a
// tenant, and an ask that requires its node is above guarantees and fences.
func requiredNode(p *v1.Pod) string {
	if !ofDaemonSet(p) || p.Spec.Affinity == nil || p.Spec.Affinity.NodeAffinity == nil {
		return ""
	}
	required := p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil || len(required.NodeSelectorTerms) == 0 {
		return ""
	}
	for _, f := range required.NodeSelectorTerms[0].MatchFields {
		if f.Key == metav1.ObjectNameField && f.Operator == v1.NodeSelectorOpIn && len(f.Values) == 1 {
			return f.Values[0]
		}
	}
	return ""
}

// ofDaemonSet reports whether a DaemonSet controls a pod.
func ofDaemonSet(p *v1.Pod) bool {
	owner := metav1.GetControllerOf(p)
	return owner != nil && owner.Kind == "DaemonSet"
}

// ofNode reports whether a pod is made again on its node if it stops: that of a DaemonSet,
// and the mirror of a static pod of the kubelet's. To stop it would free nothing.
func ofNode(p *v1.Pod) bool {
	owner := metav1.GetControllerOf(p)
	_, mirror := p.Annotations[v1.MirrorPodAnnotationKey]
	return mirror || owner != nil && (owner.Kind == "DaemonSet" || owner.Kind == "Node")
}

// optedOut reports whether a pod asks to be spared (law 1).
func optedOut(p *v1.Pod) bool {
	return p.Annotations[toleration.AnnotationAllowPreemption] == "false"
}

// Annotations that say what is lost if a pod stops. Of pods that are alike otherwise the one
// goes that loses least.
const (
	// AnnotationCheckpoint is when the pod has saved its work last, as in
	// 2026-01-31T12:00:00Z. What it did before is not lost.
	AnnotationCheckpoint = "go-preempt.github.io/last-checkpoint"
	// AnnotationCost is what it costs to stop the pod, a whole number. Sums of it count after
	// priorities, and before how many stop.
	AnnotationCost = "go-preempt.github.io/stop-cost"
	// AnnotationMovable says with "true" that the pod may stop on one node to start again on
	// another one, as a new pod of its controller. See Args.Moves.
	AnnotationMovable = "go-preempt.github.io/movable"
)

// checkpoint returns when a pod has saved its work last. A bad value is none.
func checkpoint(p *v1.Pod) time.Time {
	at, _ := time.Parse(time.RFC3339, p.Annotations[AnnotationCheckpoint]) // zero if it is bad
	return at
}

// cost returns what it costs to stop a pod. A bad value is 0.
func cost(p *v1.Pod) int64 {
	n, err := strconv.ParseInt(p.Annotations[AnnotationCost], 10, 64)
	if err != nil {
		return 0
	}
	return max(0, n)
}

// mayNot reports whether a pod must not preempt others, or its group must not.
func (c *core) mayNot(p *v1.Pod) bool {
	if group := c.group(p); group != nil && group.Spec.PreemptionPolicy != nil && *group.Spec.PreemptionPolicy == schedulingv1beta1.PreemptNever {
		return true
	}
	return p.Spec.PreemptionPolicy != nil && *p.Spec.PreemptionPolicy == v1.PreemptNever
}

// priority returns the priority of a pod.
func priority(p *v1.Pod) int32 { return corev1helpers.PodPriority(p) }

// scheduled returns when a pod was placed, or the zero time if it is not known yet.
func scheduled(p *v1.Pod) time.Time {
	for i := range p.Status.Conditions {
		c := &p.Status.Conditions[i]
		if c.Type == v1.PodScheduled && c.Status == v1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

// appendAmounts appends to dst what r has of each type of a schema. The type pods
// is the given number.
func appendAmounts(dst resources.Vector, schema *resources.Schema, r fwk.Resource, pods int64) resources.Vector {
	for i := range schema.Len() {
		name := schema.Name(i)
		switch v1.ResourceName(name) {
		case v1.ResourceCPU:
			dst = append(dst, r.GetMilliCPU())
		case v1.ResourceMemory:
			dst = append(dst, r.GetMemory())
		case v1.ResourceEphemeralStorage:
			dst = append(dst, r.GetEphemeralStorage())
		case v1.ResourcePods:
			dst = append(dst, pods)
		default:
			dst = append(dst, r.GetScalarResources()[v1.ResourceName(name)])
		}
	}
	return dst
}
