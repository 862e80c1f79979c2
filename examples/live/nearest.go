// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"github.com/go-preempt/preempt/internal/plain"
)

// unknownProperty says why a property of no known name is left out. If it looks
// as if one that concerns preemption were meant, it names that.
func unknownProperty(name string) string {
	const typos = 2 // letters too many, too few or wrong, that a slip may make
	near, distance := nearest(name, properties)
	if distance <= typos || concernsPreemption(name) {
		return "unknown property: the nearest name is " + plain.Name(near)
	}
	return "the property does not concern preemption"
}

// concernsPreemption reports whether a name begins as those do that concern
// preemption.
func concernsPreemption(name string) bool {
	for _, prefix := range []string{"preemption.", "priority.", "quota."} {
		if strings.HasPrefix(strings.ToLower(name), prefix) {
			return true
		}
	}
	return false
}

// nearest returns the word that takes the fewest changes of single letters to
// make of a name, the first of several, and how many these are. Upper and lower
// case are alike.
func nearest(name string, words []string) (word string, changes int) {
	for i, w := range words {
		if n := distance(strings.ToLower(name), w); i == 0 || n < changes {
			word, changes = w, n
		}
	}
	return word, changes
}

// distance returns how many letters have to be put in, taken out or replaced to
// make one text of another: Levenshtein's distance, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // row[j]: from the beginning of a to b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
