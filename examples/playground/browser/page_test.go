// SPDX-License-Identifier: Apache-2.0

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
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

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
		chromedp.ExecPath(binary), chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true), chromedp.WindowSize(1280, 900),
		chromedp.WSURLReadTimeout(2*time.Minute)) // a cold browser is slow to start
	browser, closeBrowser := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(closeBrowser)
	ctx, closeTab := chromedp.NewContext(browser)
	t.Cleanup(closeTab)
	ctx, cancel := context.WithTimeout(ctx, 4*time.Minute)
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
		p.step(step)
	}
}

// step shows a request of the document that is there.
func (p *tab) step(step int) {
	p.t.Helper()
	p.do(chromedp.Evaluate(fmt.Sprintf(`{
		const all = document.getElementById("steps");
		all.value = "%d";
		all.dispatchEvent(new Event("change"));
	}`, step), nil))
}

func (p *tab) text(id string) string {
	p.t.Helper()
	return js[string](p, `document.getElementById("`+id+`").textContent`)
}

const victims = `[...document.querySelectorAll(".task.goes")].map((e) => e.textContent.slice(2)).sort()`
