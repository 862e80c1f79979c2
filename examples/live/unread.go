// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// unmattering are fields of objects of other systems that are not read, and why that does
// no harm. All below a field is meant, too.
var unmattering = map[reflect.Type]map[string]string{
	reflect.TypeFor[workload](): {
		"apiVersion": "all that are served are read alike", "kind": "it was looked at",
		"spec.priorityClassSource":                        "a WorkloadPriorityClass goes before a PriorityClass of its name",
		"spec.priorityClassRef.group":                     "likewise",
		"spec.priorityClassRef.kind":                      "likewise",
		"status.admission.podSetAssignments.flavors":      "the quotas of flavors are added up, with a note",
		"status.admissionChecks":                          "conditions have what came of them",
		"status.requeueState":                             "what happened",
		"status.resourceRequests":                         "the podsets say it",
		"status.schedulingStats":                          "what happened",
		"status.accumulatedPastExecutionTimeSeconds":      "what happened",
		"status.accumulatedPastExexcutionTimeSeconds":     "what happened, as v1beta1 spells it",
		"status.nominatedClusterNames":                    "there is one cluster",
		"status.clusterName":                              "there is one cluster",
		"spec.podSets.topologyRequest.preferred":          "it forbids nothing",
		"spec.podSets.topologyRequest.podIndexLabel":      "all nodes are alike to the pods of a set",
		"spec.podSets.topologyRequest.unconstrained":      "it forbids nothing",
		"spec.podSets.topologyRequest.subGroupCount":      "all nodes are alike to the pods of a set",
		"spec.podSets.topologyRequest.subGroupIndexLabel": "all nodes are alike to the pods of a set",
	},
	reflect.TypeFor[workloadPriorityClass](): {
		"apiVersion": "it has a value in all", "kind": "it was looked at", "description": "for people",
	},
	reflect.TypeFor[volcanoPodGroup](): {
		"apiVersion": "there is one", "kind": "it was looked at", "status": "the pods say it", "spec.minResources": "the pods say it",
	},
}

// unread returns the fields of an object that are neither read nor unmattering: the names
// that our own types lack. What those of Kubernetes have is not looked at.
func unread(raw []byte, of any) []string {
	t := reflect.TypeOf(of).Elem()
	known, ok := unmattering[t]
	if !ok {
		return nil
	}
	found := map[string]bool{}
	lookUnread(raw, t, "", func(path string) {
		if _, ok := known[path]; !ok {
			found[path] = true
		}
	})
	return slices.Sorted(maps.Keys(found))
}

// lookUnread tells the paths in a value that a type of ours has not. Indices are left out.
func lookUnread(raw []byte, t reflect.Type, path string, tell func(path string)) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Slice {
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) == nil {
			for _, item := range items {
				lookUnread(item, t.Elem(), path, tell)
			}
		}
		return
	}
	if t.Kind() != reflect.Struct || strings.HasPrefix(t.PkgPath(), "k8s.io/") {
		return
	}
	var values map[string]json.RawMessage
	if json.Unmarshal(raw, &values) != nil {
		return // it is null
	}
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" {
			fields[name] = t.Field(i).Type
		}
	}
	for name, value := range values { // in any order: paths are sorted in the end
		at := strings.TrimPrefix(path+"."+name, ".")
		if of, ok := fields[name]; ok {
			lookUnread(value, of, at, tell)
		} else {
			tell(at)
		}
	}
}
