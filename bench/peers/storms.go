// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path"
	"strings"

	"github.com/go-preempt/preempt/internal/judge/exam"
	"github.com/go-preempt/preempt/internal/judge/scenario"
)

// storms lets everybody settle the cases and random worlds with many asks.
func (r *report) storms() error {
	docs, err := histories(r.worlds)
	if err != nil {
		return err
	}
	r.rests, err = exam.SettleAll(docs, everybody()...)
	return err
}

// histories returns the cases as documents, and random ones with many asks.
func histories(n int) (docs []*scenario.Document, err error) {
	entries, err := cases.ReadDir("cases")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		text, err := cases.ReadFile(path.Join("cases", e.Name()))
		if err != nil {
			return nil, err
		}
		doc, err := scenario.Parse(e.Name(), text)
		if err != nil {
			return nil, err
		}
		if exam.AsksOnly(doc) {
			docs = append(docs, doc)
		}
	}
	for i := range n {
		doc, err := exam.RandomAsks(i)
		if err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	return docs, nil
}
