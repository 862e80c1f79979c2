// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func path(steps ...any) *Path {
	var p *Path
	for _, s := range steps {
		if name, ok := s.(string); ok {
			p = p.Field(name)
		} else {
			p = p.Item(s.(int))
		}
	}
	return p
}

func TestError_Line(t *testing.T) {
	const text = `{
  "name": "n",
  "queues": {"name": "root"},
  "nodes": [
    {"name": "n1", "capacity": {"cpu": "1"}},
    {"name": "n1",
     "capacity": {"cpu": "one"}}
  ]
}`
	_, err := Parse("doc.json", []byte(text))
	var lines []int
	for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
		lines = append(lines, e.(*Error).Line([]byte(text)))
	}
	require.ElementsMatch(t, []int{6, 7}, lines)

	for _, test := range []struct {
		text string
		line int
	}{
		{"{\n\"name\": \"n\",\n}", 3},
		{"{\n\"name\": 5,\n\"queues\": {\"name\": \"root\"}}", 2},
		{"{\n\"name\": \"n\"}", 1}, // it lacks queues
		{"\n\n{\"name\": \"n\"}", 3},
		{"{\"a\": \"\xff\"}", 1},
		{"{\n\n\"a\": \"\xff\"}", 3},
		{"", 1},
	} {
		_, err := Parse("doc.json", []byte(test.text))
		require.Error(t, err)
		first := err.(interface{ Unwrap() []error }).Unwrap()[0].(*Error)
		require.Equal(t, test.line, first.Line([]byte(test.text)), "%q: %v", test.text, err)
	}
	gone := &Error{Path: path("nodes", 1, "labels", "zone")}
	require.Equal(t, 6, gone.Line([]byte(text)))
}

func TestSet(t *testing.T) {
	const text = `{"a": [1, {"b": "x"}],  "c": {}}`
	for _, test := range []struct {
		at   *Path
		json string
		want string
	}{
		{path("a", 0), `22`, `{"a": [22, {"b": "x"}],  "c": {}}`},
		{path("a", 1, "b"), `"yy"`, `{"a": [1, {"b": "yy"}],  "c": {}}`},
		{path("a", 1, "d"), `true`, `{"a": [1, {"b": "x", "d": true}],  "c": {}}`},
		{path("c", "e", "f.g"), `"1"`, `{"a": [1, {"b": "x"}],  "c": {"e": {"f.g": "1"}}}`},
		{path("h"), `[]`, `{"a": [1, {"b": "x"}],  "c": {}, "h": []}`},
		{nil, `{}`, `{}`},
	} {
		have, err := ReadSource([]byte(text)).Set(test.at, test.json)
		require.NoError(t, err)
		require.Equal(t, test.want, string(have))
	}
	for _, test := range []struct {
		text string
		at   *Path
		json string
		want error
	}{
		{text, path("a", 2), `1`, ErrReference},
		{text, path("a", "b"), `1`, ErrReference},
		{text, path("c", "d", 0), `1`, ErrReference},
		{text, path("a", 0), `1 2`, ErrSyntax},
		{`{`, path("a"), `1`, ErrSyntax},
	} {
		_, err := ReadSource([]byte(test.text)).Set(test.at, test.json)
		require.ErrorIs(t, err, test.want)
	}
}
