// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// hostile are ends of names that mean something to somebody.
var hostile = []string{
	"", "<script>alert(1)</script>", `"'&`, "]]>-->", "\\n\\\"", "\u202e\x07", "日本語", "</text></svg>", "{}->[];", strings.Repeat("long", 20),
}

// randomDocument returns a document of queues, nodes and tasks of any number,
// and a request of each kind.
func randomDocument(t *rapid.T) string {
	name := func(kind string, i int) string {
		return fmt.Sprintf("%s%d%s", kind, i, rapid.SampledFrom(hostile).Draw(t, kind))
	}
	number := func(name string, of ...int) int { return rapid.SampledFrom(of).Draw(t, name) }
	amounts := func(cpu ...int) map[string]string {
		return map[string]string{
			"cpu":     strconv.Itoa(number("cpu", cpu...)),
			"storage": rapid.SampledFrom([]string{"0", "0", "1", "1Ti"}).Draw(t, "storage"),
		}
	}
	type object map[string]any
	var leaves []string
	queues := []object{}
	for i := range number("queues", 2, 3, 5, 50) {
		q := object{"name": name("q", i)}
		switch number("bound", 0, 1, 2, 3) * min(i, 1) {
		case 0:
			q["resources"] = object{"guaranteed": object{"cpu": "20"}}
		case 1:
			q["resources"] = object{"max": amounts(4, 20)}
		}
		queues = append(queues, q)
		leaves = append(leaves, "root."+q["name"].(string))
	}
	// Nodes are in some domains, one of them or none.
	depth := number("depth", 0, 0, 1, 2)
	domains := func(i int) []string {
		return []string{name("d", i%2), "r" + strconv.Itoa(i%3)}[:min(depth, i%4)]
	}
	nodes, tasks := []object{}, []object{}
	names := []string{}
	for i := range number("nodes", 0, 1, 2, 9, 12, 45) {
		names = append(names, name("n", i))
		nodes = append(nodes, object{"name": names[i], "capacity": amounts(0, 4, 6), "unschedulable": rapid.Bool().Draw(t, "unschedulable"), "domains": domains(i)})
	}
	for i := range number("tasks", 0, 20, 60, 60) * min(1, len(nodes)) {
		tasks = append(tasks, object{
			"key": name("t", i), "queue": rapid.SampledFrom(leaves).Draw(t, "queue"), "application": strconv.Itoa(i),
			"node": rapid.SampledFrom(names).Draw(t, "node"), "resources": amounts(0, 1, 2, 4),
			"state": rapid.SampledFrom([]string{"running", "running", "releasing"}).Draw(t, "state"),
		})
	}
	leaf := rapid.SampledFrom(leaves)
	then := rapid.SampledFrom([]string{"finish", "leave", "nothing"})
	requests := []object{
		{"ask": object{"key": name("x", 0), "queue": leaves[0], "application": "x", "resources": object{"cpu": "4"}}, "then": then.Draw(t, "then")},
		{"enforceQuota": object{"queue": leaf.Draw(t, "enforced")}, "then": then.Draw(t, "then")},
		{"job": object{"name": name("j", 0), "queue": leaf.Draw(t, "job"), "application": "j", "priority": 9, "domain": depth, "members": []object{
			{"key": name("m", 0), "resources": amounts(1, 3)}, {"key": name("m", 1), "resources": amounts(1, 3)},
		}}, "then": then.Draw(t, "then")},
	}
	data, err := json.Marshal(object{
		"name": name("d", 0), "types": []string{"cpu", "storage"}, "queues": object{"name": "root", "queues": queues},
		"nodes": nodes, "tasks": tasks, "requests": requests,
	})
	require.NoError(t, err)
	return string(data)
}
