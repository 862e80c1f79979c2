// SPDX-License-Identifier: Apache-2.0

// Package plain makes names safe to print. Callers name queues, nodes and tasks
// as they like, but what a name says must not reach a terminal as control
// characters, or break a line or a column.
package plain

import (
	"strconv"
	"strings"
	"unicode"
)

// Name returns a name as it is if it is plain, and quoted as in Go if it
// is empty or has blanks, quotes, or what can't be printed.
func Name(s string) string {
	quoted := strconv.Quote(s)
	if s != "" && quoted == `"`+s+`"` && !strings.Contains(s, " ") {
		return s
	}
	return quoted
}

// Names returns names, each as Name does, with commas between.
func Names(all []string) string {
	plain := make([]string, len(all))
	for i, s := range all {
		plain[i] = Name(s)
	}
	return strings.Join(plain, ", ")
}

// Line returns a text on one line: what can't be printed becomes a blank.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}
