// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/go-preempt/preempt/toleration"
)

// TestScanner: values end where encoding/json says, however the text comes in.
func TestScanner(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []string
		var text bytes.Buffer
		for range rapid.IntRange(0, 5).Draw(t, "values") {
			raw, err := json.Marshal(drawJSON(t, 3))
			require.NoError(t, err)
			want = append(want, string(raw))
			text.Write(raw)
			text.WriteString(rapid.SampledFrom([]string{" ", "\n", "\t\r\n"}).Draw(t, "space"))
		}
		s := newScanner(iotest.OneByteReader(&text))
		for _, w := range want {
			raw, err := s.value(nil)
			require.NoError(t, err)
			require.Equal(t, w, string(raw))
		}
		_, err := s.peek()
		require.Error(t, err)
	})
}

// drawJSON draws a value.
func drawJSON(t *rapid.T, depth int) any {
	switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
	case kind == 0:
		return nil
	case kind == 1:
		return rapid.Bool().Draw(t, "boolean")
	case kind == 2:
		return rapid.Int().Draw(t, "number")
	case kind == 3 || depth == 0:
		return rapid.SampledFrom([]string{"", "}", "]\"", "\\", "a\\\"b", "{[", "\u00e9\n"}).Draw(t, "string")
	case kind == 4:
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any { return drawJSON(t, depth-1) }), 0, 3).Draw(t, "list")
	}
	return rapid.MapOfN(rapid.StringMatching("[a-c]"), rapid.Custom(func(t *rapid.T) any { return drawJSON(t, depth-1) }), 0, 3).Draw(t, "object")
}

// TestReadObjects: what is no text of objects is told with its place.
func TestReadObjects(t *testing.T) {
	pod := `{"kind": "Pod", "metadata": {"name": "p"}}`
	for text, want := range map[string]string{
		`{"kind": "List", "items": [` + pod + `,` + pod + `]}`:        "",
		`{"items": [{"metadata": {"name": "p"}}], "kind": "PodList"}`: "", // kinds come last
		`{"kind": "PodList", "items": null}`:                          "",
		`{"kind": "List", "items": [` + pod + `}`:                     "f: not valid JSON at byte 70: invalid character '}', want ',' or ']'",
		`{"kind": "List", "items": [` + pod:                           "f: not valid JSON at byte 69: unexpected EOF",
		`{"kind": "List", "items": [{"a": tru}]}`:                     "f: not valid JSON at byte 37: invalid character '}' in literal true (expecting 'e')",
		`{"kind" "List"}`:                   "f: not valid JSON at byte 9: invalid character '\"', want ':'",
		`{"kind": "List",, }`:               "f: not valid JSON at byte 16: invalid character ',', want a name",
		`[` + pod + `]`:                     "f: an array of objects, the first of which is Pod p: want them one after another, or in a List; jq prints them so without -s",
		`{"a": ` + strings.Repeat("[", 300): "f: more than 200 objects and lists in each other",
	} {
		all, err := readObjects([]byte(text), "f")
		if want != "" {
			require.ErrorContains(t, err, want, text)
			continue
		}
		require.NoError(t, err, text)
		for _, o := range all {
			require.Equal(t, "Pod", o.Kind, text)
		}
	}
}

// TestReadObjects_KindFirst: the items of a list whose kind stands before them are not kept until its end.
func TestReadObjects_KindFirst(t *testing.T) {
	var taken []string
	err := eachObject(strings.NewReader(`{"kind": "PodList", "apiVersion": "v1", "items": [{"metadata": {"name": "p"}}, {"kind": "Node", "metadata": {"name": "n"}},`), "f", func(o object) {
		taken = append(taken, o.guess())
	})
	require.ErrorContains(t, err, "unexpected EOF")
	require.Equal(t, []string{"/Pod", "/Node"}, taken)
}

// TestProgress: a line that grows, on a terminal, if it takes long.
func TestProgress(t *testing.T) {
	var out strings.Builder
	require.Nil(t, newProgress(&out))
	(*progress)(nil).step(1000)
	p := &progress{out: &out, next: time.Now().Add(time.Hour)}
	p.step(1000)
	p.end()
	require.Empty(t, out.String())
	p.next = time.Time{}
	p.step(2000)
	p.step(2001)
	p.end()
	require.Equal(t, "\rlive: 2000 objects read\n", out.String())
}

// TestTasks: the document that is decided is the one that is written.
func TestTasks(t *testing.T) {
	var dump bytes.Buffer
	require.NoError(t, writeDump(&dump, 3, 60, 12))
	dump.WriteString(podOf("dear", "node-00000", "1", 0, thing{"metadata": thing{"ownerReferences": []thing{{"kind": "DaemonSet", "name": "d", "controller": true}}, "annotations": thing{
		annotationCost: "5", annotationCheckpoint: "2026-01-01T01:50:00Z", toleration.AnnotationAllowPreemption: "false"}},
		"spec": thing{"containers": []thing{{"name": "c", "ports": []thing{{"containerPort": 80, "hostPort": 80}}}}}}))
	full := filepath.Join(t.TempDir(), "dump.json")
	require.NoError(t, os.WriteFile(full, dump.Bytes(), 0o644))
	all := [][]string{{full}, {"testdata/cluster.yaml"}, {"-queues", "testdata/queues.yaml", "testdata/cluster.yaml"}}
	for _, s := range systems {
		all = append(all, s.args)
	}
	said := map[string]bool{}
	for _, args := range all {
		o, err := parse(append([]string{"-now", "2026-01-01T02:00:00Z"}, args...), io.Discard)
		require.NoError(t, err)
		c, err := collect(o, nil)
		require.NoError(t, err)
		text, doc, err := c.document()
		require.NoError(t, err)
		var written bytes.Buffer
		require.NoError(t, text.write(&written))
		read, err := scenario.Parse(doc.File, written.Bytes())
		require.NoError(t, err)
		require.Equal(t, read, doc, args)
		for i := range doc.Tasks {
			of := reflect.ValueOf(doc.Tasks[i])
			for f := range of.NumField() {
				said[of.Type().Field(f).Name] = said[of.Type().Field(f).Name] || !of.Field(f).IsZero()
			}
		}
	}
	for field, is := range said {
		require.Equal(t, !slices.Contains([]string{"Ends", "Originator", "Preemptible", "Movable", "Preemptions", "NodeSelector"}, field), is, "%s", field)
	}
}

// TestOrder: objects are taken in their order, however many are opened at the same time, and what
// is wrong with one of them is told after what is wrong with those before it.
func TestOrder(t *testing.T) {
	var dump, want strings.Builder
	for i := range 3 * batchObjects {
		spec := `{}`
		if i%7 == 3 {
			spec = `{"priority": "x"}`
			if i/7 < mostProblems {
				fmt.Fprintf(&want, "live: stdin (document %d): Pod p-%d: spec.priority: wrong kind of value: string\n", i+1, i)
			}
		}
		fmt.Fprintf(&dump, `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p-%d"}, "spec": %s}`, i, spec)
	}
	status, _, problems := say(t, dump.String())
	require.Equal(t, bad, status)
	require.Equal(t, want.String(), problems)
}

// TestSlim: pods that share their parts are answered for as if each had its own.
func TestSlim(t *testing.T) {
	var text bytes.Buffer
	require.NoError(t, writeDump(&text, 3, 60, 12))
	status, whole, problems := say(t, text.String(), "-document")
	require.Equal(t, done, status, problems)
	// With other owners nobody shares.
	other := text.String()
	for i := strings.Index(other, `"name": "app-`); i >= 0; i = strings.Index(other, `"name": "app-`) {
		other = other[:i] + `"name": "own-` + time.Duration(i).String() + other[i+len(`"name": "app-`):]
	}
	status, apart, problems := say(t, other, "-document")
	require.Equal(t, done, status, problems)
	type sizes struct {
		Tasks []struct{ Resources map[string]string }
	}
	var a, b sizes
	require.NoError(t, json.Unmarshal([]byte(whole), &a))
	require.NoError(t, json.Unmarshal([]byte(apart), &b))
	require.Len(t, a.Tasks, 60)
	require.Equal(t, b, a)
}
