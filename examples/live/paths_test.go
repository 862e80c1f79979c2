// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A field of Kubernetes' objects that matters to preemption makes a difference to the document,
// or is named; else it is listed here with the reason.
type objectPaths struct {
	of    reflect.Type
	parts []string          // of the type, with all below them
	read  map[string]string // a value that makes a difference, by path; all below the path are read with it
	left  map[string]string // why a field does not matter
}

const preference = "a preference: it forbids no node"

var pathsOf = map[string]objectPaths{
	"Pod": {
		reflect.TypeFor[v1.Pod](),
		[]string{
			"spec.nodeName", "spec.priority", "spec.priorityClassName", "spec.preemptionPolicy", "spec.resources", "spec.schedulingGates",
			"spec.affinity", "spec.tolerations", "spec.topologySpreadConstraints", "spec.schedulingGroup",
			"spec.containers.resources", "spec.containers.ports", "spec.initContainers.resources", "spec.initContainers.ports", "spec.initContainers.restartPolicy",
			"spec.volumes.persistentVolumeClaim", "spec.volumes.ephemeral", "spec.overhead",
			"status.phase", "status.conditions", "status.nominatedNodeName", "status.resources", "status.allocatedResources", "status.resize",
			"status.containerStatuses.resources", "status.containerStatuses.allocatedResources",
			"metadata.ownerReferences", "metadata.deletionTimestamp",
		},
		map[string]string{
			"metadata.deletionTimestamp":          `"2026-01-01T01:59:00Z"`,
			"metadata.ownerReferences.kind":       `{"metadata": {"ownerReferences": [{"kind": "Job", "name": "j", "controller": true}]}}`,
			"metadata.ownerReferences.name":       `{"metadata": {"ownerReferences": [{"kind": "A", "name": "j", "controller": true}]}}`,
			"metadata.ownerReferences.controller": `{"metadata": {"ownerReferences": [{"kind": "A", "name": "j", "controller": true}]}}`,
			"spec.nodeName":                       `"n2"`,
			"spec.priority":                       `7`,
			"spec.priorityClassName":              `"high"`,
			"spec.preemptionPolicy":               `"Never"`,
			"spec.resources.requests":             `{"cpu": "3"}`,
			"spec.schedulingGates":                `[{"name": "g"}]`,
			"spec.schedulingGroup":                `{"podGroupName": "g"}`,
			"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution":    `{"nodeSelectorTerms": [{"matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}]}]}`,
			"spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution":     `[{"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"a": "b"}}}]`,
			"spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution": `[{"topologyKey": "kubernetes.io/hostname", "labelSelector": {}}]`,
			"spec.tolerations":                            `[{"key": "t", "operator": "Exists"}]`,
			"spec.topologySpreadConstraints":              `[{"topologyKey": "kubernetes.io/hostname", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}]`,
			"spec.containers.resources.requests":          `{"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]}}`,
			"spec.containers.resources.limits":            `{"spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": "2"}}}]}}`,
			"spec.containers.ports.hostPort":              `{"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}, "ports": [{"hostPort": 80}]}]}}`,
			"spec.containers.ports.hostIP":                `{"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}, "ports": [{"hostPort": 80, "hostIP": "10.0.0.1"}]}]}}`,
			"spec.containers.ports.protocol":              `{"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}, "ports": [{"hostPort": 80, "protocol": "UDP"}]}]}}`,
			"spec.initContainers.resources.requests":      `{"spec": {"initContainers": [{"name": "i", "resources": {"requests": {"cpu": "5"}}}]}}`,
			"spec.initContainers.resources.limits":        `{"spec": {"initContainers": [{"name": "i", "resources": {"limits": {"cpu": "5"}}}]}}`,
			"spec.initContainers.ports.hostPort":          `{"spec": {"initContainers": [{"name": "i", "ports": [{"hostPort": 80}]}]}}`,
			"spec.initContainers.ports.hostIP":            `{"spec": {"initContainers": [{"name": "i", "ports": [{"hostPort": 80, "hostIP": "10.0.0.1"}]}]}}`,
			"spec.initContainers.ports.protocol":          `{"spec": {"initContainers": [{"name": "i", "ports": [{"hostPort": 80, "protocol": "UDP"}]}]}}`,
			"spec.initContainers.restartPolicy":           `{"spec": {"initContainers": [{"name": "i", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}]}}`,
			"spec.volumes.persistentVolumeClaim":          `{"spec": {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "x"}}]}}`,
			"spec.volumes.ephemeral":                      `{"spec": {"volumes": [{"name": "v", "ephemeral": {}}]}}`,
			"spec.overhead":                               `{"cpu": "1"}`,
			"status.phase":                                `"Succeeded"`,
			"status.conditions.type":                      `{"status": {"conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T01:30:00Z"}]}}`,
			"status.conditions.status":                    `{"status": {"conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T01:30:00Z"}]}}`,
			"status.conditions.lastTransitionTime":        `{"status": {"conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T01:30:00Z"}]}}`,
			"status.conditions.reason":                    `{"status": {"conditions": [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}]}}`,
			"status.nominatedNodeName":                    `"n2"`,
			"status.containerStatuses.resources":          `{"status": {"containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": "4"}}}]}}`,
			"status.containerStatuses.allocatedResources": `{"status": {"containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "4"}, "resources": {"requests": {"cpu": "1"}}}]}}`,
			"status.resources":                            `{"spec": {"resources": {"requests": {"cpu": "1"}}}, "status": {"resources": {"requests": {"cpu": "4"}}}}`,
			"status.allocatedResources":                   `{"spec": {"resources": {"requests": {"cpu": "1"}}}, "status": {"allocatedResources": {"cpu": "4"}, "resources": {"requests": {"cpu": "1"}}}}`,
		},
		map[string]string{
			"metadata.ownerReferences.apiVersion":                                           "kinds of controllers that are read have one group each",
			"metadata.ownerReferences.uid":                                                  "controllers are told apart by kind and name",
			"metadata.ownerReferences.blockOwnerDeletion":                                   "about deleting the owner",
			"spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution":    preference,
			"spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution":     preference,
			"spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution": preference,
			"spec.containers.ports.containerPort":                                           "in the pod's own network",
			"spec.containers.ports.name":                                                    "a name",
			"spec.initContainers.ports.containerPort":                                       "in the pod's own network",
			"spec.initContainers.ports.name":                                                "a name",
			"spec.containers.resources.claims":                                              "one of spec.resourceClaims, which are named",
			"spec.initContainers.resources.claims":                                          "one of spec.resourceClaims, which are named",
			"spec.resources.limits":                                                         "the API server has made requests of them",
			"spec.resources.claims":                                                         "not allowed for pods",
			"status.conditions.lastProbeTime":                                               "when it was looked at",
			"status.conditions.message":                                                     "a text",
			"status.conditions.observedGeneration":                                          "of the writer",
			"status.resize":                                                                 "old: conditions say it",
		},
	},
	"PodDisruptionBudget": {
		reflect.TypeFor[policyv1.PodDisruptionBudget](), []string{"spec", "status"},
		map[string]string{
			"spec.selector":             `{"matchLabels": {"x": "y"}}`,
			"status.disruptionsAllowed": `5`,
			"status.disruptedPods":      `{"runs": "2026-01-01T01:59:00Z"}`,
		},
		map[string]string{
			"spec.maxUnavailable": "the status says what is left", "spec.minAvailable": "the status says what is left",
			"spec.unhealthyPodEvictionPolicy": "about evictions of pods that are not ready",
			"status.conditions":               "the number says it", "status.currentHealthy": "the number left counts", "status.desiredHealthy": "the number left counts",
			"status.expectedPods": "the number left counts", "status.observedGeneration": "of the writer",
		},
	},
	"PriorityClass": {
		reflect.TypeFor[schedulingv1.PriorityClass](), []string{"value", "globalDefault", "description", "preemptionPolicy"},
		map[string]string{"value": `9`, "globalDefault": `true`, "preemptionPolicy": `"Never"`},
		map[string]string{"description": "a text"},
	},
}

// pathsIn lists the paths of the fields of a type that have no fields.
func pathsIn(of reflect.Type, path string, found map[string]bool) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice:
		pathsIn(of.Elem(), path, found)
		return
	case reflect.Struct:
		switch reflect.Zero(of).Interface().(type) {
		case resource.Quantity, metav1.Time, intstr.IntOrString, v1.EphemeralVolumeSource:
		default:
			for i := range of.NumField() {
				name, options, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
				if strings.Contains(options, "inline") || name == "" {
					pathsIn(of.Field(i).Type, path, found)
				} else {
					pathsIn(of.Field(i).Type, strings.TrimPrefix(join(path, name), "."), found)
				}
			}
			return
		}
	}
	found[path] = true
}

// TestPaths: every field that may matter makes a difference, or is listed with the reason why it
// does not. One that Kubernetes adds fails here.
func TestPaths(t *testing.T) {
	below := func(path string, of map[string]string) string {
		for p := range of {
			if path == p || strings.HasPrefix(path, p+".") {
				return p
			}
		}
		return ""
	}
	for kind, paths := range pathsOf {
		found, used := map[string]bool{}, map[string]bool{}
		pathsIn(paths.of, "", found)
		for path := range found {
			if slices.ContainsFunc(paths.parts, func(p string) bool { return path == p || strings.HasPrefix(path, p+".") }) {
				read, left := below(path, paths.read), below(path, paths.left)
				used[read], used[left] = true, true
				if (read == "") == (left == "") {
					t.Errorf("%s: %s: read %q, left out %q", kind, path, read, left)
				}
			}
		}
		for _, path := range slices.Concat(slices.Collect(maps.Keys(paths.read)), slices.Collect(maps.Keys(paths.left))) {
			if !used[path] {
				t.Errorf("%s has no %s", kind, path)
			}
		}
		without := told(t, kind, nil)
		for path, value := range paths.read {
			if slices.Equal(told(t, kind, patchOf(t, path, value)), without) {
				t.Errorf("%s: %s = %s makes no difference, and nothing is said of it", kind, path, value)
			}
		}
	}
}

// patchOf returns what a value adds to an object: at the path, or to all of it if it is of an object
// that begins with the first name of the path.
func patchOf(t *testing.T, path, value string) thing {
	var v any
	require.NoError(t, json.Unmarshal([]byte(value), &v), path)
	names := strings.Split(path, ".")
	if o, ok := v.(thing); ok && (o["metadata"] != nil || o["spec"] != nil || o["status"] != nil) {
		return o
	}
	for _, name := range slices.Backward(names) {
		v = thing{name: v}
	}
	return v.(thing)
}

// merge adds a patch to an object.
func merge(o, patch thing) {
	for k, v := range patch {
		old, is := o[k].(thing)
		if more, ok := v.(thing); ok && is {
			merge(old, more)
		} else {
			o[k] = v
		}
	}
}

// told returns the document and the notes of a cluster, in which an object of a kind is patched: a pod that
// runs, and one that waits, one after the other.
func told(t *testing.T, kind string, patch thing) (all []string) {
	for _, which := range []string{"runs", "waits"} {
		var dump []string
		add := func(text, own string) {
			var o thing
			require.NoError(t, json.Unmarshal([]byte(text), &o))
			if o["kind"] == kind && (own == "" || own == which) {
				merge(o, patch)
			}
			raw, err := json.Marshal(o)
			require.NoError(t, err)
			dump = append(dump, string(raw))
		}
		add(nodeOf("n1", "8"), "")
		add(objectOf("v1", "Node", "", "n2", thing{"metadata": thing{"labels": thing{"k": "v"}}, "spec": thing{"taints": []thing{{"key": "t", "effect": "NoSchedule"}}},
			"status": thing{"allocatable": thing{"cpu": "8", "memory": "32Gi", "pods": "50"}}}), "")
		add(podOf("runs", "n1", "1", 0, thing{"metadata": thing{"namespace": "x", "labels": thing{"app": "p"}}}), "runs")
		add(podOf("other", "n1", "1", 0, thing{"metadata": thing{"namespace": "x"}}), "other")
		add(podOf("waits", "", "1", 0, thing{"metadata": thing{"namespace": "x"}}), "waits")
		add(objectOf("policy/v1", "PodDisruptionBudget", "x", "b", thing{"spec": thing{"selector": thing{"matchLabels": thing{"app": "p"}}}, "status": thing{"disruptionsAllowed": 1}}), "")
		add(objectOf("scheduling.k8s.io/v1", "PriorityClass", "", "high", thing{"value": 3}), "")
		status, out, problems := say(t, strings.Join(dump, "\n"), "-document")
		all = append(all, string(rune('0'+status)), out, problems)
	}
	return all
}
