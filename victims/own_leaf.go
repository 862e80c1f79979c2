package victims

import (
	"github.com/go-preempt/preempt/internal/word"
)

// An OwnLeaf says whether less important work of the ask's own leaf may make
// room for it, and what law 2 then means for the queues of its path. The zero
// value is never. (DESIGN.md, The own leaf.)
type OwnLeaf uint8

const (
	// OwnNever: tasks of the ask's own leaf are never victims.
	OwnNever OwnLeaf = iota
	// OwnMet: they may be, and a guarantee that was met stays met. A queue that
	// is under its guarantee ends no lower, except in types that the ask uses.
	// No storm exists.
	OwnMet
	// OwnAny: they may be, and what a queue gives up of its own is its own
	// affair. Storms exist below priority fences and offsets, so this is for
	// plain trees.
	OwnAny
)

var ownLeafWords = word.Table{Of: "victims.OwnLeaf", Words: []string{OwnNever: "never", OwnMet: "met", OwnAny: "any"}}

// String returns the stable word for the option: never, met or any.
func (o OwnLeaf) String() string { return ownLeafWords.Word(uint8(o)) }

// MarshalText returns the stable word for the option. A number that has no
// word is an error.
func (o OwnLeaf) MarshalText() ([]byte, error) { return ownLeafWords.Text(uint8(o)) }

// UnmarshalText sets the option whose text is given. Any other text is an error
// and changes nothing.
func (o *OwnLeaf) UnmarshalText(text []byte) error { return word.Set(o, ownLeafWords, text) }
