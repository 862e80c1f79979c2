// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The kinds of mistake in a document; every [Error] of [Parse] wraps one.
var (
	ErrSyntax    = errors.New("not valid JSON")      // {"name": "a",}
	ErrKind      = errors.New("wrong kind of value") // "nodes": {}
	ErrField     = errors.New("unknown field")       // "prio": 5
	ErrMissing   = errors.New("missing")             // a task without a key
	ErrDuplicate = errors.New("duplicate")           // two nodes of one name
	ErrValue     = errors.New("bad value")           // "age": "soon"
	ErrReference = errors.New("bad reference")       // "queue": "root.nowhere"
)

// An Error says what is wrong with a document, and where.
type Error struct {
	File  string // as given to Parse
	Path  *Path  // the place in the document
	Value string // what is there, as JSON, clipped; empty where nothing is
	Err   error  // what is wrong with it
	Byte  int    // of the text, where it is wrong; of ErrSyntax only
}

// Error returns file, path, value and reason, with colons between them. What
// is empty is left out.
func (e *Error) Error() string {
	var b strings.Builder
	for _, s := range []string{e.File, e.Path.String(), e.Value} {
		if s != "" {
			b.WriteString(s + ": ")
		}
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

// Unwrap returns what is wrong, without the place.
func (e *Error) Unwrap() error { return e.Err }

// mostMistakes is how many mistakes of one document are told. A document that
// somebody else wrote may have a million.
const mostMistakes = 100

// findings are what is wrong with a document, in the order in which it is read.
type findings struct {
	all  []*Error
	more int // that are beyond mostMistakes
}

// add adds a mistake, unless it is not to be told.
func (m *findings) add(e *Error) {
	if m.tells(e.Path) {
		m.all = append(m.all, e)
	}
}

// tells reports whether a mistake at a place is to be told, and counts it if it
// is one too many. The first one at a place stays alone: what else is wrong
// there mostly follows from it.
func (m *findings) tells(at *Path) bool {
	if slices.ContainsFunc(m.all, func(e *Error) bool { return e.Path.same(at) }) {
		return false
	}
	if len(m.all) == mostMistakes {
		m.more++
		return false
	}
	return true
}

// err returns the mistakes of a file joined, nil if there are none.
func (m *findings) err(file string) error {
	var all []error
	for _, e := range m.all {
		e.File = file
		all = append(all, e)
	}
	if m.more > 0 {
		all = append(all, fmt.Errorf("%s: and %d more", file, m.more))
	}
	return errors.Join(all...)
}
