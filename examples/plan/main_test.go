// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/go-preempt/preempt/internal/judge/golden"
	"github.com/go-preempt/preempt/internal/judge/law"
)

func TestMain(m *testing.M) { law.Main(m) }

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

// What is printed, to be read: testdata has it.
func TestRun_Golden(t *testing.T) {
	for _, test := range []struct {
		golden string
		status int
		args   []string
	}{
		{"demo", decided, nil},
		{"demo-json", decided, []string{"-json"}},
		{"demo-check", decided, []string{"-check"}},
		{"demo-explain", decided, []string{"-explain"}},
		{"steps", decided, []string{"testdata/steps.json"}},
		{"refusals", decided, []string{"testdata/refusals.json"}},
		{"rules", decided, []string{"testdata/rules.json"}},
		{"law4-explain", decided, []string{"-explain", "../../internal/judge/scenario/testdata/scenarios/k10-governed-at-two-levels.json"}},
		{"rules-explain", decided, []string{"-explain", "testdata/rules.json"}},
		{"rules-json", decided, []string{"-json", "testdata/rules.json"}},
		{"jobs", decided, []string{"testdata/jobs.json"}},
		{"racks", decided, []string{"testdata/racks.json"}},
		{"racks-check", decided, []string{"-check", "testdata/racks.json"}},
		{"quotas", decided, []string{"testdata/quotas.json"}},
		{"unbounded", decided, []string{"testdata/unbounded.json"}},
		{"unbounded-json", decided, []string{"-json", "testdata/unbounded.json"}},
		{"quotas-check", decided, []string{"-check", "testdata/quotas.json", "testdata/quota.json"}},
		{"refusals-explain", decided, []string{"-explain", "testdata/refusals.json"}},
		{"two", decided, []string{"testdata/good/empty.json", "testdata/good/fits.json"}},
		{"folder-json", decided, []string{"-json", "testdata/good"}},
		{"proposed-audit", differs, []string{"-audit", "testdata/proposed.json"}},
		{"proposed-audit-json", differs, []string{"-audit", "-json", "testdata/proposed.json"}},
		{"differs-check", differs, []string{"-check", "testdata/differs.json", "testdata/good", "testdata/quota.json"}},
	} {
		t.Run(test.golden, func(t *testing.T) {
			out := call("", test.args...)
			require.Equal(t, test.status, out.status)
			require.Empty(t, out.stderr)
			golden.Compare(t, "testdata/"+test.golden+".golden", out.stdout)
			for _, line := range strings.Split(out.stdout, "\n") {
				require.Equal(t, strings.TrimRight(line, " \t"), line, "blanks at the end of a line")
			}
		})
	}
}

// Whatever is wrong, it is said on standard error, and nothing on the other,
// also where documents before it, or after, are fine.
func TestRun_Bad(t *testing.T) {
	const good = "testdata/good/fits.json"
	for _, test := range []struct {
		name  string
		stdin string
		args  []string
		said  []string
	}{
		{"no such flag", "", []string{"-nosuch"}, []string{"-nosuch", "usage: plan"}},
		{"two ways", "", []string{"-json", "-check", good}, []string{"plan: -explain, -json, -check, -audit, -dot, -snapshot, -against, -when and -lint exclude each other"}},
		{"two other ways", "", []string{"-json", "-explain", good}, []string{"plan: -explain, -json, -check, -audit, -dot, -snapshot, -against, -when and -lint exclude each other"}},
		{"two ways yet", "", []string{"-explain", "-check", good}, []string{"plan: -explain, -json, -check, -audit, -dot, -snapshot, -against, -when and -lint exclude each other"}},
		{"judged and explained", "", []string{"-audit", "-explain", good}, []string{"exclude each other"}},
		{"judged and drawn", "", []string{"-audit", "-svg", "-", good}, []string{"-svg - has standard output to itself"}},
		{"no such file", "", []string{good, "testdata/nowhere.json"}, []string{"plan: open testdata/nowhere.json: no such file"}},
		{"no documents in a folder", "", []string{"-check", "testdata/good/none.json"}, []string{"testdata/good/none.json: no *.json files"}},
		{"empty input", "", []string{"-"}, []string{"plan: stdin: ", "not valid JSON"}},
		{"bad input", `{"name": 1}`, []string{"-"}, []string{"plan: stdin: name: 1: wrong kind of value"}},
		{"bad input after a good file", `{"name": 1}`, []string{good, "-"}, []string{"plan: stdin: name: 1: "}},
		{"bad input before a good file", `{"name": 1}`, []string{"-json", "-", good}, []string{"plan: stdin: name: 1: "}},
		{"all that is bad", `{"name": 1}`, []string{"-", "testdata/bad.json", good}, []string{
			"plan: stdin: name: 1: ", `testdata/bad.json: requests[1].finish[0]: "v": `}},
		{"all that is bad in one", `{"name": 1, "nodes": {}, "queues": {"name": ""}}`, []string{"-"}, []string{
			"plan: stdin: name: 1: ", "stdin: nodes: {}: ", `stdin: queues.name: "": `}},
		{"picture and results", "", []string{"-svg", "-", "-json"}, []string{"plan: -svg - has standard output to itself"}},
		{"picture of two", "", []string{"-svg", "-", "testdata/good"}, []string{"plan: one document has one picture: there are 2"}},
		{"bad when run", "", []string{"-json", "testdata/bad.json"}, []string{`plan: testdata/bad.json: requests[1].finish[0]: "v": `}},
		{"bad with -check", "", []string{"-check", "testdata/quota.json", "testdata/bad.json"}, []string{`testdata/bad.json: requests[1].finish[0]: `}},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := call(test.stdin, test.args...)
			require.Equal(t, bad, out.status)
			require.Empty(t, out.stdout)
			for _, text := range test.said {
				require.Contains(t, out.stderr, text)
			}
		})
	}
}

// Standard input is a file like others.
func TestRun_Stdin(t *testing.T) {
	data, err := os.ReadFile("testdata/good/fits.json")
	require.NoError(t, err)
	for _, flags := range [][]string{nil, {"-explain"}, {"-json"}, {"-check"}} {
		fromFile := call("", append(flags, "testdata/good/fits.json")...)
		fromStdin := call(string(data), append(flags, "-")...)
		require.Equal(t, fromFile, fromStdin)
		require.NotEmpty(t, fromStdin.stdout)
	}
}

func TestRun_Help(t *testing.T) {
	out := call("", "-h")
	require.Equal(t, decided, out.status)
	require.Empty(t, out.stdout)
	require.Contains(t, out.stderr, "usage: plan [-explain | -json | -check | -audit | -dot | -snapshot] [-svg FILE] [-request N] [-color auto|always|never] [FILE...]")
}

// Streams that fail are told of.
func TestRun_Streams(t *testing.T) {
	var stdout, stderr bytes.Buffer
	require.Equal(t, bad, run([]string{"-"}, iotest.ErrReader(errors.New("broken")), &stdout, &stderr))
	require.Empty(t, stdout.String())
	require.Equal(t, "plan: standard input: broken\n", stderr.String())

	stderr.Reset()
	require.Equal(t, bad, run(nil, strings.NewReader(""), failing{}, &stderr))
	require.Equal(t, "plan: full\n", stderr.String())
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

// What a document calls things does not reach the terminal as control
// characters, and breaks neither line nor column.
func TestRun_PlainText(t *testing.T) {
	const text = `{
  "name": "a\u001b[31mb\nc",
  "note": "x\ty",
  "queues": {"name": "root", "queues": [{"name": "a\tb", "properties": {"priority.offset": "\u001b"}}]},
  "nodes": [{"name": "n\n1", "capacity": {"c\u001bpu": "1"}, "reservedFor": "\u0007"}],
  "tasks": [{"key": "t \u009b", "queue": "root.a\tb", "application": "p", "node": "n\n1", "resources": {}}],
  "requests": [
    {"ask": {"key": "x\r", "queue": "root.a\tb", "application": "p\u202e", "resources": {}, "requiredNode": "n\n1"}},
    {"finish": ["t \u009b"]}]}`
	out := call(text, "-")
	require.Equal(t, decided, out.status, out.stderr)
	golden.Compare(t, "testdata/plain.golden", out.stdout)
	explained := call(text, "-explain", "-")
	require.Equal(t, decided, explained.status, explained.stderr)
	golden.Compare(t, "testdata/plain-explain.golden", explained.stdout)
	for _, r := range explained.stdout + out.stdout {
		require.True(t, r == '\n' || r >= ' ' && r != 0x7f && r != 0x9b && r != 0x202e, "%q", r)
	}
}

// An explanation is added, and nothing else changes.
func TestRun_Explain(t *testing.T) {
	plain, explained := call("").stdout, call("", "-explain").stdout
	lines := slices.Collect(strings.Lines(explained))
	for line := range strings.Lines(plain) {
		at := slices.Index(lines, line)
		require.GreaterOrEqual(t, at, 0, "%s", line)
		lines = lines[at+1:]
	}
	require.Equal(t, strings.Count(plain, " asks for "), strings.Count(explained, "\n  why\n"))
}

// Bad documents are refused with a place, and nothing is printed; good ones are
// decided, and come out as they expect.
func TestRun_Documents(t *testing.T) {
	if testing.Short() {
		t.Skip("it decides all documents four times")
	}
	const folder = "../../internal/judge/scenario/testdata"
	bads, err := filepath.Glob(folder + "/bad/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, bads)
	for _, file := range bads {
		for _, flag := range []string{"-json", "-json=false", "-check"} {
			out := call("", flag, file)
			require.Equal(t, bad, out.status, file)
			require.Empty(t, out.stdout, file)
			require.Regexp(t, `^plan: `+file+`: [\w.\[\]"/\-]+: `, out.stderr)
		}
	}
	out := call("", "-check", folder+"/bad")
	require.Equal(t, bad, out.status)
	require.Empty(t, out.stdout)

	out = call("", "-check", folder+"/scenarios")
	require.Equal(t, decided, out.status)
	require.Regexp(t, `^\d+ passed, 0 failed\n$`, out.stdout)
	goods, err := filepath.Glob(folder + "/scenarios/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, goods)
	for _, file := range goods {
		text, asJSON, explained := call("", file), call("", "-json", file), call("", "-explain", file)
		for _, out := range []outputs{text, asJSON, explained} {
			require.Equal(t, decided, out.status, file)
			require.Empty(t, out.stderr, file)
		}
		require.Equal(t, 1, strings.Count(asJSON.stdout, "\n"), file)
	}
}

// Of the labels of nodes only those are told by which requests select, unless tasks may move.
func TestRun_Labels(t *testing.T) {
	const doc = `{"name": "labels", "queues": {"name": "root", "queues": [{"name": "a"}]},
		"nodes": [{"name": "n1", "capacity": {"cpu": "1"}, "labels": {"zone": "z", "placement-1": "yes", "os": "linux"}}],
		"requests": [{"ask": {"key": "x", "queue": "root.a", "application": "x", "resources": {"cpu": "1"}, "nodeSelector": {"zone": "z"}}},
			{"job": {"name": "y", "queue": "root.a", "application": "y", "members": [{"key": "m", "resources": {"cpu": "1"}, "nodeSelector": {"os": "linux"}}]}}],
		"options": {"moves": "never"}}`
	out := call(doc, "-")
	require.Equal(t, decided, out.status, out.stderr)
	require.Contains(t, out.stdout, "cpu=1  os=linux, zone=z\n")
	out = call(strings.Replace(doc, "never", "any", 1), "-")
	require.Contains(t, out.stdout, "cpu=1  os=linux, placement-1=yes, zone=z\n")
}

// Text and picture say in which types guarantees count, if not in all.
func TestRun_Scarce(t *testing.T) {
	const doc = `{"name": "scarce", "types": ["cpu", "gpu"], "queues": {"name": "root", "queues": [{"name": "a", "resources": {"guaranteed": {"cpu": "1", "gpu": "1"}}}]},
		"nodes": [{"name": "n1", "capacity": {"cpu": "1", "gpu": "1"}}],
		"requests": [{"ask": {"key": "x", "queue": "root.a", "application": "x", "resources": {"gpu": "1"}}}]OPTIONS}`
	for options, says := range map[string]bool{``: false, `, "options": {"scarce": ["gpu"]}`: true} {
		text := strings.Replace(doc, "OPTIONS", options, 1)
		out := call(text, "-")
		require.Equal(t, decided, out.status, out.stderr)
		require.Equal(t, says, strings.Contains(out.stdout, "\n  guarantees count for gpu only\n"))
		require.Equal(t, says, strings.Contains(call(text, "-svg", "-", "-").stdout, "Here guarantees count for gpu only."))
	}
}
