// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A mistake is made by putting one text of everything for another; it must be
// found at the path, with the value, as the kind.
type mistake struct {
	old, bad string
	path     string
	value    string
	kind     error
}

var mistakes = []mistake{
	// The document itself.
	{`"name": "everything"`, `"name": 5`, "name", "5", ErrKind},
	{`"name": "everything",`, ``, "name", "", ErrMissing},
	{`"note": "every field once"`, `"note": null`, "note", "null", ErrKind},
	{`"note":`, `"Note":`, "Note", `"every field once"`, ErrField},
	{`"options":`, `"comment":`, "comment", `{"toleration":true,"strictPriority":true,"jobsNeedPreemptibleLabel":true,"ownLeaf":"met","jobTrigger":"priority","fairSh…`, ErrField},
	{`"strict": true`, `"strict": true, "strict": true`, "strict", "true", ErrDuplicate},
	{`"strict": true`, `"strict": 1`, "strict", "1", ErrKind},
	{`"strict": true`, `"strict": "true"`, "strict", `"true"`, ErrKind},
	{`"2026-03-04T05:06:07+01:00"`, `"2026-03-04"`, "now", `"2026-03-04"`, ErrValue},
	{`"2026-03-04T05:06:07+01:00"`, `"2026-02-30T00:00:00Z"`, "now", `"2026-02-30T00:00:00Z"`, ErrValue},
	{`"2026-03-04T05:06:07+01:00"`, `"2026-03-04T5:06:07Z"`, "now", `"2026-03-04T5:06:07Z"`, ErrValue},
	{`"2026-03-04T05:06:07+01:00"`, `"2026-03-04T05:06:07,5Z"`, "now", `"2026-03-04T05:06:07,5Z"`, ErrValue},
	{`"2026-03-04T05:06:07+01:00"`, `"9999-12-31T23:59:59-01:00"`, "now", `"9999-12-31T23:59:59-01:00"`, ErrValue},
	{`"2026-03-04T05:06:07+01:00"`, `1767225600`, "now", "1767225600", ErrKind},

	// Types.
	{`["memory", "cpu", "gpu"]`, `"cpu"`, "types", `"cpu"`, ErrKind},
	{`["memory", "cpu", "gpu"]`, `["memory", "cpu", "gpu", "cpu"]`, "types[3]", `"cpu"`, ErrDuplicate},
	{`["memory", "cpu", "gpu"]`, `["memory", "cpu", "gpu", ""]`, "types[3]", `""`, ErrValue},
	{`["memory", "cpu", "gpu"]`, `["memory", "cpu", "gpu", 4]`, "types[3]", "4", ErrKind},
	{`["memory", "cpu", "gpu"]`, `["memory", "cpu"]`, "nodes[0].capacity.gpu", `"2"`, ErrReference},
	{`["memory", "cpu", "gpu"]`, `["memory", "cpu", "gpu"` + manyTypes(62) + `]`, "types[64]", `"type61"`, ErrValue},

	// Quantities, wherever they can be.
	{`{"cpu": "20", "memory": "4Ki"}`, `{"cpu": "20", "memory": "4ki"}`, "queues.resources.max.memory", `"4ki"`, ErrValue},
	{`{"cpu": "1500m"}`, `{"cpu": "1500u"}`, "queues.queues[0].resources.guaranteed.cpu", `"1500u"`, ErrValue},
	{`{"cpu": "1500m"}`, `{"cpu": 1.5}`, "queues.queues[0].resources.guaranteed.cpu", "1.5", ErrKind},
	{`{"cpu": "1500m"}`, `{"cpu": null}`, "queues.queues[0].resources.guaranteed.cpu", "null", ErrKind},
	{`{"cpu": "1500m"}`, `{"cpu": "1", "cpu": "2"}`, "queues.queues[0].resources.guaranteed.cpu", `"2"`, ErrDuplicate},
	{`{"cpu": "1500m"}`, `{"cores": "1"}`, "queues.queues[0].resources.guaranteed.cores", `"1"`, ErrReference},
	{`{"cpu": "1500m"}`, `{"": "1"}`, `queues.queues[0].resources.guaranteed[""]`, `"1"`, ErrValue},
	{`{"cpu": "1500m"}`, `["cpu"]`, "queues.queues[0].resources.guaranteed", `["cpu"]`, ErrKind},
	{`{"cpu": "10", "gpu": "2"}`, `{"cpu": "10", "gpu": "2.5"}`, "nodes[0].capacity.gpu", `"2.5"`, ErrValue},
	{`{"cpu": "10", "gpu": "2"}`, `{"cpu": "ten", "gpu": "2"}`, "nodes[0].capacity.cpu", `"ten"`, ErrValue},
	{`"resources": {"cpu": "2"},`, `"resources": {"cpu": "4x"},`, "tasks[0].resources.cpu", `"4x"`, ErrValue},
	{`"resources": {"cpu": "2"},`, `"resources": {"cpu": ""},`, "tasks[0].resources.cpu", `""`, ErrValue},
	{`"resources": {"cpu": "2"},`, `"resources": {"cpu": " 2"},`, "tasks[0].resources.cpu", `" 2"`, ErrValue},
	{`"resources": {"cpu": "2"},`, `"resources": {"cpu": "-2"},`, "tasks[0].resources.cpu", `"-2"`, ErrValue},
	{`"resources": {"cpu": "2"},`, `"resources": {"memory": "8Ei"},`, "tasks[0].resources.memory", `"8Ei"`, ErrValue},
	{`"min": {"cpu": "3"}`, `"min": {"cpu": "3,0"}`, "quotas[0].min.cpu", `"3,0"`, ErrValue},
	{`"max": {"gpu": "4"}`, `"max": {"gpu": "4m"}`, "quotas[0].max.gpu", `"4m"`, ErrValue},
	{`"waitingNonPreemptible": {"cpu": "1"}`, `"waitingNonPreemptible": {"cpu": "-1"}`, "quotas[0].waitingNonPreemptible.cpu", `"-1"`, ErrValue},
	{`"application": "app-a", "resources": {"cpu": "1"}`, `"application": "app-a", "resources": {"cpu": "0x1"}`, "requests[0].ask.resources.cpu", `"0x1"`, ErrValue},
	{`"max": {"cpu": "2"}, "overshoot"`, `"max": {"cpu": "2."}, "overshoot": "exact", "x"`, "requests[1].enforceQuota.x", `"exact"`, ErrField},
	{`"max": {"cpu": "2"}, "overshoot"`, `"max": {"cpu": "∞"}, "overshoot"`, "requests[1].enforceQuota.max.cpu", `"∞"`, ErrValue},
	{`"miss": {"cpu": "1"}`, `"miss": {"cpu": "1%"}`, "requests[1].enforceQuota.miss.cpu", `"1%"`, ErrValue},
	{`"resources": {"gpu": "1"}, "node"`, `"resources": {"gpu": "1 "}, "node"`, "requests[2].job.members[0].resources.gpu", `"1 "`, ErrValue},
	{`"node": "n1", "resources": {"cpu": "1"}`, `"node": "n1", "resources": {"cpu": "one"}`, "requests[5].start[0].resources.cpu", `"one"`, ErrValue},
	{`{"root.p": {"cpu": "5"}}`, `{"root.p": {"cpu": "five"}}`, `expect[0].target["root.p"].cpu`, `"five"`, ErrValue},
	{`{"root.p": {"cpu": "5"}}`, `{"root.p": {"disk": "5"}}`, `expect[0].target["root.p"].disk`, `"5"`, ErrReference},
	{`"shortfall": {"cpu": "1"}`, `"shortfall": {"cpu": "1e-4"}`, "expect[0].shortfall.cpu", `"1e-4"`, ErrValue},

	// Queues.
	{`"queues": {
    "name": "root"`, `"queues": {
    "nmae": "root"`, "queues.nmae", `"root"`, ErrField},
	{`"name": "root"`, `"name": ""`, "queues.name", `""`, ErrValue},
	{`"name": "root"`, `"name": "ro.ot"`, "queues.name", `"ro.ot"`, ErrValue},
	{`{"name": "x"}`, `{"name": "."}`, "queues.queues[1].queues[0].name", `"."`, ErrValue},
	{`{"name": "x"}`, `{}`, "queues.queues[1].queues[0].name", "", ErrMissing},
	{`{"name": "x"}`, `"x"`, "queues.queues[1].queues[0]", `"x"`, ErrKind},
	{`{"name": "x"}`, `{"name": "x"}, {"name": "x"}`, "queues.queues[1].queues[1].name", `"x"`, ErrDuplicate},
	{`{"name": "x"}`, `{"name": "x", "dynamic": true}`, "queues.queues[1].queues[0].dynamic", "true", ErrField},
	{`"queues": []`, `"queues": {}`, "queues.queues[1].queues[1].queues", "{}", ErrKind},
	{`"properties": {}`, `"properties": []`, "queues.queues[1].properties", "[]", ErrKind},
	{`"preemption.policy": "fence"`, `"priority.offset": 100`, `queues.properties["priority.offset"]`, "100", ErrKind},
	{`"preemption.policy": "fence"`, `"a": "1", "b": "2", "a": "1"`, `queues.properties.a`, `"1"`, ErrDuplicate},
	{`"guaranteed":`, `"minimum":`, "queues.queues[0].resources.minimum", `{"cpu":"1500m"}`, ErrField},

	// Priority classes.
	{`{"name": "high", "value": 2147483647}`, `{"name": "low", "value": 2147483647}`, "priorityClasses[1].name", `"low"`, ErrDuplicate},
	{`{"name": "high", "value": 2147483647}`, `{"name": "", "value": 1}`, "priorityClasses[1].name", `""`, ErrValue},
	{`{"name": "high", "value": 2147483647}`, `{"name": "high"}`, "priorityClasses[1].value", "", ErrMissing},
	{`{"name": "high", "value": 2147483647}`, `{"name": "high", "value": 2147483648}`, "priorityClasses[1].value", "2147483648", ErrValue},
	{`"value": -7`, `"value": "-7"`, "priorityClasses[0].value", `"-7"`, ErrKind},
	{`"preemptionPolicy": "Never", "annotations"`, `"preemptionPolicy": "never", "annotations"`, "priorityClasses[0].preemptionPolicy", `"never"`, ErrValue},
	{`"value": -7`, `"value": -7, "globalDefault": true`, "priorityClasses[0].globalDefault", "true", ErrField},
	{`"example.com/seconds": "600"`, `"example.com/seconds": 600`, `priorityClasses[0].annotations["example.com/seconds"]`, "600", ErrKind},

	// Nodes.
	{`{"name": "n2", "capacity": {}}`, `{"name": "n1", "capacity": {}}`, "nodes[1].name", `"n1"`, ErrDuplicate},
	{`{"name": "n2", "capacity": {}}`, `{"name": "", "capacity": {}}`, "nodes[1].name", `""`, ErrValue},
	{`{"name": "n2", "capacity": {}}`, `{"name": "n2"}`, "nodes[1].capacity", "", ErrMissing},
	{`{"name": "n2", "capacity": {}}`, `{"name": "n2", "Capacity": {}}`, "nodes[1].Capacity", "{}", ErrField},
	{`"unschedulable": true`, `"unschedulable": "no"`, "nodes[0].unschedulable", `"no"`, ErrKind},
	{`"reservedFor": "ask"`, `"reservedFor": ["ask"]`, "nodes[0].reservedFor", `["ask"]`, ErrKind},

	// Tasks.
	{`"key": "t2"`, `"key": "t1"`, "tasks[1].key", `"t1"`, ErrDuplicate},
	{`"key": "t2"`, `"key": ""`, "tasks[1].key", `""`, ErrValue},
	{`"key": "t2", `, ``, "tasks[1].key", "", ErrMissing},
	{`"queue": "root.p.x", "application": "app-x", "node": "n1", "resources": {"cpu": "2"}`, `"key2": "t1"`, "tasks[0].key2", `"t1"`, ErrField},
	{`"t1", "queue": "root.p.x"`, `"t1", "queue": "root.p"`, "tasks[0].queue", `"root.p"`, ErrReference},
	{`"t1", "queue": "root.p.x"`, `"t1", "queue": "root.p.z"`, "tasks[0].queue", `"root.p.z"`, ErrReference},
	{`"t1", "queue": "root.p.x"`, `"t1", "queue": "p.x"`, "tasks[0].queue", `"p.x"`, ErrReference},
	{`"t1", "queue": "root.p.x"`, `"t1", "queue": "root.p.x."`, "tasks[0].queue", `"root.p.x."`, ErrReference},
	{`"t1", "queue": "root.p.x"`, `"t1", "queue": "ROOT.p.x"`, "tasks[0].queue", `"ROOT.p.x"`, ErrReference},
	{`"t1", "queue": "root.p.x"`, `"t1", "queue": ""`, "tasks[0].queue", `""`, ErrReference},
	{`"t1", "queue": "root.p.x"`, `"t1", "queue": ["root", "p"]`, "tasks[0].queue", `["root","p"]`, ErrKind},
	{`"root.p.x", "application": "app-x", "node": "n1", "resources": {"cpu": "2"}`, `"root.p.x", "application": "", "node": "n1", "resources": {}`, "tasks[0].application", `""`, ErrValue},
	{`"node": "n1", "resources": {"cpu": "2"}`, `"node": "n3", "resources": {}`, "tasks[0].node", `"n3"`, ErrReference},
	{`"node": "n1", "resources": {"cpu": "2"}`, `"node": "", "resources": {}`, "tasks[0].node", `""`, ErrReference},
	{`"node": "n1", "resources": {"cpu": "2"}`, `"node": "n1"`, "tasks[0].resources", "", ErrMissing},
	{`"priority": 5`, `"priority": 5.0`, "tasks[0].priority", "5.0", ErrValue},
	{`"priority": 5`, `"priority": 5e0`, "tasks[0].priority", "5e0", ErrValue},
	{`"priority": 5`, `"priority": -2147483649`, "tasks[0].priority", "-2147483649", ErrValue},
	{`"priority": 5`, `"priority": 99999999999999999999`, "tasks[0].priority", "99999999999999999999", ErrValue},
	{`"priority": 5`, `"priority": "5"`, "tasks[0].priority", `"5"`, ErrKind},
	{`"priority": 5, "priorityClass": "low"`, `"priority": 5, "priorityClass": "lower"`, "tasks[0].priorityClass", `"lower"`, ErrReference},
	{`"ends": "20m"`, `"ends": "20"`, "tasks[1].ends", `"20"`, ErrValue},
	{`"ends": "20m"`, `"ends": "-20m"`, "tasks[1].ends", `"-20m"`, ErrValue},
	{`"ends": "20m"`, `"ends": "soon"`, "tasks[1].ends", `"soon"`, ErrValue},
	{`"ends": "20m"`, `"ends": 20`, "tasks[1].ends", "20", ErrKind},
	{`"age": "2h"`, `"age": "2"`, "tasks[0].age", `"2"`, ErrValue},
	{`"age": "2h"`, `"age": "2d"`, "tasks[0].age", `"2d"`, ErrValue},
	{`"age": "2h"`, `"age": "-2h"`, "tasks[0].age", `"-2h"`, ErrValue},
	{`"age": "2h"`, `"age": "never"`, "tasks[0].age", `"never"`, ErrValue},
	{`"age": "2h"`, `"age": "3000000h"`, "tasks[0].age", `"3000000h"`, ErrValue},
	{`"age": "2h"`, `"age": 2`, "tasks[0].age", "2", ErrKind},
	{`"scheduledAge": "90m"`, `"scheduledAge": "Never"`, "tasks[0].scheduledAge", `"Never"`, ErrValue},
	{`"scheduledAge": "90m"`, `"scheduledAge": "-1ns"`, "tasks[0].scheduledAge", `"-1ns"`, ErrValue},
	{`"scheduledAge": "90m"`, `"scheduledAge": false`, "tasks[0].scheduledAge", "false", ErrKind},
	{`"originator": true`, `"originator": "yes"`, "tasks[0].originator", `"yes"`, ErrKind},
	{`"allowPreemption": false`, `"allowPreemption": 0`, "tasks[0].allowPreemption", "0", ErrKind},
	{`"requiredNode": "n2"`, `"requiredNode": "n3"`, "tasks[0].requiredNode", `"n3"`, ErrReference},
	{`"state": "releasing"`, `"state": "Running"`, "tasks[0].state", `"Running"`, ErrValue},
	{`"state": "releasing"`, `"state": ""`, "tasks[0].state", `""`, ErrValue},
	{`"state": "releasing"`, `"state": 1`, "tasks[0].state", "1", ErrKind},
	{`"job": "gang"`, `"job": {"name": "gang"}`, "tasks[0].job", `{"name":"gang"}`, ErrKind},
	{`"preemptible": false`, `"preemptible": null`, "tasks[0].preemptible", "null", ErrKind},

	// Quotas and minimums.
	{`{"queue": "root.p", "min"`, `{"queue": "root.q", "min"`, "quotas[0].queue", `"root.q"`, ErrReference},
	{`{"queue": "root.p", "min"`, `{"queue": "root.p"}, {"queue": "root.p", "min"`, "quotas[1].queue", `"root.p"`, ErrDuplicate},
	{`{"queue": "root.p", "min"`, `{"min"`, "quotas[0].queue", "", ErrMissing},
	{`"waitingNonPreemptible":`, `"waiting":`, "quotas[0].waiting", `{"cpu":"1"}`, ErrField},
	{`"gang": 2}`, `"gong": 2}`, "jobMinimums.gong", "2", ErrReference},
	{`"gang": 2}`, `"gang": -1}`, "jobMinimums.gang", "-1", ErrValue},
	{`"gang": 2}`, `"gang": 1.5}`, "jobMinimums.gang", "1.5", ErrValue},
	{`"gang": 2}`, `"gang": "2"}`, "jobMinimums.gang", `"2"`, ErrKind},
	{`"gang": 2}`, `"gang": 2, "gang": 3}`, "jobMinimums.gang", "3", ErrDuplicate},
	{`{"j": 0, "gang": 2}`, `[{"gang": 2}]`, "jobMinimums", `[{"gang":2}]`, ErrKind},

	// Requests of any kind.
	{`{"advance": "1m"}`, `{}`, "requests[3]", "{}", ErrMissing},
	{`{"advance": "1m"}`, `"advance"`, "requests[3]", `"advance"`, ErrKind},
	{`{"advance": "1m"}`, `{"wait": "1m"}`, "requests[3].wait", `"1m"`, ErrField},
	{`{"advance": "1m"}`, `{"advance": "1m", "finish": []}`, "requests[3].finish", "[]", ErrValue},
	{`{"advance": "1m"}`, `{"finish": [], "advance": "1m"}`, "requests[3].advance", `"1m"`, ErrValue},
	{`{"advance": "1m"}`, `{"advance": "-1m"}`, "requests[3].advance", `"-1m"`, ErrValue},
	{`{"advance": "1m"}`, `{"advance": "a minute"}`, "requests[3].advance", `"a minute"`, ErrValue},
	{`{"advance": "1m"}`, `{"advance": "1m", "then": "finish"}`, "requests[3].then", `"finish"`, ErrValue},
	{`{"advance": "1m"}`, `{"advance": "1m", "repeat": 2}`, "requests[3].repeat", "2", ErrValue},
	{`"then": "leave"`, `"then": "stay"`, "requests[0].then", `"stay"`, ErrValue},
	{`"then": "leave"`, `"then": ""`, "requests[0].then", `""`, ErrValue},
	{`"then": "leave"`, `"then": true`, "requests[0].then", "true", ErrKind},
	{`"repeat": 3`, `"repeat": 0`, "requests[0].repeat", "0", ErrValue},
	{`"repeat": 3`, `"repeat": -1`, "requests[0].repeat", "-1", ErrValue},
	{`"repeat": 3`, `"repeat": 1000001`, "requests[0].repeat", "1000001", ErrValue},
	{`"repeat": 3`, `"repeat": "3"`, "requests[0].repeat", `"3"`, ErrKind},
	{`"order": "closest-match"}, "then": "nothing"`, `"order": "closest-match"}, "repeat": 2`, "requests[1].repeat", "2", ErrValue},

	// Asks.
	{`"key": "ask"`, `"key": ""`, "requests[0].ask.key", `""`, ErrValue},
	{`"key": "ask", `, ``, "requests[0].ask.key", "", ErrMissing},
	{`"ask", "queue": "root.a"`, `"ask", "queue": "root"`, "requests[0].ask.queue", `"root"`, ErrReference},
	{`"ask", "queue": "root.a"`, `"ask", "queue": "root.b"`, "requests[0].ask.queue", `"root.b"`, ErrReference},
	{`"application": "app-a", "resources": {"cpu": "1"}, "priority": -1`, `"application": "app-a"`, "requests[0].ask.resources", "", ErrMissing},
	{`"application": "app-a", "resources": {"cpu": "1"}, "priority": -1`, `"node": "n1"`, "requests[0].ask.node", `"n1"`, ErrField},
	{`"priority": -1`, `"priority": 3000000000`, "requests[0].ask.priority", "3000000000", ErrValue},
	{`"priorityClass": "high"`, `"priorityClass": "HIGH"`, "requests[0].ask.priorityClass", `"HIGH"`, ErrReference},
	{`"age": "3m"`, `"age": "3 m"`, "requests[0].ask.age", `"3 m"`, ErrValue},
	{`"requiredNode": "n1"`, `"requiredNode": "n9"`, "requests[0].ask.requiredNode", `"n9"`, ErrReference},
	{`"allowPreemptOther": false`, `"allowPreemptOther": "false"`, "requests[0].ask.allowPreemptOther", `"false"`, ErrKind},
	{`"allowPreemptOther": false`, `"allowPreemption": false`, "requests[0].ask.allowPreemption", "false", ErrField},

	// Quotas to enforce.
	{`{"enforceQuota": {"queue": "root.p"`, `{"enforceQuota": {"queue": "root.pp"`, "requests[1].enforceQuota.queue", `"root.pp"`, ErrReference},
	{`{"enforceQuota": {"queue": "root.p", `, `{"enforceQuota": {`, "requests[1].enforceQuota.queue", "", ErrMissing},
	{`"max": {"cpu": "2"}`, `"max": "2"`, "requests[1].enforceQuota.max", `"2"`, ErrKind},
	{`"overshoot": "exact"`, `"overshoot": "none"`, "requests[1].enforceQuota.overshoot", `"none"`, ErrValue},
	{`"overshoot": "exact"`, `"overshoot": false`, "requests[1].enforceQuota.overshoot", "false", ErrKind},
	{`"order": "closest-match"`, `"order": "closest-match", "whole": true`, "requests[1].enforceQuota.whole", "true", ErrValue},
	{`"order": "closest-match"`, `"order": "fewest", "whole": 1`, "requests[1].enforceQuota.whole", "1", ErrKind},
	{`"order": "closest-match"`, `"order": "closest match"`, "requests[1].enforceQuota.order", `"closest match"`, ErrValue},

	// Jobs.
	{`{"name": "j", `, `{`, "requests[2].job.name", "", ErrMissing},
	{`{"name": "j", `, `{"name": "", `, "requests[2].job.name", `""`, ErrValue},
	{`"queue": "root.p.y"`, `"queue": "root.p"`, "requests[2].job.queue", `"root.p"`, ErrReference},
	{`"application": "app-j", `, ``, "requests[2].job.application", "", ErrMissing},
	{`"priority": 100`, `"priority": 1e2`, "requests[2].job.priority", "1e2", ErrValue},
	{`"preemptible": true`, `"preemptible": "true"`, "requests[2].job.preemptible", `"true"`, ErrKind},
	{`"minMembers": 1`, `"minMembers": 3`, "requests[2].job.minMembers", "3", ErrValue},
	{`"minMembers": 1`, `"minMembers": -1`, "requests[2].job.minMembers", "-1", ErrValue},
	{`1, "preemptionPolicy": "Never"`, `1, "preemptionPolicy": "never"`, "requests[2].job.preemptionPolicy", `"never"`, ErrValue},
	{`1, "preemptionPolicy": "Never"`, `1, "preemptionPolicy": false`, "requests[2].job.preemptionPolicy", "false", ErrKind},
	{`{"key": "j-1", "resources": {}}`, `{"key": "j-0", "resources": {}}`, "requests[2].job.members[1].key", `"j-0"`, ErrDuplicate},
	{`{"key": "j-1", "resources": {}}`, `{"resources": {}}`, "requests[2].job.members[1].key", "", ErrMissing},
	{`{"key": "j-1", "resources": {}}`, `{"key": "j-1"}`, "requests[2].job.members[1].resources", "", ErrMissing},
	{`{"key": "j-1", "resources": {}}`, `{"key": "j-1", "resources": {}, "node": "n3"}`, "requests[2].job.members[1].node", `"n3"`, ErrReference},
	{`{"key": "j-1", "resources": {}}`, `{"key": "j-1", "resources": {}, "priority": 1}`, "requests[2].job.members[1].priority", "1", ErrField},
	{`[{"key": "j-0", "resources": {"gpu": "1"}, "node": "n1", "nodeSelector": {"zone": "b"}}, {"key": "j-1", "resources": {}}]`, `[]`, "requests[2].job.members", "[]", ErrValue},
	{`[{"key": "j-0", "resources": {"gpu": "1"}, "node": "n1", "nodeSelector": {"zone": "b"}}, {"key": "j-1", "resources": {}}]`, `2`, "requests[2].job.members", "2", ErrKind},

	// What finishes and what starts.
	{`["t1", "t2"]`, `"t1"`, "requests[4].finish", `"t1"`, ErrKind},
	{`["t1", "t2"]`, `["t1", 2]`, "requests[4].finish[1]", "2", ErrKind},
	{`["t1", "t2"]`, `["t1", ""]`, "requests[4].finish[1]", `""`, ErrValue},
	{`["t1", "t2"]`, `["t1", "t1"]`, "requests[4].finish[1]", `"t1"`, ErrDuplicate},
	{`{"key": "t4", "queue": "root.p.x"`, `{"key": "t4", "queue": "root.p"`, "requests[5].start[0].queue", `"root.p"`, ErrReference},
	{`{"start": [{"key": "t4"`, `{"start": [{"kye": "t4"`, "requests[5].start[0].kye", `"t4"`, ErrField},
	{`{"start": [{"key": "t4"`, `{"start": [{"key": "t4", "queue": "root.a", "application": "b", "node": "n1", "resources": {}}, {"key": "t4"`, "requests[5].start[1].key", `"t4"`, ErrDuplicate},

	// Options.
	{`"strictPriority": true`, `"strictPriority": "on"`, "options.strictPriority", `"on"`, ErrKind},
	{`"strictPriority": true`, `"strict": true`, "options.strict", "true", ErrField},
	{`"toleration": true`, `"toleration": null`, "options.toleration", "null", ErrKind},

	// Expectations.
	{`{"outcome": "met", "victimCount": 2}`, `{"victimCount": 2}`, "expect[2].outcome", "", ErrMissing},
	{`{"outcome": "met", "victimCount": 2}`, `{"outcome": "success"}`, "expect[2].outcome", `"success"`, ErrValue},
	{`{"outcome": "met", "victimCount": 2}`, `{"outcome": ["met"]}`, "expect[2].outcome", `["met"]`, ErrKind},
	{`{"outcome": "met", "victimCount": 2}`, `{"outcome": "met", "victimCount": -2}`, "expect[2].victimCount", "-2", ErrValue},
	{`{"outcome": "met", "victimCount": 2}`, `{"outcome": "met", "victimCount": 2, "victims": []}`, "expect[2].victims", "[]", ErrValue},
	{`{"outcome": "met", "victimCount": 2}`, `{"outcome": "met", "victimsAnyOf": []}`, "expect[2].victimsAnyOf", "[]", ErrValue},
	{`{"outcome": "met", "victimCount": 2}`, `{"outcome": "met", "victimsAnyOf": ["t1"]}`, "expect[2].victimsAnyOf[0]", `"t1"`, ErrKind},
	{`{"outcome": "met", "victimCount": 2}`, `{"outcome": "met", "victim": "t1"}`, "expect[2].victim", `"t1"`, ErrField},
	{`"victims": ["t2", "t1"]`, `"victims": ["t2", "t2"]`, "expect[0].victims[1]", `"t2"`, ErrDuplicate},
	{`"request": 0`, `"request": 7`, "expect[0].request", "7", ErrReference},
	{`"request": 0`, `"request": "0"`, "expect[0].request", `"0"`, ErrKind},
	{`"key": "ask-1"`, `"key": ""`, "expect[0].key", `""`, ErrValue},
	{`"key": "ask-1", "node": "n1"`, `"key": "ask-1", "node": "n4"`, "expect[0].node", `"n4"`, ErrReference},
	{`{"j-1": "n2"}`, `{"j-1": "n4"}`, "expect[0].placements.j-1", `"n4"`, ErrReference},
	{`"reason": "over-guarantee"`, `"reason": ["over-guarantee"]`, "expect[0].reason", `["over-guarantee"]`, ErrKind},
	{`"counts": {"priority": 3}`, `"counts": {"priority": "3"}`, "expect[0].counts.priority", `"3"`, ErrKind},
	{`"retryAt": "2026-01-01T00:10:00Z"`, `"retryAt": "10m"`, "expect[0].retryAt", `"10m"`, ErrValue},
	{`{"root.p": {"cpu": "5"}}`, `{"root.q": {"cpu": "5"}}`, `expect[0].target["root.q"]`, `"root.q"`, ErrReference},
	{`"proven": true`, `"proven": "yes"`, "expect[0].proven", `"yes"`, ErrKind},
}

// manyTypes returns the names of n types, each after a comma.
func manyTypes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `, "type%02d"`, i)
	}
	return b.String()
}

func TestParse_Mistakes(t *testing.T) {
	for _, m := range slices.Concat(mistakes, mistakesBeside) {
		t.Run(m.path+" "+m.bad, func(t *testing.T) {
			require.GreaterOrEqual(t, strings.Count(everything, m.old), 1, "%s is not in the document", m.old)
			doc, err := Parse("bad.json", []byte(strings.Replace(everything, m.old, m.bad, 1)))
			require.Error(t, err)
			require.Nil(t, doc)
			require.ErrorIs(t, err, m.kind)
			e, ok := errors.AsType[*Error](err)
			require.True(t, ok)
			require.Equal(t, "bad.json", e.File)
			require.Equal(t, m.path, e.Path.String())
			require.Equal(t, m.value, e.Value)
			start := "bad.json: " + m.path + ": "
			if m.value != "" {
				start += m.value + ": "
			}
			require.True(t, strings.HasPrefix(err.Error(), start+m.kind.Error()+": "), "%s", err)
		})
	}
}

// The whole message, once for each kind.
func TestError_Text(t *testing.T) {
	for _, test := range []struct {
		old, bad, want string
	}{
		{`"t1", "t2"`, `"t1", "t2",`, `x.json: requests[4].finish[2]: "]},\n    {\"start\": [{": not valid JSON: line 56, byte 28: invalid character ']' looking for beginning of value`},
		{`"name": "everything",`, `"name": "everything", "x": [{"name":"n1","capacity":{"cpu":"10","gpu":"2"},"unschedulable":true,"reservedFor":"ask"},{"name":"n2","capacity":{}}],`, `x.json: x: [{"name":"n1","capacity":{"cpu":"10","gpu":"2"},"unschedulable":true,"reservedFor":"ask"},{"name":"n2","capacity":{}}]: ` +
			`unknown field: want one of name, note, types, now, strict, queues, priorityClasses, nodes, budgets, tasks, grants, pending, quotas, jobMinimums, requests, options, expect`},
		{`"toleration": true`, `"toleration": 1`, `x.json: options.toleration: 1: wrong kind of value: want a boolean, found a number`},
		{`"key": "t4", `, ``, `x.json: requests[5].start[0].key: missing: a required field`},
		{`"t1", "t2"`, `"t2", "t2"`, `x.json: requests[4].finish[1]: "t2": duplicate: the name is taken at requests[4].finish[0]`},
		{`{"cpu": "2"}`, `{"cpu": "4x"}`, `x.json: tasks[0].resources.cpu: "4x": bad value: quantity malformed`},
		{`"root.p.y"`, `"root.p"`, `x.json: requests[2].job.queue: "root.p": bad reference: the queue has children, and only leaves hold tasks`},
	} {
		_, err := Parse("x.json", []byte(strings.Replace(everything, test.old, test.bad, 1)))
		require.EqualError(t, err, test.want)
	}
}

// Without a list of types, the first one too many is named where it is.
func TestParse_TooManyTypesNamed(t *testing.T) {
	var b strings.Builder
	for i := range 65 {
		fmt.Fprintf(&b, `{"name": "n%d", "capacity": {"t%d": "1"}},`, i, i)
	}
	nodes := strings.TrimSuffix(b.String(), ",")
	_, err := Parse("many.json", []byte(`{"name": "", "queues": {"name": "root"}, "nodes": [`+nodes+`]}`))
	require.EqualError(t, err, `many.json: nodes[64].capacity.t64: "1": bad value: one more than 64 resource types`)
}
