// Package word gives the values of an enumeration their stable words, in both
// directions: for people, and for encoding/json and its like.
package word

import (
	"errors"
	"fmt"
	"strings"
)

// ErrWord is for a text that is the word of no value, and for a number that has
// no word.
var ErrWord = errors.New("no such word")

// A Table has the words of an enumeration.
type Table struct {
	Of    string   // the type, with its package: "victims.Rule"
	Words []string // by value; "" if the number is no value
}

// Has reports whether a number has a word.
func (t Table) Has(n uint8) bool { return int(n) < len(t.Words) && t.Words[n] != "" }

// Word returns the word of a number, or "Rule(200)" if it has none.
func (t Table) Word(n uint8) string {
	if t.Has(n) {
		return t.Words[n]
	}
	return fmt.Sprintf("%s(%d)", t.Of[strings.LastIndexByte(t.Of, '.')+1:], n)
}

// Text returns the word of a number as a text. If 0 is no value, its text is
// empty: that is how a field looks that was never set. Any other number without a
// word is an error that wraps [ErrWord].
func (t Table) Text(n uint8) ([]byte, error) {
	switch {
	case t.Has(n):
		return []byte(t.Words[n]), nil
	case n == 0:
		return []byte{}, nil
	}
	return nil, fmt.Errorf("%s %d: %w", t.Of, n, ErrWord)
}

// Set sets dst to the value whose text, as [Table.Text] returns it, is given. Any
// other text is an error that wraps [ErrWord], and changes nothing.
func Set[E ~uint8](dst *E, t Table, text []byte) error {
	for n, word := range t.Words {
		if word == string(text) && (word != "" || n == 0) {
			*dst = E(n)
			return nil
		}
	}
	return fmt.Errorf("%s %q: %w", t.Of, text, ErrWord)
}
