// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
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
