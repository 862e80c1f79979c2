// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/scenario"
)

// What is wrong with queues is told with file, place, value and reason.
func TestMigrate_QueueMistakes(t *testing.T) {
	const a = `q: partitions[0].queues[0].queues[0]`
	for _, test := range []struct{ text, want string }{
		{``, `q: "": not valid JSON: line 1, byte 1: unexpected end of JSON input`},
		{`[]`, `q: []: wrong kind of value: want an object, found a list`},
		{`{}`, `q: {}: missing: partitions`},
		{`{"partitions": 1}`, `q: partitions: 1: wrong kind of value: want a list, found a number`},
		{`{"partitions": [1]}`, `q: partitions[0]: 1: wrong kind of value: want an object, found a number`},
		{`{"partitions": [{}]}`, `q: partitions[0]: {}: missing: queues`},
		{`{"partitions": [{}, {"name": "Default"}]}`, `q: partitions[1]: {"name":"Default"}: duplicate: a partition named "Default" is there already`},
		{`{"partitions": [{"queues": [{}]}]}`, `q: partitions[0].queues[0]: {}: missing: name`},
		{`{"partitions": [{"queues": [], "Queues": []}]}`, `q: partitions[0].Queues: []: duplicate: the field is there already, in other letters`},
		{`{"partitions": [{"queues": [], "preemption": {"enabled": "no"}}]}`, `q: partitions[0].preemption.enabled: "no": wrong kind of value: want a boolean, found a string`},
		{queuesIn(`{"name": ""}`), a + `.name: "": bad value: want a name`},
		{queuesIn(`{"name": "x.y"}`), a + `: {"name":"x.y"}: bad value: a queue's own name has no dot: "x.y"`},
		{queuesIn(`{"name": "x"}, {"name": "X"}`), `q: partitions[0].queues[0].queues[1]: {"name":"X"}: duplicate: a queue named "X" is there already`},
		{queuesIn(`{"name": "a", "parent": 1}`), a + `.parent: 1: wrong kind of value: want a boolean, found a number`},
		{queuesIn(`{"name": "a", "resources": {"max": {"vcore": "4x"}}}`), a + `.resources.max.vcore: "4x": bad value: quantity malformed`},
		{queuesIn(`{"name": "a", "resources": {"max": {"vcore": -1}}}`), a + `.resources.max.vcore: -1: bad value: quantity negative`},
		{queuesIn(`{"name": "a", "resources": {"max": {"memory": "1m"}}}`), a + `.resources.max.memory: "1m": bad value: quantity not a whole number of base units`},
		{queuesIn(`{"name": "a", "resources": {"max": {"memory": null}}}`), a + `.resources.max.memory: null: bad value: quantity malformed`},
		{queuesIn(`{"name": "a", "resources": {"max": {"": 1}}}`), a + `.resources.max[""]: 1: bad value: a resource type needs a name`},
		{queuesIn(`{"name": "a", "properties": {"priority.offset": []}}`), a + `.properties["priority.offset"]: []: wrong kind of value: want a string, found a list`},
		{queuesIn(`{"name": "a", "resources": {"guaranteed": {"vcore": 2}, "max": {"vcore": 1}}}`),
			a + `: "root.a": guaranteed above max: vcore: guaranteed 2, max 1`},
	} {
		text, remarks, err := migrate(sources{queues: &source{"q", []byte(test.text)}}, "")
		require.EqualError(t, err, test.want, test.text)
		require.Nil(t, text)
		require.Nil(t, remarks)
	}
}

// All that the library objects to is told at once, a line each.
func TestRun_AllProblems(t *testing.T) {
	const bounds = `"resources": {"guaranteed": {"vcore": 2}, "max": {"vcore": 1}}`
	out := call(queuesIn(`{"name": "a", `+bounds+`}, {"name": "b", `+bounds+`}`), "-queues", "-")
	require.Equal(t, bad, out.status)
	require.Equal(t, `migrate: stdin: partitions[0].queues[0].queues[0]: "root.a": guaranteed above max: vcore: guaranteed 2, max 1
migrate: stdin: partitions[0].queues[0].queues[1]: "root.b": guaranteed above max: vcore: guaranteed 2, max 1
`, out.stderr)
}

// 64 levels and 64 types, and one more.
func TestMigrate_Limits(t *testing.T) {
	// Root is the first level.
	chain := func(n int) string { return strings.Repeat(`{"name": "a", "queues": [`, n) + strings.Repeat(`]}`, n) }
	migrated(t, queuesIn(chain(63)))
	_, _, err := migrate(sources{queues: &source{"q", []byte(queuesIn(chain(64)))}}, "")
	require.ErrorContains(t, err, "too deep: more than 64 levels")

	types := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`"t%d": 1`, i))
		}
		return queuesIn(`{"name": "a", "resources": {"max": {` + strings.Join(list, ", ") + `}}}`)
	}
	migrated(t, types(64))
	_, _, err = migrate(sources{queues: &source{"q", []byte(types(65))}}, "")
	require.ErrorContains(t, err, `resources.max.t64: 1: bad value: one more than 64 resource types`)
}

// What is wrong with classes is told in the same way.
func TestMigrate_ClassMistakes(t *testing.T) {
	class := func(fields string) string {
		return `{"kind": "PriorityClass", "metadata": {"name": "c"}, "value": 1` + fields + `}`
	}
	for _, test := range []struct{ text, want string }{
		{``, `c: "": not valid JSON: line 1, byte 1: unexpected end of JSON input`},
		{`1`, `c: 1: wrong kind of value: want an object, found a number`},
		{`{}`, `c: {}: missing: kind`},
		{`{"Kind": "PriorityClass"}`, `c: {"Kind":"PriorityClass"}: missing: kind`},
		{`{"kind": "Deployment"}`, `c: {"kind":"Deployment"}: bad value: unknown kind Deployment: want PriorityClass, PodDisruptionBudget, a list of one of them, or List`},
		{`{"kind": "List", "items": [{"kind": "Pod"}]}`, `c: items[0]: {"kind":"Pod"}: bad value: unknown kind Pod: want PriorityClass or PodDisruptionBudget`},
		{`{"kind": "List", "items": [{}]}`, `c: items[0]: {}: missing: kind`},
		{`{"kind": "PriorityClassList", "items": [{}]}`, `c: items[0]: {}: missing: metadata`},
		{`{"kind": "PriorityClass", "apiVersion": "example.com/v1"}`, `c: apiVersion: "example.com/v1": bad value: unknown kind: want a PriorityClass of scheduling.k8s.io/v1`},
		{`{"kind": "PriorityClass", "metadata": {}}`, `c: metadata: {}: missing: name`},
		{`{"kind": "PriorityClass", "metadata": {"name": "c"}}`, `c: {"kind":"PriorityClass","metadata":{"name":"c"}}: missing: value`},
		{`{"kind": "PriorityClass", "metadata": {"name": "c"}, "value": 2147483648}`, `c: value: 2147483648: bad value: want a whole number from -2147483648 to 2147483647`},
		{class(`, "preemptionPolicy": "never"`), `c: preemptionPolicy: "never": bad value: want PreemptLowerPriority or Never`},
		{class(`, "globalDefault": "true"`), `c: globalDefault: "true": wrong kind of value: want a boolean, found a string`},
		{class(``) + class(``), `c (document 2): {"kind":"PriorityClass","metadata":{"name":"c"},"value":1}: duplicate: a class named "c" is there already`},
		{class(``) + "\n{\n", `c: "\n": not valid JSON: line 2, byte 2: unexpected end of JSON input`},
		{class(``) + "\n---\n", `c: "--\n": not valid JSON: line 2, byte 2: invalid character '-' in numeric literal`},
		{class(``) + "\n" + `{"kind": "` + "\xff" + `"}`, `c (document 2): "\xff": not valid JSON: line 2, byte 11 is not UTF-8`},
		{`{"kind": "PriorityClass", "metadata": {"name": "c", "annotations": {"yunikorn.apache.org/allow-preemption": "no"}}, "value": 1}`,
			`c: metadata.annotations["yunikorn.apache.org/allow-preemption"]: "no": bad value: neither "true" nor "false"`},
		{`{"kind": "PriorityClass", "metadata": {"name": "c", "annotations": {"x": 1}}, "value": 1}`,
			`c: metadata.annotations.x: 1: wrong kind of value: want a string, found a number`},
	} {
		text, remarks, err := migrate(sources{manifests: []source{{"c", []byte(test.text)}}}, "")
		require.EqualError(t, err, test.want, test.text)
		require.Nil(t, text)
		require.Nil(t, remarks)
	}
}

// FuzzMigrate gives any bytes for both kinds of files. What is accepted makes a
// document that examples/plan accepts, and twice the same.
func FuzzMigrate(f *testing.F) {
	f.Add([]byte(queuesIn(`{"name": "a", "resources": {"max": {"vcore": "1"}}, "properties": {"priority.offset": 3}}`)),
		[]byte(`{"kind": "PriorityClass", "metadata": {"name": "c"}, "value": 1}`))
	f.Add([]byte(`{"Partitions": [{"Queues": [{"Name": "é"}, {"Name": "É"}]}]}`), []byte(`{"kind": "List", "items": []} {"kind": "List"}`))
	f.Add([]byte(`{"partitions": [{"queues": [{"name": "ROOT", "resources": {"guaranteed": {"a": "9E"}}}]}]}`),
		[]byte(`{"kind": "PriorityClassList", "items": [{"metadata": {"name": "c", "annotations": {"preemption-toleration.scheduling.x-k8s.io/toleration-seconds": "-1"}}, "value": 0}]}`))
	f.Fuzz(func(t *testing.T, queues, classes []byte) {
		for _, all := range []sources{
			{queues: &source{"q", queues}},
			{manifests: []source{{"c", classes}}},
			{queues: &source{"q", queues}, manifests: []source{{"c", classes}}},
		} {
			text, remarks, err := migrate(all, "")
			again, remarksAgain, errAgain := migrate(all, "")
			require.Equal(t, text, again)
			require.Equal(t, lines(remarks), lines(remarksAgain))
			if err != nil {
				require.Nil(t, text)
				require.NotContains(t, err.Error(), "the document: ", "a mistake of the program, not of the file")
				require.EqualError(t, errAgain, err.Error())
				continue
			}
			doc, err := scenario.Parse("doc", text)
			require.NoError(t, err)
			_, err = doc.Run()
			require.NoError(t, err)
		}
	})
}

func lines(errs []error) (all []string) {
	for _, err := range errs {
		all = append(all, err.Error())
	}
	return all
}
