// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/examples/plan/internal/against"
	"github.com/go-preempt/preempt/examples/plan/internal/lint"
	"github.com/go-preempt/preempt/internal/judge/golden"
	"github.com/go-preempt/preempt/internal/judge/scenario"
)

// The flags of -lint bound how far it looks, and set the exit status.
func TestLint_Flags(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a second")
	}
	const any = "internal/lint/testdata/any-fences.json"
	require.Equal(t, differs, call("", "-lint", "-lint-rules", "any", "-expect-clean", any).status, "a loop")
	require.Equal(t, decided, call("", "-lint", "-lint-rules", "any", "-expect-clean", "-lint-states", "10", any).status, "not looked far enough")
	require.Equal(t, decided, call("", "-lint", "-expect-clean", "internal/lint/testdata/siblings.json").status, "a note")
	for _, test := range []struct {
		args []string
		says string
	}{
		{[]string{"-expect-clean"}, "-expect-clean is for -lint"},
		{[]string{"-lint", "-lint-states", "-1"}, "-lint-states -1: want 0 or more"},
		{[]string{"-lint", "-lint-rules", "slurm"}, `-lint-rules "slurm": want own, any, yunikorn or kueue`},
		{[]string{"-lint", "-svg", "x"}, "-lint draws no picture"},
		{[]string{"-lint", "-check"}, "exclude each other"},
		{[]string{"-lint", "testdata/bad.json", "testdata/nowhere.json"}, "nowhere.json"},
	} {
		out := call("", test.args...)
		require.Equal(t, bad, out.status)
		require.Empty(t, out.stdout)
		require.Contains(t, out.stderr, test.says)
	}
}

// A report for programs is one for people in JSON, a line for each document.
func TestLint_JSON(t *testing.T) {
	const any = "internal/lint/testdata/any-fences.json"
	out := call("", "-lint", "-lint-rules", "any", "-json", any, any)
	require.Equal(t, decided, out.status, out.stderr)
	d := json.NewDecoder(strings.NewReader(out.stdout))
	for range 2 {
		var r lint.Report
		require.NoError(t, d.Decode(&r))
		require.NotNil(t, r.Worlds.Loop)
	}
	require.False(t, d.More())
}

// What -when prints, to be read.
func TestWhen_Golden(t *testing.T) {
	for name, args := range map[string][]string{
		"when": {"-when"}, "when-json": {"-when", "-json"},
	} {
		out := call("", append(args, "testdata/when.json")...)
		require.Empty(t, out.stderr)
		require.Equal(t, decided, out.status)
		golden.Compare(t, "testdata/"+name+".golden", out.stdout)
	}
	out := call("", "-when", "testdata/good/fits.json")
	require.Contains(t, out.stdout, "every request has a place")
}

const againstFolder = "testdata/against/"

// What -against prints, to be read.
func TestAgainst_Golden(t *testing.T) {
	args := []string{"-against", againstFolder + "snapshots/monday.json", "-policy", againstFolder + "policy.json"}
	folder := againstFolder + "snapshots"
	for name, test := range map[string]struct {
		status int
		more   []string
	}{
		"against.golden":      {decided, nil},
		"against-json.golden": {differs, []string{"-json", "-expect-same"}},
		"against.svg":         {decided, []string{"-svg", "-"}},
	} {
		out := call("", append(append(args[:len(args):len(args)], test.more...), folder)...)
		require.Empty(t, out.stderr)
		require.Equal(t, test.status, out.status)
		golden.Compare(t, "testdata/"+name, out.stdout)
	}
}

// A policy against itself changes nothing, whatever the document.
func TestAgainst_Itself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := scenario.Text{File: "random", Data: []byte(randomDocument(t))}
		c, err := against.Document(s, s, s)
		require.NoError(t, err)
		require.Empty(t, c.Changes)
		require.Empty(t, against.Sum([]*against.Contrast{c}).Queues)
	})
}

// What cannot be compared is said, with a place.
func TestAgainst_Bad(t *testing.T) {
	const monday = againstFolder + "snapshots/monday.json"
	other := `{"name": "other", "queues": {"name": "root", "queues": [{"name": "prod"}]}}`
	for _, test := range []struct {
		stdin, said string
		args        []string
	}{
		{other, monday + ` under the policy of stdin: tasks[0].queue: "root.batch": `, []string{"-against", "-", monday}},
		{`{"name": 1}`, "plan: stdin: name: 1: ", []string{"-against", "-", monday}},
		{"", "nowhere.json: no such file", []string{"-against", "nowhere.json", monday}},
		{"", "nowhere.json: no such file", []string{"-against", monday, "-policy", "nowhere.json", monday}},
		{"", "-policy and -expect-same are for -against", []string{"-expect-same", monday}},
		{"", "-policy and -expect-same are for -against", []string{"-policy", monday, monday}},
		{"", "standard input is one file only", []string{"-against", "-", "-"}},
		{"", "exclude each other", []string{"-against", monday, "-check", monday}},
		{"", "exclude each other", []string{"-against", monday, "-when", monday}},
		{"", "have no picture on standard output", []string{"-against", monday, "-json", "-svg", "-", monday}},
	} {
		out := call(test.stdin, test.args...)
		require.Equal(t, bad, out.status, test.said)
		require.Empty(t, out.stdout)
		require.Contains(t, out.stderr, test.said)
	}
}

// The picture is XML, whatever names things have.
func TestAgainst_Picture(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a second")
	}
	rapid.Check(t, func(t *rapid.T) {
		old, new := randomDocument(t), randomDocument(t)
		s := scenario.Text{File: "new", Data: []byte(new)}
		c, err := against.Document(s, scenario.Text{File: "old", Data: []byte(old)}, s)
		if err != nil {
			c, err = against.Document(s, s, s) // their queues differ
		}
		require.NoError(t, err)
		picture := string(drawAgainst([]*against.Contrast{c}, against.Sum([]*against.Contrast{c})))
		d := xml.NewDecoder(strings.NewReader(picture))
		for err == nil {
			_, err = d.Token()
		}
		require.True(t, errors.Is(err, io.EOF), "%v\n%s", err, picture)
	})
}
