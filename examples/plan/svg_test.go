// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-preempt/preempt/internal/judge/golden"
	"github.com/go-preempt/preempt/internal/judge/law"
	"github.com/go-preempt/preempt/internal/judge/scenario"
)

// The picture of the demo is the one that is shown to readers.
func TestSVG_Demo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plan.svg")
	out := call("", "-svg", file)
	require.Equal(t, call(""), out, "the text is as ever")
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	golden.Compare(t, "plan.svg", string(got))
}

// With -svg - the picture, and nothing else, is on standard output.
func TestSVG_Stdout(t *testing.T) {
	want, err := os.ReadFile("plan.svg")
	require.NoError(t, err)
	require.Equal(t, outputs{decided, string(want), ""}, call("", "-svg", "-", "-color", "always"))
}

// What a quota comes to is told in the order in which it comes about.
func TestSVG_QuotaVerdicts(t *testing.T) {
	data, err := os.ReadFile("testdata/quotas.json")
	require.NoError(t, err)
	for request, want := range map[int]string{
		0: "met: stop bob-1, then nothing stays over",
		4: "partial: stop 5 victims, then it stays at cpu=5 above the max",
		5: "met: nothing is over",
		6: "impossible: it stays at cpu=1 above the max, for nobody can be taken",
	} {
		s, err := newScene(runOf(t, string(data)), request)
		require.NoError(t, err)
		require.Equal(t, want, s.verdict)
	}
}

// The same picture, seen by eye: the plan of request 1 in numbers.
func TestSVG_DemoContents(t *testing.T) {
	p := readPicture(t, drawSVG(demoScene(t, firstPlan)))
	require.Equal(t, []string{"cpu 5 → 9, guaranteed 10, max 16", "cpu 3 → 7, guaranteed 8", "cpu 10 → 6, max 12"},
		p.textsLike(`cpu (5|3|10) .*`))
	require.Equal(t, []string{"× etl-1", "× etl-2"}, p.textsLike(`× .*`))
	require.Equal(t, []string{"+ web-3"}, p.textsLike(`\+ .*`))
	// Its 4 of 12 CPUs are a third of the lane, but for the gap behind it.
	lane, place := p.rects["track"][0], p.rects["comes"][0]
	for _, r := range p.rects["track"] {
		if r.Y == 150 {
			lane = r
		}
	}
	for _, r := range p.rects["comes"] {
		if r.H == taskHeight {
			place = r
		}
	}
	require.InDelta(t, lane.W/3, place.W, 2)
	require.Len(t, p.rects["chosen"], 1)
}

// Another request has another picture.
func TestSVG_Request(t *testing.T) {
	for _, test := range []struct {
		request  int
		headline string
		verdict  string
		victims  int
		arrivals int
	}{
		{firstPlan, "request 1: web-3 asks for cpu=4 memory=4Gi in root.shop.web", "plan: stop etl-1, etl-2 and run on n1", 2, 1},
		{0, "request 0: web-2 asks for cpu=1 memory=2Gi in root.shop.web", "fits on n1: there is room", 0, 1},
		{3, "request 3: probe asks for cpu=1 memory=1Gi in root.lab.alice", "waits for n2: what is leaving makes room there", 0, 1},
		{5, "request 5: report asks for cpu=2 in root.batch",
			"refused (not-guaranteed): no queue on its path is guaranteed anything that it asks for", 0, 0},
		{8, "request 8: web-5 asks for cpu=4 memory=4Gi in root.shop.web", "plan: stop bob-1, index and run on n2", 2, 1},
	} {
		s := demoScene(t, test.request)
		require.Equal(t, test.headline, s.headline)
		require.Equal(t, test.verdict, s.verdict)
		require.Len(t, s.victims, test.victims)
		require.Len(t, s.comes, test.arrivals)
	}
}

// What an ask holds already counts, before as after, and its place is drawn
// once.
func TestSVG_Held(t *testing.T) {
	p := readPicture(t, drawSVG(demoScene(t, 10))) // train starts where bob-2 was
	require.Equal(t, []string{"cpu 6, guaranteed 4"}, p.textsLike(`cpu 6, .*4`))
	require.Equal(t, []string{"+ train"}, p.textsLike(`.*train`))
}

func TestSVG_Bad(t *testing.T) {
	for _, test := range []struct {
		args []string
		said string
	}{
		{[]string{"-svg", "", "-request", "-2"}, "plan: -request -2: want 0 or more"},
		{[]string{"-request", "11"}, "plan: demo.json: request 11: no such request: the document has 11"},
		{[]string{"-request", "7"}, "plan: demo.json: request 7: a request that decides nothing"},
		{[]string{"testdata/good"}, "plan: one document has one picture: there are 2"},
	} {
		for _, way := range [][]string{{"-dot"}, {"-svg", filepath.Join(t.TempDir(), "x.svg")}} {
			out := call("", append(way, test.args...)...)
			require.Equal(t, outputs{bad, "", test.said + "\n"}, out)
		}
	}
	out := call("", "-svg", filepath.Join(t.TempDir(), "nowhere", "x.svg"))
	require.Equal(t, bad, out.status)
	require.Empty(t, out.stdout)
}

// A repeated ask is drawn where it first has victims, on the cluster that the
// repetitions before it left.
func TestSVG_Repeat(t *testing.T) {
	run := runOf(t, `{"name": "r",
  "queues": {"name": "root", "queues": [{"name": "a", "resources": {"guaranteed": {"cpu": "6"}}}, {"name": "b"}]},
  "nodes": [{"name": "n", "capacity": {"cpu": "6"}}],
  "tasks": [{"key": "v", "queue": "root.b", "application": "v", "node": "n", "resources": {"cpu": "2"}}],
  "requests": [{"ask": {"key": "x", "queue": "root.a", "application": "x", "resources": {"cpu": "2"}}, "repeat": 3}]}`)
	s, err := newScene(run, firstPlan)
	require.NoError(t, err)
	require.Equal(t, "request 0: x-3 asks for cpu=2 in root.a", s.headline)
	for key, there := range map[string]bool{"v": true, "x-1": true, "x-2": true, "x-3": false} {
		_, ok := s.cluster.Lookup(key)
		require.Equal(t, there, ok, key)
	}
	require.Equal(t, "v", s.victims[0].Key)
}

// Every request of every document has a sound picture.
func TestSVG_Documents(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a second")
	}
	files, err := filepath.Glob("../../internal/judge/scenario/testdata/scenarios/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range law.Some(files) {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		run, err := decideOne(scenario.Text{File: file, Data: data}, (*scenario.Document).Run)
		require.NoError(t, err)
		for i := firstPlan; i < len(run.Document.Requests); i++ {
			s, err := newScene(run, i)
			if i != firstPlan && !run.Document.Requests[i].Kind.Decides() {
				require.ErrorIs(t, err, errNoResult)
				continue
			}
			require.NoError(t, err, file)
			checkPicture(t, s, drawSVG(s))
			checkDot(t, s)
		}
	}
}

// Whatever is in a document, the picture is well-formed, names what it should,
// and no text lies over another; and it is the same twice.
func TestSVG_Random(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a second")
	}
	rapid.Check(t, svgProperty)
}

func FuzzSVG_Random(f *testing.F) { f.Fuzz(rapid.MakeFuzz(svgProperty)) }

func svgProperty(t *rapid.T) {
	text := randomDocument(t)
	doc, err := scenario.Parse("random.json", []byte(text))
	require.NoError(t, err, text)
	run, err := doc.Run()
	require.NoError(t, err, text)
	for i := firstPlan; i < len(doc.Requests); i++ {
		s, err := newScene(run, i)
		require.NoError(t, err)
		data := drawSVG(s)
		checkPicture(t, s, data)
		checkDot(t, s)
		if again, err := newScene(run, i); err != nil || !bytes.Equal(data, drawSVG(again)) {
			require.Fail(t, "another picture of the same")
		}
	}
}

func runOf(t require.TestingT, text string) *scenario.Run {
	run, err := decideOne(scenario.Text{File: "test.json", Data: []byte(text)}, (*scenario.Document).Run)
	require.NoError(t, err)
	return run
}

func demoScene(t require.TestingT, request int) *scene {
	s, err := newScene(runOf(t, string(demo)), request)
	require.NoError(t, err)
	return s
}
