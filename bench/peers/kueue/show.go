// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-preempt/preempt/internal/judge/exam"
)

// words are what each of everybody is called on the command line.
var words = []string{"ours", "any", "lower"}

// show returns the first pooled document that shows a fault of a peer, with the
// answer beside its request.
func show(worlds int, wanted string) (string, error) {
	word, fault, _ := strings.Cut(wanted, ":")
	column := slices.Index(words, word)
	if column < 0 {
		return "", fmt.Errorf("no peer %q: they are %s", word, strings.Join(words, ", "))
	}
	papers, err := examination()
	if err != nil {
		return "", err
	}
	more, err := random(worlds)
	if err != nil {
		return "", err
	}
	paper, j, err := exam.Find(everybody()[column], append(papers, more...), fault)
	if err != nil {
		return "", err
	}
	text, err := paper.Proposed(&j.Answer)
	return string(text) + "\n", err
}
