// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cdp "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

const gang = "GPU cluster: a gang needs a rack"

// The page begins with a gang in a rack of GPUs.
func TestFirst(t *testing.T) {
	p := open(t, "")
	require.Equal(t, gang, js[string](p, `document.getElementById("examples").selectedOptions[0].textContent`))
	require.Equal(t, []string{"sweep-1", "sweep-2", "sweep-3", "tune-0", "tune-1"}, js[[]string](p, victims))
	require.Equal(t, []string{"domain rack-1", "domain rack-2"}, js[[]string](p, `[...document.querySelectorAll("#nodes .domain > p")].map((e) => e.textContent)`))
	p.quiet()
}

// Parts are told apart without colours: by a pattern, a mark and a letter. The
// focus looks like no mark of a task.
func TestWithoutColours(t *testing.T) {
	p := open(t, "")
	look := func(task, property, pseudo string) string {
		return js[string](p, fmt.Sprintf(`getComputedStyle(document.querySelector('[data-what="task:%s"]'), %q)[%q]`, task, pseudo, property))
	}
	require.Contains(t, look("tune-0", "backgroundImage", ""), "135deg", "who goes is hatched")
	require.NotContains(t, look("llm-0", "backgroundImage", ""), "135deg")
	require.Contains(t, look("render", "content", "::before"), "C", "the letter of its queue")
	require.Contains(t, look("notebook", "content", "::before"), "◇")
	require.Equal(t, []string{"", "A", "B", "C"}, js[[]string](p, `[...document.querySelectorAll(".queue .name")].map((e) => e.dataset.letter)`))
	require.Contains(t, js[string](p, `getComputedStyle(document.querySelector(".bars i.goes-mark")).backgroundImage`), "135deg", "bars, too")

	p.do(chromedp.Focus(`[data-what="task:render"]`, chromedp.ByQuery))
	require.Equal(t, "solid", look("render", "outlineStyle", ""))
	require.Equal(t, "double", look("notebook", "borderTopStyle", ""))
	require.NotEqual(t, look("notebook", "borderTopColor", ""), look("render", "outlineColor", ""))
	p.quiet()
}

// Any type can be shown, and GPUs are cells.
func TestTypes(t *testing.T) {
	p := open(t, "")
	require.Equal(t, []string{"gpu", "cpu"}, js[[]string](p, `[...document.getElementById("types").options].map((o) => o.value)`))
	require.Equal(t, "gpu", js[string](p, `document.getElementById("types").value`))
	require.Equal(t, 8.0, js[float64](p, `Number(getComputedStyle(document.querySelector(".lane.cells")).getPropertyValue("--n"))`))
	p.do(chromedp.Evaluate(`{
		const types = document.getElementById("types");
		types.value = "cpu";
		types.dispatchEvent(new Event("change"));
	}`, nil))
	require.Contains(t, p.text("queues"), "queues, in cpu")
	require.Contains(t, p.text("queues"), "cpu 8 → 136, guaranteed 160")
	require.Zero(t, js[int](p, `document.querySelectorAll(".cells").length`), "96 CPUs are no cells")
	p.do(chromedp.Click("#after", chromedp.ByQuery))
	require.Equal(t, "cpu", js[string](p, `document.getElementById("types").value`), "the next request has the same type")
	p.quiet()
}

// A request has one number: in the list, in the headline and in the words.
func TestNumbers(t *testing.T) {
	p := open(t, "")
	for _, example := range []string{gang, "a shop, a lab and a batch queue on two nodes", "A loop that ends: two rounds"} {
		p.shows(example, -1)
		for i := range js[int](p, `document.getElementById("steps").options.length`) {
			p.shows(example, i)
			number, _, found := strings.Cut(js[string](p, `document.getElementById("steps").selectedOptions[0].textContent`), ": ")
			require.True(t, found && strings.HasPrefix(number, "request "), number)
			require.True(t, strings.HasPrefix(p.text("headline"), number+": "), "%s: %s", number, p.text("headline"))
			require.True(t, strings.HasPrefix(p.text("words"), number+": "), number)
		}
	}
	p.quiet()
}

// The question about storms is there where it has an answer, and only there.
func TestStormOrNothing(t *testing.T) {
	p := open(t, "")
	with := 0
	for _, title := range js[[]string](p, `[...document.getElementById("examples").options].map((o) => o.textContent)`) {
		p.shows(title, -1)
		if js[bool](p, `document.getElementById("storm").hidden`) {
			continue
		}
		with++
		p.do(chromedp.Evaluate(`document.getElementById("explore").click()`, nil))
		require.Contains(t, p.text("storms"), "comes to rest", title)
	}
	require.GreaterOrEqual(t, with, 2)
	p.quiet()
}

// The buttons give files of their kinds.
func TestSave(t *testing.T) {
	p := open(t, "")
	folder := t.TempDir()
	// A file is there, and empty, before the browser has written it.
	begun, written := make(chan *cdp.EventDownloadWillBegin, 10), make(chan string, 100)
	chromedp.ListenTarget(p, func(event any) {
		switch e := event.(type) {
		case *cdp.EventDownloadWillBegin:
			begun <- e
		case *cdp.EventDownloadProgress:
			if e.State == cdp.DownloadProgressStateCompleted {
				written <- e.GUID
			}
		}
	})
	p.do(cdp.SetDownloadBehavior(cdp.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(folder).WithEventsEnabled(true))
	saved := func(name string) []byte {
		p.do(chromedp.Evaluate(`document.querySelector('[data-save="`+name+`"]').click()`, nil))
		download := next(t, begun)
		require.Equal(t, name, download.SuggestedFilename)
		for next(t, written) != download.GUID { // it may be told again of those before
		}
		data, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		return data
	}
	for picture, texts := range map[string][]string{
		"plan": {"× tune-0", "+ llm-1", "nodes, in gpu"},
		"card": {"+ llm-0 (8 gpu) on node-3", "× tune-0 (4 gpu) of root.batch", "✓ root.research has 17 of 20 gpu", "Work lost: 7h30m", "2 of 2", "guarantees hold"},
	} {
		drawn := saved(picture + ".svg")
		require.NoError(t, xml.Unmarshal(drawn, new(struct{ XMLName xml.Name })))
		for _, text := range texts {
			require.Contains(t, string(drawn), text, picture)
		}
		painted, err := png.Decode(bytes.NewReader(saved(picture + ".png")))
		require.NoError(t, err, picture)
		colors := make(map[string]bool)
		b := painted.Bounds()
		for x := b.Min.X; x < b.Max.X; x += 3 {
			for y := b.Min.Y; y < b.Max.Y; y += 3 {
				colors[fmt.Sprint(painted.At(x, y))] = true
			}
		}
		require.Greater(t, len(colors), 10, "%s: more than a ground is painted", picture)
	}
	require.JSONEq(t, js[string](p, `document.getElementById("document").value`), string(saved("document.json")))
	p.quiet()
}

// next waits for what the browser tells.
func next[T any](t *testing.T, told <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-told:
	case <-time.After(time.Minute):
		require.Fail(t, "the browser tells nothing")
	}
	return v
}

// A plan has a card, and a refusal has none.
func TestCard(t *testing.T) {
	p := open(t, "")
	p.do(chromedp.Evaluate(`document.querySelector("#card").open = true`, nil))
	p.wait(`document.querySelector("#card img").naturalWidth === 840`)
	if *shots != "" {
		var picture []byte
		p.do(chromedp.Screenshot("#card img", &picture, chromedp.ByQuery))
		require.NoError(t, os.WriteFile(filepath.Join(*shots, "card.png"), picture, 0o644))
	}
	p.shows(gang, 2)
	require.Contains(t, p.text("verdict"), "refused")
	require.True(t, js[bool](p, `document.getElementById("card").hidden`))
	p.quiet()
}

// A click in a document of 200 nodes and 1,600 tasks redraws the nodes that matter,
// and no more; all are there on demand. A time of a busy machine tells little, so
// it is the number of elements that is bounded, and the time is written down.
func TestLarge(t *testing.T) {
	p := open(t, "")
	p.write(large(t, "root.b"))
	require.Len(t, js[[]string](p, victims), 8)
	const nodes, drawn = `document.querySelectorAll(".node").length`, `document.querySelectorAll("#right *").length`
	require.Equal(t, 40, js[int](p, nodes))
	require.Contains(t, p.text("rest"), "160 more nodes")
	require.Less(t, js[int](p, drawn), 1200)
	best := 1e9
	for range 6 {
		took := js[float64](p, `{
			const begin = performance.now();
			document.querySelector(".task.goes").click();
			document.body.offsetHeight; // what is drawn is laid out
			performance.now() - begin;
		}`)
		best = min(best, took)
	}
	t.Logf("a click: %.0f ms", best)
	require.Equal(t, 40, js[int](p, nodes))
	p.do(chromedp.Evaluate(`document.getElementById("all").click()`, nil))
	require.Equal(t, 200, js[int](p, nodes))
	require.True(t, js[bool](p, `document.getElementById("rest").hidden`))
	p.quiet()
}

// large is a document with 200 nodes of 8 GPUs, and 1,600 tasks of root.a, which has no
// guarantee. Somebody asks in a queue.
func large(t *testing.T, asks string) string {
	t.Helper()
	type object = map[string]any
	var nodes, tasks []object
	for n := range 200 {
		nodes = append(nodes, object{"name": fmt.Sprintf("n%d", n), "capacity": object{"gpu": "8", "cpu": "96"}, "domains": []string{fmt.Sprintf("rack-%d", n/20)}})
	}
	for i := range 1600 {
		tasks = append(tasks, object{
			"key": fmt.Sprintf("t%d", i), "queue": "root.a", "application": fmt.Sprintf("a%d", i%9), "node": fmt.Sprintf("n%d", i%200),
			"resources": object{"gpu": "1", "cpu": "8"}, "age": fmt.Sprintf("%dm", i+1),
		})
	}
	text, err := json.MarshalIndent(object{
		"name": "many", "types": []string{"gpu", "cpu"}, "nodes": nodes, "tasks": tasks,
		"queues":   object{"name": "root", "queues": []object{{"name": "a"}, {"name": "b", "resources": object{"guaranteed": object{"gpu": "400", "cpu": "4000"}}}}},
		"requests": []object{{"ask": object{"key": "x", "queue": asks, "application": "x", "resources": object{"gpu": "8", "cpu": "64"}}}},
	}, "", " ")
	require.NoError(t, err)
	return string(text)
}
