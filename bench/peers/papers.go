// SPDX-License-Identifier: Apache-2.0

package main

import (
	"embed"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-preempt/preempt/internal/judge/exam"
)

// cases are the documents of the examination.
//
//go:embed cases/*.json
var cases embed.FS

// examination returns a paper for each ask of the cases.
func examination() ([]exam.Paper, error) {
	entries, err := cases.ReadDir("cases")
	if err != nil {
		return nil, err
	}
	var all []exam.Paper
	for _, e := range entries {
		text, err := cases.ReadFile(path.Join("cases", e.Name()))
		if err != nil {
			return nil, err
		}
		papers, err := exam.Papers(e.Name(), text)
		if err != nil {
			return nil, err
		}
		all = append(all, papers...)
	}
	return all, nil
}

// folder returns a paper for each ask of the documents of a folder. What is no
// document, or one that no cluster can be made of, is passed over.
func folder(dir string) (all []exam.Paper) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		papers, err := exam.Papers(filepath.Base(file), text)
		if err != nil {
			continue
		}
		for i := range papers {
			papers[i].Name = strings.TrimSuffix(filepath.Base(file), ".json") + ": " + papers[i].Name
		}
		all = append(all, papers...)
	}
	return all
}
