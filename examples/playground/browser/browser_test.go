// Package browser tests the playground in a real browser.
package browser

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

var shots = flag.String("shots", "", "write pictures of the page to this `FOLDER`")

// chromium are the names that Chromium goes by.
var chromium = []string{"chromium", "chromium-browser", "google-chrome", "chrome"}

// page is the address of the page, which is built once.
var page = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "playground")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "run", "./examples/playground/build", "-o", folder)
	build.Dir = filepath.Join("..", "..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(folder, "index.html"))}).String(), nil
})

func TestMain(m *testing.M) {
	flag.Parse()
	status := m.Run()
	if address, err := page(); err == nil {
		if u, err := url.Parse(address); err == nil {
			os.RemoveAll(filepath.Dir(u.Path))
		}
	}
	os.Exit(status)
}

// A tab is a page that is open, and what it has complained about.
type tab struct {
	context.Context
	t        *testing.T
	mu       sync.Mutex
	problems []string
}

// open opens the page, with a fragment or without.
func open(t *testing.T, fragment string) *tab {
	t.Helper()
	binary := ""
	for _, name := range chromium {
		if path, err := exec.LookPath(name); err == nil {
			binary = path
			break
		}
	}
	require.NotEmpty(t, binary, "no Chromium: install the package chromium")
	address, err := page()
	require.NoError(t, err)

	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(binary), chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true), chromedp.WindowSize(1280, 900))
	browser, closeBrowser := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(closeBrowser)
	ctx, closeTab := chromedp.NewContext(browser)
	t.Cleanup(closeTab)
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	p := &tab{Context: ctx, t: t}
	chromedp.ListenTarget(ctx, func(event any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			p.problems = append(p.problems, e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
				text, _ := json.Marshal(e.Args)
				p.problems = append(p.problems, string(text))
			}
		}
	})
	p.do(emulation.SetFocusEmulationEnabled(true), chromedp.Navigate(address+fragment), chromedp.WaitVisible(`body[data-state]`, chromedp.ByQuery))
	return p
}

func (p *tab) do(actions ...chromedp.Action) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Run(p, actions...))
}

// js evaluates an expression.
func js[T any](p *tab, expression string) (v T) {
	p.t.Helper()
	p.do(chromedp.Evaluate(expression, &v))
	return v
}

// wait waits until an expression is true.
func (p *tab) wait(expression string) {
	p.t.Helper()
	p.do(chromedp.Poll(expression, nil, chromedp.WithPollingTimeout(20*time.Second)))
}

// quiet fails if the page has complained about anything.
func (p *tab) quiet() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Empty(p.t, p.problems)
}

// write replaces the document.
func (p *tab) write(text string) {
	p.t.Helper()
	quoted, err := json.Marshal(text)
	require.NoError(p.t, err)
	p.do(chromedp.Evaluate(`{
		document.body.dataset.state = "";
		const area = document.getElementById("document");
		area.value = `+string(quoted)+`;
		area.dispatchEvent(new Event("input"));
	}`, nil))
	p.wait(`document.body.dataset.state !== ""`)
}

// shows chooses the example of a name, and a step of it.
func (p *tab) shows(example string, step int) {
	p.t.Helper()
	quoted, err := json.Marshal(example)
	require.NoError(p.t, err)
	p.do(chromedp.Evaluate(`{
		const all = document.getElementById("examples");
		all.value = [...all.options].find((o) => o.textContent === `+string(quoted)+`).value;
		all.dispatchEvent(new Event("change"));
	}`, nil))
	if step >= 0 {
		p.do(chromedp.Evaluate(fmt.Sprintf(`{
			const all = document.getElementById("steps");
			all.value = "%d";
			all.dispatchEvent(new Event("change"));
		}`, step), nil))
	}
}

func (p *tab) text(id string) string {
	p.t.Helper()
	return js[string](p, `document.getElementById("`+id+`").textContent`)
}

const victims = `[...document.querySelectorAll(".task.goes")].map((e) => e.textContent.slice(2)).sort()`

// Every step of every example is drawn, and the page complains about nothing.
func TestExamples(t *testing.T) {
	p := open(t, "")
	titles := js[[]string](p, `[...document.getElementById("examples").options].map((o) => o.textContent)`)
	require.GreaterOrEqual(t, len(titles), 14)
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
	p.do(chromedp.MouseEvent(input.MousePressed, box[0], box[1], chromedp.ButtonLeft),
		chromedp.MouseEvent(input.MouseMoved, box[0]+9, box[1], chromedp.ButtonLeft),
		chromedp.MouseEvent(input.MouseMoved, box[2], box[1], chromedp.ButtonLeft),
		chromedp.MouseEvent(input.MouseReleased, box[2], box[1], chromedp.ButtonLeft))
	now := js[float64](p, `Number(`+handle+`.getAttribute("aria-valuenow"))`)
	require.Greater(t, now, 8000.0)
	require.Contains(t, p.text("verdict"), "plan")

	p.do(chromedp.Evaluate(handle+`.focus()`, nil), chromedp.KeyEvent(kb.ArrowLeft))
	require.Less(t, js[float64](p, `Number(`+handle+`.getAttribute("aria-valuenow"))`), now)
	require.Equal(t, "guarantee:root.normal.queue-2", js[string](p, `document.activeElement.dataset.what`), "the focus stays")
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

// Two hundred tasks are decided and drawn within a tenth of a second. The best
// of several is taken: others use the machine as well.
func TestTwoHundredTasks(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"name": "many", "queues": {"name": "root", "queues": [{"name": "a"}, {"name": "b", "resources": {"guaranteed": {"cpu": "40"}}}]}, "nodes": [`)
	for n := range 20 {
		fmt.Fprintf(&b, `%s{"name": "n%d", "capacity": {"cpu": "10"}}`, comma(n), n)
	}
	b.WriteString(`], "tasks": [`)
	for i := range 200 {
		fmt.Fprintf(&b, `%s{"key": "t%d", "queue": "root.a", "application": "a%d", "node": "n%d", "resources": {"cpu": "1"}, "age": "%dm"}`,
			comma(i), i, i%9, i%20, i+1)
	}
	b.WriteString(`], "requests": [{"ask": {"key": "x", "queue": "root.b", "application": "x", "resources": {"cpu": "3"}}}]}`)
	p := open(t, "")
	best := 1e9
	for range 20 {
		p.write(b.String())
		require.Len(t, js[[]string](p, victims), 3)
		best = min(best, js[float64](p, `Number(document.body.dataset.drawn)`))
	}
	require.LessOrEqual(t, best, 100.0, "milliseconds")
	t.Logf("%.0f ms", best)
	p.quiet()
}

// Nothing is wider than a small screen, and dark is dark.
func TestLooks(t *testing.T) {
	p := open(t, "")
	for _, width := range []int64{1280, 400} {
		for _, scheme := range []string{"light", "dark"} {
			p.do(emulation.SetDeviceMetricsOverride(width, 900, 1, width < 500),
				emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
			for i, example := range []string{"a shop, a lab and a batch queue on two nodes", "Fences", "A quota is lowered"} {
				p.shows(example, -1)
				wide := js[[]string](p, fmt.Sprintf(`[...document.querySelectorAll("body *")]
					.filter((e) => e.getBoundingClientRect().right > %d && !e.closest("pre, #editor, .lane"))
					.map((e) => e.tagName + "#" + e.id + "." + e.className)`, width))
				require.Empty(t, wide, "%s: wider than %d", example, width)
				if *shots != "" {
					var picture []byte
					p.do(chromedp.FullScreenshot(&picture, 100))
					require.NoError(t, os.WriteFile(filepath.Join(*shots, fmt.Sprintf("%d-%s-%d.png", width, scheme, i)), picture, 0o644))
				}
			}
			back := js[string](p, `getComputedStyle(document.body).backgroundColor`)
			require.Equal(t, map[string]string{"light": "rgb(255, 255, 255)", "dark": "rgb(13, 17, 23)"}[scheme], back)
		}
	}
	p.quiet()
}

// comma returns what comes before item i of a list.
func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ", "
}
