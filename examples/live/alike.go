// SPDX-License-Identifier: Apache-2.0

package main

import (
	"reflect"

	v1 "k8s.io/api/core/v1"
	helper "k8s.io/component-helpers/resource"
)

// Of a dump of a hundred thousand pods little is read, and most of that is alike: pods of one
// controller want the same. What nobody reads is dropped, and the rest is shared.

// A mould is a pod of a controller, with which others share their parts.
type mould struct {
	spec   v1.PodSpec
	sizing sizing
	// What it requests, once that is known, as a document says it and in base units.
	size    map[string]string
	amounts map[string]int64
}

// A sizing is what decides what a pod requests, but for its conditions.
type sizing struct {
	containers, first []v1.Container
	statuses, firsts  []v1.ContainerStatus
	overhead, given   v1.ResourceList
	resources, has    *v1.ResourceRequirements
}

func sizingOf(p *v1.Pod) sizing {
	s, is := &p.Spec, &p.Status
	return sizing{s.Containers, s.InitContainers, is.ContainerStatuses, is.InitContainerStatuses, s.Overhead, is.AllocatedResources, s.Resources, is.Resources}
}

// slim drops of a pod what is not read, and has it share the rest with one before it.
func (c *cluster) slim(p *v1.Pod) {
	s, is := &p.Spec, &p.Status
	p.ManagedFields, s.Volumes = nil, claims(s.Volumes)
	s.Containers, s.InitContainers = slimmed(s.Containers), slimmed(s.InitContainers)
	s.EphemeralContainers, s.ImagePullSecrets, s.SecurityContext = nil, nil, nil
	is.HostIPs, is.PodIPs, is.EphemeralContainerStatuses = nil, nil, nil
	is.ContainerStatuses, is.InitContainerStatuses = sized(is.ContainerStatuses), sized(is.InitContainerStatuses)
	of, mine := application(p), sizingOf(p)
	m := c.moulds[of]
	if m == nil || !reflect.DeepEqual(m.sizing, mine) {
		c.moulds[of] = &mould{spec: *s, sizing: mine}
		return
	}
	s.Containers, s.InitContainers, s.Overhead, s.Resources = m.sizing.containers, m.sizing.first, m.sizing.overhead, m.sizing.resources
	is.ContainerStatuses, is.InitContainerStatuses = m.sizing.statuses, m.sizing.firsts
	share(&s.Volumes, m.spec.Volumes)
	share(&s.Tolerations, m.spec.Tolerations)
	share(&s.TopologySpreadConstraints, m.spec.TopologySpreadConstraints)
	share(&s.NodeSelector, m.spec.NodeSelector)
	share(&s.Affinity, m.spec.Affinity)
}

// mould returns that of which a pod has all parts that decide what it requests, or nil.
func (c *cluster) mould(p *v1.Pod) *mould {
	m := c.moulds[application(p)]
	if m == nil || len(p.Spec.Containers) == 0 || len(m.sizing.containers) == 0 || &m.sizing.containers[0] != &p.Spec.Containers[0] ||
		helper.IsPodResizeInfeasible(p) || helper.IsPodResizeDeferred(p) {
		return nil
	}
	return m
}

// share makes two parts one if they are alike.
func share[T any](part *T, with T) {
	if reflect.DeepEqual(*part, with) {
		*part = with
	}
}

// slimmed returns what is read of containers.
func slimmed(list []v1.Container) (kept []v1.Container) {
	for i := range list {
		c := &list[i]
		kept = append(kept, v1.Container{Name: c.Name, Resources: c.Resources, Ports: c.Ports, RestartPolicy: c.RestartPolicy})
	}
	return kept
}

// sized returns the statuses that say what a container has.
func sized(list []v1.ContainerStatus) (kept []v1.ContainerStatus) {
	for i := range list {
		if s := &list[i]; s.Resources != nil || len(s.AllocatedResources) > 0 {
			kept = append(kept, v1.ContainerStatus{Name: s.Name, Resources: s.Resources, AllocatedResources: s.AllocatedResources})
		}
	}
	return kept
}

// claims returns the volumes that tie a pod to nodes.
func claims(list []v1.Volume) (kept []v1.Volume) {
	for i := range list {
		if list[i].PersistentVolumeClaim != nil || list[i].Ephemeral != nil {
			kept = append(kept, list[i])
		}
	}
	return kept
}
