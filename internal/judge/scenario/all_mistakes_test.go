// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// All mistakes of a document are told at once, each on a line, and none that
// only follows from another.
func TestParse_AllMistakes(t *testing.T) {
	const text = `{
  "name": "many", "name": "again", "colour": "red",
  "queues": {"name": "root", "resources": {"max": {"cpu": "4x"}}, "queues": [{"name": "a", "prio": 1}, {"name": "b.c"}]},
  "priorityClasses": [{"name": "low", "value": "1"}],
  "nodes": [{"name": "n1", "capacity": {"cpu": "-1"}}, {"capacity": {}}],
  "tasks": [
    {"key": "t1", "queue": "root.a", "application": "x", "node": "n1", "resources": {"cpu": "1"}, "age": "soon", "state": "dead"},
    {"key": "t1", "queue": "root.b.c", "application": "", "node": "n2", "resources": {"cpu": "1"}}],
  "requests": [{"then": "finish"}, {"job": {"name": "j", "queue": "root.a", "application": "x", "members": 2, "minMembers": 1}}],
  "expect": [{"outcome": "won"}, 5]}`
	_, err := Parse("many.json", []byte(text))
	require.Error(t, err)
	var places []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		rest, ok := strings.CutPrefix(line, "many.json: ")
		require.True(t, ok, line)
		place, _, _ := strings.Cut(rest, ": ")
		places = append(places, place)
	}
	require.Equal(t, []string{
		"name", "colour",
		"queues.resources.max.cpu", "queues.queues[0].prio", "queues.queues[1].name",
		"priorityClasses[0].value",
		"nodes[0].capacity.cpu", "nodes[1].name",
		"tasks[0].age", "tasks[0].state", "tasks[1].key", "tasks[1].application",
		"requests[0]", "requests[1].job.members",
		"expect[0].outcome", "expect[1]",
	}, places)
}

// A bad amount of a queue or node hides no reference that finds nothing.
func TestParse_ReferencesBesideBadAmounts(t *testing.T) {
	const text = `{
  "name": "two", "queues": {"name": "root", "queues": [{"name": "a", "resources": {"guaranteed": {"cpu": "x"}}}]},
  "nodes": [{"name": "n1", "capacity": {"cpu": "y"}}],
  "tasks": [{"key": "t1", "queue": "root.z", "application": "x", "node": "n9", "resources": {"cpu": "1"}, "priorityClass": "top"}]}`
	_, err := Parse("two.json", []byte(text))
	require.EqualError(t, err, strings.Join([]string{
		`two.json: queues.queues[0].resources.guaranteed.cpu: "x": bad value: quantity malformed`,
		`two.json: nodes[0].capacity.cpu: "y": bad value: quantity malformed`,
		`two.json: tasks[0].queue: "root.z": bad reference: no queue of this name`,
		`two.json: tasks[0].node: "n9": bad reference: no node of this name`,
		`two.json: tasks[0].priorityClass: "top": bad reference: no priority class of this name`,
	}, "\n"))
}

// A list of types with a mistake is one mistake, whatever the amounts name.
func TestParse_MistakeInTypes(t *testing.T) {
	for _, types := range []string{`["cpu", "cpu"]`, `"cpu"`, `["memory", 5]`, `[""]`, `["memory"` + manyTypes(64) + `]`} {
		_, err := Parse("types.json", []byte(`{"name": "", "types": `+types+`, "queues": {"name": "root"},
  "nodes": [{"name": "n1", "capacity": {"gpu": "1"}}], "expect": [{"outcome": "fits", "shortfall": {"tpu": "1"}}]}`))
		require.Error(t, err)
		require.NotContains(t, err.Error(), "\n", types)
	}
}

// A document with a million mistakes does not get a million lines.
func TestParse_VeryManyMistakes(t *testing.T) {
	var nodes strings.Builder
	for i := range 1234 {
		fmt.Fprintf(&nodes, `{"name": "n%d", "capacity": 5},`, i)
	}
	_, err := Parse("m.json", []byte(`{"name": "", "queues": {"name": "root"}, "nodes": [`+strings.TrimSuffix(nodes.String(), ",")+`]}`))
	lines := strings.Split(err.Error(), "\n")
	require.Len(t, lines, 101)
	require.Equal(t, "m.json: nodes[99].capacity: 5: wrong kind of value: want an object, found a number", lines[99])
	require.Equal(t, "m.json: and 1134 more", lines[100])
}

// What only shows when the queues and classes are built is told at once, too.
func TestRun_AllMistakes(t *testing.T) {
	const seconds = "preemption-toleration.scheduling.x-k8s.io/toleration-seconds"
	doc, err := Parse("late.json", []byte(`{"name": "late",
  "queues": {"name": "root", "queues": [{"name": "a", "resources": {"guaranteed": {"cpu": "2"}, "max": {"cpu": "1"}}}]},
  "priorityClasses": [
    {"name": "x", "value": 1, "annotations": {"`+seconds+`": "soon"}},
    {"name": "y", "value": 2, "annotations": {"`+seconds+`": "1.5"}}]}`))
	require.NoError(t, err)
	_, err = doc.Run()
	require.Equal(t, []string{
		`late.json: priorityClasses[0].annotations["` + seconds + `"]: "soon": not a whole number`,
		`late.json: priorityClasses[1].annotations["` + seconds + `"]: "1.5": not a whole number`,
		`late.json: queues.queues[0].resources.guaranteed: "root.a": guaranteed above max: cpu: guaranteed 2, max 1`,
	}, strings.Split(err.Error(), "\n"))
}
