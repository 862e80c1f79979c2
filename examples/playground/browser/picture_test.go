// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// What one points at, or has the focus, says what it is to the request.
func TestWhy(t *testing.T) {
	p := open(t, "")
	p.shows("Fences", 1)
	p.do(chromedp.Focus(`[data-what="task:a1"]`, chromedp.ByQuery))
	require.Contains(t, p.text("why"), "a1: root.rt.tenant-a.queue-1")
	require.Contains(t, p.text("why"), "candidate")
	p.do(chromedp.Focus(`[data-what="queue:root.rt.system"]`, chromedp.ByQuery))
	require.Contains(t, p.text("why"), "the asking queue")
	p.do(chromedp.Evaluate(`document.querySelector('[data-what="node:n1"]').dispatchEvent(new Event("mouseenter"))`, nil))
	require.Contains(t, p.text("why"), "chosen")

	// Decisions about jobs and quotas say it, too.
	says := func(what, text string) {
		t.Helper()
		p.do(chromedp.Focus(`[data-what="`+what+`"]`, chromedp.ByQuery))
		require.Contains(t, p.text("why"), text)
	}
	p.shows("A quota is lowered", 0)
	says("queue:root.branch.etl", "asked for cpu=3.2 at most, it gives cpu=4")
	says("task:etl-3", "needs it for its guarantee")
	says("task:rep-3", "others of its queue come first")
	p.shows("A job in one rack", 0)
	require.Equal(t, []string{"domain r1", "domain r2"}, js[[]string](p, `[...document.querySelectorAll("#nodes .domain > p")].map((e) => e.textContent)`))
	says("node:n1", "in another domain, r1")
	says("task:toy", "victim: makes room on the node")
	p.quiet()
}

// A click protects a victim, and the next best goes. Another click, and Undo,
// take that back.
func TestProtect(t *testing.T) {
	p := open(t, "")
	p.shows("Opting out", 0)
	require.Equal(t, []string{"a1"}, js[[]string](p, victims))
	p.do(chromedp.Click(`[data-what="task:a1"]`, chromedp.ByQuery))
	require.Equal(t, []string{"a2"}, js[[]string](p, victims))
	p.do(chromedp.Focus(`[data-what="task:a2"]`, chromedp.ByQuery), chromedp.KeyEvent("\r"))
	require.Equal(t, []string{"a3"}, js[[]string](p, victims))
	require.Equal(t, "task:a2", js[string](p, `document.activeElement.dataset.what`), "the focus stays")
	p.do(chromedp.Click("#undo", chromedp.ByQuery))
	require.Equal(t, []string{"a2"}, js[[]string](p, victims))
	p.do(chromedp.Focus(`[data-what="task:a1"]`, chromedp.ByQuery), chromedp.Click("#why .acts button", chromedp.ByQuery))
	require.Equal(t, []string{"a1"}, js[[]string](p, victims))
	p.quiet()
}

// A rule that stands in the way can be relaxed.
func TestRelax(t *testing.T) {
	p := open(t, "")
	p.shows("Guarantees", 5)
	require.Contains(t, p.text("verdict"), "over-guarantee")
	require.Contains(t, p.text("relax"), "if root.normal.queue-2 were under its guarantee")
	p.do(chromedp.Click("#relax button", chromedp.ByQuery))
	require.Contains(t, p.text("verdict"), "plan")
	require.True(t, js[bool](p, `document.getElementById("relax").hidden`))
	p.quiet()
}

// A task that is dragged to another node is there, and so is one that is moved
// by keyboard.
func TestMove(t *testing.T) {
	p := open(t, "")
	p.shows("a shop, a lab and a batch queue on two nodes", 1)
	require.Equal(t, []string{"etl-1", "etl-2"}, js[[]string](p, victims))
	const on = `document.querySelector('[data-what="task:alice-1"]').closest(".node").dataset.node`
	p.do(chromedp.Evaluate(`{
		const data = new DataTransfer();
		const task = document.querySelector('[data-what="task:alice-1"]');
		task.dispatchEvent(new DragEvent("dragstart", {dataTransfer: data, bubbles: true}));
		const node = document.querySelector('[data-node="n2"]');
		node.dispatchEvent(new DragEvent("dragover", {dataTransfer: data, bubbles: true, cancelable: true}));
		node.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
	}`, nil))
	require.Equal(t, "n2", js[string](p, on))
	require.Contains(t, js[string](p, `document.querySelector('[data-node="n1"]').textContent`), "free cpu=1 ")
	p.do(chromedp.Focus(`[data-what="task:alice-1"]`, chromedp.ByQuery), chromedp.Evaluate(`{
		const move = document.querySelector("#why select");
		move.value = "n1";
		move.dispatchEvent(new Event("change"));
	}`, nil))
	require.Equal(t, "n1", js[string](p, on))
	p.quiet()
}

// The mark of a guarantee is moved by mouse and by keyboard.
func TestGuarantee(t *testing.T) {
	p := open(t, "")
	p.shows("Guarantees", 5)
	require.Contains(t, p.text("verdict"), "refused")
	const handle = `document.querySelector('[data-what="guarantee:root.normal.queue-2"]')`
	box := js[[]float64](p, `{
		const h = `+handle+`;
		h.scrollIntoView({block: "center"});
		const box = h.getBoundingClientRect();
		const bars = h.parentElement.getBoundingClientRect();
		[box.left + box.width / 2, box.top + box.height / 2, bars.left + 0.75 * bars.width]
	}`)
	before := js[string](p, `document.getElementById("document").value`)
	p.do(chromedp.MouseEvent(input.MousePressed, box[0], box[1], chromedp.ButtonLeft),
		chromedp.MouseEvent(input.MouseMoved, box[0]+9, box[1], chromedp.ButtonLeft),
		chromedp.MouseEvent(input.MouseMoved, box[2], box[1], chromedp.ButtonLeft))
	// The plan follows the mark while it is moved, once the browser tells the page.
	p.wait(`document.getElementById("verdict").textContent.includes("plan")`)
	require.True(t, js[bool](p, `document.getElementById("undo").disabled`))
	p.do(chromedp.MouseEvent(input.MouseReleased, box[2], box[1], chromedp.ButtonLeft))
	now := js[float64](p, `Number(`+handle+`.getAttribute("aria-valuenow"))`)
	require.Greater(t, now, 8000.0)
	require.Contains(t, p.text("verdict"), "plan")

	p.do(chromedp.Evaluate(handle+`.focus()`, nil), chromedp.KeyEvent(kb.ArrowLeft))
	require.Less(t, js[float64](p, `Number(`+handle+`.getAttribute("aria-valuenow"))`), now)
	require.Equal(t, "guarantee:root.normal.queue-2", js[string](p, `document.activeElement.dataset.what`), "the focus stays")
	p.do(chromedp.Click("#undo", chromedp.ByQuery), chromedp.Click("#undo", chromedp.ByQuery))
	require.Equal(t, before, js[string](p, `document.getElementById("document").value`), "a drag is one change")
	p.quiet()
}
