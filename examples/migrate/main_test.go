// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/golden"
)

// outputs are what a call of run leaves.
type outputs struct {
	status         int
	stdout, stderr string
}

func call(stdin string, args ...string) outputs {
	var stdout, stderr bytes.Buffer
	status := run(args, strings.NewReader(stdin), &stdout, &stderr)
	return outputs{status, stdout.String(), stderr.String()}
}

const (
	queuesFile  = "testdata/queues.json"
	classesFile = "testdata/classes.json"
	budgetsFile = "testdata/budgets.json"
)

// The document and the remarks, to be read: testdata has them.
func TestRun_Golden(t *testing.T) {
	for _, test := range []struct {
		golden string
		args   []string
	}{
		{"all", []string{"-queues", queuesFile, "-manifests", classesFile}},
		{"gpu", []string{"-queues", queuesFile, "-partition", "GPU"}},
		{"classes", []string{"-manifests", classesFile}},
		{"budgets", []string{"-manifests", budgetsFile}},
	} {
		t.Run(test.golden, func(t *testing.T) {
			out := call("", test.args...)
			require.Equal(t, written, out.status, out.stderr)
			golden.Compare(t, "testdata/"+test.golden+".golden", out.stdout)
			golden.Compare(t, "testdata/"+test.golden+"-remarks.golden", out.stderr)
		})
	}
}

// What the scheduler answers is in mixed case and has more fields, and means
// the same.
func TestRun_MixedCase(t *testing.T) {
	const converted = `{"partitions": [{"name": "default", "queues": [{"name": "root", "queues": [
		{"name": "a", "parent": true, "resources": {"guaranteed": {"vcore": "1"}}, "properties": {"priority.offset": "5"},
		"queues": [{"name": "b"}]}]}]}]}`
	const answered = `{"Partitions": [{"Name": "default", "Preemption": {}, "NodeSortPolicy": {"Type": ""}, "Queues": [{"Name": "root", "Parent": true,
		"Resources": {}, "ChildTemplate": {"Resources": {}}, "Queues": [
		{"Name": "a", "Parent": true, "Resources": {"Guaranteed": {"vcore": "1"}}, "ChildTemplate": {"Resources": {}},
		"Properties": {"priority.offset": "5"}, "Queues": [{"Name": "b", "Resources": {}}]}]}]}], "Checksum": "8F0A"}`
	a, b := call(converted, "-queues", "-"), call(answered, "-queues", "-")
	require.Equal(t, written, a.status, a.stderr)
	require.Equal(t, a.stdout, b.stdout)
	require.Empty(t, a.stderr)
	require.Equal(t, "migrate: stdin: Checksum: \"8F0A\": left out: it is that of another text\n", b.stderr)
}

// Files of classes may be named one by one or after each other, and either
// kind of file may be standard input.
func TestRun_Arguments(t *testing.T) {
	const one = `{"kind": "PriorityClass", "metadata": {"name": "one"}, "value": 1}`
	a := call(one, "-manifests", "-", "-manifests", classesFile)
	b := call(one, "-manifests", "-", classesFile)
	require.Equal(t, written, a.status, a.stderr)
	require.Equal(t, a, b)
	require.Contains(t, a.stdout, `"name": "one"`)
	require.Contains(t, a.stdout, `"name": "idle"`)

	data, err := os.ReadFile(queuesFile)
	require.NoError(t, err)
	a = call(string(data), "-queues", "-")
	b = call("", "-queues", queuesFile)
	require.Equal(t, written, a.status, a.stderr)
	require.Equal(t, a.stdout, b.stdout)
}

// Whatever is wrong, it is said on standard error, and nothing on the other.
func TestRun_Bad(t *testing.T) {
	for _, test := range []struct {
		name  string
		stdin string
		args  []string
		said  string
	}{
		{"nothing to do", "", nil, "migrate: want -queues, or -manifests, or both\n"},
		{"no such file", "", []string{"-queues", "nowhere.json"}, "migrate: open nowhere.json: no such file or directory\n"},
		{"no such second file", "", []string{"-manifests", classesFile, "nowhere.json"}, "migrate: open nowhere.json: no such file or directory\n"},
		{"an argument", "", []string{"-queues", queuesFile, "more"}, "migrate: argument \"more\": want none without -manifests\n"},
		{"a flag after files", "", []string{"-manifests", classesFile, classesFile, "-partition", "x"}, "migrate: argument \"-partition\": flags come before files\n"},
		{"a partition of nothing", "", []string{"-partition", "x", "-manifests", classesFile}, "migrate: -partition goes with -queues\n"},
		{"no such partition", "", []string{"-queues", queuesFile, "-partition", "x"}, "bad value: no partition x, but default, gpu\n"},
		{"standard input twice", "", []string{"-queues", "-", "-manifests", "-"}, "migrate: standard input is named twice\n"},
		{"one class twice", "", []string{"-manifests", classesFile, classesFile}, "duplicate: a class named \"batch\" is there already\n"},
		{"good queues and bad classes", "{}", []string{"-queues", queuesFile, "-manifests", "-"}, "migrate: stdin: {}: missing: kind\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := call(test.stdin, test.args...)
			require.Equal(t, bad, out.status)
			require.Empty(t, out.stdout)
			require.Contains(t, out.stderr, test.said)
		})
	}
}

func TestRun_Flags(t *testing.T) {
	help := call("", "-h")
	require.Equal(t, written, help.status)
	unknown := call("", "-nosuch")
	require.Equal(t, bad, unknown.status)
	for _, out := range []outputs{help, unknown} {
		require.Empty(t, out.stdout)
		require.Contains(t, out.stderr, "usage: migrate [-queues FILE] [-partition NAME] [-manifests FILE...]\n")
	}
}

// Streams that fail are told of.
func TestRun_Streams(t *testing.T) {
	var stdout, stderr bytes.Buffer
	require.Equal(t, bad, run([]string{"-queues", "-"}, iotest.ErrReader(errors.New("broken")), &stdout, &stderr))
	require.Empty(t, stdout.String())
	require.Equal(t, "migrate: standard input: broken\n", stderr.String())

	stderr.Reset()
	require.Equal(t, bad, run([]string{"-queues", queuesFile}, strings.NewReader(""), failing{}, &stderr))
	require.Equal(t, "migrate: full\n", stderr.String())
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

// What a configuration calls things does not reach the terminal as control
// characters, and breaks no line.
func TestRun_PlainText(t *testing.T) {
	const text = "{\"partitions\": [{\"queues\": [{\"name\": \"a\u202e\", \"submitacl\": \"\u009b\"}]}]}"
	out := call(text, "-queues", "-")
	require.Equal(t, written, out.status, out.stderr)
	require.Equal(t, 2, strings.Count(out.stderr, "\n"))
	for _, r := range out.stderr {
		require.True(t, r == '\n' || r >= ' ' && r != 0x9b && r != 0x202e, "%q", r)
	}
}

func Example() {
	const queues = `{"partitions": [{"name": "default", "queues": [
		{"name": "prod", "resources": {"guaranteed": {"vcore": 10}}, "maxapplications": 5}]}]}`
	run([]string{"-queues", "-"}, strings.NewReader(queues), os.Stdout, os.Stdout)
	// Output:
	// {
	//   "name": "default",
	//   "queues": {
	//     "name": "root",
	//     "queues": [
	//       {
	//         "name": "prod",
	//         "resources": {
	//           "guaranteed": {
	//             "vcore": "10"
	//           }
	//         }
	//       }
	//     ]
	//   },
	//   "priorityClasses": [],
	//   "nodes": [],
	//   "tasks": [],
	//   "requests": []
	// }
	// migrate: stdin: partitions[0].queues: [{"name":"prod","resources":{"guaranteed":{"vcore":10}},"maxapplications":5}]: a queue root was put in above, as YuniKorn does
	// migrate: stdin: partitions[0].queues[0].maxapplications: 5: left out: applications are not counted
}
