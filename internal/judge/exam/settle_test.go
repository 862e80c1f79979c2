// SPDX-License-Identifier: Apache-2.0

package exam

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/go-preempt/preempt/internal/judge/scenario"
	"github.com/stretchr/testify/require"
)

// TestSettle_Ours: with this library all comes to rest.
func TestSettle_Ours(t *testing.T) {
	var rest Rest
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "bench", "peers", "cases", "loop-*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		doc, err := scenario.Parse(file, text)
		require.NoError(t, err)
		require.NoError(t, rest.Add(Ours{}, file, doc, 100))
	}
	for i := range 100 {
		doc, err := RandomAsks(i)
		require.NoError(t, err)
		require.NoError(t, rest.Add(Ours{}, doc.Name, doc, 100))
	}
	require.Equal(t, len(files)+100, rest.Told)
	require.Equal(t, rest.Told, rest.Quiet, "%v %s", rest.Shortest, rest.Paper)
	require.Zero(t, rest.Wasted)
	require.Greater(t, rest.Plans, 50)
}

// A taker takes the first task that is there, on its node.
type taker struct{ short bool }

func (taker) Rules() Rules { return Ours{}.Rules() }

func (p taker) Load(doc *scenario.Document) (World, error) {
	w, err := Ours{}.Load(doc)
	return &takerWorld{w, doc, p.short}, err
}

type takerWorld struct {
	World
	doc   *scenario.Document
	short bool
}

func (w *takerWorld) Decide(ask *scenario.Ask) (Answer, error) {
	for i := range w.doc.Tasks {
		t := &w.doc.Tasks[i]
		if ask.AllowPreemptOther && (!w.short || t.Resources[0] < ask.Resources[0]) {
			return Answer{Node: t.Node, Victims: []string{t.Key}}, nil
		}
	}
	return Answer{}, nil
}

const twoTakers = `{"name": "two", "queues": {"name": "root", "queues": [{"name": "a"}, {"name": "b"}]},
	"nodes": [{"name": "n1", "capacity": {"cpu": "2"}}],
	"tasks": [{"key": "b1", "queue": "root.b", "application": "b", "node": "n1", "resources": {"cpu": "2"}}],
	"requests": [{"ask": {"key": "a1", "queue": "root.a", "application": "a", "resources": {"cpu": "2"}}}]}`

// TestSettle_Loop: two tasks that take each other's place are a loop of two
// plans.
func TestSettle_Loop(t *testing.T) {
	doc, err := scenario.Parse("two", []byte(twoTakers))
	require.NoError(t, err)
	story, err := Settle(taker{}, doc, 100)
	require.NoError(t, err)
	require.True(t, story.Loop)
	require.False(t, story.Quiet)
	require.Equal(t, []string{
		"a1 (root.a, priority 0) starts on n1, and stopped for it: b1",
		"b1 (root.b, priority 0) starts on n1, and stopped for it: a1",
	}, story.Lines)
	require.Len(t, doc.Tasks, 1)
	require.Equal(t, "b1", doc.Tasks[0].Key, "the document was changed")
}

// TestSettle_Wasted: a plan that makes no room leaves its ask in line, and that
// preempts no more.
func TestSettle_Wasted(t *testing.T) {
	doc, err := scenario.Parse("two", []byte(twoTakers))
	require.NoError(t, err)
	doc.Tasks[0].Resources[0] = 1000
	doc.Tasks = append(doc.Tasks, doc.Tasks[0])
	doc.Tasks[1].Key = "b2"
	story, err := Settle(taker{short: true}, doc, 100)
	require.NoError(t, err)
	require.Equal(t, &Story{Plans: 1, Wasted: 1, Quiet: true, Lines: []string{
		"a1 (root.a, priority 0) has no room on n1, and stopped for it: b1",
	}}, story)
}

// TestSettle_Bound: what neither comes to rest nor comes back ends at the bound.
func TestSettle_Bound(t *testing.T) {
	doc, err := scenario.Parse("two", []byte(twoTakers))
	require.NoError(t, err)
	story, err := Settle(taker{}, doc, 1)
	require.NoError(t, err)
	require.Equal(t, 1, story.Plans)
	require.False(t, story.Quiet || story.Loop)
}
