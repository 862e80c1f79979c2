// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-preempt/preempt/internal/plain"
)

// A Path is a place in a document, such as tasks[3].resources.cpu. The nil
// Path is the document as a whole.
//
// Paths share their beginnings, so a place costs the same at any depth; the
// text is made only when it is asked for. Paths are immutable.
type Path struct {
	up   *Path
	name string // of a field
	item int    // of an item of a list, counted from 1; 0: it is a field of an object
}

// Field returns the place of the named field of the object at p.
func (p *Path) Field(name string) *Path { return &Path{up: p, name: name} }

// Item returns the place of item i, counted from 0, of the list at p.
func (p *Path) Item(i int) *Path { return &Path{up: p, item: i + 1} }

// same reports whether two paths are the same place.
func (p *Path) same(q *Path) bool {
	for ; p != q; p, q = p.up, q.up {
		if p == nil || q == nil || p.item != q.item || p.name != q.name {
			return false
		}
	}
	return true
}

// String returns the path as text: fields after a dot, items in brackets, and
// names that are not plain words quoted in brackets, as in target["root.a"].
// Names that are very long are clipped. O(length of the text).
func (p *Path) String() string {
	var steps []*Path
	for ; p != nil; p = p.up {
		steps = append(steps, p)
	}
	var b strings.Builder
	for _, s := range slices.Backward(steps) {
		switch {
		case s.item > 0:
			b.WriteString("[" + strconv.Itoa(s.item-1) + "]")
		case !isPlain(s.name):
			b.WriteString("[" + strconv.Quote(clip(s.name)) + "]")
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.name)
		}
	}
	return b.String()
}

// isPlain reports whether a name can stand in a path without quotes: letters,
// digits, '_' and '-', and not so long that it must be clipped.
func isPlain(name string) bool {
	for _, c := range []byte(name) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return name != "" && len(name) <= clipped
}

// clipped is the longest text, in bytes, that a message quotes in full.
const clipped = 120

// clip returns s, or, if it is too long for a message, its beginning. The
// cut falls between runes.
func clip(s string) string { return plain.Clip(s, clipped) }
