// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// Of a request without a place the page says when it could start, and what would make
// that sooner; of one with a place it says nothing.
func TestWhen(t *testing.T) {
	p := open(t, "")
	const said = `document.getElementById("when").dataset.state === "shown"`
	require.True(t, js[bool](p, `document.getElementById("when").hidden`), "the gang has a plan")
	text, err := os.ReadFile(filepath.Join("..", "..", "plan", "testdata", "when.json"))
	require.NoError(t, err)
	p.write(string(text))
	p.step(0)
	p.wait(said)
	require.Contains(t, p.text("when"), "in 1h0m0s, at 2026-01-01T01:00:00Z, if nobody else starts before: fits on n1, after etl-1, etl-2")
	require.Contains(t, p.text("when"), "guaranteed cpu of root.prod by 1 more: plan on n1, stops etl-3")
	require.Equal(t, 2, js[int](p, `document.querySelectorAll("#when li").length`))
	p.step(1)
	p.wait(said)
	require.Contains(t, p.text("when"), "no single change was found")
	p.shows(gang, 0)
	require.True(t, js[bool](p, `document.getElementById("when").hidden`))

	// The picture of a large document does not wait for the answer, nor does the
	// answer move it.
	const top = `document.getElementById("picture").getBoundingClientRect().top`
	p.do(chromedp.Evaluate(`new MutationObserver((_, o) => {
		if (!document.body.dataset.state) return;
		o.disconnect();
		window.drawn = {top: `+top+`, when: document.getElementById("when").dataset.state, verdict: document.getElementById("verdict").textContent};
	}).observe(document.body, {attributes: true})`, nil))
	p.write(large(t, "root.a"))
	require.Contains(t, js[string](p, `drawn.verdict`), "refused")
	require.Empty(t, js[string](p, `drawn.when`))
	p.wait(said)
	require.Contains(t, p.text("when"), "one more node like n0")
	require.Equal(t, js[float64](p, `drawn.top`), js[float64](p, top))
	p.quiet()
}
