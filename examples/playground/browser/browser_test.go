// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// Every step of every example is drawn, and the page complains about nothing.
func TestExamples(t *testing.T) {
	p := open(t, "")
	titles := js[[]string](p, `[...document.getElementById("examples").options].map((o) => o.textContent)`)
	for _, title := range []string{
		"Guarantees", "Opting out", "Priorities of queues", "Fences", "A sandbox",
		"A loop that ends: both keep their guarantee", "A loop that ends: at most one task past the guarantee", "A loop that ends: two rounds",
		"The storm that cannot be", "A quota is lowered", "A gang goes as a whole", "A budget", "A job in one rack", "Fair shares",
	} {
		require.Contains(t, titles, title)
	}
	require.GreaterOrEqual(t, len(titles), 16)
	for _, title := range titles {
		p.shows(title, -1)
		steps := js[int](p, `document.getElementById("steps").options.length`)
		require.Positive(t, steps, title)
		for i := range steps {
			p.shows(title, i)
			require.Equal(t, "shown", js[string](p, `document.body.dataset.state`), title)
			require.NotEmpty(t, p.text("headline"), title)
			require.NotEmpty(t, p.text("verdict"), title)
			require.NotEmpty(t, p.text("words"), title)
			require.Positive(t, js[int](p, `document.querySelectorAll(".queue").length`), title)
			require.Positive(t, js[int](p, `document.querySelectorAll(".node").length`), title)
		}
	}
	p.quiet()
}

// An edit changes the plan, and Undo is there for changes of the picture only.
func TestEdit(t *testing.T) {
	p := open(t, "")
	p.shows("Guarantees", 2)
	require.Equal(t, []string{"a1"}, js[[]string](p, victims))
	text := js[string](p, `document.getElementById("document").value`)
	p.write(strings.Replace(text, `"age": "10m"`, `"age": "9h"`, 1))
	require.Equal(t, []string{"a2"}, js[[]string](p, victims))
	require.True(t, js[bool](p, `document.getElementById("undo").disabled`))
	p.quiet()
}

// Mistakes are marked at their lines, and the last good plan stays.
func TestMistakes(t *testing.T) {
	p := open(t, "")
	p.shows("Guarantees", 2)
	text := js[string](p, `document.getElementById("document").value`)
	lines := strings.Split(text, "\n")
	bad := 0
	for i, line := range lines {
		if strings.Contains(line, `"key": "a3"`) {
			bad = i + 1
			lines[i] = strings.Replace(line, "root.normal.queue-1", "root.nowhere", 1)
		}
	}
	require.Positive(t, bad)
	const marked = `[...document.querySelectorAll("#gutter .wrong")].map((e) => Number(e.textContent))`
	p.write(strings.Join(lines, "\n"))
	require.Equal(t, []int{bad}, js[[]int](p, marked))
	require.Contains(t, p.text("mistakes"), fmt.Sprintf("line %d: ", bad))
	require.Contains(t, p.text("mistakes"), "root.nowhere")
	require.Equal(t, []string{"a1"}, js[[]string](p, victims))

	p.write("{\n\"name\": }")
	require.Equal(t, []int{2}, js[[]int](p, marked))
	p.do(chromedp.Click("#mistakes button", chromedp.ByQuery))
	require.Equal(t, "document", js[string](p, `document.activeElement.id`))
	p.write(text)
	require.Empty(t, js[[]int](p, marked))
	p.quiet()
}

// The story steps on and back, by mouse and by keyboard.
func TestStory(t *testing.T) {
	p := open(t, "")
	p.shows("Guarantees", 0)
	require.Contains(t, p.text("headline"), "b-1")
	p.do(chromedp.Click("#after", chromedp.ByQuery))
	require.Contains(t, p.text("headline"), "b-2")
	p.do(chromedp.Focus("#after", chromedp.ByQuery), chromedp.KeyEvent("\r"))
	require.Contains(t, p.text("headline"), "b-3")
	p.do(chromedp.Click("#before", chromedp.ByQuery))
	require.Contains(t, p.text("headline"), "b-2")
	p.shows("Guarantees", 0)
	require.True(t, js[bool](p, `document.getElementById("before").disabled`))
	p.quiet()
}

// A storm is played while the rule of the starving queue is off. Once it is on, all
// comes to rest from where it is.
func TestStorm(t *testing.T) {
	p := open(t, "")
	p.shows("The storm that cannot be", 0)
	p.do(chromedp.Evaluate(`document.getElementById("storm").open = true`, nil), chromedp.Click("#explore", chromedp.ByQuery))
	require.Contains(t, p.text("storms"), "after 2 steps all is as it was")
	require.Contains(t, p.text("storms"), "it always comes to rest")
	const (
		play = `#storms .player button:nth-child(1)`
		step = `#storms .player button:nth-child(2)`
		anew = `#storms .player button:nth-child(3)`
		rule = `#storms .player input`
		runs = `[...document.querySelectorAll("#storms .place:not(.waiting) .chip")].map((e) => e.textContent)`
	)
	start := js[[]string](p, runs)
	for _, said := range []string{"Round 1, step 1 of 2: ", "Round 1, step 2 of 2: ", "Round 2, step 1 of 2: "} {
		p.do(chromedp.Click(step, chromedp.ByQuery))
		require.Contains(t, p.text("storms"), said)
		require.Contains(t, p.text("storms"), " takes the place of ")
		require.Len(t, js[[]string](p, runs), 2)
	}
	p.do(chromedp.Click(play, chromedp.ByQuery))
	p.wait(`document.getElementById("storms").textContent.includes("Round 3")`)
	p.do(chromedp.Click(rule, chromedp.ByQuery))
	p.wait(`document.getElementById("storms").textContent.includes("At rest")`)
	require.Equal(t, "Play", js[string](p, `document.querySelector("`+play+`").textContent`), "it stops by itself")
	require.NotContains(t, js[[]string](p, runs), "guest")
	p.do(chromedp.Click(anew, chromedp.ByQuery))
	require.Equal(t, start, js[[]string](p, runs))
	require.Contains(t, p.text("storms"), "Stopped so far: 0.")

	p.shows("Fair shares come to rest", 0)
	p.do(chromedp.Click("#explore", chromedp.ByQuery), chromedp.Click(play, chromedp.ByQuery))
	p.wait(`document.getElementById("storms").textContent.includes("At rest")`)

	p.shows("Fences", 0)
	require.True(t, js[bool](p, `document.getElementById("storm").hidden`), "it cannot be explored")
	p.quiet()
}

// A link restores the document and the step.
func TestLink(t *testing.T) {
	p := open(t, "")
	p.shows("Guarantees", 2)
	text := strings.Replace(js[string](p, `document.getElementById("document").value`), `"age": "10m"`, `"age": "9h"`, 1)
	p.write(text)
	p.do(chromedp.Click("#link", chromedp.ByQuery))
	p.wait(`document.getElementById("said").textContent !== ""`)
	fragment := js[string](p, `location.hash`)
	require.NotEmpty(t, fragment)
	p.quiet()

	again := open(t, fragment)
	require.Equal(t, text, js[string](again, `document.getElementById("document").value`))
	require.Equal(t, []string{"a2"}, js[[]string](again, victims))
	again.quiet()

	nothing := open(t, "#d=%21%21")
	require.Equal(t, "shown", js[string](nothing, `document.body.dataset.state`))
	require.Contains(t, nothing.text("said"), "no document")
}
