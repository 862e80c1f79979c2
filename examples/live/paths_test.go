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
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// elsewhere are the fields of pods and nodes, and of what lists of theirs have, that are about something else
// than where a pod may run and who stops for it, by where they are. One that Kubernetes adds is in none of
// the lists.
var elsewhere = map[string]map[string]string{
	"Pod": {
		"":                             "apiVersion kind",
		"metadata":                     "deletionGracePeriodSeconds finalizers generateName generation managedFields resourceVersion selfLink uid",
		"spec":                         "activeDeadlineSeconds automountServiceAccountToken dnsConfig dnsPolicy enableServiceLinks ephemeralContainers evictionResponders hostAliases hostIPC hostNetwork hostPID hostUsers hostname hostnameOverride imagePullSecrets os readinessGates restartPolicy runtimeClassName schedulerName securityContext serviceAccount serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain terminationGracePeriodSeconds",
		"spec.containers":              "args command env envFrom image imagePullPolicy lifecycle livenessProbe readinessProbe resizePolicy restartPolicyRules securityContext startupProbe stdin stdinOnce terminationMessagePath terminationMessagePolicy tty volumeDevices volumeMounts workingDir",
		"spec.initContainers":          "args command env envFrom image imagePullPolicy lifecycle livenessProbe readinessProbe resizePolicy restartPolicyRules securityContext startupProbe stdin stdinOnce terminationMessagePath terminationMessagePolicy tty volumeDevices volumeMounts workingDir",
		"spec.volumes":                 "awsElasticBlockStore azureDisk azureFile cephfs cinder configMap csi downwardAPI emptyDir fc flexVolume flocker gcePersistentDisk gitRepo glusterfs hostPath image iscsi nfs photonPersistentDisk portworxVolume projected quobyte rbd scaleIO secret storageos vsphereVolume",
		"status.containerStatuses":     "allocatedResourcesStatus containerID image imageID lastState ready restartCount started state stopSignal user volumeMounts",
		"status":                       "ephemeralContainerStatuses extendedResourceClaimStatus hostIP hostIPs message nodeAllocatableResourceClaimStatuses observedGeneration podIP podIPs qosClass reason resourceClaimStatuses startTime volumeHealth",
		"status.initContainerStatuses": "allocatedResourcesStatus containerID image imageID lastState ready restartCount started state stopSignal user volumeMounts",
	},
	"Node": {
		"":         "apiVersion kind",
		"metadata": "annotations creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generateName generation managedFields namespace ownerReferences resourceVersion selfLink uid",
		"status":   "addresses config daemonEndpoints declaredFeatures features images nodeInfo runtimeHandlers volumesAttached volumesInUse",
	},
}

// isElsewhere reports whether a path is in such a list, or lies below one that is.
func isElsewhere(kind, path string) bool {
	for at, names := range elsewhere[kind] {
		for name := range strings.FieldsSeq(names) {
			if p := strings.TrimPrefix(at+"."+name, "."); path == p || strings.HasPrefix(path, p+".") {
				return true
			}
		}
	}
	return false
}

// A field of Kubernetes' objects that matters to preemption makes a difference to the document,
// or is named; else it is listed here with the reason.
type objectPaths struct {
	of    reflect.Type
	parts []string          // of the type, with all below them
	read  map[string]string // a value that makes a difference, by path; all below the path are read with it
	left  map[string]string // why a field does not matter
}

// podSetWith is the specification of a Workload of one podset, with a field of it.
func podSetWith(field string) string {
	set := map[string]any{"name": "main", "count": 2, "template": thing{"spec": thing{"containers": []thing{{"name": "c", "resources": gpus(1)}}}}}
	if err := json.Unmarshal([]byte("{"+field+"}"), &set); err != nil {
		panic(err)
	}
	text, err := json.Marshal(thing{"spec": thing{"podSets": []any{set}}})
	if err != nil {
		panic(err)
	}
	return string(text)
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
			"metadata.name", "metadata.namespace", "metadata.labels", "metadata.annotations", "metadata.creationTimestamp",
			"spec.nodeSelector", "spec.resourceClaims", "spec.containers.name", "spec.containers.restartPolicy", "spec.initContainers.name", "spec.volumes.name",
			"status.containerStatuses.name", "status.initContainerStatuses.name", "status.initContainerStatuses.resources", "status.initContainerStatuses.allocatedResources",
		},
		map[string]string{
			"metadata.name":                                   `"z"`,
			"metadata.namespace":                              `"z"`,
			"metadata.labels":                                 `{"go-preempt.github.io/queue": "none", "jobset.sigs.k8s.io/jobset-name": "s"}`,
			"metadata.annotations":                            `{"go-preempt.github.io/stop-cost": "x", "scheduling.k8s.io/group-name": "g"}`,
			"metadata.creationTimestamp":                      `"2026-01-01T00:30:00Z"`,
			"spec.nodeSelector":                               `{"k": "v"}`,
			"spec.resourceClaims":                             `[{"name": "c"}]`,
			"status.initContainerStatuses.resources":          `{"spec": {"initContainers": [{"name": "i", "restartPolicy": "Always"}]}, "status": {"initContainerStatuses": [{"name": "i", "resources": {"requests": {"cpu": "4"}}}]}}`,
			"status.initContainerStatuses.allocatedResources": `{"spec": {"initContainers": [{"name": "i", "restartPolicy": "Always"}]}, "status": {"initContainerStatuses": [{"name": "i", "allocatedResources": {"cpu": "4"}, "resources": {"requests": {"cpu": "1"}}}]}}`,
			"metadata.deletionTimestamp":                      `"2026-01-01T01:59:00Z"`,
			"metadata.ownerReferences.kind":                   `{"metadata": {"ownerReferences": [{"kind": "Job", "name": "j", "controller": true}]}}`,
			"metadata.ownerReferences.name":                   `{"metadata": {"ownerReferences": [{"kind": "A", "name": "j", "controller": true}]}}`,
			"metadata.ownerReferences.controller":             `{"metadata": {"ownerReferences": [{"kind": "A", "name": "j", "controller": true}]}}`,
			"spec.nodeName":                                   `"n2"`,
			"spec.priority":                                   `7`,
			"spec.priorityClassName":                          `"high"`,
			"spec.preemptionPolicy":                           `"Never"`,
			"spec.resources.requests":                         `{"cpu": "3"}`,
			"spec.schedulingGates":                            `[{"name": "g"}]`,
			"spec.schedulingGroup":                            `{"podGroupName": "g"}`,
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
			"spec.containers.name": "statuses are found by it", "spec.initContainers.name": "statuses are found by it",
			"status.containerStatuses.name": "its container is found by it", "status.initContainerStatuses.name": "its container is found by it",
			"spec.containers.restartPolicy":                                                 "a container that is no init container runs at the same time as the others",
			"spec.volumes.name":                                                             "containers find them by it",
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
	"PodGroup": {
		reflect.TypeFor[schedulingv1beta1.PodGroup](), []string{"spec", "status"},
		map[string]string{
			"spec.priority": `7`, "spec.priorityClassName": `"high"`, "spec.preemptionPolicy": `"Never"`,
			"spec.schedulingPolicy.gang.minCount":     `2`,
			"spec.disruptionMode.all":                 `{}`,
			"spec.schedulingConstraints.topology.key": `{"spec": {"schedulingConstraints": {"topology": [{"key": "k"}]}}}`,
			"spec.resourceClaims":                     `[{"name": "c", "resourceClaimName": "c"}]`,
			"spec.parentCompositePodGroupName":        `"above"`,
		},
		map[string]string{
			"spec.schedulingPolicy.basic": "without a gang it is basic", "spec.disruptionMode.single": "as without a mode",
			"spec.workloadRef": "of what it was made", "status": "the pods say it",
		},
	},
	"CompositePodGroup": {
		reflect.TypeFor[schedulingv1alpha3.CompositePodGroup](), []string{"spec", "status"},
		map[string]string{"spec.priority": `7`, "spec.priorityClassName": `"high"`, "spec.preemptionPolicy": `"Never"`, "spec.parentCompositePodGroupName": `"above"`},
		map[string]string{
			"spec.schedulingPolicy": "told of the PodGroup below", "spec.schedulingConstraints": "told of the PodGroup below",
			"spec.disruptionMode": "told of the PodGroup below", "spec.workloadRef": "of what it was made", "status": "the pods say it",
		},
	},
	"Node": {
		reflect.TypeFor[v1.Node](), []string{"spec", "metadata.name", "metadata.labels", "status.allocatable", "status.capacity", "status.phase", "status.conditions"},
		map[string]string{
			"spec.taints": `[{"key": "t", "effect": "NoExecute"}]`, "spec.unschedulable": `true`,
			"metadata.name": `"z"`, "metadata.labels": `{"topology.kubernetes.io/zone": "a"}`, "status.allocatable": `{"cpu": "3"}`,
		},
		map[string]string{
			"spec.podCIDR": "about its network", "spec.podCIDRs": "about its network", "spec.providerID": "a name",
			"spec.podPreemptionPolicy": "about resizes, for which nobody makes room", "spec.configSource": "old", "spec.externalID": "old", "status.phase": "old",
			"status.capacity": "what is allocatable counts", "status.conditions": "taints say it",
		},
	},
	"Workload": {
		reflect.TypeFor[workload](), []string{"spec", "status", "metadata.ownerReferences"},
		map[string]string{
			"metadata.ownerReferences.kind": `{"metadata": {"ownerReferences": [{"kind": "Job", "name": "j"}]}}`,
			"metadata.ownerReferences.name": `{"metadata": {"ownerReferences": [{"kind": "Job", "name": "j"}]}}`,
			"spec.podSets.name":             podSetWith(`"name": "other"`), "spec.podSets.count": podSetWith(`"count": 3`),
			"spec.podSets.minCount":                 podSetWith(`"minCount": 1`),
			"spec.podSets.template":                 podSetWith(`"template": {"spec": {"containers": [{"name": "c", "resources": {"limits": {"gpu": 3}}}]}}`),
			"spec.podSets.topologyRequest.required": podSetWith(`"topologyRequest": {"required": "rack"}`),
			"spec.queueName":                        `"none"`, "spec.priority": `7`, "spec.active": `false`,
			"spec.priorityClassName":     `{"spec": {"priority": null, "priorityClassName": "dear"}}`,
			"spec.priorityClassRef.name": `{"spec": {"priority": null, "priorityClassRef": {"name": "dear"}}}`,
			"status.conditions.type":     `[{"type": "Finished", "status": "True"}]`, "status.conditions.status": `[{"type": "Finished", "status": "True"}]`,
			"status.conditions.lastTransitionTime":             `[{"type": "QuotaReserved", "status": "True", "lastTransitionTime": "2026-01-01T01:30:00Z"}]`,
			"status.admission.clusterQueue":                    `"right"`,
			"status.admission.podSetAssignments.name":          `[{"name": "main", "count": 1}]`,
			"status.admission.podSetAssignments.count":         `[{"name": "main", "count": 1}]`,
			"status.admission.podSetAssignments.resourceUsage": `[{"name": "main", "resourceUsage": {"gpu": 4}}]`,
			"status.reclaimablePods.name":                      `[{"name": "main", "count": 1}]`,
			"status.reclaimablePods.count":                     `[{"name": "main", "count": 1}]`,
		},
		map[string]string{
			"metadata.ownerReferences.apiVersion": "as those of pods", "metadata.ownerReferences.uid": "as those of pods",
			"metadata.ownerReferences.controller": "a pod names its workload by any", "metadata.ownerReferences.blockOwnerDeletion": "about deleting the owner",
			"status.conditions.reason": "a word", "status.conditions.message": "a text", "status.conditions.observedGeneration": "of the writer",
		},
	},
	"volcano PodGroup": {
		reflect.TypeFor[volcanoPodGroup](), []string{"spec"},
		map[string]string{
			"spec.minMember": `2`, "spec.minTaskMember": `{"worker": 2}`, "spec.queue": `"other"`, "spec.priorityClassName": `"high"`,
			"spec.networkTopology.mode": `{"spec": {"networkTopology": {"mode": "hard"}}}`,
		},
		nil,
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
		case resource.Quantity, metav1.Time, intstr.IntOrString, v1.EphemeralVolumeSource, v1.PodTemplateSpec:
		default:
			if of.NumField() == 0 {
				break
			}
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
			isPart := slices.ContainsFunc(paths.parts, func(p string) bool { return path == p || strings.HasPrefix(path, p+".") })
			if elsewhere[kind] != nil && isPart == isElsewhere(kind, path) {
				t.Errorf("%s: %s is in no list, or in two", kind, path)
			}
			if isPart {
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

// told returns the document and the notes of a cluster, in which an object of a kind is patched: a pod or a
// workload that runs, and one that waits, one after the other.
func told(t *testing.T, kind string, patch thing) (all []string) {
	for _, which := range []string{"runs", "waits"} {
		var dump []string
		add := func(text, own string) {
			var o thing
			require.NoError(t, json.Unmarshal([]byte(text), &o))
			if strings.TrimPrefix(kind, "volcano ") == o["kind"] && (own == "" || own == which) {
				merge(o, patch)
			}
			raw, err := json.Marshal(o)
			require.NoError(t, err)
			dump = append(dump, string(raw))
		}
		switch kind {
		case "Workload":
			addKueue(add)
		case "volcano PodGroup":
			addVolcano(add)
		default:
			addCluster(add)
		}
		status, out, problems := say(t, strings.Join(dump, "\n"), "-document")
		all = append(all, string(rune('0'+status)), out, problems)
	}
	return all
}

// addCluster adds the objects of a cluster. Those of a name are patched in their turn, those of none always.
func addCluster(add func(text, own string)) {
	add(nodeOf("n1", "8"), "")
	add(objectOf("v1", "Node", "", "n2", thing{"metadata": thing{"labels": thing{"k": "v"}}, "spec": thing{"taints": []thing{{"key": "t", "effect": "NoSchedule"}}},
		"status": thing{"allocatable": thing{"cpu": "8", "memory": "32Gi", "pods": "50"}}}), "")
	add(podOf("runs", "n1", "1", 0, thing{"metadata": thing{"namespace": "x", "labels": thing{"app": "p"}}}), "runs")
	add(podOf("other", "n1", "1", 0, thing{"metadata": thing{"namespace": "x"}}), "other")
	add(podOf("waits", "", "1", 0, thing{"metadata": thing{"namespace": "x"}}), "waits")
	add(podOf("member", "", "1", 0, thing{"spec": thing{"schedulingGroup": thing{"podGroupName": "g"}}}), "other")
	add(objectOf("scheduling.k8s.io/v1beta1", "PodGroup", "x", "g", thing{"spec": thing{"schedulingPolicy": thing{"basic": thing{}}}}), "")
	add(podOf("below", "", "1", 0, thing{"spec": thing{"schedulingGroup": thing{"podGroupName": "h"}}}), "other")
	add(objectOf("scheduling.k8s.io/v1beta1", "PodGroup", "x", "h", thing{"spec": thing{"schedulingPolicy": thing{"basic": thing{}}, "parentCompositePodGroupName": "c"}}), "")
	add(objectOf("scheduling.k8s.io/v1alpha3", "CompositePodGroup", "x", "c", thing{"spec": thing{"schedulingPolicy": thing{"basic": thing{}}}}), "")
	add(objectOf("policy/v1", "PodDisruptionBudget", "x", "b", thing{"spec": thing{"selector": thing{"matchLabels": thing{"app": "p"}}}, "status": thing{"disruptionsAllowed": 1}}), "")
	add(objectOf("scheduling.k8s.io/v1", "PriorityClass", "", "high", thing{"value": 3}), "")
}

// addKueue adds Workloads without nodes, and a pod that an owner makes part of one.
func addKueue(add func(text, own string)) {
	for text := range strings.SplitSeq(strings.ReplaceAll(cohort(), "}{", "}\n{"), "\n") {
		add(text, "")
	}
	add(workloadOf("l", "runs", 2, gpus(1), nil, nil, admitted("left", nil)), "runs")
	add(workloadOf("r", "waits", 2, gpus(1), nil, nil, nil), "waits")
	for _, ns := range []string{"l", "r"} {
		add(podOf("made", "", "1", 0, thing{"metadata": thing{"namespace": ns, "ownerReferences": []thing{{"kind": "Job", "name": "j", "controller": true}}}}), "other")
	}
	add(objectOf("kueue.x-k8s.io/v1beta2", "WorkloadPriorityClass", "", "dear", thing{"value": 9}), "")
}

// addVolcano adds a PodGroup of Volcano that waits.
func addVolcano(add func(text, own string)) {
	add(nodeOf("n1", "8"), "")
	for _, own := range []string{"default", "other"} {
		add(objectOf("scheduling.volcano.sh/v1beta1", "Queue", "", own, thing{"spec": thing{"deserved": thing{"cpu": 2}}}), "")
	}
	for _, own := range []string{"a", "b"} {
		add(podOf(own, "", "1", 0, thing{"metadata": thing{"annotations": thing{annotationVolcano: "g"}}}), "other")
	}
	add(objectOf("scheduling.volcano.sh/v1beta1", "PodGroup", "x", "g", thing{"spec": thing{"minMember": 1}}), "")
	add(objectOf("scheduling.k8s.io/v1", "PriorityClass", "", "high", thing{"value": 3}), "")
}
