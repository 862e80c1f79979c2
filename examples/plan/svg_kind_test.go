// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/svg"
)

// A picture is of one type, the one that the request is short of, and has every
// queue in it.
func TestSVG_OneType(t *testing.T) {
	const text = `{"name": "types", "types": ["cpu", "memory", "gpu"],
  "queues": {"name": "root", "queues": [
    {"name": "a", "resources": {"guaranteed": {"cpu": "8", "gpu": "2"}}},
    {"name": "b", "resources": {"max": {"memory": "64Gi"}}}, {"name": "c"}]},
  "nodes": [{"name": "n", "capacity": {"cpu": "100", "memory": "64Gi", "gpu": "2"}}],
  "tasks": [
    {"key": "v", "queue": "root.b", "application": "v", "node": "n", "resources": {"cpu": "1500m", "gpu": "1"}},
    {"key": "w", "queue": "root.b", "application": "w", "node": "n", "resources": {"memory": "60Gi", "gpu": "1"}}],
  "requests": [
    {"ask": {"key": "x", "queue": "root.a", "application": "x", "resources": {"cpu": "8", "gpu": "1"}}, "then": "nothing"},
    {"ask": {"key": "y", "queue": "root.a", "application": "y", "resources": {"cpu": "8", "memory": "1Gi"}}, "then": "nothing"},
    {"ask": {"key": "z", "queue": "root.c", "application": "z", "resources": {"memory": "32Gi"}}, "then": "nothing"},
    {"enforceQuota": {"queue": "root.b", "max": {"memory": "8Gi"}}, "then": "nothing"}]}`
	for request, want := range [][]string{
		{"queues, in gpu", "gpu 2", "gpu 0 → 1, guaranteed 2", "gpu 2 → 1", "gpu 0"},
		{"queues, in cpu", "cpu 1.5 → 9.5", "cpu 0 → 8, guaranteed 8", "cpu 1.5", "cpu 0"}, // it fits; most of it is cpu
		{"queues, in memory", "memory 60Gi", "memory 0", "memory 60Gi, max 64Gi", "memory 0"},
		{"queues, in memory", "memory 60Gi → 0", "memory 0", "memory 60Gi → 0, max 8Gi", "memory 0"},
	} {
		p := readPicture(t, drawSVG(mustScene(t, text, request)))
		require.Equal(t, want, p.textsLike(`(queues, in|gpu|cpu|memory) [^=]*`), "request %d", request)
	}
}

func mustScene(t *testing.T, text string, request int) *scene {
	s, err := newScene(runOf(t, text), request)
	require.NoError(t, err)
	return s
}

// The legend has what is in the picture, the arrows too, and nothing else.
func TestSVG_Legend(t *testing.T) {
	read := func(file string) string {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		return string(data)
	}
	const any = `victim|new place|leaving already|held for another|guaranteed|max|makes room for the queue that asks|what the queue gets`
	for _, test := range []struct {
		text    string
		request int
		want    []string
	}{
		{string(demo), 1, []string{"victim", "new place", "guaranteed", "max", "makes room for the queue that asks", "what the queue gets"}},
		{string(demo), 0, []string{"new place", "guaranteed", "max", "what the queue gets"}},
		{string(demo), 5, []string{"leaving already", "held for another", "guaranteed", "max"}},
		{read("testdata/quotas.json"), 0, []string{"victim", "guaranteed", "max"}},
		{read("testdata/good/empty.json"), firstPlan, nil},
	} {
		p := readPicture(t, drawSVG(mustScene(t, test.text, test.request)))
		require.Equal(t, test.want, p.textsLike(any), "request %d", test.request)
	}
}

// Columns are as wide as their texts, or as there is room for.
func TestColumns(t *testing.T) {
	wide := func(n int) string { return fmt.Sprintf("%0*d", n, 0) }
	one, two := svg.Width(wide(1), listSize), svg.Width(wide(9), listSize)
	require.Equal(t, []int{one, two}, columns([][]string{{wide(1), wide(1)}, {"", wide(9)}}, 1000))
	require.Equal(t, []int{one, 100 - one - listGap}, columns([][]string{{wide(1), wide(90)}}, 100))
	require.Equal(t, []int{41, 41}, columns([][]string{{wide(80), wide(90)}}, 82+listGap))
}

// Columns never take more room than there is, and none is wider than its texts.
func TestColumns_Property(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		row := rapid.SliceOfN(rapid.StringN(0, 200, -1), 1, 6).Draw(t, "row")
		room := rapid.IntRange(200, 1000).Draw(t, "room")
		sum := (len(row) - 1) * listGap
		for i, w := range columns([][]string{row}, room) {
			require.LessOrEqual(t, w, svg.Width(row[i], listSize))
			require.GreaterOrEqual(t, w, 0)
			sum += w
		}
		require.LessOrEqual(t, sum, room)
	})
}
