// SPDX-License-Identifier: Apache-2.0

// Build makes the playground: one page that decides documents as one types.
//
//	go run ./examples/playground/build [-o FOLDER]
//
// It is run in the root of the module. The page, index.html, has everything in
// it: examples/plan compiled to WebAssembly, the script that Go brings along for
// that, and the examples. It needs no server and no network, and opens from the
// file system.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"
)

// most is how many bytes the page may have after gzip.
const most = 3 << 20

// program and source are where things are in the module.
const (
	program = "./examples/plan"
	source  = "examples/playground"
)

// scripts are the parts of the page's script, in the order in which they run.
var scripts = []string{"page.js", "editor.js", "picture.js", "panel.js", "save.js", "storm.js", "link.js", "start.js"}

func main() {
	log.SetFlags(0)
	folder := flag.String("o", "playground", "the `FOLDER` that the page goes to")
	flag.Parse()
	page, err := build()
	if err != nil {
		log.Fatalf("build: %v", err)
	}
	small := len(compressed(page))
	if small > most {
		log.Fatalf("build: the page has %d bytes after gzip, %d are allowed", small, most)
	}
	file := filepath.Join(*folder, "index.html")
	if err := os.MkdirAll(*folder, 0o755); err != nil {
		log.Fatalf("build: %v", err)
	}
	if err := os.WriteFile(file, page, 0o644); err != nil {
		log.Fatalf("build: %v", err)
	}
	fmt.Printf("%s: %.1f MB, %.1f MB after gzip\n", file, float64(len(page))/1e6, float64(small)/1e6)
}

// contents are what goes into page.html.
type contents struct {
	Style, Script, WasmExec string
	Documents, Wasm         string
}

// build returns the page.
func build() ([]byte, error) {
	var c contents
	var err error
	read := func(parts ...string) string {
		var text []byte
		if err == nil {
			text, err = os.ReadFile(filepath.Join(parts...))
		}
		return string(text)
	}
	layout := read(source, "page.html")
	c.Style = read(source, "page.css")
	for _, script := range scripts {
		c.Script += read(source, script) + "\n"
	}
	if err == nil {
		c.WasmExec, err = wasmExec()
	}
	if err == nil {
		c.Documents, err = documents()
	}
	if err == nil {
		c.Wasm, err = wasm()
	}
	if err != nil {
		return nil, err
	}
	// What stands in a script ends at the first of these, wherever that is.
	for _, script := range []string{c.Script, c.WasmExec, c.Documents} {
		if strings.Contains(script, "</script") {
			return nil, fmt.Errorf("a script has </script in it")
		}
	}
	t, err := template.New("page").Parse(layout)
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	err = t.Execute(&page, c)
	return page.Bytes(), err
}

// documents returns the examples as a list of texts, by file name.
func documents() (string, error) {
	files, err := filepath.Glob(filepath.Join(source, "documents", "*.json"))
	if err != nil || len(files) == 0 {
		return "", fmt.Errorf("no documents in %s: %w", source, os.ErrNotExist)
	}
	var all []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		all = append(all, string(text))
	}
	text, err := json.Marshal(all) // it escapes what ends a script
	return string(text), err
}

// wasmExec returns the script that runs Go programs in browsers, of the Go that
// compiles.
func wasmExec() (string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	return string(text), err
}

// wasm returns the program, compressed and in letters.
func wasm() (string, error) {
	folder, err := os.MkdirTemp("", "playground")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "plan.wasm")
	compile := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w -buildid=", "-o", file, program)
	compile.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	compile.Stderr = os.Stderr
	if err := compile.Run(); err != nil {
		return "", fmt.Errorf("go build %s: %w", program, err)
	}
	text, err := os.ReadFile(file)
	return base64.StdEncoding.EncodeToString(compressed(text)), err
}

// compressed returns a text as gzip has it, at its best.
func compressed(text []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is one
	}
	// A buffer does not fail.
	_, _ = w.Write(text)
	_ = w.Close()
	return b.Bytes()
}
