// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/scenario"
)

// A thing is an object of a dump, or part of one.
type thing = map[string]any

func objectOf(version, kind, namespace, own string, parts thing) string {
	meta := thing{"name": own, "creationTimestamp": "2026-01-01T01:00:00Z"}
	if namespace != "" {
		meta["namespace"] = namespace
	}
	if more, ok := parts["metadata"].(thing); ok {
		for k, v := range more {
			meta[k] = v
		}
	}
	o := thing{"apiVersion": version, "kind": kind, "metadata": meta}
	for k, v := range parts {
		if k != "metadata" {
			o[k] = v
		}
	}
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// nodeOf is a node of cpus; podOf a pod on a node, or on none.
func nodeOf(own, cpu string) string {
	return objectOf("v1", "Node", "", own, thing{"status": thing{"allocatable": thing{"cpu": cpu, "memory": "32Gi", "pods": "50"}}})
}

func podOf(own, node, cpu string, priority int, parts thing) string {
	spec := thing{"containers": []thing{{"name": "c", "resources": thing{"requests": thing{"cpu": cpu}}}}, "priority": priority}
	if node != "" {
		spec["nodeName"] = node
	}
	o := thing{"spec": spec}
	for k, v := range parts {
		if k == "spec" {
			for field, value := range v.(thing) {
				spec[field] = value
			}
			continue
		}
		o[k] = v
	}
	return objectOf("v1", "Pod", "x", own, o)
}

// A cohort is two ClusterQueues of 6 gpu each, "left" of namespace l and "right" of r, that
// lend to each other.
func cohort() string {
	text := ""
	for _, own := range []string{"left", "right"} {
		text += objectOf("kueue.x-k8s.io/v1beta2", "ClusterQueue", "", own, thing{"spec": thing{
			"cohortName": "both", "preemption": thing{"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"},
			"resourceGroups": []thing{{"coveredResources": []string{"gpu"}, "flavors": []thing{
				{"name": "f", "resources": []thing{{"name": "gpu", "nominalQuota": 6}}}}}}}})
		text += objectOf("kueue.x-k8s.io/v1beta2", "LocalQueue", own[:1], "q", thing{"spec": thing{"clusterQueue": own}})
	}
	return text
}

// workloadOf is a Workload of pods of one podset, with more of the set, of the spec and of
// the status. A status with an admission holds quota.
func workloadOf(namespace, own string, count int, resources thing, set, spec, status thing) string {
	podSet := thing{"name": "main", "count": count, "template": thing{"spec": thing{"containers": []thing{{"name": "c", "resources": resources}}}}}
	for k, v := range set {
		podSet[k] = v
	}
	all := thing{"podSets": []thing{podSet}, "queueName": "q", "priority": 0}
	for k, v := range spec {
		all[k] = v
	}
	return objectOf("kueue.x-k8s.io/v1beta2", "Workload", namespace, own, thing{"spec": all, "status": status})
}

func gpus(n int) thing { return thing{"requests": thing{"gpu": n}} }

// admitted is the status of a Workload that holds quota, if conditions of these types hold.
func admitted(queue string, assignment thing, conditions ...string) thing {
	a := thing{"clusterQueue": queue}
	if assignment != nil {
		assignment["name"] = "main"
		a["podSetAssignments"] = []thing{assignment}
	}
	all := []thing{}
	for _, c := range append(conditions, "QuotaReserved", "Admitted") {
		all = append(all, thing{"type": c, "status": "True", "lastTransitionTime": "2026-01-01T01:00:00Z", "reason": "r", "message": ""})
	}
	return thing{"admission": a, "conditions": all}
}

// TestKueueUsage: a Workload uses what its admission says, less the pods that are done, and
// one that is evicted leaves.
func TestKueueUsage(t *testing.T) {
	asks := workloadOf("r", "asks", 1, gpus(6), nil, nil, nil)
	half := admitted("left", thing{"resourceUsage": thing{"gpu": 6}, "count": 6})
	finished := admitted("left", thing{"resourceUsage": thing{"gpu": 12}, "count": 12})
	finished["reclaimablePods"] = []thing{{"name": "main", "count": 7}}
	for name, c := range map[string]struct{ text, want string }{
		"all":         {workloadOf("l", "runs", 12, gpus(1), nil, nil, admitted("left", nil)), "job l/runs needs 12 members, and goes whole"},
		"partial":     {workloadOf("l", "runs", 12, gpus(1), thing{"minCount": 3}, nil, half), "Without any:\n  r/asks on everywhere\n"},
		"done":        {workloadOf("l", "runs", 12, gpus(1), nil, nil, finished), "Without any:\n  r/asks on everywhere\n"},
		"limits":      {workloadOf("l", "runs", 12, thing{"limits": thing{"gpu": 1}}, nil, nil, admitted("left", nil)), "job l/runs needs 12 members, and goes whole"},
		"usage":       {workloadOf("l", "runs", 2, thing{}, nil, nil, admitted("left", thing{"resourceUsage": thing{"gpu": 12}})), "job l/runs needs 2 members, and goes whole"},
		"evicted":     {workloadOf("l", "runs", 12, gpus(1), nil, nil, admitted("left", nil, "Evicted")), "r/asks on everywhere, once those that are leaving have gone"},
		"pods beside": {workloadOf("l", "runs", 12, gpus(1), nil, nil, admitted("left", nil)) + podOf("p", "n", "1", 0, thing{"metadata": thing{"namespace": "l", "annotations": thing{annotationWorkload: "runs"}}}), "job l/runs needs 12 members"},
	} {
		status, out, problems := say(t, cohort()+c.text+asks)
		require.Equal(t, done, status, problems)
		require.Contains(t, out, c.want, name)
		require.NotContains(t, out, "l/runs on", name)
	}
	status, out, problems := say(t, cohort()+workloadOf("r", "asks", 1, thing{"limits": thing{"gpu": 13}}, nil, nil, nil))
	require.Equal(t, done, status, problems)
	require.Contains(t, out, "Not:\n  r/asks", "limits of who waits are requests, too")
}

// TestFairShares: with Kueue's fair sharing a queue takes back what it may borrow by its weight, and
// without it only up to its quota.
func TestFairShares(t *testing.T) {
	var dump strings.Builder
	for own, weight := range map[string]any{"left": nil, "right": nil, "spare": "0.5"} {
		spec := thing{"cohortName": "both", "preemption": thing{"reclaimWithinCohort": "Any"}, "resourceGroups": []thing{{"coveredResources": []string{"gpu"},
			"flavors": []thing{{"name": "f", "resources": []thing{{"name": "gpu", "nominalQuota": map[string]int{"left": 6, "right": 6, "spare": 12}[own]}}}}}}}
		if weight != nil {
			spec["fairSharing"] = thing{"weight": weight}
		}
		dump.WriteString(objectOf("kueue.x-k8s.io/v1beta2", "ClusterQueue", "", own, thing{"spec": spec}))
		dump.WriteString(objectOf("kueue.x-k8s.io/v1beta2", "LocalQueue", own[:1], "q", thing{"spec": thing{"clusterQueue": own}}))
	}
	for i := range 18 {
		dump.WriteString(workloadOf("l", fmt.Sprint("runs-", i), 1, gpus(1), nil, nil, admitted("left", nil)))
	}
	dump.WriteString(workloadOf("r", "runs", 6, gpus(1), nil, nil, admitted("right", nil)) + workloadOf("r", "asks", 1, gpus(4), nil, nil, nil))
	cm := func(config string) string {
		return objectOf("v1", "ConfigMap", "kueue-system", "kueue-manager-config", thing{"data": thing{"controller_manager_config.yaml": config}})
	}
	for config, fair := range map[string]bool{
		"": false,
		cm("kind: Configuration\napiVersion: config.kueue.x-k8s.io/v1beta1\nfairSharing:\n  enable: true\n"):                         true,
		cm("kind: Configuration\napiVersion: config.kueue.x-k8s.io/v1beta1\nfairSharing:\n  preemptionStrategies: [x]\n"):            false,
		cm("kind: Configuration\napiVersion: config.kueue.x-k8s.io/v1beta2\nfairSharing:\n  preemptionStrategies: [x]\n"):            true,
		"kind: Configuration\napiVersion: config.kueue.x-k8s.io/v1beta1\nhealth: {}\nresources: {x: 1}\nfairSharing: {enable: true}": true,
	} {
		args := []string{}
		if config != "" {
			file := filepath.Join(t.TempDir(), "config.yaml")
			require.NoError(t, os.WriteFile(file, []byte(config), 0o644))
			args = append(args, "-queues", file)
		}
		status, out, problems := say(t, dump.String(), args...)
		require.Equal(t, done, status, problems)
		require.Equal(t, fair, strings.Contains(out, "At a cost:\n  r/asks on everywhere, if these stop: l/runs-"), "%s%s%s", config, out, problems)
		require.Equal(t, fair, strings.Contains(problems, "fair shares: the quota of a queue"), problems)
		require.Equal(t, strings.Contains(config, "Strategies"), strings.Contains(problems, "left out: there is one: a queue takes back"), problems)
		require.Equal(t, strings.Contains(config, "resources"), strings.Contains(problems, "left out: Workloads count what their pods request"), problems)
		if fair {
			_, document, _ := say(t, dump.String(), append(args, "-document")...)
			require.Contains(t, document, `"fair.weight": "500"`)
			require.Contains(t, document, `"fair.weight": "1000"`)
			status, _, problems := say(t, dump.String(), append(args, "-scarce", "all")...)
			require.Equal(t, bad, status)
			require.Contains(t, problems, "fair shares are of scarce types already")
		}
	}
	status, _, problems := say(t, "kind: ConfigMap\napiVersion: v1\nmetadata: {name: c}\ndata:\n  controller_manager_config.yaml: 'kind: Pod'\n", "-queues", "-", os.DevNull)
	require.Equal(t, bad, status)
	require.Contains(t, problems, "want a Configuration of config.kueue.x-k8s.io")
}

// TestProportion: with Volcano's plugin of that name what a queue deserves follows from its weight.
func TestProportion(t *testing.T) {
	var dump strings.Builder
	dump.WriteString(nodeOf("n", "9"))
	for own, weight := range map[string]int{"a": 1, "b": 2} {
		dump.WriteString(objectOf("scheduling.volcano.sh/v1beta1", "Queue", "", own, thing{"spec": thing{
			"weight": weight, "guarantee": thing{"resource": thing{"cpu": 2 - weight}}, "deserved": thing{"memory": "1Gi"}}}))
	}
	in := func(queue string) thing {
		return thing{"metadata": thing{"annotations": thing{annotationQueue: queue}}}
	}
	for i := range 9 {
		dump.WriteString(podOf(fmt.Sprint("runs-", i), "n", "1", 0, in("a")))
	}
	dump.WriteString(podOf("asks", "", "3", 0, in("b")))
	for conf, told := range map[string]struct {
		plan string
		note string
	}{
		"actions: \"allocate, reclaim\"\ntiers:\n- plugins:\n  - name: gang\n  - name: proportion\n    enableReclaimable: true\n": {"x/asks on n, if these stop: x/runs-", "left out: the plugin proportion has what"},
		"actions: \"allocate\"\ntiers:\n- plugins:\n  - name: capacity\n":                                                         {"x/asks (root.b", "reclaim is not among the actions"},
	} {
		file := filepath.Join(t.TempDir(), "conf.yaml")
		require.NoError(t, os.WriteFile(file, []byte(objectOf("v1", "ConfigMap", "v", "c", thing{"data": thing{"volcano-scheduler.conf": conf}})), 0o644))
		status, out, problems := say(t, dump.String(), "-queues", file)
		require.Equal(t, done, status, problems)
		require.Contains(t, out, told.plan, problems)
		require.Contains(t, problems, told.note)
	}
}

// TestMissingPods: with nodes the pods themselves count, and it is told if there are fewer than
// were admitted.
func TestMissingPods(t *testing.T) {
	pod := podOf("p", "n", "1", 0, thing{"metadata": thing{"namespace": "l", "annotations": thing{annotationWorkload: "runs"}}})
	for count, told := range map[int]bool{1: false, 2: true} {
		text := cohort() + nodeOf("n", "4") + pod + workloadOf("l", "runs", 9, gpus(1), nil, nil, admitted("left", thing{"count": count}))
		_, _, problems := say(t, text)
		require.Equal(t, told, strings.Contains(problems, "Workload l/runs: left out: some of the pods"), problems)
	}
}

// TestPortion: what a podset uses is dealt to its pods, and nothing is lost.
func TestPortion(t *testing.T) {
	text := cohort() + workloadOf("l", "runs", 3, thing{}, nil, nil, admitted("left", thing{"resourceUsage": thing{"gpu": 5}}))
	var got []int64
	doc := documentOf(t, text)
	gpu, _ := doc.Schema.Index("gpu")
	for _, task := range doc.Tasks {
		got = append(got, task.Resources[gpu])
	}
	require.Equal(t, []int64{2, 2, 1}, got)
}

func documentOf(t *testing.T, text string, flags ...string) *scenario.Document {
	status, out, problems := say(t, text, append([]string{"-document"}, flags...)...)
	require.Equal(t, done, status, problems)
	doc, err := scenario.Parse("document", []byte(out))
	require.NoError(t, err)
	return doc
}

// TestWorkloadsElsewhere: without ClusterQueues Workloads are in the queues of another system that
// their pods name.
func TestWorkloadsElsewhere(t *testing.T) {
	set := thing{"template": thing{"metadata": thing{"labels": thing{"go-preempt.github.io/queue": "batch"}},
		"spec": thing{"containers": []thing{{"name": "c", "resources": gpus(1)}}}}}
	doc := documentOf(t, nodeOf("n", "4")+workloadOf("x", "asks", 1, nil, set, nil, nil), "-queues", "testdata/queues.yaml")
	require.Len(t, doc.Requests, 1)
	require.Equal(t, "root.batch", doc.Requests[0].Job.Queue)
}

// TestMemberPriority: who runs has the priority that it asked with, whatever its pods say. So
// of two dumps of one cluster one has a plan and the other one has none.
func TestMemberPriority(t *testing.T) {
	queue := objectOf("kueue.x-k8s.io/v1beta2", "ClusterQueue", "", "cq", thing{"spec": thing{
		"preemption": thing{"withinClusterQueue": "LowerPriority"}, "resourceGroups": []thing{{"coveredResources": []string{"cpu"},
			"flavors": []thing{{"name": "f", "resources": []thing{{"name": "cpu", "nominalQuota": 2}}}}}}}}) +
		objectOf("kueue.x-k8s.io/v1beta2", "LocalQueue", "x", "q", thing{"spec": thing{"clusterQueue": "cq"}})
	kueue := func(own string, spec thing, runs bool) string {
		status := thing{}
		if runs {
			status = admitted("cq", nil)
		}
		text := workloadOf("x", own, 1, thing{"requests": thing{"cpu": 2}}, nil, spec, status)
		if runs {
			text += podOf(own+"-0", "n", "2", 0, thing{"metadata": thing{"annotations": thing{annotationWorkload: own}}})
		}
		return text
	}
	class := func(kind, own string, value int) string {
		version := "kueue.x-k8s.io/v1beta2"
		if kind == "PriorityClass" {
			version = "scheduling.k8s.io/v1"
		}
		return objectOf(version, kind, "", own, thing{"value": value})
	}
	node := nodeOf("n", "2")
	byPriority := func(own string, runs bool) string {
		return kueue(own, thing{"priority": map[string]int{"low": 3, "high": 9}[own]}, runs)
	}
	byClass := func(own string, runs bool) string {
		return kueue(own, thing{"priority": nil, "priorityClassRef": thing{"name": own}}, runs)
	}
	at := map[bool]string{true: "n", false: ""}
	podGroup := func(own string, runs bool) string {
		return objectOf("scheduling.k8s.io/v1beta1", "PodGroup", "x", own, thing{"spec": thing{
			"schedulingPolicy": thing{"gang": thing{"minCount": 1}}, "priority": map[string]int{"low": 3, "high": 9}[own]}}) +
			podOf(own+"-0", at[runs], "2", 0, thing{"spec": thing{"schedulingGroup": thing{"podGroupName": own}}})
	}
	// The one at the top says it, and not what is below.
	composite := func(own string, runs bool) string {
		group := func(version, kind, name string, above any, priority int) string {
			return objectOf("scheduling.k8s.io/"+version, kind, "x", name, thing{"spec": thing{
				"schedulingPolicy": thing{"gang": thing{"minCount": 1}}, "priority": priority, "parentCompositePodGroupName": above}})
		}
		top := map[string]int{"low": 3, "high": 9}[own]
		return group("v1alpha3", "CompositePodGroup", own+"-top", nil, top) + group("v1alpha3", "CompositePodGroup", own+"-middle", own+"-top", 12-top) +
			group("v1beta1", "PodGroup", own, own+"-middle", 12-top) +
			podOf(own+"-0", at[runs], "2", 0, thing{"spec": thing{"schedulingGroup": thing{"podGroupName": own}}})
	}
	volcano := func(own string, runs bool) string {
		return objectOf("scheduling.volcano.sh/v1beta1", "PodGroup", "x", own, thing{"spec": thing{"minMember": 1, "priorityClassName": own}}) +
			podOf(own+"-0", at[runs], "2", 0, thing{"metadata": thing{"annotations": thing{annotationVolcano: own}}})
	}
	for name, c := range map[string]struct {
		beside string
		of     func(own string, runs bool) string
	}{
		"Workload":              {queue, byPriority},
		"WorkloadPriorityClass": {queue + class("WorkloadPriorityClass", "low", 3) + class("WorkloadPriorityClass", "high", 9), byClass},
		"PriorityClass":         {queue + class("PriorityClass", "low", 3) + class("PriorityClass", "high", 9), byClass},
		"PodGroup":              {"", podGroup},
		"CompositePodGroup":     {"", composite},
		"Volcano":               {class("PriorityClass", "low", 3) + class("PriorityClass", "high", 9), volcano},
	} {
		status, out, problems := say(t, node+c.beside+c.of("low", true)+c.of("high", false))
		require.Equal(t, done, status, problems)
		require.Contains(t, out, "At a cost:\n  x/high on n, if these stop: x/low-0\n", name)
		status, out, problems = say(t, node+c.beside+c.of("high", true)+c.of("low", false))
		require.Equal(t, done, status, problems)
		require.Contains(t, out, "Not:\n  x/low: ", name)
		for _, task := range documentOf(t, node+c.beside+c.of("high", true)+c.of("low", false)).Tasks {
			require.Equal(t, int32(9), task.Priority, name)
		}
	}
}

// TestComposite_Unknown: of a CompositePodGroup that was not read, or that is part of itself,
// nothing holds, and that is told.
func TestComposite_Unknown(t *testing.T) {
	group := objectOf("scheduling.k8s.io/v1beta1", "PodGroup", "x", "g", thing{"spec": thing{
		"schedulingPolicy": thing{"basic": thing{}}, "priority": 7, "parentCompositePodGroupName": "above"}})
	loop := objectOf("scheduling.k8s.io/v1alpha3", "CompositePodGroup", "x", "above", thing{"spec": thing{
		"schedulingPolicy": thing{"basic": thing{}}, "priority": 8, "parentCompositePodGroupName": "above"}})
	pod := nodeOf("n", "2") + podOf("g-0", "n", "2", 0, thing{"spec": thing{"schedulingGroup": thing{"podGroupName": "g"}}})
	for text, want := range map[string]int32{group + pod: 7, group + loop + pod: 8} {
		require.Equal(t, want, documentOf(t, text).Tasks[0].Priority)
		_, _, problems := say(t, text)
		require.Contains(t, problems, "CompositePodGroup x/above: was not read, or is part of itself")
		require.Contains(t, problems, "PodGroup x/g: left out: what the CompositePodGroup says that it is part of, but for its priority and preemption policy")
	}
}

// TestMixedPriorities: pods of a gang that says no priority have one all the same, their
// highest, whether they run or not.
func TestMixedPriorities(t *testing.T) {
	set := thing{"metadata": thing{"labels": thing{labelJobSet: "s"}}}
	text := nodeOf("n", "3") + podOf("a", "n", "1", 2, set) + podOf("b", "n", "1", 7, set) + podOf("c", "", "1", 4, set)
	doc := documentOf(t, text)
	require.Len(t, doc.Tasks, 2)
	for _, task := range doc.Tasks {
		require.Equal(t, int32(7), task.Priority)
	}
	require.Equal(t, int32(7), doc.Requests[0].Job.Priority)
	_, out, problems := say(t, text)
	require.Contains(t, problems, "x/s: its pods have different priorities")
	require.NotContains(t, out, "not lawful")
}

// TestResized: a pod that is resized counts as the most of what it is to have, was allocated
// and has; if that cannot be, as what it was allocated.
func TestResized(t *testing.T) {
	pod := func(spec, allocated, actual string, conditions ...thing) string {
		return podOf("p", "n", spec, 0, thing{"status": thing{"phase": "Running", "conditions": conditions, "containerStatuses": []thing{{
			"name": "c", "allocatedResources": thing{"cpu": allocated}, "resources": thing{"requests": thing{"cpu": actual}}}}}})
	}
	pending := func(reason string) thing {
		return thing{"type": "PodResizePending", "status": "True", "reason": reason}
	}
	for _, c := range []struct {
		text  string
		milli int64
	}{
		{pod("1", "3", "2"), 3000}, {pod("1", "2", "4"), 4000}, {pod("5", "1", "1"), 5000},
		{pod("5", "1", "1", pending("Deferred")), 5000}, {pod("9", "2", "1", pending("Infeasible")), 2000},
	} {
		doc := documentOf(t, nodeOf("n", "6")+c.text)
		cpu, _ := doc.Schema.Index("cpu")
		require.Equal(t, c.milli, doc.Tasks[0].Resources[cpu], c.text)
	}
	_, _, problems := say(t, nodeOf("n", "6")+pod("5", "1", "1", pending("Deferred")))
	require.Contains(t, problems, "x/p: left out: its resize is deferred")
}

// TestStaticPods: who is made again on its node is no victim.
func TestStaticPods(t *testing.T) {
	owner := func(kind string) thing {
		return thing{"metadata": thing{"ownerReferences": []thing{{"apiVersion": "v1", "kind": kind, "name": "n", "uid": "u", "controller": true}}}}
	}
	for name, c := range map[string]struct {
		parts thing
		stays bool
	}{
		"mirror":     {thing{"metadata": thing{"annotations": thing{"kubernetes.io/config.mirror": "hash"}}}, true},
		"node":       {owner("Node"), true},
		"DaemonSet":  {owner("DaemonSet"), true},
		"ReplicaSet": {owner("ReplicaSet"), false},
	} {
		text := nodeOf("n", "4") + podOf("static", "n", "2", 0, c.parts) + podOf("other", "n", "2", 1, nil) + podOf("asks", "", "2", 5, nil)
		_, out, _ := say(t, text)
		want := "x/static"
		if c.stays {
			want = "x/other"
		}
		require.Contains(t, out, "x/asks on n, if these stop: "+want, name)
	}
}

// TestNominated: a place is promised once, in order and each by itself; a nomination that
// cannot be kept is decided anew.
func TestNominated(t *testing.T) {
	leaves := thing{"metadata": thing{"deletionTimestamp": "2026-01-01T02:00:10Z"}}
	first := func(node string, parts thing) string {
		parts["status"] = thing{"nominatedNodeName": node}
		return podOf("first", "", "4", 5, parts)
	}
	text := nodeOf("n", "4") + nodeOf("m", "4") + podOf("leaves", "n", "4", 0, leaves) + podOf("stays", "m", "4", 0, nil) +
		podOf("second", "", "4", 5, nil)
	for _, flags := range [][]string{nil, {"-each"}} {
		status, out, problems := say(t, text+first("n", thing{}), flags...)
		require.Equal(t, done, status, problems)
		require.Contains(t, out, "x/first on n, where its place is held for it, once those that are leaving have gone")
		require.Contains(t, out, "x/second on m, if these stop: x/stays")
	}
	for _, gone := range []string{"m", "nowhere"} {
		doc := documentOf(t, text+first(gone, thing{}))
		require.Empty(t, doc.Grants, gone)
		_, _, problems := say(t, text+first(gone, thing{}))
		require.Contains(t, problems, "x/first: left out: it is nominated to a node that has no room")
	}
	member := thing{"metadata": thing{"labels": thing{labelJobSet: "s"}}}
	_, out, _ := say(t, text+first("n", member))
	require.Contains(t, out, "x/s on n, where its place is held for it")
}

// TestGangsOfOneName: objects of different kinds may share a name.
func TestGangsOfOneName(t *testing.T) {
	set := thing{"metadata": thing{"labels": thing{labelJobSet: "g"}}}
	group := objectOf("scheduling.k8s.io/v1beta1", "PodGroup", "x", "g", thing{"spec": thing{"schedulingPolicy": thing{"gang": thing{"minCount": 1}}}})
	doc := documentOf(t, nodeOf("n", "4")+group+podOf("a", "n", "1", 0, set)+podOf("b", "n", "1", 0, set)+
		podOf("c", "", "1", 5, thing{"spec": thing{"schedulingGroup": thing{"podGroupName": "g"}}}))
	require.Equal(t, "JobSet/x/g", doc.Tasks[0].Job)
	require.Equal(t, "PodGroup/x/g", doc.Requests[0].Job.Name)
	require.Len(t, doc.Requests[0].Job.Members, 1)
}

// TestBudgets: a budget without status has nothing left, and pods that an eviction let go are
// leaving.
func TestBudgets(t *testing.T) {
	budget := func(status thing) string {
		return objectOf("policy/v1", "PodDisruptionBudget", "x", "b", thing{"status": status,
			"spec": thing{"minAvailable": "50%", "selector": thing{"matchLabels": thing{"app": "a"}}}})
	}
	app := thing{"metadata": thing{"labels": thing{"app": "a"}}}
	text := nodeOf("n", "4") + podOf("p", "n", "4", 0, app) + podOf("asks", "", "4", 5, nil)
	_, out, problems := say(t, text+budget(nil))
	require.Contains(t, out, "x/asks on n, if these stop: x/p")
	require.Contains(t, problems, "PodDisruptionBudget x/b: has no status: it has nothing left")
	_, out, _ = say(t, text+budget(nil), "-hard-budgets")
	require.Contains(t, out, "Not:\n  x/asks")
	_, out, _ = say(t, text+budget(thing{"observedGeneration": 1, "expectedPods": 1, "disruptedPods": thing{"p": "2026-01-01T02:00:00Z"}}), "-hard-budgets")
	require.Contains(t, out, "x/asks on n, once those that are leaving have gone")
}

// TestUnread: what objects of other systems say and we do not is named. All that our types
// read, or know not to matter, is passed over.
func TestUnread(t *testing.T) {
	usual := workloadOf("l", "w", 1, gpus(1), nil, thing{"active": true, "priorityClassSource": "x"}, admitted("left", thing{"flavors": thing{"gpu": "f"}}))
	_, _, problems := say(t, cohort()+usual)
	require.NotContains(t, problems, "which is not read")
	odd := workloadOf("l", "w", 1, gpus(1), thing{"odd": 1}, thing{"maximumExecutionTimeSeconds": 60}, thing{"new": thing{"a": 1}})
	_, _, problems = say(t, cohort()+odd)
	for _, field := range []string{"spec.maximumExecutionTimeSeconds", "spec.podSets.odd", "status.new"} {
		require.Contains(t, problems, "Workload l/w: left out: "+field+", which is not read")
	}
	group := objectOf("scheduling.volcano.sh/v1beta1", "PodGroup", "x", "g", thing{"spec": thing{"minMember": 1, "subGroupPolicy": []thing{{"name": "s"}}}, "status": thing{"phase": "Running"}})
	_, _, problems = say(t, group)
	require.Contains(t, problems, "PodGroup x/g: left out: spec.subGroupPolicy, which is not read")
	require.NotContains(t, problems, "status")
}

// TestTexts: a byte-order mark, and lists without items, are read.
func TestTexts(t *testing.T) {
	const none = `{"kind":"PodList","apiVersion":"v1","items":null}`
	for _, text := range []string{"\xef\xbb\xbf" + nodeOf("n", "1"), nodeOf("n", "1") + none, `{"kind":"List","apiVersion":"v1","items":null}` + nodeOf("n", "1")} {
		status, out, problems := say(t, text)
		require.Equal(t, done, status, problems)
		require.True(t, strings.HasPrefix(out, "0 wait"), out)
		require.Empty(t, problems)
	}
}
