package scenario

import (
	"errors"
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
