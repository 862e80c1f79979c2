// SPDX-License-Identifier: Apache-2.0

// Package word gives the values of an enumeration their stable words.
package word

import (
	"fmt"
	"strings"
)

// A Table has the words of an enumeration.
type Table struct {
	Of    string   // the type, with its package: "victims.State"
	Words []string // by value; "" if the number is no value
}

// Has reports whether a number has a word.
func (t Table) Has(n uint8) bool { return int(n) < len(t.Words) && t.Words[n] != "" }

// Word returns the word of a number, or "State(200)" if it has none.
func (t Table) Word(n uint8) string {
	if t.Has(n) {
		return t.Words[n]
	}
	return fmt.Sprintf("%s(%d)", t.Of[strings.LastIndexByte(t.Of, '.')+1:], n)
}

// Or returns the word of a value, and "" for 0: that is how a field looks in a report that
// has nothing to say.
func Or[E interface {
	~uint8
	fmt.Stringer
}](e E) string {
	if e == 0 {
		return ""
	}
	return e.String()
}
