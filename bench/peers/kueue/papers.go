// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"

	"github.com/go-preempt/preempt/internal/judge/exam"
	"github.com/go-preempt/preempt/internal/judge/scenario"
)

// eachCase calls do with the name and the text of each case of bench/peers.
func eachCase(do func(name string, text []byte) error) error {
	files, err := filepath.Glob(filepath.Join("..", "cases", "*.json"))
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := do(filepath.Base(file), text); err != nil {
			return err
		}
	}
	return nil
}

// examination returns a pooled paper for each ask of the cases.
func examination() (all []exam.Paper, err error) {
	err = eachCase(func(name string, text []byte) error {
		papers, err := exam.Papers(name, text)
		for _, p := range papers {
			p.Doc = pooled(p.Doc)
			all = append(all, p)
		}
		return err
	})
	return all, err
}

// random returns pooled papers about random worlds.
func random(worlds int) (all []exam.Paper, err error) {
	for i := range worlds {
		p, err := exam.Random(i)
		if err != nil {
			return nil, err
		}
		p.Doc = pooled(p.Doc)
		all = append(all, *p)
	}
	return all, nil
}

// histories returns pooled documents with many asks: the cases, and random ones.
func histories(worlds int) (docs []*scenario.Document, err error) {
	err = eachCase(func(name string, text []byte) error {
		doc, err := scenario.Parse(name, text)
		if err == nil && exam.AsksOnly(doc) {
			docs = append(docs, pooled(doc))
		}
		return err
	})
	for i := 0; i < worlds && err == nil; i++ {
		var doc *scenario.Document
		if doc, err = exam.RandomAsks(i); err == nil {
			docs = append(docs, pooled(doc))
		}
	}
	return docs, err
}
